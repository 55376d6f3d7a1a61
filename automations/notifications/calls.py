"""How the calls of several deliveries are made: one after the other here, side by side where an adapter can."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from automations.notifications.channels import CallEnding

Call = Callable[[], CallEnding]
"""One call of a channel; it never raises what can be expected."""


class Round(Protocol):
    """The calls of one dispatch."""

    def begin(self, delivery: str, call: Call) -> None:
        """Begin the call of a delivery, which may end at any time."""
        ...

    def ended(self, *, every: bool) -> dict[str, CallEnding]:
        """Return how calls have ended, by delivery: all that have, at least one, or every one once it has."""
        ...


class Calls(Protocol):
    """What makes the calls of one worker."""

    def width(self, channel: str) -> int:
        """Return how many calls of a channel may be under way at a time."""
        ...

    def open(self, channel: str) -> Round:
        """Begin the calls of a dispatch on one channel."""
        ...


class InTurn:
    """Makes one call after the other (both a `Calls` and, for each dispatch, a `Round`)."""

    def __init__(self) -> None:
        self._begun: dict[str, Call] = {}

    def width(self, channel: str) -> int:
        """Return that there is one at a time."""
        return 1

    def open(self, channel: str) -> Round:
        """Begin anew."""
        return InTurn()

    def begin(self, delivery: str, call: Call) -> None:
        """Keep a call until its ending is wanted."""
        self._begun[delivery] = call

    def ended(self, *, every: bool) -> dict[str, CallEnding]:
        """Make the calls that were begun, and return how they ended."""
        begun, self._begun = self._begun, {}
        return {delivery: call() for delivery, call in begun.items()}
