"""What members prefer, read from the log's head and changed: nothing here is older than what was recorded last."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime

import sqlalchemy as sa

from adapters.database import log_queries
from adapters.database.addressees import require_member
from adapters.database.engine import reading
from adapters.database.event_log import EventLog
from adapters.database.held_deliveries import look_again_at_held
from adapters.database.unit_of_work import retrying, unit_of_work
from automations.ports import Clock
from domain import preferences as decide
from domain.preferences import PreferenceEvent, Preferences, QuietHoursCleared, QuietHoursSet, Subject
from domain.spaces import QuietHours

Decide = Callable[[Preferences, datetime], list[PreferenceEvent]]


class PreferenceDesk:
    """Where the preferences of members are seen and changed; `member` is always the member's id."""

    def __init__(self, log: EventLog, clock: Clock) -> None:
        self._log = log
        self._clock = clock

    def of(self, member: str) -> Preferences:
        """Return what a member prefers now."""
        with reading(self._log.engine) as connection:
            return self._read(connection, member)

    def choose(self, member: str, subject: Subject, *, enabled: bool, by: str = "") -> list[PreferenceEvent]:
        """Note that a member wants something, or does not; return what that changed."""
        return self._change(member, lambda known, at: decide.chosen(known, subject, enabled=enabled, at=at, by=by))

    def unsubscribe(self, member: str, subject: Subject, *, by: str = "unsubscribe") -> list[PreferenceEvent]:
        """Note that a member took the way out that a message offers; return what that changed."""
        return self._change(member, lambda known, at: decide.unsubscribed(known, subject, at=at, by=by))

    def clear(self, member: str, subject: Subject, *, by: str = "") -> list[PreferenceEvent]:
        """Forget what a member prefers about a subject; return what that changed."""
        return self._change(member, lambda known, at: decide.cleared(known, subject, at=at, by=by))

    def set_quiet_hours(self, member: str, hours: QuietHours | None, *, by: str = "") -> list[PreferenceEvent]:
        """Give a member quiet hours of their own, or none in spite of the space's; return what that changed."""
        return self._change(member, lambda known, at: decide.with_quiet_hours(known, hours, at=at, by=by))

    def clear_quiet_hours(self, member: str, *, by: str = "") -> list[PreferenceEvent]:
        """Let the quiet hours of the space hold for a member again; return what that changed."""
        return self._change(member, lambda known, at: decide.without_quiet_hours(known, at=at, by=by))

    def _change(self, member: str, decision: Decide) -> list[PreferenceEvent]:
        def attempt() -> list[PreferenceEvent]:
            with unit_of_work(self._log, "preferences") as work:
                require_member(work.connection, member)
                events = decision(self._read(work.connection, member), self._clock.now())
                work.append(events)
                if any(isinstance(event, QuietHoursSet | QuietHoursCleared) for event in events):
                    look_again_at_held(work.connection, member)
                return events

        return retrying(attempt, sleep=time.sleep)

    def _read(self, connection: sa.Connection, member: str) -> Preferences:
        stream = decide.preferences_stream(member)
        return decide.preferences_of(stream, map(self._log.mapper.read, log_queries.streams(connection, [stream])))
