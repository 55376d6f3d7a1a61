"""Which moments may be due in a window, for all clock rules at once: one statement, whatever their offsets are."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property

import sqlalchemy as sa

from adapters.database.moment_queries import BEFORE_ALL, Range, Row, encoded, first_due, found_in
from automations.rulebook import ReadyRule
from domain.civil_time import zone
from domain.durations import Kind
from domain.moment_ranges import MARGIN, Calendar, Direction, Stretch, Window, needs_calendar, of_instants
from domain.moments import Moment
from domain.offsets import Offset
from projections.moments import MICROSECOND, instant_at, microseconds, moment_zones

PAGE = 500
"""Moments that are judged at a time."""

READ_AHEAD = 10 * PAGE
"""Rows that one statement returns: the most that a tick holds in memory."""

DATED = frozenset({"invoice.due", "invoice.overdue", "subscription.expiring", "subscription.ended"})
"""Triggers whose moments stand for dates."""

_LONGEST = {Kind.SECONDS: timedelta(seconds=1), Kind.DAYS: timedelta(days=1), Kind.MONTHS: timedelta(days=31)}
_SHORTEST = _LONGEST | {Kind.MONTHS: timedelta(days=28)}


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

    def due(self, moment: Moment) -> datetime:
        """Return when the rules are due by a moment of their trigger."""
        if self._shift is not None:
            return moment.instant + self._shift
        return moment.due(*self._before_and_after)

    def is_surely_past(self, moment: Moment) -> bool:
        """Say, roughly and quickly, whether a moment was due and known before any of the rules was enabled."""
        since = self._looks_ahead_from
        return since is not None and moment.known_at <= since and moment.instant - since <= self._shortest

    def is_surely_later(self, instant: datetime, than: datetime) -> bool:
        """Say, roughly and quickly, whether a moment at an instant makes the rules due later than at another."""
        return instant - than > self._longest

    @cached_property
    def _before_and_after(self) -> tuple[Offset | None, Offset | None]:
        """Return the offset in the place where a rule has it."""
        return (self.offset, None) if self.direction == "before" else (None, self.offset)

    @cached_property
    def _shift(self) -> timedelta | None:
        """Return how far from the instant of a moment the rules are due, or None where a calendar says it."""
        if not self.is_elapsed:
            return None
        amount = timedelta(seconds=self.offset.amount if self.offset is not None else 0)
        return -amount if self.direction == "before" else amount

    @cached_property
    def _looks_ahead_from(self) -> datetime | None:
        """Return since when all the rules have looked ahead, or None where one of them never has."""
        since = [rule.state.looks_ahead_from for rule in self.rules]
        known = [instant for instant in since if instant is not None]
        return min(known) if known and len(known) == len(since) else None

    @cached_property
    def _shortest(self) -> timedelta:
        """Return less than what lies between being due and the moment, negative for what is due behind it."""
        if self.offset is None:
            return timedelta()
        if self._shift is not None:
            return -self._shift
        if self.direction == "after":
            return -(self.offset.amount * _LONGEST[self.offset.kind] + MARGIN)
        return self.offset.amount * _SHORTEST[self.offset.kind] - MARGIN

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
        self._rows: deque[Row] = deque()
        self._behind = BEFORE_ALL
        self._is_read = False

    @property
    def is_over(self) -> bool:
        """Say whether it is known that nothing comes any more."""
        return self._is_read and not self._rows

    def next(self, connection: sa.Connection) -> list[Found]:
        """Return the next page; an empty one is the end."""
        if not self._rows and not self._is_read:
            self._rows.extend(self._read(connection))
        page = [self._rows.popleft() for _ in range(min(PAGE, len(self._rows)))]
        return [Found(self._groups[row.number], row.entity) for row in page]

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
