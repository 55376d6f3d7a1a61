"""Reports in plain JSON: our own form, and those alike of several mail services.

Our own: `{"id": …, "type": "bounced", "delivery": …, "message_id": …, "address": …, "bounce": "hard", "detail": …,
"at": …}`; several stand in a list, or under `events`. A bounce is soft unless its class says that it is hard.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, get_args

from adapters.callbacks import Item, Post, json_of
from automations.notifications.callbacks import Kind, Receipt, code_of
from domain.errors import InvalidInput
from domain.ids import digest

_KINDS: Mapping[str, Kind] = {
    **{kind: kind for kind in get_args(Kind)},
    "accepted": "sent",
    "processed": "sent",
    "delivery": "delivered",
    "bounce": "bounced",
    "failed": "bounced",
    "dropped": "bounced",
    "complaint": "complained",
    "spamreport": "complained",
    "deferred": "delayed",
    "delivery_delayed": "delayed",
    "open": "opened",
    "click": "opened",
    "clicked": "opened",
    "unsubscribe": "opt_out",
    "unsubscribed": "opt_out",
}
"""What services call what; whatever comes before the last dot of a name says only what it is about."""

_NAMES = ("event", "type")
"""Where the kind of a report stands; where both do and `event` is one, `type` is its class."""

_CLASSES = ("bounce", "bounce_type", "bounceType", "bounce_class", "severity")

_HARD = frozenset({"hard", "hardbounce", "permanent", "permanentbounce"})
"""What services call a bounce that is the address's fault; whatever else they say is no reason to give it up."""


class PlainReports:
    """Reads reports that are in our own form, because Semel has written them itself."""

    def receipts(self, content: str) -> Sequence[Receipt]:
        """Return what a report says."""
        return receipts_of(content)


def items_of(post: Post, named: str = "") -> list[Item]:
    """Return the reports of a body, one by one; `named` is the id of the whole post, where it has one."""
    found = _listed(post.text)
    if found is None:
        return [Item(named or digest(post.text), post.text)]
    alone = len(found) == 1
    return [_item(each, named if alone or not named else f"{named}/{number}") for number, each in enumerate(found)]


def receipts_of(content: str) -> list[Receipt]:
    """Return what a report says, nothing for a kind that is of no interest; raises InvalidInput for none at all."""
    told = json_of(content)
    inside = told.get("data")
    data: Mapping[str, Any] = inside if isinstance(inside, dict) else told
    named = [place for place in _NAMES if isinstance(told.get(place), str) and told[place]]
    if not named:
        raise InvalidInput("this is no report: it has no type")
    place = next((each for each in named if _kind(told[each])), named[0])
    kind = _kind(told[place])
    if kind is None:
        return []
    if kind == "bounced" and _is_tried_again(told[place], data):
        kind = "delayed"
    detail = code_of(_first(data, "detail", "status", "code"))
    return [
        Receipt(
            kind=kind,
            message_id=_first(data, "message_id", "email_id", "sg_message_id", "provider_message_id"),
            delivery=_first(data, "delivery", "delivery_id"),
            address=_first(data, "address", "email", "to"),
            bounce="hard" if kind == "bounced" and _is_hard(data, told, place) else "soft",
            detail=detail,
            told_at=_time(_first(data, "at", "timestamp", "created_at")),
        )
    ]


def _listed(text: str) -> Sequence[Any] | None:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if isinstance(found, dict):
        found = found["events"] if isinstance(found.get("events"), list) else [found]
    return found if isinstance(found, list) and found else None


def _item(told: Any, named: str) -> Item:
    content = json.dumps(told, sort_keys=True)
    own = _first(told, "id", "event_id", "sg_event_id") if isinstance(told, dict) else ""
    return Item(named or own or digest(content), content)


def _kind(name: str) -> Kind | None:
    return _KINDS.get(name.rpartition(".")[2].casefold())


def _is_tried_again(name: str, data: Mapping[str, Any]) -> bool:
    """Say whether a failure is only that of one attempt, after which the service makes another."""
    return name.rpartition(".")[2].casefold() == "failed" and _word(data.get("severity")) == "temporary"


def _is_hard(data: Mapping[str, Any], told: Mapping[str, Any], place: str) -> bool:
    """Say whether the address is at fault, by the first class that is given: none, or an unknown one, says no."""
    given: Any = next((data[name] for name in _CLASSES if data.get(name)), "")
    if isinstance(given, dict):  # one service says so inside of an object
        given = given.get("type", "")
    if not given and place == "event":
        # Beside the event `bounce` the class `bounce` is the hard one, and `blocked` the other.
        return _word(told.get("type")) in _HARD | {"bounce"}
    return _word(given) in _HARD


def _word(given: object) -> str:
    """Return a class as it would be written with letters alone."""
    return "".join(filter(str.isalpha, str(given or "").casefold()))


def _time(written: str) -> str:
    """Return a time as it was written; seconds since 1970 as RFC 3339 has it."""
    try:
        return datetime.fromtimestamp(float(written), tz=UTC).isoformat()
    except (ValueError, OverflowError, OSError):
        return written


def _first(data: Mapping[str, Any], *names: str) -> str:
    """Return the first of some values that is there: a text, a number, or the first item of a list."""
    for name in names:
        value = data.get(name)
        if isinstance(value, list) and value:
            value = value[0]
        if isinstance(value, str | int | float) and not isinstance(value, bool) and value != "":
            return str(value)
    return ""
