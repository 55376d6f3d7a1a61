"""The lane of a channel: every answer of its provider tells whether it is worth asking (semantics 4)."""

from __future__ import annotations

from automations.lanes import Lane, Lanes
from automations.notifications.channels import CallEnding, Channel, Message
from automations.ports import Clock
from domain.endings import Done, Refused
from domain.lanes import channel_lane


class WatchedChannel:
    """A channel whose endings are told to its lane."""

    def __init__(self, name: str, inner: Channel, lanes: Lanes, clock: Clock) -> None:
        self._name = channel_lane(name)
        self._inner = inner
        self._lanes = lanes
        self._clock = clock
        self.lane = Lane(self._name)

    @property
    def honours_keys(self) -> bool:
        """Say whether a repeated key is answered with the first result."""
        return self._inner.honours_keys

    def look(self) -> Lane:
        """Look at the lane anew, and return it."""
        self.lane = self._lanes.look(self._name)
        return self.lane

    def send(self, message: Message, key: str) -> CallEnding:
        """Send a message, and tell the lane how that ended."""
        ending = self._inner.send(message, key)
        self._lanes.report(self.lane, ending, self._clock.now())
        if not (self.lane.is_clear and isinstance(ending, Done | Refused)):
            self.look()
        return ending
