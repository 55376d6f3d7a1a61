"""What the answers of an SMS service mean that speaks as Twilio does: its own code first, then the status."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from adapters.channels.replies.http import Answer, ending_of_answer
from automations.notifications.callbacks import Kind, Receipt
from automations.notifications.channels import CallEnding
from domain.endings import SUPPRESSES, Done, Misconfigured, Refused, TryLater

REFUSALS: Mapping[int, str] = {
    **dict.fromkeys([21211, 21214, 21217, 21219, 21421, 21612, 21614, 21635, 30006], "bad_address"),
    **dict.fromkeys([21610], "opted_out"),
    **dict.fromkeys([21617, 21605], "too_big"),
    **dict.fromkeys([21602, 21619, 30007], "content"),
    **dict.fromkeys([21408, 30004, 30034], "policy"),
}
"""Codes that no repetition changes, with their class."""

OUR_SET_UP = frozenset({20003, 20005, 20404, 21212, 21603, 21606, 21659, 21703, 30001, 30002})
"""Codes that say that our account or our number is at fault."""

LATER = frozenset({14107, 20429, 21611, 30003, 30005, 30008, 63018})
"""Codes of what may work on another try."""

_OF_THE_NUMBER = frozenset({30003, 30005, 30008})

_KINDS: Mapping[str, Kind] = {
    "accepted": "sent",
    "queued": "sent",
    "sending": "sent",
    "sent": "sent",
    "delivered": "delivered",
    "read": "opened",
    "undelivered": "bounced",
    "failed": "bounced",
}


def ending_of_code(code: int | None, answer: Answer, at: datetime) -> CallEnding:
    """Return how sending ends by a code, or by the status where that says nothing."""
    reason = f"the SMS service answered {answer.status}" + (f", code {code}" if code else "")
    if code is not None and code in REFUSALS:
        return Refused(reason=reason, error_class=REFUSALS[code])
    if code in OUR_SET_UP:
        return Misconfigured(reason=reason)
    if code in LATER:
        about: Any = "address" if code in _OF_THE_NUMBER else "service"
        return TryLater(reason=reason, wait=answer.wait(at), about=about)
    return ending_of_answer(answer, at, harmless=False)


def ending_of_sms(answer: Answer, at: datetime) -> CallEnding:
    """Return how sending an SMS ends by its answer; a message that was taken is done, whatever its body says."""
    told = _told(answer.body)
    if 200 <= answer.status < 300:
        named = told.get("sid")
        return Done(result={"provider_message_id": named} if isinstance(named, str) else {})
    code = told.get("code")
    return ending_of_code(code if isinstance(code, int) else None, answer, at)


def _told(body: bytes) -> Mapping[str, Any]:
    try:
        told = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return told if isinstance(told, dict) else {}


def receipt_of_status(message_id: str, status: str, code: int | None, number: str) -> Receipt | None:
    """Return what a state of a message means, or None for one that is none."""
    kind = _KINDS.get(status)
    if kind is None:
        return None
    if kind != "bounced":
        return Receipt(kind, message_id, address=number)
    bounce: Literal["hard", "soft"] = "hard" if _condemns(code) else "soft"
    return Receipt(kind, message_id, address=number, bounce=bounce, detail=str(code or ""))


def looked_up(answer: Answer, message_id: str) -> Receipt | TryLater | None:
    """Return what a service says when it is asked about a message, or that it has to be asked again."""
    if answer.status == 404:
        return None
    if answer.status != 200:
        return TryLater(reason=f"the SMS service answered {answer.status}")
    told = _told(answer.body)
    number, code = str(told.get("to") or ""), code_number(told.get("error_code"))
    return receipt_of_status(message_id, str(told.get("status") or ""), code, number)


def code_number(value: object) -> int | None:
    """Return the number of a code that is written in any way, or None."""
    text = str(value or "")
    return int(text) if text.isdecimal() and len(text) < 9 else None


def _condemns(code: int | None) -> bool:
    refusal = REFUSALS.get(code or 0, "")
    return refusal != "opted_out" and refusal in SUPPRESSES
