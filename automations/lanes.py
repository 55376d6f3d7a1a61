"""When a service is called at all: pure decisions about its lane (semantics 4).

A lane is held once its service says that we are set up wrongly, or once too many calls in a row have failed.
A held lane lets one call through each minute, and all of them again after the first that is answered. Besides
it rests for as long as the service has asked for (Retry-After).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Protocol

from domain.endings import Done, Ending, Misconfigured, Refused, TryLater
from domain.lanes import HeldBy

FAILURES_IN_A_ROW = 5
"""So many calls that got no answer, one after the other, hold their lane."""

PROBE_INTERVAL = timedelta(minutes=1)
"""How far apart the calls are that a held lane lets through."""

LONGEST_REST = timedelta(hours=1)
"""For how long a service can keep all of its calls away by asking for it; the call itself waits longer."""


@dataclass(frozen=True, slots=True)
class Lane:
    """The way to one service, as all workers know it.

    `failures` counts calls in a row that were not answered. Nothing is called before `opens_at`; while the
    lane is held, that is when the next single call may be made, and `held_by` says what kind of ending holds it.
    """

    service: str
    failures: int = 0
    held_since: datetime | None = None
    held_by: HeldBy | None = None
    reason: str = ""
    opens_at: datetime | None = None

    @property
    def is_held(self) -> bool:
        """Say whether calls are held back until one is answered."""
        return self.held_since is not None

    @property
    def is_clear(self) -> bool:
        """Say whether nothing is known against calling."""
        return self == Lane(self.service)

    def permits(self, at: datetime) -> bool:
        """Say whether a call may be made at an instant; of a held lane only one may."""
        return self.opens_at is None or at >= self.opens_at

    def probed(self, at: datetime) -> Lane:
        """Return the lane after its one call was let through."""
        return replace(self, opens_at=at + PROBE_INTERVAL)


def after_ending(lane: Lane, ending: Ending, at: datetime) -> Lane:
    """Return the lane after a call of its service has ended at an instant. Any answer clears it, also a no.

    Whoever asks to wait with one address has answered too.
    """
    if isinstance(ending, Done | Refused) or (isinstance(ending, TryLater) and ending.about == "address"):
        return Lane(lane.service)
    failures = lane.failures + 1
    rest = asked_rest(ending)
    if not (lane.is_held or isinstance(ending, Misconfigured) or failures >= FAILURES_IN_A_ROW):
        return replace(lane, failures=failures, reason=ending.reason, opens_at=_later(lane.opens_at, at, rest))
    return replace(
        lane,
        failures=failures,
        held_since=lane.held_since or at,
        held_by=lane.held_by or ending.kind,
        reason=ending.reason,
        opens_at=at + max(PROBE_INTERVAL, rest),
    )


def asked_rest(ending: Ending) -> timedelta:
    """Return how long a service wants to be left alone, within bounds."""
    asked = ending.wait if isinstance(ending, TryLater) else None
    return min(max(asked or timedelta(), timedelta()), LONGEST_REST)


def _later(opens_at: datetime | None, at: datetime, rest: timedelta) -> datetime | None:
    if not rest:
        return opens_at
    return max(opens_at or at, at + rest)


NO_LANE = Lane("")
"""The lane of what no service is called for."""


class Lanes(Protocol):
    """What all workers know of the lanes; kept in the database."""

    def look(self, service: str) -> Lane:
        """Return a lane as it is now."""
        ...

    def take_probe(self, lane: Lane, at: datetime) -> bool:
        """Take the one call that a held lane lets through now; say whether nobody else was faster."""
        ...

    def report(self, lane: Lane, ending: Ending, at: datetime) -> None:
        """Take over how a call has ended; `lane` is what was known before it."""
        ...


class OpenLanes:
    """Lanes that are never held."""

    def look(self, service: str) -> Lane:
        """Return a lane that nothing is known against."""
        return Lane(service)

    def take_probe(self, lane: Lane, at: datetime) -> bool:
        """Let every call through."""
        return True

    def report(self, lane: Lane, ending: Ending, at: datetime) -> None:
        """Forget how the call has ended."""
