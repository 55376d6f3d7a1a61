"""Services outside of the engine: what they were asked and what they did stands in a file that outlives any crash."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from adapters.points import Point, Points
from automations.ports import Call, Service
from domain.commands import Command
from domain.endings import Done, Ending, Misconfigured, TryLater


class LedgerService:
    """Notes each call in its ledger, and then its effect; the first calls of all it cannot answer.

    One that honours keys has no second effect for a key.
    """

    def __init__(self, folder: Path, name: str, *, honours_keys: bool, at_first: tuple[Ending, ...] = ()) -> None:
        self.name, self.honours_keys = name, honours_keys
        self._at_first = at_first
        self._ledger = folder / f"{name}.ledger"
        self._ledger.touch()

    def perform(self, command: Command, call: Call) -> Ending:
        """Do what the command says."""
        asked = self.lines("asked")
        self._note("asked", call.key)
        if len(asked) < len(self._at_first):
            return self._at_first[len(asked)]
        if not (self.honours_keys and call.key in self.lines("did")):
            self._note("did", call.key)
        return Done(result={"id": call.key})

    def lines(self, what: str) -> Counter[str]:
        """Return how often each key stands in the ledger."""
        written = (line.split() for line in self._ledger.read_text().splitlines())
        return Counter(key for kind, key in written if kind == what)

    def _note(self, what: str, key: str) -> None:
        with self._ledger.open("a") as ledger:
            ledger.write(f"{what} {key}\n")


class WatchedService:
    """A service with a point before and a point after each of its calls."""

    def __init__(self, inner: Service, points: Points) -> None:
        self.name, self.honours_keys = inner.name, inner.honours_keys
        self._inner, self._points = inner, points

    def perform(self, command: Command, call: Call) -> Ending:
        """Pass the call on."""
        self._points(Point("before call", command.OPERATION))
        ending = self._inner.perform(command, call)
        self._points(Point("after call", command.OPERATION))
        return ending


def watched(services: Mapping[str, Service], points: Points) -> dict[str, Service]:
    """Return services whose calls pass points."""
    return {name: WatchedService(service, points) for name, service in services.items()}


AWAY_AT_FIRST = (TryLater(reason="starting"),)
DENIED_AT_FIRST = (Misconfigured(reason="401"),)
