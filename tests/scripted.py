"""A service that answers as the test tells it to, and remembers what it was asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from adapters.application import Application, embedded_services
from automations.ports import Call, Service
from domain.commands import Command
from domain.endings import Done, Ending

Services = Callable[[Application], Mapping[str, Service]]


@dataclass(slots=True)
class ScriptedService:
    """Answers every call with `answer`, or with what `during` returns, which may also raise.

    `honours_keys` is a promise to the engine alone: whoever counts has to look at `calls`.
    """

    name: str
    honours_keys: bool = True
    answer: Ending = field(default_factory=Done)
    during: Callable[[Call], Ending | None] = lambda call: None
    calls: list[Call] = field(default_factory=list)
    commands: list[Command] = field(default_factory=list)

    def perform(self, command: Command, call: Call) -> Ending:
        """Note what is asked for, and answer."""
        self.calls.append(call)
        self.commands.append(command)
        return self.during(call) or self.answer

    @property
    def counted(self) -> Counter[str]:
        """Return how often each idempotency key was used."""
        return Counter(call.key for call in self.calls)

    def among_the_others(self) -> Services:
        """Return what gives an application this service in the place of its own one of that name."""
        return lambda application: {**embedded_services(application), self.name: self}
