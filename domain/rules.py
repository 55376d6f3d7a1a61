"""A rule and its life: drafted, enabled, revised, disabled, archived; each is an event with who and when.

The rule's id is its identity and part of the dedupe key: renaming, rewording or disabling it changes no key.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from domain.civil_time import Instant
from domain.condition_tree import Condition
from domain.errors import InvalidInput
from domain.events import DomainEvent
from domain.executions import Once
from domain.ids import entity
from domain.offsets import Offset

WhenLate = Literal["run", "skip"]
OnFailure = Literal["stop", "go_on"]


class Step(BaseModel):
    """One action of a rule: its name, its settings as they were written, and what its failure means."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    action: str
    settings: dict[str, Any] = {}
    on_failure: OnFailure = "stop"


class Rule(BaseModel):
    """The wording of a rule, in its stored form.

    `before` and `after` are for clock triggers. `give_up_after` is None where the trigger's own limit holds.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    name: str
    when: str
    before: Offset | None = None
    after: Offset | None = None
    where: Condition | None = None
    do: Annotated[tuple[Step, ...], Field(min_length=1)]
    once: Once
    give_up_after: Offset | None = None
    when_late: WhenLate = "run"


class RuleEvent(DomainEvent):
    """Something in the life of a rule; `by` is who did it."""

    by: str = ""


class RuleDrafted(RuleEvent):
    """The first wording of a rule was saved; it does not run yet."""

    TOPIC = "rule.drafted"

    rule: Rule


class RuleRevised(RuleEvent):
    """A new wording was saved; runs that are claimed already keep the wording that claimed them."""

    TOPIC = "rule.revised"

    rule: Rule


class RuleEnabled(RuleEvent):
    """From now on the rule runs, looking ahead only."""

    TOPIC = "rule.enabled"


class RuleDisabled(RuleEvent):
    """From now on nothing of the rule runs; what falls due meanwhile is counted as missed while disabled."""

    TOPIC = "rule.disabled"


class RuleArchived(RuleEvent):
    """The rule is over; what waits is cancelled, what was done stays readable."""

    TOPIC = "rule.archived"


class RuleBackfilled(RuleEvent):
    """Somebody had what was past run as well: what was due after one instant, up to and including another.

    `found` is how many matched when they were counted.
    """

    TOPIC = "rule.backfilled"

    after: Instant
    up_to: Instant
    found: int


@dataclass(frozen=True, slots=True)
class RuleState:
    """A rule as its events left it.

    `version` counts wordings, beginning at 1; `stream_version` counts events. `looks_ahead_from` is the
    instant since which the present trigger and offset are enabled: moments due and known before it are past.
    """

    stream_version: int
    version: int
    rule: Rule
    wordings: Mapping[int, Rule] = field(default_factory=dict)
    enabled: bool = False
    archived: bool = False
    looks_ahead_from: datetime | None = None
    disabled_at: datetime | None = None
    once_changed: bool = False

    @property
    def runs(self) -> bool:
        """Say whether new candidates of this rule are looked for."""
        return self.enabled and not self.archived


def rule_stream(rule_id: str) -> str:
    """Return the stream of a rule's life."""
    return entity("rule", rule_id)


def rule_state(events: Iterable[DomainEvent], state: RuleState | None = None) -> RuleState | None:
    """Return the state that a rule's events fold to, or None where there are none."""
    for event in events:
        state = after_rule_event(state, event)
    return state


def after_rule_event(state: RuleState | None, event: DomainEvent) -> RuleState | None:
    """Return the state of a rule after one more event of its stream."""
    if state is None:
        return _drafted(event) if isinstance(event, RuleDrafted) else None
    state = replace(state, stream_version=event.version)
    match event:
        case RuleRevised():
            return _revised(state, event)
        case RuleEnabled():
            return replace(state, enabled=True, archived=False, looks_ahead_from=event.at, disabled_at=None)
        case RuleDisabled():
            return replace(state, enabled=False, disabled_at=event.at)
        case RuleArchived():
            return replace(state, enabled=False, archived=True, disabled_at=event.at)
        case _:
            return state


def _drafted(event: RuleDrafted) -> RuleState:
    return RuleState(event.version, 1, event.rule, {1: event.rule})


def _revised(state: RuleState, event: RuleRevised) -> RuleState:
    old, new = state.rule, event.rule
    retimed = (old.when, old.before, old.after) != (new.when, new.before, new.after)
    return replace(
        state,
        version=state.version + 1,
        rule=new,
        wordings={**state.wordings, state.version + 1: new},
        looks_ahead_from=event.at if retimed and state.enabled else state.looks_ahead_from,
        once_changed=state.once_changed or old.once != new.once,
    )


@dataclass(frozen=True, slots=True)
class _Writer:
    """Numbers the events that one decision makes."""

    stream: str
    version: int
    at: datetime
    by: str

    def event(self, kind: type[RuleEvent], number: int, **content: Any) -> RuleEvent:
        return kind(stream=self.stream, version=self.version + number, at=self.at, by=self.by, **content)


def saved(state: RuleState | None, rule: Rule, *, enabled: bool, at: datetime, by: str) -> list[RuleEvent]:
    """Decide what saving a wording means; the same wording in the same condition again means nothing.

    An archived rule that is saved as enabled comes back to life, under the keys that it always had.
    """
    writer = _Writer(rule_stream(rule.id), state.stream_version if state else 0, at, by)
    events: list[RuleEvent] = []
    if state is None:
        events.append(writer.event(RuleDrafted, 1, rule=rule))
    elif state.rule != rule:
        events.append(writer.event(RuleRevised, 1, rule=rule))
    was_enabled = state is not None and state.enabled
    if enabled is not was_enabled:
        events.append(writer.event(RuleEnabled if enabled else RuleDisabled, len(events) + 1))
    return events


def switched(state: RuleState, to: Literal["enabled", "disabled"], *, at: datetime, by: str) -> list[RuleEvent]:
    """Decide what enabling or disabling means; doing it again means nothing."""
    if state.archived:
        raise InvalidInput(f"the rule {state.rule.id} is archived: save it again to bring it back")
    if state.enabled is (to == "enabled"):
        return []
    writer = _Writer(rule_stream(state.rule.id), state.stream_version, at, by)
    return [writer.event(RuleEnabled if to == "enabled" else RuleDisabled, 1)]


def backfilled(
    state: RuleState, *, after: datetime, up_to: datetime, found: int, at: datetime, by: str
) -> list[RuleEvent]:
    """Decide what running the past of a rule means; only one that runs can do it."""
    if not state.runs:
        raise InvalidInput(f"the rule {state.rule.id} is not enabled: enable it first")
    writer = _Writer(rule_stream(state.rule.id), state.stream_version, at, by)
    return [writer.event(RuleBackfilled, 1, after=after, up_to=up_to, found=found)]


def archived(state: RuleState, *, at: datetime, by: str) -> list[RuleEvent]:
    """Decide what archiving means; doing it again means nothing."""
    if state.archived:
        return []
    writer = _Writer(rule_stream(state.rule.id), state.stream_version, at, by)
    return [writer.event(RuleArchived, 1)]
