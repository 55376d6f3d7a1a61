"""What holds for every action, so that a new one is tested as soon as its file is there."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import ValidationError
from ruamel.yaml import YAML

from automations.actions import Action, actions
from automations.authoring import read_rule
from automations.fact_catalogue import FactCatalogue
from automations.resolving import SettingUnfit
from domain.commands import Command
from tests.automations.actions.facts import AT, BOOKING, SETTINGS, SUBSCRIPTION, KnownFacts

HOSTILE: tuple[Any, ...] = (
    "",
    " ",
    "\0",
    "\ud800",
    "{{",
    "{% for x in y %}",
    "{{ member.name",
    "x" * 200_000,
    "{{ 'x' | replace: 'x', '" + "y" * 5_000 + "' }}" * 10,
    "-1 EUR",
    "1e400 EUR",
    "999999999999 years",
    "member/",
    "../../etc/passwd",
    "javascript:alert(1)",
    0,
    -1,
    1e308,
    float("nan"),
    10**400,
    True,
    None,
    [],
    {},
    ["x"] * 1_000,
    {"x": {"x": {"x": {"x": {"x": {"x": {"x": "deep"}}}}}}},
    {"x": "\ud800", "y": 2**60, 3: 4},
    {"amount": 1.5, "currency": "EUR"},
    object(),
)

every_action = pytest.mark.parametrize("action", actions.values(), ids=list(actions))
"""The registry itself: nothing has to be listed here for a new action."""


def made(action: type[Action], **changes: Any) -> Action:
    return action.model_validate({**SETTINGS[action.NAME], **changes})


def command_or_fault(
    action: type[Action], facts: KnownFacts, **changes: Any
) -> Command | SettingUnfit | ValidationError:
    try:
        return made(action, **changes).command(facts, AT)
    except (SettingUnfit, ValidationError) as error:
        return error


def facts_for(action: type[Action]) -> KnownFacts:
    return KnownFacts({**BOOKING, **SUBSCRIPTION} if action.NAME == "offer_renewal" else BOOKING)


def hostile_settings(action: type[Action]) -> Iterator[dict[str, Any]]:
    for setting in SETTINGS[action.NAME]:
        for value in HOSTILE:
            yield {setting: value}


@every_action
def test_its_docstring_is_a_manual_page_with_an_example(action: type[Action]) -> None:
    page = action.__doc__ or ""
    assert len(page.splitlines()) > 3
    assert f"Example: `{action.NAME}: " in page


@every_action
def test_its_example_is_a_rule_s_action(action: type[Action]) -> None:
    example = YAML(typ="safe").load((action.__doc__ or "").partition("Example: `")[2].rpartition("`")[0])
    about = "subscription.expiring" if action.NAME == "offer_renewal" else "booking.starting"

    read = read_rule({"id": "r", "when": about, "before": "1 hour", "do": [example]})

    assert read.rule.do[0].action == action.NAME


@every_action
def test_its_settings_are_all_tried_here(action: type[Action]) -> None:
    names = {info.alias or name for name, info in action.model_fields.items()}
    assert names == set(SETTINGS[action.NAME])


@every_action
def test_its_settings_are_frozen_and_no_other_is_taken(action: type[Action]) -> None:
    made_action = made(action)
    for name in action.model_fields:
        with pytest.raises(ValidationError):
            setattr(made_action, name, "other")
    with pytest.raises(ValidationError):
        made(action, another="one")


@every_action
def test_its_settings_survive_being_written_and_read(action: type[Action]) -> None:
    made_action = made(action)
    written = made_action.model_dump(mode="json", exclude_unset=True)
    assert action.model_validate(written) == made_action
    assert set(written) == set(SETTINGS[action.NAME])


@every_action
def test_its_command_is_that_of_its_operation_and_comes_out_the_same_again(action: type[Action]) -> None:
    settings = copy.deepcopy(SETTINGS[action.NAME])

    first, second = (made(action).command(facts_for(action), AT) for _ in range(2))

    assert first == second
    assert first.OPERATION == action.OPERATION
    assert first.entity == facts_for(action).value("entity")
    assert settings == SETTINGS[action.NAME]


@every_action
def test_its_command_survives_being_written_and_read(action: type[Action]) -> None:
    command = made(action).command(facts_for(action), AT)
    assert type(command).model_validate_json(command.model_dump_json()) == command


@every_action
def test_hostile_settings_are_refused_when_saved_or_named_when_run(action: type[Action]) -> None:
    for changes in hostile_settings(action):
        found = command_or_fault(action, facts_for(action), **changes)
        if isinstance(found, SettingUnfit):
            assert found.setting in changes
        elif isinstance(found, Command):
            assert type(found).model_validate_json(found.model_dump_json()) == found


@every_action
def test_a_missing_fact_is_named_with_its_setting_and_never_a_value(action: type[Action]) -> None:
    facts = dict(SUBSCRIPTION if action.NAME == "offer_renewal" else BOOKING)
    for path in facts.keys() - {"entity"}:
        without = KnownFacts({name: value for name, value in facts.items() if name != path})
        found = command_or_fault(action, without)
        if isinstance(found, SettingUnfit):
            assert found.setting
            assert "Mia" not in str(found)


@every_action
def test_an_entity_without_a_member_is_named_where_one_is_needed(action: type[Action]) -> None:
    nobody = KnownFacts({**BOOKING, "booking.member_id": None, "member.member_id": None})
    changes = {name: value for name, value in (("member", None), ("to", "member")) if name in SETTINGS[action.NAME]}

    found = command_or_fault(action, nobody, **changes)

    if action.NAME in {"create_task", "call_webhook"}:
        assert isinstance(found, Command)
        assert found.member_id == ""
    else:
        assert isinstance(found, SettingUnfit)
        assert found.reason == "booking/b1 has no member"


@every_action
def test_its_settings_pass_the_check_of_a_trigger_that_offers_everything(action: type[Action]) -> None:
    about = "subscription" if action.NAME == "offer_renewal" else "booking"
    catalogue = FactCatalogue((about, "booking", "subscription", "member", "resource", "space"))
    assert list(made(action).check(SETTINGS[action.NAME], catalogue)) == []
