"""Dossiers: everything about the open failures of one cause, from its opening to its closing.

A cause is (service operation, class of ending, rule where the rule is at fault). What every call of a service
would meet, that it does not answer or takes us for somebody else, is one cause for the whole service. Which
runs stand in a dossier follows from their own events; here is what is decided about it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

from domain.endings import Ending, Refused
from domain.events import DomainEvent
from domain.executions import ActionDone, ExecutionEnded
from domain.ids import digest, entity, id_of
from domain.lanes import channel_lane
from domain.notices import Notice
from domain.staff_acts import UNJUDGED

REOPENS_WITHIN = timedelta(days=1)
"""How long after its closing a dossier is taken up again where its cause returns; later it begins anew."""

SERVICE_WIDE = frozenset({"try_later", "misconfigured"})
"""Classes of endings for which the whole service is the cause, whatever was asked of it."""

CORRUPT = "corrupt"
"""The class of events that cannot be read."""

LOG = "log"
"""What stands in the place of a service for events that cannot be read."""

OPENED = "semel.dossier-opened"
"""The notice that something failed, one for each dossier."""

RECOVERED = "semel.dossier-recovered"
"""The notice that nothing of a dossier is open any more."""

_LENGTH = 12
_TOLD = {
    "try_later": "{operation} does not answer",
    "misconfigured": "{operation} is set up wrongly",
    "refused": "{operation} was refused",
    "unknown": "nobody knows what became of {operation}",
    "crashed": "{operation} kills its worker",
    "conditions": "conditions could not be decided",
    "rule": "a rule is broken",
    "chain": "rules caused one another",
    "facts": "a candidate could not be judged",
    "gave_up": "{operation} does not come through",
    "bad_address": "{operation} goes to addresses that do not exist",
    "template_error": "the wording of {operation} does not come out",
    "worker_crash": "{operation} kills its worker",
    "bounced": "{operation} came back",
    "gone": "{operation} goes to a receiver that wants nothing any more",
    "contradicted": "{operation} stands against what turned out otherwise",
    CORRUPT: "events of {operation} cannot be read",
}


@dataclass(frozen=True, slots=True)
class FailureCause:
    """What failures of one dossier have in common.

    `operation` is a service's operation such as `access.grant`, or the service alone. `rule` is empty where the
    rule is not at fault.
    """

    operation: str
    ending: str
    rule: str = ""

    @property
    def dossier(self) -> str:
        """Return the id of the one dossier of this cause."""
        return digest(self.operation, self.ending, self.rule)[:_LENGTH]

    @property
    def service(self) -> str:
        """Return the service, empty where none was called."""
        return service_of(self.operation)

    def __str__(self) -> str:
        told = _TOLD.get(self.ending, "{operation}: {ending}").format(operation=self.operation, ending=self.ending)
        return f"{told} (rule {self.rule})" if self.rule else told


def cause_of_service(service: str, ending: str) -> FailureCause:
    """Return the cause that holds a whole service: `try_later` (it does not answer), or `misconfigured`."""
    return FailureCause(service, ending)


def service_of(operation: str) -> str:
    """Return the service that owns an operation: `access` of `access.grant`."""
    return operation.partition(".")[0]


def cause_of_lane(service: str, held_by: str = "try_later") -> FailureCause:
    """Return the cause for which the lane of a service is held."""
    return cause_of_service(service, "misconfigured" if held_by == "misconfigured" else "try_later")


def cause_of_corruption(topic: str) -> FailureCause:
    """Return the cause of events of a topic that cannot be read."""
    return FailureCause(f"{LOG}.{topic}", CORRUPT)


def cause_of_delivery(channel: str, failure: str) -> FailureCause:
    """Return the cause of deliveries on a channel that failed alike."""
    return FailureCause(f"{channel_lane(channel)}.send", failure)


def cause_of_call(operation: str, ending: Ending, rule: str) -> FailureCause:
    """Return the cause of a call that ended otherwise than done."""
    if ending.kind in SERVICE_WIDE:
        return cause_of_service(service_of(operation), ending.kind)
    is_rule = isinstance(ending, Refused) and ending.at_fault == "rule"
    return FailureCause(operation, ending.kind, rule if is_rule else "")


def cause_of_wait(ended: ActionDone) -> FailureCause:
    """Return what a run waits for: that its service answers, or takes us for who we are."""
    return cause_of_lane(service_of(ended.operation), ended.ending.kind)


def cause_of_end(ended: ExecutionEnded, rule: str) -> FailureCause:
    """Return the cause of a failure without a call, or of a call that nobody knows anything about."""
    if ended.ending in UNJUDGED or not ended.operation:
        return FailureCause("", ended.ending or ended.status, rule)
    return FailureCause(ended.operation, ended.ending)


class DossierEvent(DomainEvent):
    """Something in the life of a dossier."""

    @property
    def dossier(self) -> str:
        """Return the id of the dossier."""
        return id_of(self.stream)


class DossierOpened(DossierEvent):
    """Something failed, and staff are told; `runs` is how many there were, `reason` what the latest one said."""

    TOPIC = "dossier.opened"

    operation: str
    ending: str
    rule: str = ""
    runs: int = 0
    reason: str = ""


class DossierReopened(DossierEvent):
    """The cause returned within a day."""

    TOPIC = "dossier.reopened"

    runs: int = 0
    reason: str = ""


class DossierClosed(DossierEvent):
    """Nothing of it is open any more; how its runs ended is counted."""

    TOPIC = "dossier.closed"

    done: int = 0
    by_hand: int = 0
    no_longer_needed: int = 0
    dismissed: int = 0


class DossierAssigned(DossierEvent):
    """Somebody is to look after it; empty where nobody is any more."""

    TOPIC = "dossier.assigned"

    to: str
    by: str


class DossierNoted(DossierEvent):
    """Somebody wrote a note; `note` is the reference of its words, a value of `member`."""

    TOPIC = "dossier.noted"

    by: str
    member: str = ""
    note: str


class DossierSettled(DossierEvent):
    """So many events that could not be read can be read now, or are not looked at any more."""

    TOPIC = "dossier.settled"

    how: Literal["read", "dismissed"]
    events: int
    by: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class DossierState:
    """A dossier as its events left it; `cause` is None before the first opening."""

    version: int = 0
    cause: FailureCause | None = None
    is_open: bool = False
    opened_at: datetime | None = None
    closed_at: datetime | None = None
    assigned_to: str = ""


def dossier_stream(dossier: str) -> str:
    """Return the stream of a dossier."""
    return entity("dossier", dossier)


def dossier_state(events: Iterable[DomainEvent]) -> DossierState:
    """Return the state that a dossier's events fold to."""
    state = DossierState()
    for event in events:
        state = after_dossier_event(state, event)
    return state


def after_dossier_event(state: DossierState, event: DomainEvent) -> DossierState:
    """Return the state of a dossier after one more event."""
    state = replace(state, version=event.version)
    match event:
        case DossierOpened():
            cause = FailureCause(event.operation, event.ending, event.rule)
            return replace(state, cause=cause, is_open=True, opened_at=event.at, closed_at=None, assigned_to="")
        case DossierReopened():
            return replace(state, is_open=True, closed_at=None)
        case DossierClosed():
            return replace(state, is_open=False, closed_at=event.at)
        case DossierAssigned():
            return replace(state, assigned_to=event.to)
        case _:
            return state


def opening(
    state: DossierState, cause: FailureCause, *, runs: int, reason: str, at: datetime
) -> DossierOpened | DossierReopened | None:
    """Decide what it means that something of a cause is open: nothing where the dossier is open already."""
    if state.is_open:
        return None
    stream, version = dossier_stream(cause.dossier), state.version + 1
    if state.closed_at is not None and at - state.closed_at <= REOPENS_WITHIN:
        return DossierReopened(stream=stream, version=version, at=at, runs=runs, reason=reason)
    return DossierOpened(
        stream=stream,
        version=version,
        at=at,
        operation=cause.operation,
        ending=cause.ending,
        rule=cause.rule,
        runs=runs,
        reason=reason,
    )


def closing(state: DossierState, dossier: str, settled: Mapping[str, int], at: datetime) -> DossierClosed | None:
    """Decide what it means that nothing of a dossier is open; `settled` counts how its runs ended."""
    if not state.is_open:
        return None
    return DossierClosed(
        stream=dossier_stream(dossier),
        version=state.version + 1,
        at=at,
        done=settled.get("done", 0),
        by_hand=settled.get("by_hand", 0),
        no_longer_needed=settled.get("no_longer_needed", 0),
        dismissed=settled.get("dismissed", 0),
    )


def notice_of(event: DossierOpened | DossierReopened | DossierClosed, cause: FailureCause) -> Notice:
    """Return what staff are told about the opening or the closing of a dossier."""
    about = {"dossier": event.dossier, "cause": str(cause), "rule": cause.rule}
    if isinstance(event, DossierClosed):
        counts = event.model_dump(include={"done", "by_hand", "no_longer_needed", "dismissed"})
        return Notice(RECOVERED, f"{event.dossier}/{event.version}", about | counts)
    return Notice(OPENED, f"{event.dossier}/{event.version}", about | {"runs": event.runs, "reason": event.reason})
