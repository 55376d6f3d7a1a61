"""Which moments may be due in a window, for all clock rules at once: one statement, whatever their offsets are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from itertools import islice

import sqlalchemy as sa

from adapters.database.moment_queries import BEFORE_ALL, Range, Row, encoded, first_due, found_in
from automations.rulebook import ReadyRule
from domain.civil_time import zone
from domain.durations import Kind
from domain.moment_ranges import MARGIN, Calendar, Direction, Stretch, Window, needs_calendar, of_instants
from domain.offsets import Offset
from projections.moments import MICROSECOND, instant_at, microseconds, moment_zones

PAGE = 500
"""Moments that are judged at a time."""

READ_AHEAD = 10 * PAGE
"""Rows that one statement returns: the most that a tick holds in memory."""

DATED = frozenset({"invoice.due", "invoice.overdue", "subscription.expiring", "subscription.ended"})
"""Triggers whose moments stand for dates."""

_LONGEST = {Kind.SECONDS: timedelta(seconds=1), Kind.DAYS: timedelta(days=1), Kind.MONTHS: timedelta(days=31)}


@dataclass(frozen=True, eq=False)
class Group:
    """The clock rules that have a trigger and an offset in common."""

    trigger: str
    offset: Offset | None
    direction: Direction
    rules: tuple[ReadyRule, ...]

    @property
    def is_elapsed(self) -> bool:
        """Say whether the instants of moments say what is due, and no calendar is needed."""
        return not needs_calendar(self.offset)

    @cached_property
    def before_and_after(self) -> tuple[Offset | None, Offset | None]:
        """Return the offset in the place where a rule has it."""
        return (self.offset, None) if self.direction == "before" else (None, self.offset)

    def is_surely_later(self, instant: datetime, than: datetime) -> bool:
        """Say, roughly and quickly, whether a moment at an instant makes the rules due later than at another."""
        return instant - than > self._longest

    @cached_property
    def _longest(self) -> timedelta:
        """Return more than what can lie between being due and the moment."""
        if self.offset is None or self.direction == "after":
            return timedelta()
        return self.offset.amount * _LONGEST[self.offset.kind] + MARGIN


@dataclass(frozen=True, slots=True)
class Found:
    """A moment that may be due for the rules of a group."""

    group: Group
    entity: str


def grouped(rules: Sequence[ReadyRule]) -> list[Group]:
    """Return clock rules by trigger and offset."""
    groups: dict[tuple[str, Offset | None, Direction], list[ReadyRule]] = {}
    for rule in rules:
        wording = rule.rule
        direction: Direction = "before" if wording.before is not None else "after"
        groups.setdefault((rule.when, wording.before or wording.after, direction), []).append(rule)
    return [Group(*place, tuple(together)) for place, together in groups.items()]


class DueSearch:
    """Finds what may be due in any part of one window; what it asks for is put together only once."""

    def __init__(self, connection: sa.Connection, groups: Sequence[Group], window: Window) -> None:
        self.groups = groups
        self.window = window
        self._asked = encoded(list(_ranges(connection, groups, window)), connection.dialect.name)

    def first_due(self, connection: sa.Connection, after: datetime) -> datetime | None:
        """Return an instant before which nothing falls due after another one, or None for nothing in the window.

        It may be early, never late: looking for nothing is free.
        """
        due = first_due(connection, self._asked, microseconds(after))
        return None if due is None else instant_at(due)

    def rows(self, connection: sa.Connection, part: Window, behind: Row) -> list[Row]:
        """Return what may be due in a part of the window, behind the row of an earlier page; each names its group."""
        after, up_to = microseconds(part.after), microseconds(part.up_to)
        return found_in(connection, self._asked, after, up_to, behind, READ_AHEAD)


class DuePages:
    """What may be due in a window, page by page in the order of falling due; to be judged exactly.

    It keeps its place between pages, so that each can be read in a transaction of its own.
    """

    def __init__(self, groups: Sequence[Group], window: Window, search: DueSearch | None = None) -> None:
        self._groups = groups
        self._window = window
        self._search = search
        self._rows: Iterator[Row] = iter(())
        self._behind = BEFORE_ALL
        self._is_read = False

    def next(self, connection: sa.Connection) -> list[Found]:
        """Return the next page; an empty one is the end."""
        rows = list(islice(self._rows, PAGE))
        if not rows and not self._is_read:
            self._rows = iter(self._read(connection))
            rows = list(islice(self._rows, PAGE))
        return [Found(self._groups[row.number], row.entity) for row in rows]

    def _read(self, connection: sa.Connection) -> list[Row]:
        if self._search is None:
            self._search = DueSearch(connection, self._groups, self._window)
        rows = self._search.rows(connection, self._window, self._behind)
        self._is_read = len(rows) < READ_AHEAD
        self._behind = rows[-1] if rows else self._behind
        return rows


def _ranges(connection: sa.Connection, groups: Sequence[Group], window: Window) -> Iterator[Range]:
    """Yield the parts of the index in which the moments lie that may be due, with the number of their group."""
    on_calendar: list[tuple[int, Group]] = []
    for number, group in enumerate(groups):
        if group.is_elapsed:
            yield _range(number, group, of_instants(group.offset, group.direction, window))
        else:
            on_calendar.append((number, group))
    names = connection.scalars(sa.select(moment_zones.c.zone)).all() if on_calendar else ()
    for name in names:
        calendar = Calendar.of(zone(name), window)
        for number, group in on_calendar:
            assert group.offset is not None
            for stretch in calendar.of_walls(group.offset, group.direction, dated=group.trigger in DATED):
                yield _range(number, group, stretch, name)


def _range(number: int, group: Group, stretch: Stretch, zone_name: str = "") -> Range:
    return Range(
        number,
        group.trigger,
        zone_name,
        microseconds(stretch.first),
        microseconds(stretch.last),
        None if stretch.lead is None else stretch.lead // MICROSECOND,
        None if stretch.at is None else microseconds(stretch.at),
    )
