"""Conditions are read from sentences and written as sentences."""

from __future__ import annotations

import pytest

from automations.sentences import NoSentence, read_sentence, sentence_of
from domain.condition_tree import Leaf

READ = [
    ("resource.kind is meeting_room", Leaf("resource.kind", "is", "meeting_room")),
    ("booking.attendees at least 2", Leaf("booking.attendees", "at least", 2)),
    ("invoice.total above 100 EUR", Leaf("invoice.total", "above", "100 EUR")),
    ("booking.start_time between 09:00 and 17:00", Leaf("booking.start_time", "between", ("09:00", "17:00"))),
    ('member.tags contains "vip"', Leaf("member.tags", "contains", "vip")),
    ("member.company is empty", Leaf("member.company", "is empty")),
    ("member.company is not empty", Leaf("member.company", "is not empty")),
    ("member.company is not Acme GmbH & Co", Leaf("member.company", "is not", "Acme GmbH & Co")),
    ('member.company is "empty"', Leaf("member.company", "is", "empty")),
    ("member.company is Acme, Inc.", Leaf("member.company", "is", "Acme, Inc.")),
    ("member.name is 'O''Brien'", Leaf("member.name", "is", "O'Brien")),
    ("member.name is Bob's", Leaf("member.name", "is", "Bob's")),
    (r'member.name is "a \"b\" \\ c"', Leaf("member.name", "is", r'a "b" \ c')),
    ('a.b in [x, "y, z", 3]', Leaf("a.b", "in", ("x", "y, z", 3))),
    ("a.b in x, y", Leaf("a.b", "in", ("x", "y"))),
    ("a.b is one of x", Leaf("a.b", "in", ("x",))),
    ("a.b is not in x,y", Leaf("a.b", "not in", ("x", "y"))),
    ("a.b is at least 3", Leaf("a.b", "at least", 3)),
    ("a.b AT  LEAST 3", Leaf("a.b", "at least", 3)),
    ("  a.b   before   2026-05-12 ", Leaf("a.b", "before", "2026-05-12")),
    ("a.b is true", Leaf("a.b", "is", True)),
    ('a.b is "true"', Leaf("a.b", "is", "true")),
    ("a.b is 0042", Leaf("a.b", "is", "0042")),
    ('a.b is "42"', Leaf("a.b", "is", "42")),
    ("a.b is -1.50", Leaf("a.b", "is", -1.5)),
    ("a.b is 1234567890.123456789", Leaf("a.b", "is", "1234567890.123456789")),
    ('booking.extra."door code" is 5', Leaf("booking.extra.door code", "is", 5)),
    ("booking.extra.door-code is 5", Leaf("booking.extra.door-code", "is", 5)),
    ('a.b is "x and booking.y"', Leaf("a.b", "is", "x and booking.y")),
    ("a.b starts with 2026-", Leaf("a.b", "starts with", "2026-")),
]

SIGNS = {"=": "is", "==": "is", "!=": "is not", ">": "above", "<": "below", ">=": "at least", "<=": "at most"}

REFUSED = [
    ("", 0, "is empty"),
    ("   ", 3, "is empty"),
    ("9 is 3", 0, "begins with a fact"),
    ("a.b", 3, "operator is missing"),
    ("a.b is", 6, "value is missing"),
    ("a.b contain x", 4, "did you mean contains"),
    ("a.b => 3", 4, "no operator is called"),
    ("a.b in []", 8, "list is empty"),
    ("a.b in [x", 9, "not closed"),
    ("a.b in [x,]", 10, "value is missing"),
    ("a.b is [x]", 7, "a list goes with in"),
    ("a.b between 3", 13, "two ends"),
    ('a.b is "x', 7, "quotes are not closed"),
    ('a.b is "x" y', 11, "nothing may follow"),
    (r'a.b is "\q"', 7, "backslash"),
    ("a.b is “x”", 7, "straight quotes"),
    ("a.b is empty 5", 13, "nothing may follow"),
    ("a.b is x and booking.c is y", 9, "another one"),
    ("a.b is x\ny", 9, "nothing may follow"),
    ("a.b is " + "x" * 5000, 4000, "at most 4000"),
]


@pytest.mark.parametrize(("sentence", "leaf"), READ, ids=[sentence for sentence, _ in READ])
def test_a_sentence_is_read_as_its_condition(sentence: str, leaf: Leaf) -> None:
    assert read_sentence(sentence).leaf == leaf


@pytest.mark.parametrize("leaf", [leaf for _, leaf in READ], ids=str)
def test_a_condition_is_written_as_a_sentence_that_reads_as_itself(leaf: Leaf) -> None:
    assert read_sentence(sentence_of(leaf)).leaf == leaf


@pytest.mark.parametrize(("sign", "operator"), SIGNS.items())
@pytest.mark.parametrize("space", ["", " "])
def test_signs_are_read_as_their_words(sign: str, operator: str, space: str) -> None:
    assert read_sentence(f"a.b{space}{sign}{space}3").leaf == Leaf("a.b", operator, 3)


@pytest.mark.parametrize(("sentence", "offset", "message"), REFUSED, ids=[one[0][:30] for one in REFUSED])
def test_a_sentence_that_says_nothing_is_refused_where_it_goes_wrong(sentence: str, offset: int, message: str) -> None:
    with pytest.raises(NoSentence, match=message) as refusal:
        read_sentence(sentence)
    assert refusal.value.offset == offset


def test_values_are_written_bare_where_that_reads_well() -> None:
    assert sentence_of(Leaf("a.b", "in", ("x", "y z"))) == "a.b in [x, y z]"
    assert sentence_of(Leaf("a.b", "is", "not x")) == 'a.b is "not x"'
    assert sentence_of(Leaf("a.b", "between", ("1 EUR", "2 EUR"))) == "a.b between 1 EUR and 2 EUR"


def test_a_condition_stays_readable_when_its_operator_is_gone() -> None:
    assert sentence_of(Leaf("a.b", "rhymes with", "x")) == 'a.b rhymes with "x"'
    assert sentence_of(Leaf("a.b", "rhymes with", ("x", "y"))) == 'a.b rhymes with ["x", "y"]'
