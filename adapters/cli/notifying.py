"""`semel notify`: files of JSON lines ask for somebody to be told, once for each key; every line gets its answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from adapters.cli.faults import INTERRUPTED, WRONG_INPUT
from adapters.cli.ingesting import LOOK_EVERY, AsJson, Files
from adapters.cli.printing import complain, print_array, say
from adapters.cli.progress import Bar, bar
from adapters.cli.session import opened

if TYPE_CHECKING:
    from adapters.application import Application
    from adapters.ingestion.notification_batches import RequestAnswer

STATUSES = ("accepted", "replayed", "conflict", "refused")

Producer = Annotated[str, typer.Option("--producer", metavar="NAME", help="Who asks; its keys are its own.")]

Told = tuple[str, "RequestAnswer", Bar]
"""The name of a file, the answer to one of its lines, and the bar above which it may be told."""


def notify(context: typer.Context, files: Files, producer: Producer = "command", as_json: AsJson = False) -> None:
    """Ask for people to be told, by files.

    Each line is a JSON object with idempotency_key, recipient (member/m1 or staff), type, and if need be
    payload, entity and channels. Each is accepted, or replayed (the same was asked for before), or in conflict
    (its key was used for another request), or refused with its number and all its mistakes. Good lines are
    taken whatever else a file holds; the same file again asks for nothing twice. Exits 2 where a line was
    refused or in conflict.
    """
    counts = dict.fromkeys(STATUSES, 0)
    _make_sure_of(files)
    with opened(context, writes=True) as application:
        try:
            answers = _taken(application, files, producer, counts)
            if as_json:
                print_array({"file": name, **answer.to_json()} for name, answer, _ in answers)
            else:
                _complain_of(answers)
        except KeyboardInterrupt:
            complain(f"stopped: at least {counts['accepted']:,} requests were taken; run it again to go on")
            raise typer.Exit(INTERRUPTED) from None
    if not as_json:
        say(" · ".join(f"{count:,} {status}" for status, count in counts.items()))
    if counts["refused"] or counts["conflict"]:
        raise typer.Exit(WRONG_INPUT)


def _make_sure_of(files: list[str]) -> None:
    """Raise InvalidInput where a file cannot be read, before anything is taken."""
    from adapters.ingestion.json_lines import STDIN
    from adapters.ingestion.json_lines import opened as opened_lines

    for name in files:
        if name != STDIN:
            with opened_lines(name):
                pass


def _taken(application: Application, files: list[str], producer: str, counts: dict[str, int]) -> Iterator[Told]:
    from adapters.ingestion.json_lines import opened as opened_lines
    from adapters.ingestion.notification_batches import requesting

    door, longest = application.notification_door(), application.settings.longest_line
    with bar("asking", of_bytes=True) as shown:
        for name in files:
            with opened_lines(name) as lines:
                shown.move_to(0, lines.size, lines.name)
                for answer in requesting(door, producer, lines.values(longest)):
                    counts[answer.outcome.status] += 1
                    if answer.number % LOOK_EVERY == 0:
                        shown.move_to(lines.bytes_read(), lines.size, lines.name)
                    yield lines.name, answer, shown


def _complain_of(answers: Iterator[Told]) -> None:
    for name, answer, shown in answers:
        for mistake in answer.outcome.mistakes:
            shown.complain(f"{name}:{answer.number}: {mistake}")
