"""What goes wrong in the month of the demo: the door system is away for some hours, and the power fails once."""

from __future__ import annotations

from datetime import datetime, timedelta

from automations.ports import Clock

DOOR_DOWN_AFTER = timedelta(days=12, hours=9)
DOOR_DOWN_FOR = timedelta(hours=5)
POWER_FAILS_AFTER = timedelta(days=20, hours=12)


class PowerCut(BaseException):
    """The process is gone in the middle of what it did. Nothing inside of it may live on after that."""


class Incidents:
    """Knows by the clock what is out of order; everything counts from the beginning of the month."""

    def __init__(self, clock: Clock, start: datetime) -> None:
        self._clock = clock
        self._start = start
        self._power_failed = False

    def door_system_is_down(self) -> bool:
        """Say whether the door system is away at this instant."""
        since = self._clock.now() - self._start
        return DOOR_DOWN_AFTER <= since < DOOR_DOWN_AFTER + DOOR_DOWN_FOR

    def after_call(self) -> None:
        """Let the power fail once: after a service has answered, and before anybody wrote that down."""
        if not self._power_failed and self._clock.now() - self._start >= POWER_FAILS_AFTER:
            self._power_failed = True
            raise PowerCut
