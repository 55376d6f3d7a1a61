"""The lane of a channel: every answer of its provider tells whether it is worth asking (semantics 4)."""

from __future__ import annotations

from automations.lanes import Lane, Lanes
from automations.notifications.channels import CallEnding, Channel, Message
from automations.ports import Clock
from domain.endings import Done, Misconfigured, Refused
from domain.lanes import channel_lane

WEIGHED = 5
"""Calls over which the time that one takes is averaged, more or less."""


class WatchedChannel:
    """A channel whose endings are told to its lane."""

    def __init__(self, name: str, inner: Channel, lanes: Lanes, clock: Clock) -> None:
        self._name = channel_lane(name)
        self._inner = inner
        self._lanes = lanes
        self._clock = clock
        self.lane = Lane(self._name)
        self._found = self.lane
        self.seconds: float | None = None
        """How long a call takes on average, the last ones above all; None before the first."""

    @property
    def honours_keys(self) -> bool:
        """Say whether a repeated key is answered with the first result."""
        return self._inner.honours_keys

    def look(self) -> Lane:
        """Look at the lane anew, and return it."""
        return self.found(self._lanes.look(self._name))

    def found(self, lane: Lane) -> Lane:
        """Take over what the lane is like as calls are about to begin, and return it."""
        self.lane = self._found = lane
        return lane

    def send(self, message: Message, key: str) -> CallEnding:
        """Send a message, and tell the lane how that ended.

        Once the provider has said that we are set up wrongly, those that were to follow are not made.
        """
        if self.lane.held_by == "misconfigured" and not self._found.is_held:
            return Misconfigured(reason=self.lane.reason)
        since = self._clock.monotonic()
        ending = self._inner.send(message, key)
        self._note(self._clock.monotonic() - since)
        self._lanes.report(self.lane, ending, self._clock.now())
        if not (self.lane.is_clear and isinstance(ending, Done | Refused)):
            self.lane = self._lanes.look(self._name)
        return ending

    def _note(self, seconds: float) -> None:
        self.seconds = seconds if self.seconds is None else self.seconds + (seconds - self.seconds) / WEIGHED
