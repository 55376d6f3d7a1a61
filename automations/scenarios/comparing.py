"""What was expected is compared with what happened; each difference says what was found instead."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from zoneinfo import ZoneInfo

from automations.mistakes import Path
from automations.scenarios.expectations import Expectations, ExpectedCalls, ExpectedDue
from automations.scenarios.lines import Teller
from automations.scenarios.matching import Checks, Line, matched, nearest
from automations.scenarios.observed import Calls, Due, Observed
from domain.ids import kind_of

NOTHING = "nothing like it"


@dataclass(frozen=True, slots=True)
class Difference:
    """Something that is not as expected: where that stands, what was wanted, and what there is instead.

    `nearest` is the row that comes closest, with what is different about it.
    """

    path: Path
    expected: str
    found: str
    nearest: str = ""

    def lines(self) -> Iterator[str]:
        """Return the difference in words."""
        yield f"expected {self.expected}"
        yield f"found {self.found}"
        if self.nearest:
            yield f"nearest: {self.nearest}"

    def to_json(self) -> dict[str, Any]:
        """Return the difference as plain data."""
        return {
            "path": ".".join(map(str, self.path)),
            "expected": self.expected,
            "found": self.found,
            "nearest": self.nearest,
        }


E = TypeVar("E", bound=Line)
R = TypeVar("R")


def compared(expect: Expectations, observed: Observed, zone: ZoneInfo) -> list[Difference]:
    """Return everything in which what happened differs from what was expected; times are told in the zone."""
    return list(_Comparison(expect, observed, Teller(zone)).differences())


@dataclass(frozen=True, slots=True)
class _Comparison:
    expect: Expectations
    observed: Observed
    tell: Teller

    def differences(self) -> Iterator[Difference]:
        yield from self._runs()
        yield from self._counts()
        yield from self._calls()
        yield from self._rows("messages", self.tell.message_checks)
        yield from self._deliveries()
        yield from self._rows("dossiers", self.tell.dossier_checks)
        yield from self._rows("notices", self.tell.message_checks)
        yield from self._will_run()

    def _path(self, *names: str) -> Path:
        return (*self.expect.path, *names)

    def _runs(self) -> Iterator[Difference]:
        """Compare runs: all of them, but for skipped ones that nobody asks for."""
        runs, checks = self.observed.runs, self.tell.run_checks
        yield from self._missing(self.expect.runs_include, runs, checks)
        if self.expect.runs is None:
            return
        yield from self._missing(self.expect.runs, runs, checks)
        extra = [run for run in matched(self.expect.runs, runs, checks).left if run.status != "skipped"]
        yield from self._extra(self._path("runs"), "run", extra)

    def _counts(self) -> Iterator[Difference]:
        counted = Counter(run.status for run in self.observed.runs)
        yield from self._numbers("counts", self.expect.counts or {}, counted)

    def _numbers(self, name: str, wanted: Mapping[str, int], counted: Mapping[str, int]) -> Iterator[Difference]:
        for status, number in wanted.items():
            if counted.get(status, 0) != number:
                told = ", ".join(f"{count} {each}" for each, count in sorted(counted.items())) or "none at all"
                yield Difference(self._path(name, status), f"{number} {status}", f"{counted.get(status, 0)}", told)

    def _calls(self) -> Iterator[Difference]:
        for expected in self.expect.calls:
            seen = self.observed.calls.get(expected.operation, Calls())
            if not _fits(expected, seen):
                yield Difference(expected.path, _told_expected(expected), _told_calls(seen))
        made = {name: calls for name, calls in self.observed.calls.items() if calls.attempts}
        if self.expect.no_calls and made:
            told = "; ".join(f"{name}: {_told_calls(calls)}" for name, calls in sorted(made.items()))
            yield Difference(self._path("calls", "none"), "no call at all", told)

    def _deliveries(self) -> Iterator[Difference]:
        wanted, rows = self.expect.deliveries, self.observed.deliveries
        if isinstance(wanted, Mapping):
            yield from self._numbers("deliveries", wanted, Counter(row.status for row in rows))
        else:
            yield from self._rows("deliveries", self.tell.delivery_checks)

    def _rows(self, name: str, checks: Checks[Any, Any]) -> Iterator[Difference]:
        """Compare a complete list, or a number."""
        wanted, rows = getattr(self.expect, name), getattr(self.observed, name)
        if wanted is None:
            return
        if isinstance(wanted, int):
            if len(rows) != wanted:
                told = "; ".join(map(self.tell.row, rows))
                yield Difference(self._path(name), f"{wanted} {name}", f"{len(rows)}{': ' if told else ''}{told}")
        else:
            yield from self._missing(wanted, rows, checks)
            yield from self._extra(self._path(name), _ONE_OF[name], matched(wanted, rows, checks).left)

    def _will_run(self) -> Iterator[Difference]:
        """Compare what is ahead: for each entity and rule that is named, all of it."""
        wanted, rows = self.expect.will_run, self.observed.will_run
        if wanted is None:
            return
        asked = [row for row in rows if not wanted or any(_asks_about(line, row) for line in wanted)]
        yield from self._missing(wanted, asked, self.tell.due_checks)
        yield from self._extra(self._path("will_run"), "run ahead", matched(wanted, asked, self.tell.due_checks).left)

    def _missing(self, wanted: Sequence[E], rows: Sequence[R], checks: Checks[E, R]) -> Iterator[Difference]:
        pairs = matched(wanted, rows, checks)
        for line, count in pairs.found:
            if count == line.times:
                continue
            found = f"{count} of {line.times}" if count else NOTHING
            close = nearest(line, pairs.left, checks) or nearest(line, rows, checks)
            told = self._told_nearest(close)
            yield Difference(line.path, self.tell.line(line), found, told)

    def _told_nearest(self, close: tuple[Any, list[Any]] | None) -> str:
        if close is None:
            return ""
        row, wrong = close
        differs = ", ".join(map(str, wrong))
        return f"{self.tell.row(row)}{f': {differs}' if differs else ''}"

    def _extra(self, path: Path, what: str, rows: Sequence[Any]) -> Iterator[Difference]:
        for row in rows:
            yield Difference(path, f"no other {what}", self.tell.row(row))


def broken_off(error: Exception) -> Difference:
    """Return the difference that stands for a fault of the engine itself."""
    return Difference((), "that the engine plays this to the end", f"{type(error).__name__}: {error}")


def _fits(expected: ExpectedCalls, seen: Calls) -> bool:
    return expected.effects in (None, seen.effects) and expected.attempts in (None, seen.attempts)


def _told_expected(expected: ExpectedCalls) -> str:
    wanted = ((expected.effects, "effect"), (expected.attempts, "attempt"))
    told = ", ".join(_plural(number, word) for number, word in wanted if number is not None)
    return f"{expected.operation}: {told}"


def _told_calls(seen: Calls) -> str:
    return f"{_plural(seen.effects, 'effect')}, {_plural(seen.attempts, 'attempt')}"


def _plural(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


def _asks_about(line: ExpectedDue, row: Due) -> bool:
    """Say whether a line is about what is ahead; of what comes round for ever only up to where it looks."""
    if line.entity not in ("", row.entity) or line.rule not in ("", row.rule):
        return False
    comes_round = kind_of(row.entity) == "reminder"
    return not comes_round or line.at is None or row.at < line.at.instant + line.at.precision


_ONE_OF = {"messages": "message", "notices": "notice", "deliveries": "delivery", "dossiers": "open dossier"}
