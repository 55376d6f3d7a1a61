"""Conditions: three-valued, with a reason for every leaf. Trials 19, 34, 35 and 61."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from automations.condition_reading import read_condition
from automations.conditions import compiled, written
from automations.fact_catalogue import FactCatalogue, catalogue_of
from automations.mistakes import Mistakes
from automations.verdicts import Reason, Truth, Verdict, seen_as_json
from domain.condition_tree import AllOf, Leaf, Not, Tree, stored, tree_of
from domain.errors import InvalidInput
from domain.money import Money
from tests.automations.known_facts import KnownFacts

BOOKING = catalogue_of(("booking", "member", "resource", "space", "event"), "booking.changed")
INVOICE = catalogue_of(("invoice", "member", "space", "booking", "subscription", "event"), "invoice.issued")
T, F, U, X = Truth.TRUE, Truth.FALSE, Truth.UNKNOWN, Truth.FAULT


def tree(form: object, catalogue: FactCatalogue = BOOKING) -> Tree:
    mistakes = Mistakes()
    read = read_condition(form, catalogue, (), mistakes)
    assert read is not None, list(map(str, mistakes))
    return read


def verdict(
    form: object,
    facts: Mapping[str, object],
    catalogue: FactCatalogue = BOOKING,
    personal: dict[str, str] | None = None,
) -> Verdict:
    return compiled(tree(form, catalogue), catalogue)(KnownFacts(facts, personal))


def truth(form: object, facts: Mapping[str, object], catalogue: FactCatalogue = BOOKING) -> Truth:
    return verdict(form, facts, catalogue).truth


# Trial 34: numbers that are stored as text


@pytest.mark.parametrize(
    ("seen", "limit", "expected"),
    [
        ("250000.00", 100000, T),
        ("250000.00", 10, T),
        ("9", 100000, F),
        ("9", 10, F),
        ("10", 2, T),
        ("n/a", 100000, X),
        ("n/a", 10, X),
        ("", 10, X),
        ("1e9", 10, X),
        ("NaN", 10, X),
        (" 11 ", 10, T),
        (11, 10, T),
        (Decimal("10.01"), 10, T),
        (10.5, 10, T),
        (True, 10, X),
        (Decimal("NaN"), 10, X),
        (float("inf"), 10, X),
        (None, 10, U),
        ((), 10, X),
    ],
)
def test_a_number_that_is_stored_as_text_compares_as_a_number(seen: object, limit: int, expected: Truth) -> None:
    assert truth(f"invoice.extra.total above {limit}", {"invoice.extra.total": seen}, INVOICE) is expected


def test_a_fault_says_what_is_wrong_and_never_the_value() -> None:
    found = verdict("invoice.extra.total above 10", {"invoice.extra.total": "n/a"}, INVOICE)
    assert found.failed is not None
    assert found.failed.note == "a text that is no number"


@pytest.mark.parametrize("sentence", ["is 9", "is not 9", "in [9, 10]", "between 1 and 9"])
def test_text_against_a_number_is_a_fault_for_every_operator(sentence: str) -> None:
    assert truth(f"invoice.extra.total {sentence}", {"invoice.extra.total": "n/a"}, INVOICE) is X


# Trial 35: currencies and minor units


@pytest.mark.parametrize(
    ("total", "expected"),
    [
        (Money.parse("150 USD"), U),
        (Money.parse("5000 JPY"), U),
        (Money.parse("100.00 EUR"), F),
        (Money.parse("100.01 EUR"), T),
        (Money.sum_of(map(Money.parse, ["33.40 EUR", "33.30 EUR", "33.30 EUR"]), "EUR"), F),
    ],
    ids=str,
)
def test_amounts_compare_exactly_and_within_their_currency(total: Money, expected: Truth) -> None:
    found = verdict("invoice.total above 100 EUR", {"invoice.total": total}, INVOICE)
    assert found.truth is expected
    assert found.reasons[0].seen == str(total)


@pytest.mark.parametrize("operator", ["above", "below", "at least", "at most", "is", "is not"])
@pytest.mark.parametrize("negated", [False, True])
def test_another_currency_matches_nothing_however_it_is_asked(operator: str, negated: bool) -> None:
    sentence = f"invoice.total {operator} 100 EUR"
    found = verdict({"not": sentence} if negated else sentence, {"invoice.total": Money.parse("5 USD")}, INVOICE)
    assert not found.matches
    assert found.truth is not X
    assert found.reasons[0].note == "not comparable: USD with EUR"


def test_an_amount_between_two_currencies_is_refused() -> None:
    with pytest.raises(AssertionError, match="write both alike"):
        tree("invoice.total between 1 EUR and 2 USD", INVOICE)


# Trial 61: missing facts


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("member.company is not Acme", U),
        ("member.company is Acme", U),
        ("member.company in Acme, Other", U),
        ("member.company not in Acme, Other", U),
        ("member.company starts with A", U),
        ("member.company contains A", U),
        ("booking.attendees at least 2", U),
        ("booking.start_time between 09:00 and 10:00", U),
        ("member.company is empty", T),
        ("member.company is not empty", F),
    ],
)
def test_a_missing_fact_is_unknown_and_only_empty_knows_it(sentence: str, expected: Truth) -> None:
    found = verdict(sentence, {})
    assert found.truth is expected
    assert found.reasons[0].note == ("missing" if expected is U else "")


@pytest.mark.parametrize(("seen", "expected"), [("", T), ("  ", T), ((), T), ("x", F), (("",), F), (0, F), (False, F)])
def test_empty_is_what_holds_nothing(seen: object, expected: Truth) -> None:
    assert truth("booking.extra.x is empty", {"booking.extra.x": seen}) is expected


def test_not_does_not_make_unknown_match() -> None:
    assert truth({"not": 'member.company is "Acme"'}, {}) is U


def test_a_rule_that_names_a_fact_which_is_gone_is_broken_and_not_silent() -> None:
    with pytest.raises(InvalidInput, match=r"no fact is called 'member\.shoe_size'"):
        compiled(Leaf("member.shoe_size", "is", 44), BOOKING)
    with pytest.raises(InvalidInput, match="no operator is called 'rhymes with'"):
        compiled(Leaf("member.company", "rhymes with", "x"), BOOKING)


# Trial 19: the space's day

LA = ZoneInfo("America/Los_Angeles")
START = datetime(2026, 7, 2, 1, 0, tzinfo=ZoneInfo("UTC")).astimezone(LA)


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("booking.date is 2026-07-01", T),
        ("booking.starts_at is 2026-07-01", T),
        ("booking.starts_at is 2026-07-02", F),
        ("booking.starts_at before 2026-07-02", T),
        ("booking.starts_at after 2026-07-01", F),
        ("booking.starts_at at most 2026-07-01", T),
        ("booking.starts_at between 2026-07-01 and 2026-07-03", T),
        ("booking.starts_at after 17:59", T),
        ("booking.starts_at is 18:00", T),
        ("booking.starts_at is 2026-07-01 18:00", T),
        ("booking.starts_at is 2026-07-02T01:00:00Z", T),
        ("booking.starts_at after 2026-07-02T03:30:00+02:00", F),
        ("booking.start_time between 17:00 and 19:00", T),
        ("booking.start_time between 22:00 and 06:00", F),
    ],
)
def test_dates_and_times_are_those_of_the_space(sentence: str, expected: Truth) -> None:
    facts = {"booking.starts_at": START, "booking.date": START.date(), "booking.start_time": START.time()}
    assert truth(sentence, facts) is expected


def test_clock_times_may_wrap_midnight() -> None:
    for hour, expected in ((23, T), (3, T), (12, F)):
        sentence = "booking.start_time between 22:00 and 06:00"
        assert truth(sentence, {"booking.start_time": time(hour)}) is expected


def test_a_whole_day_has_no_time_of_day() -> None:
    facts = {"booking.starts_at": date(2026, 7, 1)}
    assert truth("booking.starts_at is 2026-07-01", facts) is T
    assert truth("booking.starts_at after 12:00", facts) is U


# Every kind of value


@pytest.mark.parametrize(
    ("sentence", "seen", "expected"),
    [
        ("booking.duration at least 2 hours", timedelta(hours=2), T),
        ("booking.duration below 90 minutes", timedelta(hours=2), F),
        ("booking.all_day is yes", True, T),
        ("booking.all_day is true", False, F),
        ("booking.all_day is not no", True, T),
        ("booking.weekday in [saturday, sunday]", "sunday", T),
        ("booking.status is not pending", "confirmed", T),
        ("member.name is Zoe\u0308", "Zo\u00eb", T),
        ("member.name starts with Zo\u00eb", "Zoe\u0308 \u00dcnal", T),
        ("member.name contains \u00dcn", "Zo\u00eb \u00dcnal", T),
        ("member.name is acme", "Acme", F),
        ("member.tags contains vip", ("founder", "vip"), T),
        ("member.tags contains vi", ("founder", "vip"), F),
        ("member.tags is empty", (), T),
        ("event.changed contains attendees", ("attendees",), T),
        ("resource.capacity is 2.00", 2, T),
        ("booking.extra.x is 10 EUR", "10.00 EUR", T),
        ("booking.extra.x is 10 EUR", "hello", F),
        ("booking.extra.x is 10 EUR", 10, X),
        ("booking.extra.x is 2026-05-01", "2026-05-01", T),
        ("booking.extra.x before 2026-05-02", "2026-05-01T23:00:00+02:00", T),
        ("booking.extra.x before 2026-05-02", "soon", X),
        ('booking.extra.x is "42"', 42, T),
        ('booking.extra.x is "42"', "042", F),
        ("booking.extra.x is 42", "042", T),
        ("booking.extra.x is yes", True, T),
        ("booking.extra.x is yes", "yes", T),
        ("booking.extra.x is true", "yes", T),
        ("booking.extra.x is abc", 42, X),
        ("booking.extra.x contains a", ["a", 1], T),
        ("booking.extra.x contains 1", ["a", 1], T),
        ("booking.extra.x contains a", 42, X),
        ("booking.extra.x in [1, x]", "x", T),
        ("booking.extra.x in [1, x]", "y", X),
        ("booking.extra.x starts with a", 42, X),
        ("booking.extra.x is abc", {"a": 1}, X),
        ("booking.extra.x above 2 hours", "3 hours", T),
        ("booking.extra.x after 09:00", "9:30", T),
    ],
)
def test_values_compare_as_what_they_mean(sentence: str, seen: object, expected: Truth) -> None:
    path = sentence.split(" ", 1)[0]
    assert truth(sentence, {path: seen}) is expected


# Groups

SEEN: Mapping[str, object] = {"booking.attendees": 5, "booking.extra.bad": "n/a"}
LEAVES = {
    T: "booking.attendees is 5",
    F: "booking.attendees is 6",
    U: "resource.capacity is 5",
    X: "booking.extra.bad above 5",
}


@pytest.mark.parametrize(
    ("kind", "parts", "expected"),
    [
        ("all", (T, T), T),
        ("all", (T, F), F),
        ("all", (T, U), U),
        ("all", (U, F), F),
        ("all", (X, F), F),
        ("all", (X, T), X),
        ("all", (X, U), X),
        ("any", (F, F), F),
        ("any", (F, T), T),
        ("any", (F, U), U),
        ("any", (U, T), T),
        ("any", (X, T), T),
        ("any", (X, F), X),
        ("any", (X, U), X),
    ],
)
def test_groups_join_their_parts_and_a_fault_counts_only_where_it_decides(
    kind: str, parts: tuple[Truth, ...], expected: Truth
) -> None:
    for order in (parts, parts[::-1]):
        found = verdict({kind: [LEAVES[part] for part in order]}, SEEN)
        assert found.truth is expected
        assert len(found.reasons) == len(parts)
        assert found.decisive is not None


@pytest.mark.parametrize(("part", "expected"), [(T, F), (F, T), (U, U), (X, X)])
def test_not_turns_only_true_and_false(part: Truth, expected: Truth) -> None:
    assert truth({"not": LEAVES[part]}, SEEN) is expected


def test_the_first_leaf_that_decided_is_known() -> None:
    found = verdict([LEAVES[T], {"any": [LEAVES[F], {"not": LEAVES[T]}]}, LEAVES[F]], SEEN)
    assert found.failed is not None
    assert (found.failed.fact, found.failed.value) == ("booking.attendees", 6)
    assert verdict(LEAVES[T], SEEN).failed is None


# Reasons


def test_a_reason_survives_json() -> None:
    facts = {
        "booking.starts_at": START,
        "booking.price": Money.parse("5 EUR"),
        "booking.duration": timedelta(hours=1),
    }
    form = [
        "booking.starts_at after 2026-01-01",
        "booking.price above 4 EUR",
        "booking.duration below 2 hours",
    ]
    for reason in verdict(form, facts).reasons:
        assert Reason.from_json(json.loads(json.dumps(reason.to_json()))) == reason


def test_a_personal_value_is_kept_by_reference_only() -> None:
    facts = {"member.company": "Acme"}
    found = verdict("member.company is Other", facts, personal={"member.company": "member/m1/2/company"})
    assert found.reasons[0].to_json() == {
        "fact": "member.company",
        "operator": "is",
        "value": "Other",
        "verdict": "false",
        "reference": "member/m1/2/company",
    }


@pytest.mark.parametrize(
    "value",
    [
        "x" * 10_000,
        ("y",) * 10_000,
        10**5000,
        Decimal("1e999999"),
        {"a": "b" * 5000},
        float("nan"),
        object(),
        [[[1]]],
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_reason_stays_small_whatever_was_seen(value: Any) -> None:
    assert len(json.dumps(seen_as_json(value), allow_nan=False)) < 5_000


# The stored form


def test_both_forms_of_a_condition_are_the_same() -> None:
    sentences = [
        "booking.attendees at least 2",
        {"any": ["member.company is empty", {"not": "booking.all_day is yes"}]},
    ]
    read = tree(sentences)
    assert tree(stored(read)) == read == tree_of(stored(read))
    assert tree(written(read)) == read
    assert written(read) == sentences


def test_the_stored_form_takes_spellings_and_money_as_a_mapping() -> None:
    form = {"fact": "invoice.total", "operator": "at_least", "value": {"amount": "5.00", "currency": "EUR"}}
    assert tree(form, INVOICE) == Leaf("invoice.total", "at least", "5.00 EUR")
    assert tree({**form, "operator": ">="}, INVOICE) == tree(form, INVOICE)


@pytest.mark.parametrize(
    "form",
    [
        None,
        5,
        {},
        {"all": []},
        {"fact": "a.b"},
        {"fact": "a.b", "operator": "is", "value": float("nan")},
        {"fact": "a.b", "operator": "is", "value": 10**400},
        {"fact": "a.b", "operator": "is", "value": "x\0"},
        {"fact": "a.b", "operator": "is", "value": "\ud800"},
        {"fact": "a.b", "operator": "is", "value": [[1]]},
        {"fact": "a.b", "operator": "is", "value": "x" * 2000},
        {"fact": "a.b", "operator": "is", "value": ["x"] * 300},
        {"fact": "a.b", "operator": "is", "other": 1},
    ],
    ids=repr,
)
def test_a_stored_form_that_is_none_is_refused(form: object) -> None:
    with pytest.raises(InvalidInput):
        tree_of(form)


def nested(depth: int) -> Any:
    form: Any = "booking.all_day is yes"
    for _ in range(depth):
        form = {"not": form}
    return form


@pytest.mark.parametrize(
    "form",
    [nested(11), nested(2000), ["booking.all_day is yes"] * 201, [["booking.all_day is yes"] * 150] * 2],
)
def test_a_tree_beyond_all_measure_is_a_mistake(form: Any) -> None:
    mistakes = Mistakes()
    assert read_condition(form, BOOKING, (), mistakes) is None
    assert "at most" in next(iter(mistakes)).message


def test_a_tree_as_deep_as_allowed_works() -> None:
    read = tree(nested(10))
    assert isinstance(read, Not)
    assert compiled(read, BOOKING)(KnownFacts({"booking.all_day": True})).matches


def test_no_condition_matches() -> None:
    assert compiled(None, BOOKING)(KnownFacts({})).matches


def test_a_list_means_all_of_it() -> None:
    assert isinstance(tree(["booking.all_day is yes", "booking.attendees is 1"]), AllOf)
