"""The sentence form of a condition: `resource.kind is meeting_room`, `booking.attendees at least 2`.

A sentence is a fact, an operator in words or signs, and a value. Values need quotes only where they could
be read as something else; inside double quotes a backslash escapes, as in JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from automations.fact_catalogue import ROOTS
from automations.operators import Operator, Takes, operators
from automations.sentence_values import Text, joined, read_values, value_text
from domain.condition_tree import Leaf
from domain.text_values import did_you_mean, shown

LONGEST_SENTENCE = 4_000
"""Characters of one sentence."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z0-9_]+(?:-[A-Za-z0-9_]+)*)*")
_QUOTED_NAME = re.compile(r'\.("(?:[^"\\]|\\.)*")')
_WORDS = re.compile(r"[^\W\d]\w*(?:\s+[^\W\d]\w*)?|[^\w\s\"']+")
_SECOND = re.compile(rf"\s(and|or)\s+(?:{'|'.join(ROOTS)})\.\w", re.IGNORECASE)


class NoSentence(ValueError):
    """A sentence cannot be read; `offset` is the character where that shows."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.offset = offset


@dataclass(frozen=True, slots=True)
class Sentence:
    """A condition as it was read, and where in the sentence its operator and its value begin."""

    leaf: Leaf
    fact_at: int
    operator_at: int
    value_at: int


def read_sentence(sentence: str) -> Sentence:
    """Return the condition that a sentence states, or raise `NoSentence` with the place of the mistake."""
    if len(sentence) > LONGEST_SENTENCE:
        raise NoSentence(f"a condition has at most {LONGEST_SENTENCE} characters", LONGEST_SENTENCE)
    text = Text(sentence, _skipped(sentence, 0), NoSentence)
    start = text.at
    fact = _fact(text)
    text.skip_spaces()
    operator_at = text.at
    name, operator = _operator(text)
    text.skip_spaces()
    value_at = text.at
    second = _SECOND.search(_without_quotes(sentence), value_at)
    if second:
        raise NoSentence(
            f"one condition stands in a sentence: write what follows {second[1]!r} as another one",
            second.start(1),
        )
    return Sentence(Leaf(fact, name, read_values(text, operator.TAKES)), start, operator_at, value_at)


def sentence_of(leaf: Leaf) -> str:
    """Return the sentence that `read_sentence` reads as this condition."""
    begin = f"{_fact_text(leaf.fact)} {leaf.operator}"
    values = leaf.value if isinstance(leaf.value, tuple) else () if leaf.value is None else (leaf.value,)
    if not values:
        return begin
    takes = _takes(leaf)
    bare = f"{begin} {joined([value_text(value, takes) for value in values], takes)}"
    if _reads_as(bare, leaf):
        return bare
    return f"{begin} {joined([value_text(value, takes, quoted=True) for value in values], takes)}"


def _takes(leaf: Leaf) -> Takes:
    # A rule stays readable when the plug-in that it was written with is gone.
    if leaf.operator in operators:
        return operators[leaf.operator].TAKES
    return Takes.LIST if isinstance(leaf.value, tuple) else Takes.ONE


def _reads_as(sentence: str, leaf: Leaf) -> bool:
    try:
        return read_sentence(sentence).leaf == leaf
    except NoSentence:
        return False


def _fact_text(path: str) -> str:
    if _NAME.fullmatch(path):
        return path
    # Fields that outside software adds may have any name; only the part below `extra` needs quotes.
    known, _, name = path.partition(".extra.")
    return f"{known}.extra.{json.dumps(name, ensure_ascii=False)}"


def _fact(text: Text) -> str:
    if text.at_end:
        raise NoSentence("the condition is empty: write one like booking.attendees at least 2", text.at)
    found = text.take(_NAME)
    if found is None:
        raise NoSentence("a condition begins with a fact, like booking.attendees", text.at)
    quoted = text.take(_QUOTED_NAME)
    if quoted is None:
        return found[0]
    return f"{found[0]}.{text.unescaped(quoted[1], quoted.start(1))}"


def _operator(text: Text) -> tuple[str, type[Operator]]:
    for spelling, name in _spellings():
        found = text.take(spelling)
        if found is not None:
            return name, operators[name]
    if text.at_end:
        raise NoSentence("an operator is missing, like is, above or contains", text.at)
    words = _WORDS.match(text.whole, text.at)
    written = words[0] if words else text.whole[text.at : text.at + 20]
    known = ", ".join(operators)
    raise NoSentence(f"no operator is called {shown(written)}{_meant(written) or f'; known: {known}'}", text.at)


def _meant(written: str) -> str:
    return did_you_mean(written, operators) or did_you_mean(written.split(maxsplit=1)[0], operators)


@cache
def _spellings() -> tuple[tuple[re.Pattern[str], str], ...]:
    """Return a pattern for each way of writing an operator, the longest first: `is not` beats `is`."""
    found = sorted(_written_so(), key=lambda pair: -len(pair[0]))
    return tuple((_pattern(written), name) for written, name in found)


def _written_so() -> Iterator[tuple[str, str]]:
    for name, operator in operators.items():
        yield name, name
        for spelling in operator.SPELLINGS:
            yield spelling, name


def _pattern(written: str) -> re.Pattern[str]:
    words = r"\s+".join(re.escape(word) for word in written.split())
    end = r"(?![\w.-])" if written[-1].isalnum() else r"(?![<>=!])"
    return re.compile(words + end, re.IGNORECASE)


def operator_named(written: str) -> str:
    """Return the name of an operator that is written in any of its spellings, or raise `UnknownName`."""
    wanted = " ".join(written.replace("_", " ").split()).casefold()
    for spelling, name in _written_so():
        if spelling == wanted:
            return name
    operators[written]
    return written


def _without_quotes(sentence: str) -> str:
    return re.sub(r'"(?:[^"\\]|\\.)*"|\'[^\']*\'', lambda found: "x" * len(found[0]), sentence)


def _skipped(sentence: str, at: int) -> int:
    return len(sentence) - len(sentence[at:].lstrip())
