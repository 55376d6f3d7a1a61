"""`semel ingest`: files of JSON lines become facts, each event once; every line gets its answer."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer

from adapters.cli.faults import INTERRUPTED, WRONG_INPUT
from adapters.cli.printing import complain, print_array, say
from adapters.cli.progress import Bar, bar
from adapters.cli.session import opened

if TYPE_CHECKING:
    from adapters.application import Application
    from adapters.ingestion.batches import Answer
    from adapters.ingestion.json_lines import Item, Lines

LOOK_EVERY = 100
"""Lines between two moves of the progress bar."""

Files = Annotated[
    list[str], typer.Argument(metavar="FILE", help="Files of JSON lines, or what gzip made of them; - reads a pipe.")
]
AllOrNothing = Annotated[
    bool, typer.Option("--all-or-nothing", help="Check every line first, and record nothing if one is wrong.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print an array with an object for each line.")]


def ingest(context: typer.Context, files: Files, all_or_nothing: AllOrNothing = False, as_json: AsJson = False) -> None:
    """Record the events of files.

    They are CloudEvents in JSON, one in each line. Each line is accepted, or a duplicate of what was
    recorded before, or in conflict (its id was used for another content), or refused with its number and
    all its mistakes. Good lines are recorded whatever else a file holds; ingesting the file again records
    none of them twice. Exits 2 where a line was refused or in conflict.
    """
    tally = Tally()
    with opened(context, writes=True) as application, ExitStack() as stack:
        sources = [_source(name, stack, twice=all_or_nothing) for name in files]
        ingestion = _Ingestion(application, sources, tally)
        try:
            if all_or_nothing and not ingestion.is_flawless():
                tally.held_back = True
                answers = ingestion.held_back()
            else:
                answers = ingestion.recorded()
            if as_json:
                print_array(_objects(answers, tally))
            else:
                _complain_of(answers)
        except KeyboardInterrupt:
            complain(f"stopped: at least {tally.of('accepted'):,} events were recorded; run it again to go on")
            raise typer.Exit(INTERRUPTED) from None
    if not as_json:
        _sum_up(tally)
    if tally.bad:
        raise typer.Exit(WRONG_INPUT)


@dataclass(slots=True)
class Tally:
    """What came of the lines so far."""

    counts: dict[str, int] = field(default_factory=dict)
    unknown: dict[str, int] = field(default_factory=dict)
    held_back: bool = False

    def add(self, answer: Answer) -> None:
        """Count one more answer."""
        self.counts[answer.status] = self.of(answer.status) + 1
        if answer.is_unknown_type:
            self.unknown[answer.type] = self.unknown.get(answer.type, 0) + 1

    def of(self, status: str) -> int:
        """Return how many answers have a status."""
        return self.counts.get(status, 0)

    @property
    def bad(self) -> int:
        """Return how many lines were not taken."""
        return self.of("refused") + self.of("conflict")


@dataclass(frozen=True, slots=True)
class _Source:
    """A file as it was named, and where it really lies."""

    name: str
    path: str


def _source(name: str, stack: ExitStack, *, twice: bool) -> _Source:
    """Make sure that a file can be read; a pipe that has to be read twice is kept in a file."""
    from adapters.ingestion.json_lines import STDIN
    from adapters.ingestion.json_lines import opened as opened_lines

    if name != STDIN:
        with opened_lines(name):
            return _Source(name, name)
    if not twice:
        return _Source("standard input", STDIN)
    kept: IO[bytes] = stack.enter_context(tempfile.NamedTemporaryFile(prefix="semel-"))  # noqa: SIM115
    shutil.copyfileobj(sys.stdin.buffer, kept)
    kept.flush()
    return _Source("standard input", kept.name)


Told = tuple[str, "Answer", Bar]
"""The name of a file, the answer to one of its lines, and the bar above which it may be told."""


@dataclass(frozen=True, slots=True)
class _Ingestion:
    """The reading of all files, once for each purpose."""

    application: Application
    sources: list[_Source]
    tally: Tally

    def recorded(self) -> Iterator[Told]:
        """Record every line that can be, and give the answers."""
        from adapters.ingestion.batches import ingesting

        return self._read("ingesting", lambda items: ingesting(self.application, items), self.tally)

    def is_flawless(self) -> bool:
        """Say whether no line of any file would be refused or in conflict."""
        found = Tally()
        for _ in self._checked("checking", found):
            pass
        return not found.bad

    def held_back(self) -> Iterator[Told]:
        """Give the answers that the lines would have got; what would have been recorded was not."""
        return self._checked("telling", self.tally)

    def _checked(self, doing: str, tally: Tally) -> Iterator[Told]:
        from adapters.ingestion.checking import checking

        seen: dict[tuple[str, str], bytes] = {}
        return self._read(doing, lambda items: checking(self.application, items, seen), tally)

    def _read(self, doing: str, treat: Callable[[Iterable[Item]], Iterator[Answer]], tally: Tally) -> Iterator[Told]:
        from adapters.ingestion.json_lines import opened as opened_lines

        longest = self.application.settings.longest_line
        with bar(doing, of_bytes=True) as shown:
            for source in self.sources:
                with opened_lines(source.path) as lines:
                    shown.move_to(0, lines.size, source.name)
                    for answer in treat(lines.items(longest)):
                        tally.add(answer)
                        _move(shown, source, lines, answer)
                        yield source.name, answer, shown


def _move(shown: Bar, source: _Source, lines: Lines, answer: Answer) -> None:
    if answer.number % LOOK_EVERY == 0:
        shown.move_to(lines.bytes_read(), lines.size, source.name)


def _complain_of(answers: Iterable[Told]) -> None:
    for name, answer, shown in answers:
        for mistake in answer.mistakes:
            shown.complain(f"{name}:{answer.number}: {mistake}")


def _objects(answers: Iterable[Told], tally: Tally) -> Iterator[Mapping[str, Any]]:
    for name, answer, _ in answers:
        found = {"file": name, **answer.to_json()}
        if tally.held_back and answer.status == "accepted":
            found["status"] = "not recorded"
        yield found


def _sum_up(tally: Tally) -> None:
    from domain.nouns import NOUN_OF_TYPE
    from domain.text_values import did_you_mean

    counts = " · ".join(f"{tally.of(status):,} {status}" for status in ("accepted", "duplicate", "conflict", "refused"))
    if tally.held_back:
        say(f"nothing was recorded: {tally.bad:,} lines have to be mended first")
        return
    say(counts)
    for name, count in sorted(tally.unknown.items()):
        hint = did_you_mean(name, NOUN_OF_TYPE)
        say(f"{count:,} of them have the type {name}, which no rule can see: stored and counted{hint}")
    if tally.bad:
        say("all other lines are recorded: mend these, and ingest the file again; nothing is recorded twice")
