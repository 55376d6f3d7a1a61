"""When clock triggers have to stop and ask: the clock was set far ahead, or nobody looked for very long."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from domain.durations import format_duration


class PauseReason(StrEnum):
    """Why clock triggers pause until staff resume them."""

    CLOCK_JUMPED = "clock jumped"
    LONG_OUTAGE = "long outage"
    RESTORED = "restored"


@dataclass(frozen=True, slots=True)
class Pause:
    """A pause and what staff are told about it; `since` is the last instant that ticks have looked at."""

    reason: PauseReason
    text: str
    since: datetime


@dataclass(frozen=True, slots=True)
class Glance:
    """What both clocks of a running process showed at one time; `monotonic` counts seconds and is never set."""

    wall: datetime
    monotonic: float

    def jump_since(self, before: Glance) -> timedelta:
        """Return by how much somebody has set the wall clock since; negative where it was set back."""
        return (self.wall - before.wall) - timedelta(seconds=self.monotonic - before.monotonic)


@dataclass(frozen=True, slots=True)
class Limits:
    """How far the clock may jump ahead, and how long an outage may last, without anybody being asked."""

    jump: timedelta = timedelta(days=1)
    outage: timedelta = timedelta(days=30)


def pause_after_jump(before: Glance, now: Glance, looked_until: datetime, limits: Limits) -> Pause | None:
    """Return the pause that a running process begins, if its clock was set ahead by more than the limit.

    Time in which the process was there is no outage; so whatever is due in between would expire by a mistake.
    """
    jump = now.jump_since(before)
    if jump <= limits.jump:
        return None
    told = f"the clock was set ahead by {_told(jump)}, to {now.wall:%Y-%m-%d %H:%M} UTC"
    return Pause(PauseReason.CLOCK_JUMPED, told, looked_until)


def pause_at_start(now: datetime, looked_until: datetime, since: datetime | None, limits: Limits) -> Pause | None:
    """Return the pause with which a process begins after an outage that is longer than the limit.

    `since` is when the first of the clock rules was enabled, None where there is none: nothing that was due
    before would run, so that a database which has rested without rules asks nobody.
    """
    if since is None or now - max(looked_until, since) <= limits.outage:
        return None
    told = f"no engine has looked since {looked_until:%Y-%m-%d %H:%M} UTC, {_told(now - looked_until)} ago"
    return Pause(PauseReason.LONG_OUTAGE, told, looked_until)


def pause_of_a_copy(looked_until: datetime) -> Pause:
    """Return the pause with which a database begins that was restored from a backup, or copied."""
    told = f"the database was restored from a backup, or copied; it has looked up to {looked_until:%Y-%m-%d %H:%M} UTC"
    return Pause(PauseReason.RESTORED, told, looked_until)


def _told(span: timedelta) -> str:
    """Return an amount of time in words, without what nobody needs to know of a long one."""
    return format_duration(timedelta(days=span.days) if span.days else timedelta(seconds=span.total_seconds() // 1))
