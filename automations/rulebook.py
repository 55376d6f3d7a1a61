"""The rules as they are at one place of the log, made ready to look at candidates."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from automations.conditions import Check, compiled
from automations.ports import FactSource
from automations.registry import nearest
from automations.triggers import Trigger, triggers
from automations.verdicts import Verdict
from domain.errors import CorruptEvent, InvalidInput
from domain.executions import Once
from domain.ids import id_of
from domain.rules import Rule, RuleEvent, RuleRevised, RuleState, after_rule_event


@dataclass(frozen=True, slots=True)
class ReadyRule:
    """One version of a rule with its conditions compiled and its trigger found.

    `broken` says why the rule cannot be used any more, where a plug-in or a fact that it names has gone.
    """

    state: RuleState
    judge: Check
    trigger: Trigger | None
    broken: str = ""

    @property
    def rule(self) -> Rule:
        """Return the wording."""
        return self.state.rule

    @property
    def id(self) -> str:
        """Return the rule's identity."""
        return self.state.rule.id

    @property
    def version(self) -> int:
        """Return the number of the wording."""
        return self.state.version

    @property
    def when(self) -> str:
        """Return the trigger type."""
        return self.state.rule.when

    @property
    def once(self) -> Once:
        """Return what the rule acts once for."""
        return self.state.rule.once


def ready(state: RuleState) -> ReadyRule:
    """Return a rule ready for use; one that cannot be read any more is ready to say so."""
    rule = state.rule
    try:
        kind = triggers[rule.when]
        offsets = {name: value for name in ("before", "after") if (value := getattr(rule, name)) is not None}
        return ReadyRule(state, compiled(rule.where, kind.catalogue()), kind.model_validate(offsets))
    except (LookupError, ValueError, InvalidInput) as error:
        return ReadyRule(state, _unjudged, None, broken=str(error))


def _unjudged(facts: FactSource, *, brief: bool = False) -> Verdict:
    raise AssertionError("a broken rule has no verdict")


def is_clock(trigger: str) -> bool:
    """Say whether a trigger fires because time passed."""
    kind = triggers.get(trigger)
    return kind is not None and kind.IS_CLOCK


class RuleBook:
    """Every rule, enabled or not, as of one position; moved on by the events of rules."""

    def __init__(self, states: Iterable[RuleState] = ()) -> None:
        self._states = {state.rule.id: state for state in states}
        self._made: dict[str, ReadyRule] = {}
        self._spoilt: dict[str, str] = {}
        self._waiting: dict[str, tuple[ReadyRule, ...]] = {}
        self._on_clock: tuple[ReadyRule, ...] = ()
        self._is_indexed = False

    def get(self, rule_id: str) -> RuleState | None:
        """Return the state of one rule."""
        return self._states.get(rule_id)

    def require(self, rule_id: str) -> RuleState:
        """Return the state of one rule; raises InvalidInput with the nearest name if there is none."""
        state = self._states.get(rule_id)
        if state is None:
            raise InvalidInput(f"no rule is called {rule_id!r}{nearest(rule_id, self._states)}")
        return state

    def __iter__(self) -> Iterator[RuleState]:
        return iter(state for _, state in sorted(self._states.items()))

    def apply(self, event: RuleEvent) -> None:
        """Take over one more event of a rule; a new wording mends one that was spoilt."""
        rule_id = id_of(event.stream)
        state = after_rule_event(self._states.get(rule_id), event)
        if state is not None:
            self._states[rule_id] = state
            if isinstance(event, RuleRevised):
                self._spoilt.pop(rule_id, None)
            self._is_indexed = False

    def spoil(self, error: CorruptEvent) -> None:
        """Hold a rule as broken, because an event of its stream cannot be read; others go on."""
        rule_id = id_of(error.stream)
        state = self._states.get(rule_id)
        if state is not None:
            self._spoilt[rule_id] = str(error)
            self._states[rule_id] = replace(state, stream_version=error.version)
            self._is_indexed = False

    def ready(self, rule_id: str) -> ReadyRule | None:
        """Return one rule ready for use, whether it is enabled or not."""
        state = self._states.get(rule_id)
        return None if state is None else self._ready(state)

    def waiting_for(self, trigger: str) -> tuple[ReadyRule, ...]:
        """Return the enabled rules that a trigger type starts, by id."""
        self._index()
        return self._waiting.get(trigger, ())

    def on_clock(self) -> tuple[ReadyRule, ...]:
        """Return the clock rules that were ever enabled, the disabled ones too: what they miss is counted."""
        self._index()
        return self._on_clock

    def _index(self) -> None:
        if self._is_indexed:
            return
        waiting: defaultdict[str, list[ReadyRule]] = defaultdict(list)
        on_clock: list[ReadyRule] = []
        for _, state in sorted(self._states.items()):
            if state.runs:
                waiting[state.rule.when].append(self._ready(state))
            if state.looks_ahead_from is not None and not state.archived and is_clock(state.rule.when):
                on_clock.append(self._ready(state))
        self._waiting = {trigger: tuple(rules) for trigger, rules in waiting.items()}
        self._on_clock = tuple(on_clock)
        self._is_indexed = True

    def _ready(self, state: RuleState) -> ReadyRule:
        """Return a rule ready for use, made once for each of its states."""
        known = self._made.get(state.rule.id)
        if known is None or known.state is not state:
            spoilt = self._spoilt.get(state.rule.id, "")
            known = ReadyRule(state, _unjudged, None, broken=spoilt) if spoilt else ready(state)
            self._made[state.rule.id] = known
        return known
