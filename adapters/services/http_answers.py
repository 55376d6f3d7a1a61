"""What the answers of an operator's own service mean: pure tables from an answer to an ending.

Endings stand in the log, where no personal value and no secret may be: of what a service says only the ids that its
operation answers are kept, and of a problem its title, which RFC 9457 wants to be the same for each of its kind.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from adapters.channels.replies.http import Answer, ending_of_answer
from automations.notifications.channels import CallEnding
from domain.endings import Done, Misconfigured, Refused, TryLater, Unknown

LONGEST_TITLE = 200
LONGEST_ID = 200
_IN_DOUBT_AS_REDIRECT = 303
_CLASS = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+){0,9}")


def ending_of_call(answer: Answer, at: datetime, names: Collection[str], *, honours_keys: bool) -> CallEnding:
    """Return how a call of an operation ends, whose answer has these names."""
    status, wait = answer.status, answer.wait(at)
    reason = f"the service answered {status}"
    if 200 <= status < 300:
        return Done(result=ids_of(answer.body, names))
    if status == _IN_DOUBT_AS_REDIRECT:
        return Unknown(reason=reason)
    if 300 <= status < 400:
        return Misconfigured(reason=f"{reason}, which leads elsewhere: set base_url to where it is")
    if (status == 409 and wait is not None) or (status == 408 and honours_keys):
        return TryLater(reason=reason, wait=wait)
    ending = ending_of_answer(answer, at, harmless=False)
    return refused(answer) if isinstance(ending, Refused) else ending


def ending_of_look_up(answer: Answer, at: datetime, names: Collection[str]) -> CallEnding | None:
    """Return what a service says that became of a key, None where it says that it has never seen it.

    A 404 counts only if it says so in its body: any program between here and there may answer 404.
    """
    status = answer.status
    if status == 200:
        return Done(result=ids_of(answer.body, names))
    if status == 404 and read_object(answer.body).get("known") is False:
        return None
    if status == 422:
        return refused(answer)
    reason = f"asked what became of it, the service answered {status}"
    if status in (401, 402, 403, 407):
        return Misconfigured(reason=reason)
    if status in (202, 408, 409, 425, 429) or status >= 500:
        return TryLater(reason=reason, wait=answer.wait(at))
    return Unknown(reason=reason)


def ids_of(body: bytes, names: Collection[str]) -> dict[str, Any]:
    """Return what an operation answers; nothing of a body that cannot be read."""
    found = read_object(body)
    return {name: str(found[name]) for name in names if _is_id(found.get(name))}


def refused(answer: Answer) -> Refused:
    """Return a no, in the words of the problem that came with it."""
    problem = read_object(answer.body)
    title, kind = problem.get("title"), problem.get("type")
    words = " ".join(title.split()) if isinstance(title, str) and title.isprintable() else ""
    reason = words[:LONGEST_TITLE] or f"the service answered {answer.status}"
    last = kind.rpartition("/")[2] if isinstance(kind, str) else ""
    is_class = len(last) <= LONGEST_ID and _CLASS.fullmatch(last)
    return Refused(reason=reason, error_class=last if is_class else "refused")


def read_object(body: bytes) -> Mapping[str, Any]:
    """Return the JSON object of a body, an empty one where there is none."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _is_id(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, str | int):
        return False
    text = value if isinstance(value, str) else str(value) if abs(value) < 10**18 else ""
    return 0 < len(text) <= LONGEST_ID and text.isprintable()
