"""An engine that runs for a while: one worker that ticks, works until it is idle, and lets time pass."""

from __future__ import annotations

from datetime import datetime, timedelta

from adapters.database.engine import reading
from adapters.database.personal import StoredPersonalValues
from adapters.workers import Worker
from domain.civil_time import instant_of, zone
from domain.facts import PersonalRef
from domain.notices import is_notice
from domain.notifications import DeliveryRequested
from tests.operators import ZONE, Operator

FIVE_MINUTES = timedelta(minutes=5)


def local(text: str) -> datetime:
    """Return the instant of a wall time in Berlin, such as `2026-05-12 10:00`."""
    return instant_of(datetime.fromisoformat(text), zone(ZONE))


class Engine:
    """One process of an operator, from its start until it is let go."""

    def __init__(self, operator: Operator) -> None:
        self.operator = operator
        self.worker: Worker = operator.app.worker()

    def tick(self) -> None:
        """Tick now, and do what there is to do."""
        self.worker.work_until_idle()
        self.worker.tick()
        self.worker.work_until_idle()

    def run_until(self, end: str, step: timedelta = FIVE_MINUTES) -> Engine:
        """Tick now and every few minutes up to a wall time, at which it ticks last."""
        clock, until = self.operator.clock, local(end)
        self.tick()
        while clock.now() < until:
            clock.set(min(clock.now() + step, until))
            self.tick()
        return self


def told(operator: Operator, run: str = "rule entity status") -> list[tuple[object, ...]]:
    """Return these columns of every run, by rule and entity."""
    rows = sorted(operator.runs(), key=lambda row: (row["rule"], row["entity"]))
    return [tuple(row[name] for name in run.split()) for row in rows]


def notices(operator: Operator) -> list[tuple[str, dict[str, object]]]:
    """Return the type and the payload of each notice to staff, in the order of their recording."""
    requests = (each for each in operator.events() if isinstance(each, DeliveryRequested))
    return [(each.type, _payload(operator, each)) for each in requests if is_notice(each.type)]


def _payload(operator: Operator, event: DeliveryRequested) -> dict[str, object]:
    with reading(operator.app.engine) as connection:
        found = StoredPersonalValues(connection).read(PersonalRef(event.member, event.payload))
    assert isinstance(found, dict)
    return found
