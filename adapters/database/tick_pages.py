"""Pages of what a tick looks at, each read in a transaction of its own and only when it is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

import sqlalchemy as sa

from adapters.database import log_queries, watches
from adapters.database.due_moments import PAGE, DuePages, DueSearch, Found, Group, grouped
from adapters.database.engine import reading
from adapters.database.looks import Again, Everything, InWindow, Look, Page
from automations.rulebook import ReadyRule
from domain.moment_ranges import Window
from domain.moments import REMINDER_DUE

SLICE = timedelta(hours=6)
"""How much of a long window is looked at in one go, so that an outage of weeks is caught up in small steps."""

Looks = Iterator[tuple[Page, Look]]
"""Pages, each with what it is looked at for."""


class TickPages:
    """Gives the pages of one database."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine

    def due(self, groups: Sequence[Group], look: Look, search: DueSearch | None = None) -> Looks:
        """Yield what the index says is due since ticks have looked; without a search for it, slice by slice."""
        whole = Window(look.looked_until, look.now)
        for window in _slices(whole) if search is None else (whole,):
            pages = DuePages(groups, window, search)
            while not pages.is_over and (found := self._next(pages)):
                yield InWindow(tuple(found), window), look

    def changed(self, groups: tuple[Group, ...], look: Look) -> Looks:
        """Yield the entities about which something has changed."""
        last, is_over = "", False
        while not is_over and (entities := self._changed(last)):
            last, is_over = entities[-1], len(entities) < PAGE
            yield Again(tuple(entities), groups), look

    def passed(self, rule: ReadyRule, since: datetime, look: Look) -> Looks:
        """Yield for one rule what was due since an instant, though ticks have looked further without that rule."""
        groups, first = tuple(grouped([rule])), Look(look.now, since)
        if rule.when != REMINDER_DUE:
            return self.due(groups, first)
        window = Window(since, min(look.now, look.looked_until))
        return ((page, first) for page in self.everything("reminder", groups, window))

    def everything(self, kind: str, groups: Sequence[Group], window: Window) -> Iterator[Everything]:
        """Yield all entities of a kind, if there are clock rules about it."""
        about = tuple(group for group in groups if group.trigger.startswith(f"{kind}."))
        last, is_over = "", not about
        while not is_over and (entities := self._of_kind(kind, last)):
            last, is_over = entities[-1], len(entities) < PAGE
            yield Everything(tuple(entities), about, window)

    def _next(self, pages: DuePages) -> list[Found]:
        with reading(self._engine) as connection:
            return pages.next(connection)

    def _changed(self, last: str) -> list[str]:
        with reading(self._engine) as connection:
            return watches.to_look_at(connection, last, PAGE)

    def _of_kind(self, kind: str, last: str) -> list[str]:
        with reading(self._engine) as connection:
            return log_queries.streams_of_kind(connection, kind, last, PAGE)


def _slices(window: Window) -> Iterator[Window]:
    start = window.after
    while start < window.up_to:
        end = min(start + SLICE, window.up_to)
        yield Window(start, end)
        start = end
