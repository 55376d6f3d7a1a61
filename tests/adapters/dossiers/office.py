"""An operator whose services can be made to fail, and the desk of those who look after what did."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from adapters.application import Application, embedded_services
from adapters.database.engine import reading
from adapters.dossiers.documents import Document, dossier_document
from adapters.workers import Worker
from automations.ports import Call, Service
from automations.staff_acts import Acted, ActName, Order
from domain.commands import Command
from domain.endings import Done, Misconfigured, Refused, TryLater, Unknown
from projections.dossier_lists import Dossier, closed_dossiers, dossiers_named, open_dossiers
from tests.engines import notices
from tests.operators import BOOKING, NOON, Event, Operator, event, operator_on, scene

Answer = Done | Refused | TryLater | Misconfigured | Unknown


@dataclass(slots=True)
class Switch:
    """What services answer instead of doing anything, by name, and what they were called with.

    The `forgetful` ones do not know a repeated key.
    """

    answers: dict[str, Answer] = field(default_factory=dict)
    forgetful: set[str] = field(default_factory=set)
    calls: list[tuple[str, str]] = field(default_factory=list)

    def services(self, application: Application) -> Mapping[str, Service]:
        """Return the embedded services behind this switch."""
        return {name: _Switched(service, self) for name, service in embedded_services(application).items()}

    def keys(self, operation: str) -> list[str]:
        """Return the idempotency keys with which an operation was called, in order."""
        return [key for called, key in self.calls if called == operation]


class _Switched:
    def __init__(self, inner: Service, switch: Switch) -> None:
        self.name = inner.name
        self._inner, self._switch = inner, switch

    @property
    def honours_keys(self) -> bool:
        return self.name not in self._switch.forgetful

    @honours_keys.setter
    def honours_keys(self, value: bool) -> None:
        raise AttributeError("the switch decides")

    def perform(self, command: Command, call: Call) -> Answer:
        self._switch.calls.append((command.OPERATION, call.key))
        answer = self._switch.answers.get(self.name)
        return answer if answer is not None else self._inner.perform(command, call)


@dataclass(slots=True)
class Office:
    """One operator at noon, its worker, and its staff."""

    operator: Operator
    switch: Switch
    worker: Worker = field(init=False)

    def __post_init__(self) -> None:
        self.worker = self.operator.app.worker()

    def work(self) -> None:
        """Work until nothing is left."""
        self.worker.work_until_idle()

    def later(self, **time: float) -> None:
        """Let time pass, and work."""
        self.operator.clock.set(self.operator.clock.now() + timedelta(**time))
        self.work()

    def book(self, *numbers: int, **more: Any) -> None:
        """Record bookings, and work."""
        self.operator.record(*(booking(number, **more) for number in numbers))
        self.work()

    def key(self, number: int = 1) -> str:
        """Return the key of the one run about a booking."""
        (run,) = self.operator.runs(entity=f"booking/b{number}")
        return str(run["key"])

    def status(self, number: int = 1) -> str:
        """Return the status of the one run about a booking."""
        (run,) = self.operator.runs(entity=f"booking/b{number}")
        return str(run["status"])

    def act(
        self, act: ActName, *keys: str, reason: str = "", by: str = "ana", action: int | None = None
    ) -> list[Acted]:
        """Act on runs, and work."""
        acted = self.operator.app.run_acts().act(Order(act, by, reason, action), keys)
        self.work()
        return acted

    def act_on_all(self, act: ActName, reason: str = "", by: str = "ana") -> list[Acted]:
        """Act on all runs of the one open dossier, and work."""
        acted = self.operator.app.run_acts().act_on_all(Order(act, by, reason), self.dossier().id)
        self.work()
        return acted

    def dossiers(self) -> list[Dossier]:
        """Return the open dossiers."""
        with reading(self.operator.app.engine) as connection:
            return open_dossiers(connection)

    def dossier(self) -> Dossier:
        """Return the one open dossier."""
        (found,) = self.dossiers()
        return found

    def closed(self) -> Dossier:
        """Return the dossier that was closed last."""
        with reading(self.operator.app.engine) as connection:
            return closed_dossiers(connection)[0]

    def document(self, dossier: str) -> Document:
        """Return a dossier as one document."""
        with reading(self.operator.app.engine) as connection:
            (found,) = dossiers_named(connection, dossier)
            return dossier_document(connection, self.operator.app.log.mapper, found)

    def told(self) -> list[str]:
        """Return the types of the notices to staff."""
        return [kind for kind, _ in notices(self.operator)]

    def topics(self) -> list[str]:
        """Return what was recorded of dossiers."""
        return [topic for topic in self.operator.topics() if topic.startswith("dossier.")]


def booking(number: int, **more: Any) -> Event:
    """Return the event of a booking that was made."""
    return event("booking.created", {**BOOKING, "booking_id": f"b{number}", **more}, at=NOON)


@contextmanager
def office_on(url: str, **settings: Any) -> Iterator[Office]:
    """Lend an operator with a space, a room and a member, behind a switch."""
    switch = Switch()
    with operator_on(url, services=switch.services, **settings) as operator:
        operator.record(*scene())
        yield Office(operator, switch)
