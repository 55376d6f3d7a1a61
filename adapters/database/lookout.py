"""What lies ahead of the ticks of one worker: when something falls due next, so that the others cost nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from adapters.database.due_moments import DueSearch, Group, grouped
from adapters.database.event_mapper import EventMapper
from adapters.database.looks import Look
from adapters.database.rules import StoredRules
from adapters.database.tick_pages import SLICE
from adapters.database.watermark import Standing
from automations.rulebook import ReadyRule
from domain.moment_ranges import Window
from domain.moments import REMINDER_DUE


@dataclass(frozen=True, slots=True)
class Ahead:
    """What lies ahead, as of one state of the log: nothing falls due before `due`, or `until` where that is None.

    `search` finds it; after an outage there is none. `passed` are the rules that were enabled or retimed, on the
    clock, before the watermark, though their events came after it had moved: because the clock was set back, or
    because their transaction was slower than a tick.
    """

    state: tuple[int, int]
    groups: tuple[Group, ...]
    until: datetime
    due: datetime | None
    search: DueSearch | None
    passed: tuple[tuple[ReadyRule, datetime], ...]

    def is_over(self, look: Look) -> bool:
        """Say whether ticks have come to the end of what was known."""
        return look.now >= self.until or (self.due is not None and self.due <= look.looked_until)


class Lookout:
    """Remembers what lies ahead until something is recorded, or the time has come."""

    def __init__(self, mapper: EventMapper) -> None:
        self._rules = StoredRules(mapper)
        self._grouped: tuple[Sequence[ReadyRule], tuple[Group, ...]] = ((), ())
        self._search: tuple[tuple[Group, ...], int, DueSearch] | None = None
        self._ahead: Ahead | None = None

    def rules(self, connection: sa.Connection) -> Sequence[ReadyRule]:
        """Return the clock rules as they are now."""
        return self._rules.at_head(connection).on_clock()

    def ahead(self, connection: sa.Connection, standing: Standing, look: Look) -> Ahead:
        """Return what lies ahead of a tick."""
        ahead = self._ahead
        if ahead is None or ahead.state != standing.state or ahead.is_over(look):
            ahead = self._ahead = self._looked(connection, standing, look)
        return ahead

    def _looked(self, connection: sa.Connection, standing: Standing, look: Look) -> Ahead:
        groups = self._groups(self.rules(connection))
        passed = tuple(self._passed(standing, look))
        if look.now - look.looked_until > SLICE:
            return Ahead(standing.state, groups, look.now, look.now, None, passed)
        search = self._search_of(connection, groups, standing.zones, look)
        due = search.first_due(connection, look.looked_until)
        return Ahead(standing.state, groups, search.window.up_to, due, search, passed)

    def _groups(self, rules: Sequence[ReadyRule]) -> tuple[Group, ...]:
        if self._grouped[0] is not rules:
            self._grouped = rules, _with_reminders(grouped(rules))
        return self._grouped[1]

    def _search_of(self, connection: sa.Connection, groups: tuple[Group, ...], zones: int, look: Look) -> DueSearch:
        if self._search is None or not self._serves(groups, zones, look):
            window = Window(look.looked_until, look.horizon + SLICE)
            self._search = groups, zones, DueSearch(connection, groups, window)
        return self._search[2]

    def _serves(self, groups: tuple[Group, ...], zones: int, look: Look) -> bool:
        """Say whether the search that is there asks for the same, and for as long as the tick needs."""
        assert self._search is not None
        asked, known_zones, search = self._search
        covers = search.window.after <= look.looked_until and look.horizon < search.window.up_to
        return asked is groups and known_zones == zones and covers

    def _passed(self, standing: Standing, look: Look) -> Iterator[tuple[ReadyRule, datetime]]:
        fresh = {rule_id for rule_id, at in self._rules.enabled_at.items() if at > standing.position}
        for rule in self._rules.book.on_clock() if fresh else ():
            since = rule.state.looks_ahead_from
            if rule.id in fresh and since is not None and since < look.looked_until:
                yield rule, since


def _with_reminders(groups: list[Group]) -> tuple[Group, ...]:
    """Return also a group for reminders if there is none: their next moment is stored anew when one has passed."""
    if any(group.trigger == REMINDER_DUE for group in groups):
        return tuple(groups)
    return (*groups, Group(REMINDER_DUE, None, "after", ()))
