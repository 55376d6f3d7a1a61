"""What the replies of a mail server mean (RFC 5321, RFC 3463).

The first digit of the reply's code decides whether the mail may be sent again, the phase and the enhanced code
what is at fault. The text decides nothing, and is not kept: it repeats addresses.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from automations.notifications.channels import CallEnding
from domain.endings import Done, Misconfigured, Refused, TryLater, Unknown

Phase = Literal["connect", "hello", "tls", "login", "sender", "recipient", "data", "content"]
"""How far a mail has come; after `content` the server may have taken it."""

_BEFORE_THE_MAIL: frozenset[Phase] = frozenset({"connect", "hello", "tls", "login"})
_OF_AN_ADDRESS: frozenset[Phase] = frozenset({"recipient", "data", "content"})

_LOGIN_CODES = frozenset({530, 534, 535, 538})
_LOGIN_DETAILS = frozenset({(7, 8), (7, 9), (7, 11), (7, 13)})
_SENDER_DETAILS = frozenset({(1, 7), (1, 8)})

_BY_DETAIL: Mapping[tuple[int, int], str] = {
    **dict.fromkeys([(1, 1), (1, 2), (1, 3), (1, 6), (1, 10)], "bad_address"),
    (2, 1): "mailbox_disabled",
    (2, 2): "mailbox_full",
    (2, 3): "too_big",
    (3, 4): "too_big",
    (4, 4): "unroutable",
    (4, 6): "loop",
}
"""Classes of permanent refusals by the last two numbers of the enhanced code."""

_BY_SUBJECT: Mapping[int, str] = {5: "protocol", 6: "content", 7: "policy"}

_BY_CODE: Mapping[int, str] = {
    **dict.fromkeys(range(500, 505), "protocol"),
    **dict.fromkeys([550, 551, 553, 556], "bad_address"),
    552: "too_big",
    554: "policy",
}
"""The same by the code of a reply that has no enhanced one."""

_ADDRESS_CODES = frozenset({550, 551, 553, 556})

GREYLISTED_FOR = timedelta(minutes=5)
"""How long a mail that is greylisted waits where the reply does not say."""

_ENHANCED = re.compile(r"([245])\.(\d{1,3})\.(\d{1,3})(?!\d)", re.ASCII)
_TOLD_WAIT = re.compile(r"\b(\d{1,5})\s*(s|sec|seconds?|m|min|minutes?)\b", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply of a mail server: its code, and its text with a line for each of the reply's."""

    code: int
    text: str = ""

    @property
    def detail(self) -> tuple[int, int] | None:
        """Return the last two numbers of the enhanced code, unless it contradicts the code."""
        found = _ENHANCED.match(self.text)
        if found is None or int(found[1]) != self.code // 100:
            return None
        return int(found[2]), int(found[3])

    def __str__(self) -> str:
        enhanced = _ENHANCED.match(self.text)
        return f"{self.code} {enhanced[0]}" if enhanced else str(self.code)


def ending_of_reply(phase: Phase, reply: Reply) -> CallEnding:
    """Return how sending a mail ends by the reply that stopped it, or that took it."""
    if phase == "content" and reply.code // 100 == 2:
        return Done()
    reason = f"the mail server answered {reply} to the {phase}"
    match reply.code // 100:
        case 4:
            return _later(phase, reply, reason)
        case 5:
            return _never(phase, reply, reason)
        case _:
            return ending_of_break(phase, f"the mail server answered {reply} out of turn")


def ending_of_break(phase: Phase, reason: str) -> CallEnding:
    """Return how sending a mail ends by a connection that broke or grew silent in a phase."""
    return Unknown(reason=reason) if phase == "content" else TryLater(reason=reason)


def _later(phase: Phase, reply: Reply, reason: str) -> CallEnding:
    subject = reply.detail[0] if reply.detail else None
    if phase not in _OF_AN_ADDRESS or reply.code not in (450, 451, 452):
        return TryLater(reason=reason)
    if reply.code == 450 or subject in (1, 2):
        return TryLater(reason=reason, about="address", wait=_greylisting(reply))
    if subject == 7:
        return TryLater(reason=reason, about="address", wait=_greylisting(reply))
    return TryLater(reason=reason)


def _greylisting(reply: Reply) -> timedelta:
    told = _TOLD_WAIT.search(reply.text)
    if told is None:
        return GREYLISTED_FOR
    unit = timedelta(minutes=1) if told[2].lower().startswith("m") else timedelta(seconds=1)
    return int(told[1]) * unit


def _never(phase: Phase, reply: Reply, reason: str) -> CallEnding:
    detail = reply.detail
    if phase in _BEFORE_THE_MAIL or reply.code in _LOGIN_CODES or detail in _LOGIN_DETAILS:
        return Misconfigured(reason=reason)
    if phase == "sender" and _is_about_the_sender(reply):
        return Misconfigured(reason=reason)
    if phase == "recipient" and reply.code == 552 and detail is None:
        # RFC 5321, 4.5.3.1.10: at a recipient it means too many of them, and is to be read as 452.
        return TryLater(reason=reason)
    return Refused(reason=reason, error_class=_class_of(phase, reply))


def _is_about_the_sender(reply: Reply) -> bool:
    if reply.detail is None:
        return reply.code in _ADDRESS_CODES
    return reply.detail in _SENDER_DETAILS or _BY_DETAIL.get(reply.detail) == "bad_address"


def _class_of(phase: Phase, reply: Reply) -> str:
    if reply.detail is not None:
        known = _BY_DETAIL.get(reply.detail) or _BY_SUBJECT.get(reply.detail[0])
        if known is not None:
            return known
    if phase != "recipient" and reply.code in _ADDRESS_CODES:
        # Without an enhanced code only an answer to the address itself condemns the address.
        return "refused"
    return _BY_CODE.get(reply.code, "refused")
