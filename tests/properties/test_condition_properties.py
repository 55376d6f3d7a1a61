"""Any condition survives both forms, and answers any facts by the three-valued logic."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from automations.condition_reading import read_condition
from automations.conditions import compiled, written
from automations.fact_catalogue import FactCatalogue
from automations.mistakes import Mistakes
from automations.operators import Takes, operators
from automations.sentences import NoSentence, read_sentence, sentence_of
from automations.value_types import ValueType
from automations.verdicts import Reason, Truth
from domain.condition_tree import AllOf, AnyOf, Leaf, Not, Tree, stored, tree_of
from domain.errors import InvalidInput
from domain.money import Money
from tests.automations.known_facts import KnownFacts

CATALOGUE = FactCatalogue(("booking", "member"))

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30)
words = st.sampled_from(
    ["not x", "empty", "in", "a and b", "true", "42", "-0", "1.50", "x]", '"', "\\", "in [a]", ",", "'"]
)
whole = st.integers(-(10**15), 10**15)
fractions = st.decimals(-(10**6), 10**6, places=3).map(float)
scalars = st.one_of(texts, words, whole, fractions, st.booleans())
names = st.one_of(
    st.from_regex(r"(booking|member)\.[a-z_]{1,9}", fullmatch=True),
    st.tuples(st.sampled_from(["booking", "member"]), texts.filter(bool)).map(
        lambda pair: f"{pair[0]}.extra.{pair[1]}"
    ),
)


@st.composite
def any_leaf(draw: st.DrawFn, paths: st.SearchStrategy[str] = names) -> Leaf:
    name = draw(st.sampled_from(list(operators)))
    values = {
        Takes.NOTHING: st.none(),
        Takes.ONE: scalars,
        Takes.PAIR: st.tuples(scalars, scalars),
        Takes.LIST: st.lists(scalars, min_size=1, max_size=4).map(tuple),
    }
    return Leaf(draw(paths), name, draw(values[operators[name].TAKES]))


def groups(leaves: st.SearchStrategy[Any]) -> st.SearchStrategy[Tree]:
    def around(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        parts = st.lists(inner, min_size=1, max_size=3).map(tuple)
        return st.one_of(parts.map(AllOf), parts.map(AnyOf), inner.map(Not))

    return st.recursive(leaves, around, max_leaves=8)


@given(any_leaf())
def test_any_condition_survives_being_written_as_a_sentence(leaf: Leaf) -> None:
    sentence = sentence_of(leaf)
    assert read_sentence(sentence).leaf == leaf
    assert sentence_of(read_sentence(sentence).leaf) == sentence


@given(groups(any_leaf()))
def test_any_tree_survives_being_stored_as_json(tree: Tree) -> None:
    assert tree_of(json.loads(json.dumps(stored(tree)))) == tree


fitting = st.sampled_from(
    [
        "booking.attendees at least 2",
        "booking.price above 100 EUR",
        "booking.price between 1 EUR and 2 EUR",
        "member.company is not Acme",
        "member.tags contains vip",
        "booking.start_time between 22:00 and 06:00",
        "booking.weekday in saturday, sunday",
        "booking.starts_at before 2026-05-12",
        "booking.starts_at after 2026-05-12T10:00:00Z",
        "booking.duration below 2 hours",
        "booking.all_day is yes",
        "booking.extra.x is empty",
        "booking.extra.x is 5",
        "booking.extra.x above 5",
        "booking.extra.x is 10 EUR",
        "booking.extra.x in a, 3, 10:00",
        "booking.extra.x contains a",
    ]
).map(lambda sentence: read_sentence(sentence).leaf)

seen = st.one_of(
    st.none(),
    texts,
    st.booleans(),
    st.integers(),
    st.floats(),
    st.decimals(),
    st.builds(Money.from_minor_units, st.integers(-(10**6), 10**6), st.sampled_from(["EUR", "JPY", "USD"])),
    st.datetimes(timezones=st.just(UTC)),
    st.datetimes(),
    st.dates(),
    st.times(),
    st.timedeltas(),
    st.lists(texts, max_size=3).map(tuple),
    st.sampled_from(["n/a", "10", "250000.00", "10 EUR", "2026-05-12", "saturday", "09:00", "2 hours"]),
)


@given(groups(fitting))
def test_a_fitting_tree_survives_being_written_and_read(tree: Tree) -> None:
    mistakes = Mistakes()
    read = read_condition(written(tree), CATALOGUE, (), mistakes)
    assert not len(mistakes)
    assert read is not None
    assert written(read) == written(tree)


def reference_truth(tree: Tree, facts: KnownFacts) -> Truth:
    """Return the answer by the rules of the logic, one leaf at a time."""
    match tree:
        case Leaf():
            return compiled(tree, CATALOGUE)(facts).truth
        case Not(part):
            inner = reference_truth(part, facts)
            return {Truth.TRUE: Truth.FALSE, Truth.FALSE: Truth.TRUE}.get(inner, inner)
    answers = {reference_truth(part, facts) for part in tree.parts}
    certain = Truth.FALSE if isinstance(tree, AllOf) else Truth.TRUE
    otherwise = Truth.TRUE if isinstance(tree, AllOf) else Truth.FALSE
    return next((truth for truth in (certain, Truth.FAULT, Truth.UNKNOWN) if truth in answers), otherwise)


@given(groups(fitting), st.data())
def test_any_tree_answers_any_facts_by_the_three_valued_logic(tree: Tree, data: st.DataObject) -> None:
    form = json.dumps(stored(tree))
    paths = {fact.path for fact in CATALOGUE if f'"{fact.path}"' in form} | {"booking.extra.x"}
    facts = KnownFacts({path: data.draw(seen, label=path) for path in sorted(paths)})
    found = compiled(tree, CATALOGUE)(facts)
    assert found.truth is reference_truth(tree, facts)
    assert found == compiled(tree, CATALOGUE)(facts)
    assert len(found.reasons) == form.count('"operator"')
    for reason in found.reasons:
        again = Reason.from_json(json.loads(json.dumps(reason.to_json(), allow_nan=False)))
        assert again.to_json() == reason.to_json()


def outcome(text: str) -> tuple[int, Leaf | None]:
    """Return the condition that a text states, or where it goes wrong."""
    try:
        return 0, read_sentence(text).leaf
    except NoSentence as error:
        return error.offset, None


@given(st.one_of(texts, st.text()))
def test_any_text_is_a_sentence_or_a_mistake_inside_of_it(text: str) -> None:
    offset, leaf = outcome(text)
    assert 0 <= offset <= len(text)
    assert leaf is None or read_sentence(sentence_of(leaf)).leaf == leaf


json_like = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8)),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["fact", "operator", "value", "all", "any", "not", "x"]), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(json_like)
def test_any_data_is_a_condition_or_a_list_of_mistakes(data: Any) -> None:
    mistakes = Mistakes()
    read = read_condition(data, CATALOGUE, (), mistakes)
    assert (read is None) is bool(len(mistakes))
    with suppress(InvalidInput):
        tree_of(data)


@pytest.mark.parametrize("operator", ["is", "above", "at most", "in", "contains"])
@given(secret=st.text("äöüÄÖÜ", min_size=12, max_size=20))
def test_a_personal_value_never_gets_into_a_reason(operator: str, secret: str) -> None:
    fact = "member.extra.x" if ValueType.ANY in operators[operator].TYPES else "member.name"
    check = compiled(read_sentence(f"{fact} {operator} 5").leaf, CATALOGUE)
    found = check(KnownFacts({fact: secret}, {fact: "member/m1/1/x"}))
    assert secret not in json.dumps([reason.to_json() for reason in found.reasons], ensure_ascii=False)


EQUAL: list[tuple[str, Any, str]] = [
    ("booking.attendees", 5, "5"),
    ("booking.price", Money.parse("5.00 EUR"), "5 EUR"),
    ("booking.date", date(2026, 5, 12), "2026-05-12"),
    ("booking.start_time", time(9), "09:00"),
    ("booking.duration", timedelta(minutes=90), "90 minutes"),
    ("booking.starts_at", datetime(2026, 5, 12, 9, tzinfo=UTC), "2026-05-12 09:00"),
    ("booking.extra.x", Decimal("5.0"), "5"),
]


@pytest.mark.parametrize(("fact", "value", "text"), EQUAL)
def test_orders_agree_with_each_other_at_the_border(fact: str, value: Any, text: str) -> None:
    facts = KnownFacts({fact: value})
    answers = {
        name: compiled(read_sentence(f"{fact} {name} {text}").leaf, CATALOGUE)(facts).truth
        for name in ("is", "is not", "above", "below", "at least", "at most")
    }
    assert {name for name, truth in answers.items() if truth is Truth.TRUE} == {"is", "at least", "at most"}
