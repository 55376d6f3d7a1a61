"""Clock triggers pause where the clock or the database is not what it was, until staff resume them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta

import sqlalchemy as sa
import structlog

from adapters.database import meta, watermark
from adapters.database.engine import writing
from adapters.database.event_log import EventLog
from adapters.database.notices import tell_staff
from adapters.database.unit_of_work import retrying, unit_of_work
from automations.clock_jumps import Glance, Limits, Pause, pause_after_jump, pause_at_start, pause_of_a_copy
from automations.ports import Clock
from automations.rulebook import ReadyRule
from domain.notices import PAUSED, Notice

RESUMED_AT = "resumed-at"
"""When staff resumed last: what lies before that was accepted by them."""

A_MOMENT = timedelta(seconds=2)
"""By how much two clocks may drift apart between two ticks without anybody having set one."""

Rules = Callable[[sa.Connection], Iterable[ReadyRule]]
"""Gives the clock rules as they are now."""

logger = structlog.get_logger(__name__)


class ClockWatch:
    """Watches the two clocks of one process, from tick to tick; `jump` is how far they moved apart last."""

    def __init__(self, log: EventLog, clock: Clock, limits: Limits) -> None:
        self._log = log
        self._clock = clock
        self._limits = limits
        self._before: Glance | None = None
        self.jump = timedelta()

    def look(self, connection: sa.Connection, looked_until: datetime, rules: Rules) -> Pause | None:
        """Return the pause that has to begin now; to be called once for each tick, also while paused.

        `looked_until` is the last instant that ticks have looked at. `rules` are the clock rules; they are asked
        for at the first look only.
        """
        before, self._before = self._before, Glance(self._clock.now(), self._clock.monotonic())
        if before is None:
            return self._at_start(connection, self._before.wall, looked_until, rules)
        self.jump = self._before.jump_since(before)
        if self.jump < -A_MOMENT:
            logger.warning("clock.set-back", now=self._before.wall.isoformat(), before=before.wall.isoformat())
        pause = pause_after_jump(before, self._before, looked_until, self._limits)
        # The new clock shows no time before this one, so that staff have resumed on it, or not yet.
        if pause is not None and _resumed_since(connection, before.wall + self.jump - A_MOMENT):
            return None
        return pause

    def _at_start(self, connection: sa.Connection, now: datetime, looked_until: datetime, rules: Rules) -> Pause | None:
        if meta.is_copy(self._log.engine):
            return pause_of_a_copy(looked_until)
        if now < looked_until:
            logger.warning("clock.set-back", now=now.isoformat(), before=looked_until.isoformat())
        accepted = max(looked_until, resumed_at(connection) or looked_until)
        return pause_at_start(now, accepted, _first_enabled(rules(connection)), self._limits)


def begin(log: EventLog, pause: Pause, at: datetime) -> None:
    """Pause clock triggers and ask staff, once; where they are paused already nothing changes."""

    def attempt() -> None:
        with unit_of_work(log) as work:
            if watermark.paused(work.connection) is not None:
                return
            watermark.pause(work.connection, pause.text)
            key = f"{pause.since.isoformat()} {meta.remembered(work.connection, RESUMED_AT) or ''}"
            payload = {"reason": str(pause.reason), "text": pause.text, "since": f"{pause.since:%Y-%m-%dT%H:%M:%SZ}"}
            tell_staff(work, Notice(PAUSED, key, payload), at)

    retrying(attempt, sleep=time.sleep)
    logger.error("clock.paused", reason=str(pause.reason), before=pause.since.isoformat())


def resume(log: EventLog, at: datetime, by: str) -> None:
    """Let clock triggers act again: what was paused for is accepted from now on, also a restored database."""
    with writing(log.engine) as connection:
        watermark.resume(connection)
        meta.forget(connection, meta.HELD)
        meta.remember(connection, RESUMED_AT, at.isoformat())
    meta.accept_identity(log.engine)
    logger.info("clock.resumed", by=by)


def resumed_at(connection: sa.Connection) -> datetime | None:
    """Return when staff resumed last, or None."""
    text = meta.remembered(connection, RESUMED_AT)
    return None if text is None else datetime.fromisoformat(text)


def _resumed_since(connection: sa.Connection, instant: datetime) -> bool:
    """Say whether staff have resumed since, as when another process had found the same jump before."""
    resumed = resumed_at(connection)
    return resumed is not None and resumed >= instant


def _first_enabled(rules: Iterable[ReadyRule]) -> datetime | None:
    enabled = (rule.state.looks_ahead_from for rule in rules if rule.state.runs)
    return min((since for since in enabled if since is not None), default=None)
