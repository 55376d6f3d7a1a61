"""Times on the command line: with an offset, or local to a zone."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated
from zoneinfo import ZoneInfo

import typer

from domain.errors import InvalidInput

if TYPE_CHECKING:
    from adapters.application import Application
    from domain.moment_ranges import Window

FromOption = Annotated[
    str | None, typer.Option("--from", metavar="TIME", help="The first instant, such as 2026-05-12 10:00.")
]
ToOption = Annotated[str | None, typer.Option("--to", metavar="TIME", help="The last instant; now where left out.")]
ZoneOption = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="The zone of times without an offset; the default zone otherwise."),
]

A_MOMENT = timedelta(microseconds=1)
"""By how much a window begins before its first instant, which it holds."""


def window_of(application: Application, start: str | None, end: str | None, zone: str | None) -> Window:
    """Return the window from a first to a last instant, up to now at most; all of the past without a first one.

    Raises InvalidInput for what is no time, and for an end before the beginning.
    """
    from adapters.database.backfilling import whole_past
    from domain.civil_time import zone as zone_of
    from domain.moment_ranges import Window

    place = zone_of(application.settings.default_zone) if zone is None else _zone(zone)
    whole = whole_past(application.clock.now())
    first = whole.after if start is None else _instant("--from", start, place)
    last = whole.up_to if end is None else _instant("--to", end, place, is_last=True)
    if last < first:
        raise InvalidInput("--to lies before --from")
    return Window(first - A_MOMENT, last).until(whole.up_to)


def _zone(name: str) -> ZoneInfo:
    from domain.civil_time import zone

    try:
        return zone(name)
    except ValueError as error:
        raise InvalidInput(f"--zone: {error}") from None


def _instant(option: str, text: str, place: ZoneInfo, *, is_last: bool = False) -> datetime:
    """Return the instant of a time with an offset or a local one; a date alone means all of it."""
    from domain.civil_time import as_instant, end_of_date, instant_of, start_of_date
    from domain.time_texts import parse_date, parse_wall

    try:
        if len(text) == len("2026-05-12"):
            day = parse_date(text)
            return end_of_date(day, place) - A_MOMENT if is_last else start_of_date(day, place)
        return as_instant(datetime.fromisoformat(text)) if _has_offset(text) else instant_of(parse_wall(text), place)
    except ValueError as error:
        raise InvalidInput(f"{option}: {error}") from None


def _has_offset(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False
