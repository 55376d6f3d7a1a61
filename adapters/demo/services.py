"""The services of the demo: a door system that knows every door but one, and is away for some hours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from adapters.application import embedded_services
from adapters.demo.cast import DOOR_OUT_OF_ORDER
from adapters.demo.incidents import Incidents
from automations.ports import Call, Service
from domain.commands import Command, GrantAccess
from domain.endings import Done, Misconfigured, Refused, TryLater, Unknown

if TYPE_CHECKING:
    from adapters.application import Application


class DoorSystem:
    """The access service, in front of which a lock was replaced."""

    name = "access"

    def __init__(self, inner: Service, incidents: Incidents) -> None:
        self._inner = inner
        self._incidents = incidents
        self.honours_keys = inner.honours_keys

    def perform(self, command: Command, call: Call) -> Done | Refused | TryLater | Misconfigured | Unknown:
        """Pass the call on, unless nobody answers, or it is about the door with the new lock."""
        if self._incidents.door_system_is_down():
            return TryLater(reason="the door system does not answer")
        if isinstance(command, GrantAccess) and command.door == DOOR_OUT_OF_ORDER:
            return Refused(reason=f"the door {command.door} is not known: was its lock replaced?")
        return self._inner.perform(command, call)


class Mains:
    """A service on the mains: when the power fails, it has done its work, and nobody gets to know of it."""

    def __init__(self, inner: Service, incidents: Incidents) -> None:
        self._inner = inner
        self._incidents = incidents
        self.name, self.honours_keys = inner.name, inner.honours_keys

    def perform(self, command: Command, call: Call) -> Done | Refused | TryLater | Misconfigured | Unknown:
        """Pass the call on, and the answer back if there is power."""
        ending = self._inner.perform(command, call)
        self._incidents.after_call()
        return ending


class Services:
    """Makes the embedded services on the mains, with this door system in the place of theirs."""

    def __init__(self, incidents: Incidents) -> None:
        self._incidents = incidents

    def __call__(self, application: Application) -> Mapping[str, Service]:
        """Return the services of an application."""
        embedded = embedded_services(application)
        embedded[DoorSystem.name] = DoorSystem(embedded[DoorSystem.name], self._incidents)
        return {name: Mains(service, self._incidents) for name, service in embedded.items()}
