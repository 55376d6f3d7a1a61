"""Captured services: the embedded ones, which count their calls and fail when the scenario says so."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping

from adapters.points import Point
from adapters.scenarios.crashes import CrashPoints
from automations.ports import Call, Service
from automations.scenario import Fault
from automations.scenarios.observed import Calls
from domain.commands import Command
from domain.endings import Done, Misconfigured, Refused, TryLater, Unknown

Answer = Done | Refused | TryLater | Misconfigured | Unknown


class Switchboard:
    """How services answer now, and what they were asked; it outlives the engine that asks."""

    def __init__(self, crashes: CrashPoints) -> None:
        self.crashes = crashes
        self._faults: dict[str, Fault] = {}
        self._attempts: Counter[str] = Counter()
        self._effects: defaultdict[str, set[str]] = defaultdict(set)

    def set(self, faults: Mapping[str, Fault]) -> None:
        """Make services and channels answer so from now on."""
        self._faults.update(faults)

    def answer(self, name: str, of: str, do: Callable[[], Answer], *, counted: bool = True) -> Answer:
        """Return what a service or channel answers to a call of it, which has an effect where `do` is done."""
        self.crashes.reach(Point("before call", of))
        if counted:
            self._attempts[of] += 1
        answer = self._answer(name, do)
        self.crashes.reach(Point("after call", of))
        return answer

    def _answer(self, name: str, do: Callable[[], Answer]) -> Answer:
        match self._faults.get(name, "ok"):
            case "unavailable":
                return TryLater(reason=f"{name} is unavailable")
            case "refused":
                return Refused(reason=f"{name} refused")
            case "misconfigured":
                return Misconfigured(reason=f"{name} does not accept our credentials")
            case "times out":
                return Unknown(reason=f"{name} timed out")
            case "accepts and times out":
                do()
                return Unknown(reason=f"{name} timed out")
        return do()

    def had_effect(self, operation: str, key: str) -> None:
        """Count an effect, once for each idempotency key."""
        self._effects[operation].add(key)

    def calls(self) -> dict[str, Calls]:
        """Return what was called so far, by operation."""
        return {name: Calls(len(self._effects[name]), count) for name, count in self._attempts.items()}


class CapturedService:
    """A service between the engine and one that really does it."""

    def __init__(self, inner: Service, switchboard: Switchboard) -> None:
        self.name, self.honours_keys = inner.name, inner.honours_keys
        self._inner, self._switchboard = inner, switchboard

    def perform(self, command: Command, call: Call) -> Answer:
        """Do what the command says, or fail as the scenario wants it."""
        return self._switchboard.answer(self.name, command.OPERATION, lambda: self._done(command, call))

    def _done(self, command: Command, call: Call) -> Answer:
        answer = self._inner.perform(command, call)
        if isinstance(answer, Done):
            self._switchboard.had_effect(command.OPERATION, call.key)
        return answer


class CapturedWebhook:
    """Takes what would be posted to addresses outside; like most of them it knows nothing of keys."""

    name = "webhook"
    honours_keys = False

    def perform(self, command: Command, call: Call) -> Answer:
        """Accept everything."""
        return Done()
