"""What the answers of an HTTP service mean, where the service has no codes of its own (RFC 9110)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from adapters.channels.replies.retry_after import asked_wait
from automations.notifications.channels import CallEnding
from domain.endings import Done, Misconfigured, Refused, TryLater, Unknown

_OUR_SET_UP = frozenset({401, 402, 403, 407})
_NOTHING_DONE = frozenset({421, 423, 424, 425, 429, 503, *range(507, 512), 521, 522, 523, 525, 526, 527})
_IN_DOUBT = frozenset({408, 500, 502, 504})
_FOR_GOOD: Mapping[int, str] = {
    410: "gone",
    413: "too_big",
    414: "too_big",
    451: "legal",
    501: "unsupported",
    505: "unsupported",
}


@dataclass(frozen=True, slots=True)
class Answer:
    """What an HTTP service answered; `body` is empty where it broke off. Names of headers are in lower case."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""

    def wait(self, at: datetime) -> timedelta | None:
        """Return how long the service asks to be left alone, counted from an instant."""
        return asked_wait(self.headers.get("retry-after"), at)


def ending_of_answer(answer: Answer, at: datetime, *, harmless: bool) -> CallEnding:
    """Return how a call ends by its answer; with `harmless` a repeat with the same key does nothing twice."""
    status = answer.status
    reason = f"the service answered {status}"
    if 200 <= status < 300:
        return Done()
    if status in _OUR_SET_UP:
        return Misconfigured(reason=reason)
    if status in _NOTHING_DONE or (harmless and status == 409):
        return TryLater(reason=reason, wait=answer.wait(at))
    if status in _FOR_GOOD:
        return Refused(reason=reason, error_class=_FOR_GOOD[status])
    if status in _IN_DOUBT or status >= 500 or status < 200:
        return TryLater(reason=reason, wait=answer.wait(at)) if harmless else Unknown(reason=reason)
    return Refused(reason=reason, error_class="redirect" if status < 400 else "request")
