"""The dedupe key, and one execution: its claim, its attempts, its ending.

The key is the stream: `execution-<key>`. Its version 1 is `execution.started`, so the unique index of the
log on (stream, version) is what makes an execution happen once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Literal

from pydantic import Field

from domain.civil_time import Instant
from domain.endings import Ending
from domain.events import DomainEvent
from domain.ids import digest

Once = Literal["date", "event", "moment", "entity"]
Status = Literal["waiting", "running", "done", "skipped", "missed", "failed", "unknown", "cancelled"]
Origin = Literal["rule", "staff"]
Checks = Literal["all", "wanted", "conditions"]

OVER: frozenset[Status] = frozenset({"done", "skipped", "missed", "failed", "unknown", "cancelled"})
"""Statuses after which nothing happens by itself any more."""

HARMLESS: frozenset[Status] = frozenset({"skipped", "missed", "cancelled"})
"""Endings that free the key again, as long as no call may have had an effect (semantics 1)."""


def dedupe_key(rule: str, trigger: str, entity: str, occasion: str) -> str:
    """Return the key of the one execution: SHA-256 over the length-prefixed parts. No time of looking is in it."""
    return digest(rule, trigger, entity, occasion)


def occasion_of(once: Once, day: str, *, event: str = "", wall: datetime | None = None) -> str:
    """Return what a rule acts once for: a date, an event, an exact moment, or the entity for ever.

    `day` is the event date as text (of a reminder's occurrence with the number of its change), `event` the
    source and id of the event, `wall` the wall time of the moment.
    """
    match once:
        case "entity":
            return ""
        case "event":
            return f"{day} {event}"
        case "moment" if wall is not None:
            return f"{day} {wall.isoformat()}"
        case _:
            return day


def stream_of(key: str) -> str:
    """Return the stream of the execution with this dedupe key."""
    return f"execution-{key}"


def key_of(stream: str) -> str:
    """Return the dedupe key that an execution's stream is named after."""
    return stream.removeprefix("execution-")


class Occurrence(DomainEvent):
    """What a claim and a re-armed claim say alike: for what, by which wording, and on what grounds.

    `reasons` holds every leaf of the conditions with the values it saw. `due` is the moment of a clock
    trigger, `source` the version, in the entity's stream, of the event of an event trigger. The claimer runs
    the first action itself, so attempt 1 of action 0 starts with the claim. `by` is who asked for what was past.
    """

    rule_version: int
    event_date: date
    due: Instant | None = None
    source: int = 0
    late: bool = False
    member: str = ""
    actions: tuple[str, ...] = ()
    reasons: tuple[dict[str, Any], ...] = ()
    facts_at: int = 0
    by: str = ""


class ExecutionStarted(Occurrence):
    """The claim: from now on nobody else runs this rule for this key.

    Of origin `staff` it is a manual operation, without a rule: `operation` and `arguments` say what was asked
    for, personal values by reference.
    """

    TOPIC = "execution.started"

    rule: str
    trigger: str
    entity: str
    occasion: str
    origin: Origin = "rule"
    operation: str = ""
    arguments: dict[str, Any] = Field(default_factory=dict)
    personal: dict[str, str] = Field(default_factory=dict)


class ExecutionRearmed(Occurrence):
    """A claim that had ended without any effect is taken up again for the same key."""

    TOPIC = "execution.rearmed"


class AttemptStarted(DomainEvent):
    """One more try at an action begins; recorded before its call."""

    TOPIC = "execution.attempt-started"

    action: int
    attempt: int
    series: int = 1
    by: str = ""


class ActionDone(DomainEvent):
    """An attempt at an action has ended, and what became of the execution by it.

    `operation` and `arguments` say what was called, personal values by reference. With status `running` the
    next action's first attempt starts in the same commit; with `waiting` it is tried again at `again_at`. An
    attempt that a held lane let through to see whether its service answers is not `counted`.
    """

    TOPIC = "execution.action-done"

    action: int
    attempt: int
    series: int = 1
    operation: str
    idempotency_key: str
    started_at: Instant
    arguments: dict[str, Any] = Field(default_factory=dict)
    personal: dict[str, str] = Field(default_factory=dict)
    member: str = ""
    ending: Ending
    status: Status
    reason: str = ""
    again_at: Instant | None = None
    counted: bool = True


class ExecutionEnded(DomainEvent):
    """An execution is over without a further call: skipped, missed, cancelled, failed or unknown.

    `ending` is the class of a failure, and `operation` what was, or would have been, called.
    """

    TOPIC = "execution.ended"

    status: Status
    reason: str
    values: tuple[dict[str, Any], ...] = ()
    by: str = ""
    ending: str = ""
    operation: str = ""


@dataclass(frozen=True, slots=True)
class Execution:
    """The state of one execution.

    It is `touched` once a call may have had an effect, `doubtful` while nobody knows whether the present action
    has had one, and `probing` while the lane of its service is held, so
    that its attempts do not count; `waited` says whether it comes back from waiting, `calling` whether a call has
    begun that must not be made twice, `lost` how many attempts before this one in a row have left no ending.
    `todo` lists the actions that are not over, the present one first; `failed` those that ended otherwise than
    done, and `attempted` how often each of these was tried. `before` counts the attempts at the present action
    that no schedule counts any more. `checks` says what has to hold before a call: all that the rule asks for,
    or, once staff retried it, that it is still wanted, with or without the conditions. `failure` is the class of
    a failure before any call. It is `contradicted` while what started it does not hold any more, though it was
    charged for.
    """

    key: str
    version: int
    claim: ExecutionStarted
    occurrence: Occurrence
    status: Status = "running"
    reason: str = ""
    at: datetime | None = None
    action: int = 0
    attempt: int = 1
    series: int = 1
    again_at: datetime | None = None
    first_attempt_at: datetime | None = None
    touched: bool = False
    doubtful: bool = False
    sent: ActionDone | None = None
    probing: bool = False
    waited: bool = False
    calling: bool = False
    lost: int = 0
    todo: tuple[int, ...] = ()
    failed: tuple[int, ...] = ()
    attempted: Mapping[int, int] = field(default_factory=dict)
    before: int = 0
    checks: Checks = "all"
    failure: str = ""
    dismissed: bool = False
    contradicted: bool = False

    @property
    def rearmable(self) -> bool:
        """Say whether a new occasion may take this key up again: nothing was done and nothing may have been."""
        return self.status in HARMLESS and not self.touched

    @property
    def next_attempt(self) -> int:
        """Return the number of the next attempt; one that a held lane foiled does not count."""
        return self.attempt if self.probing else self.attempt + 1

    @property
    def tries(self) -> int:
        """Return how many attempts at the present action its schedule counts."""
        return self.attempt - self.before

    @property
    def is_last_action(self) -> bool:
        """Say whether nothing is left to do behind the present action."""
        return not self.todo[1:]

    @property
    def succeeded(self) -> frozenset[int]:
        """Return the actions that are done."""
        return frozenset(range(len(self.occurrence.actions))).difference(self.todo, self.failed)

    def attempts_at(self, action: int) -> int:
        """Return how often an action that did not succeed was tried."""
        return self.attempt if action == self.action else self.attempted.get(action, 0)

    @property
    def idempotency_key(self) -> str:
        """Return the key that the present action passes to its service, on every attempt of its series."""
        return idempotency_key(self.key, self.action, self.series)


def idempotency_key(key: str, action: int, series: int = 1) -> str:
    """Return the key of one action's calls: `<key>/<number>`, and `/<series>` after a repeat on purpose."""
    return f"{key}/{action}" if series == 1 else f"{key}/{action}/{series}"
