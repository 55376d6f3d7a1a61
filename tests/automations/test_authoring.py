"""Rules are read from plain data, and every mistake in them is told at its place."""

from __future__ import annotations

from typing import Any

import pytest

from automations.advice import advice_on
from automations.authoring import AuthoredRule, authored_form, read_document, read_rule, read_rules
from domain.condition_tree import AllOf, AnyOf, Leaf, Not
from domain.errors import InvalidInput
from domain.offsets import Offset
from domain.rules import Rule

ACCESS: dict[str, Any] = {
    "id": "access-instructions",
    "name": "Access instructions",
    "when": "booking.starting",
    "before": "2 hours",
    "where": [
        "resource.kind is meeting_room",
        "booking.attendees at least 2",
        {"any": ["member.company is empty", {"not": 'member.tags contains "vip"'}]},
    ],
    "do": [
        {
            "grant_access": {
                "door": "{{ resource.door }}",
                "from": "15 minutes before booking.starts_at",
                "until": "booking.ends_at",
            }
        },
        {"notify": {"type": "access-instructions", "to": "member"}},
    ],
    "once": "date",
    "give_up_after": "30 minutes",
    "when_late": "run",
    "enabled": True,
}

EVENT: dict[str, Any] = {"id": "a", "when": "booking.created", "do": [{"notify": {"type": "x"}}]}
CLOCK: dict[str, Any] = {**EVENT, "when": "booking.starting", "before": "2 hours"}
REMINDER: dict[str, Any] = {**EVENT, "when": "reminder.due"}


def mistakes_of(rule: Any) -> list[tuple[str, str, int]]:
    with pytest.raises(InvalidInput) as refusal:
        read_rule(rule)
    found = refusal.value.mistakes
    return [(".".join(map(str, mistake.path)), mistake.message, mistake.offset) for mistake in found]


def test_a_rule_is_read_as_it_was_meant() -> None:
    rule = read_rule(ACCESS).rule
    assert rule.before == Offset.parse("2 hours")
    assert rule.where == AllOf(
        (
            Leaf("resource.kind", "is", "meeting_room"),
            Leaf("booking.attendees", "at least", 2),
            AnyOf((Leaf("member.company", "is empty"), Not(Leaf("member.tags", "contains", "vip")))),
        )
    )
    assert [step.action for step in rule.do] == ["grant_access", "notify"]


def test_a_stored_rule_survives_json() -> None:
    rule = read_rule(ACCESS).rule
    assert Rule.model_validate_json(rule.model_dump_json()) == rule


@pytest.mark.parametrize(
    "given", [ACCESS, EVENT, CLOCK, REMINDER, {**CLOCK, "enabled": False}], ids=lambda one: one["when"]
)
def test_what_was_read_can_be_written_and_read_again(given: dict[str, Any]) -> None:
    read = read_rule(given)
    assert read_rule(authored_form(read.rule, enabled=read.enabled)) == read


def test_a_rule_is_enabled_and_named_after_its_id_unless_it_says_otherwise() -> None:
    assert read_rule(EVENT) == AuthoredRule(read_rule({**EVENT, "name": "a"}).rule, enabled=True)
    assert not read_rule({**EVENT, "enabled": False}).enabled


@pytest.mark.parametrize(
    ("rule", "once"),
    [
        (EVENT, "event"),
        (CLOCK, "date"),
        (REMINDER, "date"),
        ({**ACCESS, "once": "date"}, "date"),
        ({key: value for key, value in ACCESS.items() if key != "once"}, "moment"),
        ({**CLOCK, "do": [{"revoke_access": {"door": "d"}}]}, "moment"),
        ({**EVENT, "do": [{"revoke_access": {"door": "d"}}]}, "event"),
        ({**EVENT, "once": "entity"}, "entity"),
    ],
)
def test_what_a_rule_acts_once_for_follows_its_trigger_and_what_it_opens(rule: dict[str, Any], once: str) -> None:
    assert read_rule(rule).rule.once == once


def test_an_action_may_go_on_after_a_failure_said_inside_or_beside_its_settings() -> None:
    inside = {"notify": {"type": "x", "on_failure": "go_on"}}
    beside = {"notify": {"type": "x"}, "on_failure": "go_on"}
    for written in (inside, beside):
        step = read_rule({**EVENT, "do": [written]}).rule.do[0]
        assert (step.on_failure, step.settings) == ("go_on", {"type": "x"})


@pytest.mark.parametrize("name", ["when", "id", "do"])
def test_what_is_missing_is_named_at_its_mapping(name: str) -> None:
    rule = {key: value for key, value in EVENT.items() if key != name}
    assert mistakes_of(rule) == [("", f"'{name}' is missing", 0)]


@pytest.mark.parametrize(
    ("change", "path", "message"),
    [
        ({"id": ""}, "id", "id is text"),
        ({"id": 5}, "id", "put it in quotes"),
        ({"id": "a b"}, "id", "an id has letters"),
        ({"id": "a/b"}, "id", "an id has letters"),
        ({"id": "x" * 101}, "id", "at most 100"),
        ({"name": "x" * 201}, "name", "at most 200"),
        ({"name": "x\ny"}, "name", "unprintable"),
        ({"nmae": "x"}, "nmae", "there is no setting 'nmae'; did you mean name?"),
        ({5: "x"}, "5", "there is no setting 5"),
        ({"when": "booking.startng"}, "when", "did you mean booking.starting?"),
        ({"when": ["booking.created"]}, "when", "when is text"),
        ({"before": "2 hours"}, "before", "event trigger"),
        ({"after": "2 hours"}, "after", "event trigger"),
        ({"once": "moment"}, "once", "acts once per event, date or entity"),
        ({"once": "year"}, "once", "once is never 'year'"),
        ({"once": ["date"]}, "once", "once is never"),
        ({"when_late": "skip"}, "when_late", "no lead time"),
        ({"when_late": 5}, "when_late", "when_late is never 5"),
        ({"enabled": "on"}, "enabled", "enabled is true or false"),
        ({"give_up_after": "soon"}, "give_up_after", "not an amount of time"),
        ({"give_up_after": 30}, "give_up_after", "30 is not an amount of time"),
        ({"give_up_after": "1 month"}, "give_up_after", "no fixed length"),
        ({"do": []}, "do", "do is a list"),
        ({"do": {"notify": {}}}, "do", "do is a list"),
        ({"do": [5]}, "do.0", "an action is written"),
        ({"do": [{"notify": {"type": "x"}}] * 21}, "do", "at most 20 actions"),
        ({"do": [{"notifi": {}}]}, "do.0.notifi", "did you mean notify?"),
        ({"do": [{}]}, "do.0", "stands by itself"),
        ({"do": [{"notify": {"type": "x"}, "create_task": {"title": "y"}}]}, "do.0", "stands by itself"),
        ({"do": [{"notify": "x"}]}, "do.0.notify", "are a mapping"),
        ({"do": [{"notify": {}}]}, "do.0.notify", "'type' is missing"),
        ({"do": ["notify"]}, "do.0.notify", "'type' is missing"),
        ({"do": [{"notify": {"type": "x", "tpye": 1}}]}, "do.0.notify.tpye", "did you mean type?"),
        ({"do": [{"notify": {"type": 5}}]}, "do.0.notify.type", "put it in quotes"),
        ({"do": [{"charge_fee": {"amount": 15, "reason": "x"}}]}, "do.0.charge_fee.amount", "bare number"),
        ({"do": [{"notify": {"type": "x", "on_failure": "x"}}]}, "do.0.notify.on_failure", "stop or go_on"),
        ({"do": [{"notify": {"type": "x"}, "on_failure": 5}]}, "do.0.on_failure", "stop or go_on"),
        ({"do": [{"create_task": {"title": "x" * 60_000}}]}, "do.0.create_task", "at most 50000"),
        ({"where": 5}, "where", "a sentence or a group"),
        ({"where": {"al": []}}, "where.al", "there is no setting 'al'; did you mean all?"),
        ({"where": {"all": "a.b is c"}}, "where.all", "begin each with a dash"),
        ({"where": {"any": []}}, "where.any", "the group is empty"),
        ({"where": {"all": [], "any": []}}, "where", "a group has one key"),
        ({"where": [{}]}, "where.0", "the condition is empty"),
        ({"where": [{"fact": "booking.attendees", "value": 1}]}, "where.0.operator", "'operator' is missing"),
        ({"where": [{"fact": 5, "operator": "is"}]}, "where.0.fact", "fact is text"),
        (
            {"where": [{"fact": "booking.attendees", "operator": "is", "vlaue": 1}]},
            "where.0.vlaue",
            "mean value?",
        ),
        (
            {"where": [{"fact": "booking.attendees", "operator": "is", "value": "many"}]},
            "where.0.value",
            "a number",
        ),
        (
            {"where": [{"fact": "booking.attendees", "operator": "in", "value": 1}]},
            "where.0.value",
            "a list of values",
        ),
        (
            {"where": [{"fact": "booking.attendees", "operator": "between", "value": [1]}]},
            "where.0.value",
            "two values",
        ),
        (
            {"where": [{"fact": "booking.attendees", "operator": "is", "value": [1]}]},
            "where.0.value",
            "one value",
        ),
        (
            {"where": [{"fact": "booking.series_id", "operator": "is empty", "value": 1}]},
            "where.0.value",
            "no value",
        ),
        (
            {"where": [{"fact": "booking.price", "operator": "is", "value": {"amount": 1}}]},
            "where.0.value",
            "money",
        ),
        (
            {"where": [{"fact": "booking.price", "operator": "is", "value": [None]}]},
            "where.0.value.0",
            "a value is text",
        ),
    ],
    ids=str,
)
def test_a_mistake_is_told_at_its_place(change: dict[Any, Any], path: str, message: str) -> None:
    found = mistakes_of({**EVENT, **change})
    assert len(found) == 1, found
    assert found[0][0] == path
    assert message in found[0][1]


@pytest.mark.parametrize(
    ("sentence", "offset", "message"),
    [
        ("booking.atendees is 2", 0, "did you mean booking.attendees?"),
        ("  booking.attendees atleast 2", 20, "did you mean at least?"),
        ("booking.attendees above many", 24, "write a number, like 10"),
        ("booking.price above 100", 20, "write 100 EUR"),
        ("booking.price above 10.001 EUR", 20, "decimals"),
        ("booking.price above 10 eur", 20, "did you mean EUR?"),
        ("booking.status is confirmd", 18, "did you mean confirmed?"),
        ("booking.weekday in [saturday, sonday]", 19, "did you mean sunday?"),
        ("event.changed contains atendees", 23, "did you mean attendees?"),
        ("member.tags is vip", 12, "use contains"),
        ("booking.attendees contains 3", 18, "cannot compare"),
        ("booking.all_day above yes", 16, "cannot compare"),
        ("booking.duration above 2", 23, "write a duration, like 2 hours"),
        ("booking.starts_at before noon", 25, "write a date like 2026-05-12"),
        ("booking.starts_at between 09:00 and 2026-01-01", 26, "write both alike"),
        ("booking.attendees between 9 and 2", 26, "write the lower value first"),
        ("booking.date is 12.05.2026", 16, "write a date, like 2026-05-12"),
        ("booking.date is 2026-02-30", 16, "write a date"),
        ("booking.start_time is 25:00", 22, "write a time, like 09:00"),
        ("booking.all_day is maybe", 19, "write yes or no"),
        ("booking.series_id is 1.5", 21, "in quotes"),
        ('member.company contains ""', 24, "at least one letter"),
        ("booking.extra.x above many", 22, "has no order"),
        ("invoice.total above 1 EUR", 0, "this trigger has no invoice"),
    ],
)
def test_a_mistake_in_a_sentence_is_told_where_it_stands(sentence: str, offset: int, message: str) -> None:
    path, told, at = mistakes_of({**EVENT, "where": [sentence]})[0]
    assert (path, at) == ("where.0", offset)
    assert message in told


@pytest.mark.parametrize(
    ("rule", "path", "message"),
    [
        ({**EVENT, "when": "booking.starting"}, "", "booking.starting needs 'before', like before: 2 hours"),
        ({**CLOCK, "after": "2 hours"}, "after", "takes 'before' here"),
        ({**CLOCK, "before": "2"}, "before", "not an amount of time"),
        ({**CLOCK, "before": "2 hours at 09:00"}, "before", "a clock time goes with days"),
        ({**CLOCK, "once": "event"}, "once", "acts once per date, moment or entity"),
        ({**REMINDER, "before": "2 hours"}, "before", "the reminder itself says when"),
    ],
)
def test_offsets_have_to_fit_the_trigger(rule: dict[str, Any], path: str, message: str) -> None:
    found = mistakes_of(rule)
    assert found[0][0] == path
    assert message in found[0][1]


@pytest.mark.parametrize(
    ("action", "path", "offset", "message"),
    [
        (
            {"create_task": {"title": "a {{ member.nmae }}"}},
            "create_task.title",
            5,
            "did you mean member.name?",
        ),
        ({"create_task": {"title": "{{ member.name"}}, "create_task.title", 0, "expected"),
        (
            {"notify": {"type": "x", "payload": {"a": ["b", "{{ invoice.total }}"]}}},
            "notify.payload.a.1",
            3,
            "no invoice",
        ),
        (
            {
                "grant_access": {
                    "door": "d",
                    "from": "5 minutes before booking.starts",
                    "until": "booking.ends_at",
                }
            },
            "grant_access.from",
            17,
            "did you mean booking.starts_at?",
        ),
        (
            {"grant_access": {"door": "d", "from": "booking.starts_at", "until": "booking.attendees"}},
            "grant_access.until",
            0,
            "no point in time",
        ),
    ],
)
def test_facts_in_settings_are_checked(action: dict[str, Any], path: str, offset: int, message: str) -> None:
    found = mistakes_of({**EVENT, "do": [action]})
    assert [(one[0], one[2]) for one in found] == [(f"do.0.{path}", offset)]
    assert message in found[0][1]


def test_every_mistake_of_a_document_is_told_at_once() -> None:
    document = {
        "rules": [{**EVENT, "when": "x", "id": "a b"}, 5, {**EVENT, "where": ["a.b is 1", "c"]}],
        "other": 1,
    }
    with pytest.raises(InvalidInput) as refusal:
        read_document(document)
    paths = {mistake.path for mistake in refusal.value.mistakes}
    assert paths == {
        ("other",),
        ("rules", 0, "id"),
        ("rules", 0, "when"),
        ("rules", 1),
        ("rules", 2, "where", 0),
        ("rules", 2, "where", 1),
    }


def test_two_rules_of_one_id_are_a_mistake() -> None:
    with pytest.raises(InvalidInput, match="rule 1 of this list is called a too"):
        read_rules([EVENT, {**EVENT, "name": "another"}], ("rules",))


@pytest.mark.parametrize(
    "document", [None, [], "rules", 5, {}, {"rules": 5}, {"rules": None}, {"rules": [EVENT] * 5001}]
)
def test_a_document_without_rules_is_refused(document: Any) -> None:
    with pytest.raises(InvalidInput):
        read_document(document)


def test_an_empty_list_of_rules_is_fine() -> None:
    assert read_document({"rules": []}) == ()


def test_a_rule_that_waits_for_days_to_pass_is_advised_to_use_the_offset() -> None:
    rule = {
        **EVENT,
        "when": "invoice.overdue",
        "after": "0 days",
        "where": ["invoice.days_overdue at least 3"],
    }
    advice = advice_on(read_rule(rule).rule)
    assert [mistake.path for mistake in advice] == [("where",)]
    assert "after: 3 days" in advice[0].message
    assert advice_on(read_rule(ACCESS).rule) == advice_on(read_rule(EVENT).rule) == []
