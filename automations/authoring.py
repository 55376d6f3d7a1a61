"""Rules as people write them, read from plain data and checked: every mistake is told, with its place.

The data are mappings, lists and texts, as a YAML or JSON document gives them. What comes out are wordings
in their stored form, each with whether the author wants it enabled.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from automations.condition_reading import read_condition
from automations.conditions import written
from automations.mistakes import Mistakes, Path
from automations.rule_fields import RULE_KEYS, FieldReader
from automations.steps import read_steps
from automations.triggers import Trigger, triggers
from domain.executions import Once
from domain.rules import Rule, Step
from domain.text_values import shown

MOST_RULES = 5_000
"""Rules in one document."""

LONGEST_NAME = 200
"""Characters of a rule's name."""

_RULE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")

_ONCES = ("date", "event", "moment", "entity")

DOOR_ACTIONS = frozenset({"grant_access", "revoke_access"})
"""Actions that have to follow the hours of a booking within its day: their rules act once for a moment."""


@dataclass(frozen=True, slots=True)
class AuthoredRule:
    """A checked wording, and whether its author wants it enabled."""

    rule: Rule
    enabled: bool = True


def read_document(data: object) -> tuple[AuthoredRule, ...]:
    """Return the rules of a document `{rules: [...]}`, or raise InvalidInput with every mistake in it."""
    mistakes = Mistakes()
    rules: tuple[AuthoredRule, ...] = ()
    if not isinstance(data, dict):
        mistakes.add((), f"a rule file begins with rules:, not with {shown(data)}")
    else:
        for key in data:
            if key != "rules":
                mistakes.unknown_key((), key, ("rules",))
        if "rules" in data:
            rules = _read_list(data["rules"], ("rules",), mistakes)
        elif not mistakes:
            mistakes.add((), "'rules' is missing")
    mistakes.raise_if_any()
    return rules


def read_rules(data: object, path: Path = ()) -> tuple[AuthoredRule, ...]:
    """Return the rules of a list, or raise InvalidInput with every mistake, placed below `path`."""
    mistakes = Mistakes()
    rules = _read_list(data, path, mistakes)
    mistakes.raise_if_any()
    return rules


def read_rule(data: object, path: Path = ()) -> AuthoredRule:
    """Return one rule, or raise InvalidInput with every mistake, placed below `path`."""
    mistakes = Mistakes()
    rule = _Reader(data, path, mistakes).read()
    mistakes.raise_if_any()
    assert rule is not None
    return rule


def authored_form(rule: Rule, *, enabled: bool = True) -> dict[str, Any]:
    """Return a wording as its author would write it; `read_rule` reads it back as the same wording."""
    offset = {name: str(value) for name in ("before", "after") if (value := getattr(rule, name)) is not None}
    where = {} if rule.where is None else {"where": written(rule.where)}
    limit = {} if rule.give_up_after is None else {"give_up_after": str(rule.give_up_after)}
    return {
        "id": rule.id,
        "name": rule.name,
        "when": rule.when,
        **offset,
        **where,
        "do": [_step_form(step) for step in rule.do],
        "once": rule.once,
        **limit,
        "when_late": rule.when_late,
        "enabled": enabled,
    }


def _step_form(step: Step) -> dict[str, Any]:
    failure = {} if step.on_failure == "stop" else {"on_failure": step.on_failure}
    return {step.action: {**step.settings, **failure}}


def _read_list(data: object, path: Path, mistakes: Mistakes) -> tuple[AuthoredRule, ...]:
    if not isinstance(data, list):
        mistakes.add(path, f"rules are a list: begin each with a dash, and not {shown(data)}")
        return ()
    if len(data) > MOST_RULES:
        mistakes.add(path, f"a document holds at most {MOST_RULES} rules, this one has {len(data)}")
        return ()
    rules: list[AuthoredRule] = []
    first: dict[str, int] = {}
    for index, item in enumerate(data):
        place = (*path, index)
        rule = _Reader(item, place, mistakes).read()
        identifier = item.get("id") if isinstance(item, Mapping) else None
        if isinstance(identifier, str) and first.setdefault(identifier, index) != index:
            mistakes.add((*place, "id"), f"rule {first[identifier] + 1} of this list is called {identifier} too")
        if rule is not None:
            rules.append(rule)
    return tuple(rules)


class _Reader:
    """Reads one rule; what cannot be read leaves a mistake, and the reading goes on."""

    def __init__(self, data: object, path: Path, mistakes: Mistakes) -> None:
        self._data, self._path, self._mistakes = data, path, mistakes

    def read(self) -> AuthoredRule | None:
        data, before = self._data, len(self._mistakes)
        if not isinstance(data, dict):
            self._mistakes.add(self._path, f"a rule is a mapping with id, when and do, and not {shown(data)}")
            return None
        fields = FieldReader(data, self._path, self._mistakes)
        for key in data:
            if key not in RULE_KEYS:
                self._mistakes.unknown_key(self._path, key, RULE_KEYS)
        identifier = fields.text("id", required=True)
        if identifier and not _RULE_ID.fullmatch(identifier):
            fields.mistake("id", "an id has letters, digits, dots, dashes and underscores, at most 100 of them")
        enabled = fields.flag("enabled", default=True)
        wording = self._wording(fields, identifier)
        if len(self._mistakes) > before or wording is None:
            return None
        return AuthoredRule(Rule(**wording), enabled)

    def _wording(self, fields: FieldReader, identifier: str) -> dict[str, Any] | None:
        trigger = fields.plugin("when", triggers)
        common: dict[str, Any] = {
            "id": identifier,
            "name": fields.text("name", longest=LONGEST_NAME) or identifier,
            "when_late": fields.choice("when_late", ("run", "skip"), default="run"),
            "give_up_after": fields.offset("give_up_after"),
        }
        steps = read_steps(fields.given("do"), trigger, (*self._path, "do"), self._mistakes)
        if trigger is None:
            return None
        if common["when_late"] == "skip" and not trigger.IS_CLOCK:
            fields.mistake("when_late", f"{trigger.NAME} is an event trigger: there is no lead time to miss")
        return {
            **common,
            "when": trigger.NAME,
            **self._offset(fields, trigger),
            "where": self._where(fields, trigger),
            "do": steps,
            "once": self._once(fields, trigger, steps),
        }

    def _offset(self, fields: FieldReader, trigger: type[Trigger]) -> dict[str, Any]:
        wanted = trigger.OFFSET
        for name in ("before", "after"):
            if name in fields.data and name != wanted:
                fields.key_mistake(name, _no_offset(trigger))
        if wanted is None:
            return {}
        if wanted not in fields.data:
            fields.missing(wanted, f"{trigger.NAME} needs {wanted!r}, like {wanted}: 2 hours")
        return {wanted: fields.offset(wanted)}

    def _where(self, fields: FieldReader, trigger: type[Trigger]) -> Any:
        given = fields.given("where")
        if given is None or given == []:
            return None
        return read_condition(given, trigger.catalogue(), (*self._path, "where"), self._mistakes)

    def _once(self, fields: FieldReader, trigger: type[Trigger], steps: tuple[Step, ...]) -> Once:
        default: Once = trigger.ONCE[0]
        if trigger.IS_CLOCK and any(step.action in DOOR_ACTIONS for step in steps):
            default = "moment"
        chosen = fields.choice("once", _ONCES, default=default)
        if chosen not in trigger.ONCE:
            *others, last = trigger.ONCE
            fields.mistake("once", f"{trigger.NAME} acts once per {', '.join(others)} or {last}")
        return cast(Once, chosen)


def _no_offset(trigger: type[Trigger]) -> str:
    if trigger.OFFSET is not None:
        return f"{trigger.NAME} takes {trigger.OFFSET!r} here"
    if trigger.IS_CLOCK:
        return f"{trigger.NAME} takes no offset: the reminder itself says when"
    return f"{trigger.NAME} is an event trigger: its rules run in that instant, without an offset"
