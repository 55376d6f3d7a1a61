"""What every trigger and operator keeps to, whoever wrote it: found in the registries, none is named here."""

from __future__ import annotations

import copy
import inspect
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from automations.conditions import compiled
from automations.fact_catalogue import FactCatalogue
from automations.fact_reading import Remark
from automations.operators import Operator, Takes, operators
from automations.sentences import read_sentence
from automations.triggers import Trigger, triggers
from automations.value_types import KnownFact, ValueType
from automations.verdicts import Truth
from domain.condition_tree import Leaf
from domain.money import Money
from tests.automations.known_facts import KnownFacts

PLUGINS: list[type[Any]] = [*operators.values(), *triggers.values()]

WRITTEN: dict[ValueType, tuple[Any, Any]] = {
    ValueType.TEXT: ("a", "b"),
    ValueType.TEXTS: ("a", "b"),
    ValueType.CHOICE: ("a", "b"),
    ValueType.NUMBER: (1, 2.5),
    ValueType.MONEY: ("1 EUR", "2 EUR"),
    ValueType.INSTANT: ("2026-05-12", "2026-05-13"),
    ValueType.DATE: ("2026-05-12", "2026-05-13"),
    ValueType.CLOCK: ("09:00", "10:00"),
    ValueType.DURATION: ("1 hour", "2 hours"),
    ValueType.YES_NO: (True, False),
    ValueType.ANY: (1, 2),
}

HOSTILE: tuple[object, ...] = (
    "",
    "x" * 100_000,
    "n/a",
    "\0",
    "\ud800",
    "1" * 5_000,
    "9999-99-99",
    "25:61",
    "1 XXX",
    -(10**400),
    float("nan"),
    float("-inf"),
    Decimal("NaN"),
    Decimal("sNaN"),
    Decimal("1e999999"),
    True,
    Money.parse("5 JPY"),
    date.min,
    datetime.max.replace(tzinfo=UTC),
    datetime(2026, 1, 1),
    time(1, tzinfo=UTC),
    timedelta.min,
    (),
    ("a", 1, None),
    [[]],
    {},
    {"a": 1},
    b"bytes",
    object(),
)

CASES = [(operator, kind) for operator in operators.values() for kind in sorted(operator.TYPES)]


def name_of(plugin: Any) -> str:
    return str(getattr(plugin, "NAME", plugin))


def fact_of(kind: ValueType) -> KnownFact:
    return KnownFact("thing.x", kind, ("a", "b") if kind is ValueType.CHOICE else ())


def made(operator: type[Operator], kind: ValueType) -> Operator:
    first, second = WRITTEN[kind]
    value = {Takes.NOTHING: {}, Takes.ONE: {"value": first}}.get(operator.TAKES, {"value": (first, second)})
    return operator.model_validate(value)


@pytest.mark.parametrize("plugin", PLUGINS, ids=name_of)
def test_a_plugin_is_one_documented_frozen_model(plugin: type[Any]) -> None:
    assert plugin.__doc__ is not None
    assert plugin.__doc__.strip().splitlines()[0].rstrip().endswith((".", ":"))
    assert plugin.model_config["frozen"]
    assert plugin.model_config["extra"] == "forbid"
    with pytest.raises(ValidationError):
        plugin.model_validate({"no_such_setting": 1})


@pytest.mark.parametrize("plugin", PLUGINS, ids=name_of)
def test_a_plugin_has_a_file_of_its_own(plugin: type[Any]) -> None:
    others = [other for other in PLUGINS if inspect.getfile(other) == inspect.getfile(plugin)]
    assert others == [plugin]
    assert "datetime.now" not in Path(inspect.getfile(plugin)).read_text("utf-8")


@pytest.mark.parametrize("operator", operators.values(), ids=name_of)
def test_an_operator_shows_an_example_that_reads_as_itself(operator: type[Operator]) -> None:
    example = (operator.__doc__ or "").partition("Example: `")[2].partition("`")[0]
    assert read_sentence(example).leaf.operator == operator.NAME


@pytest.mark.parametrize(("operator", "kind"), CASES, ids=name_of)
def test_an_operators_settings_survive_json(operator: type[Operator], kind: ValueType) -> None:
    settings = made(operator, kind)
    assert operator.model_validate_json(settings.model_dump_json()) == settings
    assert hash(settings) == hash(copy.deepcopy(settings))


@pytest.mark.parametrize(("operator", "kind"), CASES, ids=name_of)
def test_an_operator_answers_any_value_without_raising_and_alike_each_time(
    operator: type[Operator], kind: ValueType
) -> None:
    test = made(operator, kind).test(fact_of(kind))
    for seen in HOSTILE:
        first, second = test(seen), test(seen)
        assert first == second
        assert isinstance(first, (bool, Remark))
        if isinstance(first, Remark):
            assert first.truth in (Truth.UNKNOWN, Truth.FAULT)
            assert len(first.note) < 200


@pytest.mark.parametrize("operator", operators.values(), ids=name_of)
def test_an_operator_is_unknown_of_a_missing_fact_unless_it_asks_for_it(operator: type[Operator]) -> None:
    kind = min(operator.TYPES)
    settings = made(operator, kind)
    catalogue = FactCatalogue(("booking",))
    leaf = Leaf("booking.extra.x", operator.NAME, settings.model_dump().get("value"))
    if ValueType.ANY in operator.TYPES:
        truth = compiled(leaf, catalogue)(KnownFacts({})).truth
        assert (truth is Truth.UNKNOWN) is not operator.ANSWERS_MISSING


@pytest.mark.parametrize("trigger", triggers.values(), ids=name_of)
def test_a_triggers_settings_survive_json(trigger: type[Trigger]) -> None:
    given = {trigger.OFFSET: "3 days at 09:00"} if trigger.OFFSET else {}
    settings = trigger.model_validate(given)
    assert trigger.model_validate_json(settings.model_dump_json()) == settings


@pytest.mark.parametrize("trigger", triggers.values(), ids=name_of)
def test_a_trigger_needs_its_offset(trigger: type[Trigger]) -> None:
    if trigger.OFFSET:
        with pytest.raises(ValidationError):
            trigger.model_validate({})


@pytest.mark.parametrize("trigger", triggers.values(), ids=name_of)
def test_a_trigger_reads_only_facts_that_its_rules_can_see(trigger: type[Trigger]) -> None:
    asked: set[str] = set()

    class Watched(KnownFacts):
        def value(self, path: str) -> object | None:
            asked.add(path.partition(".")[0])
            return super().value(path)

    for status in ("confirmed", "cancelled", "voided", None):
        trigger.still_wanted(Watched({f"{trigger.KIND}.status": status}))
    assert asked <= set(trigger.ROOTS)
