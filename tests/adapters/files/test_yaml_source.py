"""YAML files are read as plain data, each value with its place, and hostile ones are refused."""

from __future__ import annotations

import time
from typing import Any

import pytest

from adapters.files.source_text import LARGEST_FILE
from adapters.files.yaml_source import Document, read_document, read_documents
from automations import authoring
from automations.authoring import read_rules
from automations.mistakes import Key
from domain.errors import InvalidInput, Mistake

RULES = """\
# rules of the house
rules:
  - id: access-instructions          # identity; part of the dedupe key
    name: Access instructions
    when: booking.starting
    before: 2 hours
    where:
      - resource.kind is meeting_room
      - any:
          - member.company is empty
          - not: member.tags contains "vip"
    do:
      - grant_access: {door: "{{ resource.door }}", from: 1 hour before booking.starts_at, until: booking.ends_at}
      - notify: {type: access-instructions, to: member}
  - {id: b, when: booking.changed, where: [event.changed contains "attendees"], do: [notify: {type: x}]}
"""


def value(text: str) -> Any:
    return read_document(text, "x.yaml").value


def refusal(content: str | bytes) -> str:
    with pytest.raises(InvalidInput) as error:
        read_documents(content, "x.yaml")
    return str(error.value)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("on", "on"),
        ("off", "off"),
        ("yes", "yes"),
        ("no", "no"),
        ("y", "y"),
        ("12:00", "12:00"),
        ("12:00:30", "12:00:30"),
        ("190:20:30", "190:20:30"),
        ("2026-05-10", "2026-05-10"),
        ("2026-05-10 00:00", "2026-05-10 00:00"),
        ("2026-05-10T10:00:00+02:00", "2026-05-10T10:00:00+02:00"),
        ("100 EUR", "100 EUR"),
        ("1_000", "1_000"),
        ("=", "="),
        ("true", True),
        ("False", False),
        ("~", None),
        ("null", None),
        ("", None),
        ("12", 12),
        ("010", 10),
        ("0o17", 15),
        ("0x1F", 31),
        ("-1.5", -1.5),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("+", "+"),
        ("1.2.3", "1.2.3"),
        ("'12'", "12"),
        ('"true"', "true"),
        ("!!str 12", "12"),
        ("! 12", "12"),
        ("''", ""),
        ("|\n  a\n  b", "a\nb"),
        ("&x 5", 5),
    ],
)
def test_a_scalar_is_read_by_the_core_schema_without_dates(written: str, read: Any) -> None:
    found = value(f"a: {written}")["a"]
    assert (found, type(found)) == (read, type(read))


def test_keys_are_texts() -> None:
    assert value("{1: a, true: b, on: c, 'x y': d}") == {"1": "a", "true": "b", "on": "c", "x y": "d"}


def test_aliases_repeat_values_without_sharing_them() -> None:
    found = value("a: &x {b: [1]}\nc: *x")
    assert found == {"a": {"b": [1]}, "c": {"b": [1]}}
    assert found["a"] is not found["c"]


def test_a_stream_holds_several_documents() -> None:
    documents = read_documents("a: 1\n---\n# nothing\n---\n- 2\n", "x.yaml")
    assert [document.value for document in documents] == [{"a": 1}, None, [2]]
    assert documents[2].place((0,)) == "x.yaml:5:3"


def test_an_empty_file_has_no_document() -> None:
    assert read_documents("", "x.yaml") == []
    with pytest.raises(InvalidInput, match=r"^x.yaml:1:1: the file is empty"):
        read_document("", "x.yaml")


def test_a_file_of_one_document_refuses_a_second() -> None:
    with pytest.raises(InvalidInput, match=r"^x.yaml:3:1: a second document"):
        read_document("a: 1\n---\nb: 2\n", "x.yaml")


def test_bytes_are_utf8_with_or_without_a_mark() -> None:
    assert value("\ufeffa: é") == read_document("a: é".encode(), "x").value == {"a": "é"}
    assert read_document("\ufeffa: é".encode(), "x").value == {"a": "é"}
    assert read_document(b"a: 1\r\nb: 2\r\n", "x").place(("b",)) == "x:2:4"


BOMB = "a: &a [x,x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{name}: &{name} [{','.join(['*' + before] * 10)}]\n" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)

TOWER = f"- &a {'[' * 45}{']' * 45}\n- {'[' * 45} *a {']' * 45}\n"

REFUSED: list[tuple[str | bytes, str, str]] = [
    ("a:\n\t- b", "2:1", "a tab cannot stand here: indent with spaces"),
    ("\ta: 1", "1:1", "a tab"),
    ("a: b: c", "1:5", "a colon and a space in it needs quotes"),
    ("a: [1,", "1:7", "not closed"),
    ("a: [x", "1:6", "not closed"),
    ("a: {x: 1", "1:9", "not closed"),
    ("a: 'x", "1:4", "never closed"),
    ('a: "x\n\nb: 1\n', "1:4", "never closed"),
    ('a: "\\q"', "1:6", "means nothing in double quotes"),
    ("- a\nb: c", "2:1", "indentation"),
    ("a:\n  b: 1\n c: 2", "3:2", "indentation"),
    ("a: @x", "1:4", "begins with @ needs quotes"),
    ("a: `x", "1:4", "begins with ` needs quotes"),
    ("a: %x", "1:4", "begins with % needs quotes"),
    ("a: *nope", "1:4", "nothing is anchored as &nope"),
    ("? [a]\n: b", "1:3", "a key is a text"),
    ("a: {{ member.name }}", "1:5", "a template needs quotes"),
    ("&a [*a]", "1:5", "*a stands inside of what it repeats"),
    ("a: &b {c: {d: *b}}", "1:15", "stands inside of what it repeats"),
    ("a: !foo x", "1:4", "the tag '!foo' means nothing"),
    ("a: !!timestamp 2026-01-01", "1:4", "means nothing"),
    ("a: !!python/object:os.system x", "1:4", "means nothing"),
    ("a: 1\nb: 2\na: 3", "3:1", "the key 'a' stands here twice, first in line 1"),
    ("a: 1\n'a': 3", "2:1", "twice"),
    ("<<: {a: 1}", "1:1", "does not merge"),
    (": x", "1:1", "a key is missing"),
    ("a: .inf", "1:4", "not a number that can be stored"),
    ("a: .nan", "1:4", "not a number that can be stored"),
    ("a: 1e999", "1:4", "too large"),
    ("a: " + "9" * 5000, "1:4", "at most 40 digits"),
    ("a: \0", "1:4", "U+0000"),
    ("a: \x1b[31m", "1:4", "U+001B"),
    ("a:\n - \ud800", "2:4", "U+D800"),
    ('a: "\\0"', "1:4", "U+0000"),
    ('a: "\\ud83d"', "1:4", "U+D83D"),
    ('"\\0": 1', "1:1", "U+0000"),
    (b"a: b\nc: \xff", "2:4", "the byte 0xFF is not UTF-8"),
    (b"\xff\xfea\x00", "1:1", "not UTF-8"),
    ("[" * 100, "1:52", "more than 50 lists"),
    ("[" * 100_000, "1:52", "more than 50 lists"),
    ("{a: " * 60 + "1", "1:205", "more than 50 lists"),
    ("\n".join("  " * depth + "a:" for depth in range(60)), "52:103", "more than 50 lists"),
    (TOWER, "2:49", "more than 50 lists"),
    (BOMB, "6:8", "more than 200,000 values"),
]


@pytest.mark.parametrize(("content", "place", "message"), REFUSED, ids=lambda value: repr(value)[:40])
def test_a_hostile_file_is_refused_at_its_place_with_what_to_do(content: str | bytes, place: str, message: str) -> None:
    began = time.process_time()
    told = refusal(content)
    assert told.startswith(f"x.yaml:{place}: ")
    assert message in told
    assert time.process_time() - began < 5


def test_a_huge_file_is_refused_unread() -> None:
    assert "split it into several files" in refusal("a" * (LARGEST_FILE + 1))


def document(text: str = RULES) -> Document:
    return read_document(text, "rules.yaml")


@pytest.mark.parametrize(
    ("path", "offset", "place"),
    [
        ((), 0, "2:1"),
        (("rules",), 0, "3:3"),
        (("rules", 0), 0, "3:5"),
        (("rules", 0, "id"), 0, "3:9"),
        (("rules", 0, "where", 0), 0, "8:9"),
        (("rules", 0, "where", 0), 17, "8:26"),
        (("rules", 0, "where", 1, "any", 1, "not"), 12, "11:30"),
        (("rules", 0, "do", 0, "grant_access", "door"), 3, "13:34"),
        (("rules", 1, "where", 0), 14, "15:58"),
        (("rules", 0, Key("before")), 0, "6:5"),
        (("rules", 0, "no", "such", "thing"), 0, "3:5"),
        (("rules", 7), 0, "3:3"),
    ],
)
def test_a_path_leads_to_a_line_and_a_column(path: tuple[str | int, ...], offset: int, place: str) -> None:
    assert document().place(path, offset) == f"rules.yaml:{place}"


@pytest.mark.parametrize(
    ("written", "offset", "place"),
    [
        ("a: plain text", 6, "1:10"),
        ("a: 'it''s here'", 5, "1:11"),
        ('a: "a \\"b\\" c"', 6, "1:13"),
        ('a: "\\x41\\u00e9 z"', 3, "1:16"),
        ("a: multi\n    line text", 6, "2:5"),
        ("a: >\n  folded\n  text", 7, "3:3"),
        ("a: |\n  two\n  lines", 4, "3:3"),
        ("a: |2\n  two\n\n  lines", 5, "4:3"),
        ("a: 'x\n\n  y'", 2, "3:3"),
        ('a: "x \\\n  y"', 2, "2:3"),
        ("a: x", 99, "1:5"),
        ("a: ''", 3, "1:4"),
        ("a:", 0, "1:1"),
        ("a:\n\nb: 1", 0, "1:1"),
    ],
)
def test_an_offset_counts_characters_as_they_were_read(written: str, offset: int, place: str) -> None:
    assert read_document(written, "x").place(("a",), offset) == f"x:{place}"


def test_mistakes_become_lines_in_the_order_of_the_file() -> None:
    mistakes = [Mistake(("rules", 0, "where", 0), "second", 17), Mistake(("rules", 0, "id"), "first")]
    assert document().lines(mistakes) == ["rules.yaml:3:9: first", "rules.yaml:8:26: second"]


def test_a_rule_file_is_told_each_mistake_with_its_place() -> None:
    wrong = RULES.replace("meeting_room", "meetingroom").replace("starts_at", "start").replace("before: 2", "befor: 2")
    read = document(wrong)
    with pytest.raises(InvalidInput) as error:
        authoring.read_document(read.value)
    assert str(read.located(error.value)).split("; rules.yaml") == [
        "rules.yaml:3:5: booking.starting needs 'before', like before: 2 hours",
        ":6:5: there is no setting 'befor'; did you mean before?",
        ":8:26: resource.kind never has the value 'meetingroom'; did you mean meeting_room?",
        ":13:73: no fact is called 'booking.start'; did you mean booking.starts_at or booking.start_time?",
    ]


def test_the_rules_of_a_file_are_read() -> None:
    assert [one.rule.id for one in read_rules(document().value["rules"])] == [
        "access-instructions",
        "b",
    ]
