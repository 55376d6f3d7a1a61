"""The loop of one worker for deliveries: expand what was requested, and send what is due on each channel."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from adapters.database import queue
from adapters.database.deliveries import StoredDeliveries
from adapters.database.engine import reading
from adapters.database.event_log import EventLog
from adapters.database.expanding import Expander, queue_of
from adapters.database.lease_observer import LEASE_TIME, LeaseObserver
from adapters.database.queue import Lease
from adapters.database.queue_dues import next_dues
from adapters.database.requests import QUEUE
from adapters.database.unit_of_work import unit_of_work
from automations.notifications.channels import Channel
from automations.notifications.dispatcher import Dispatcher
from automations.notifications.templates import Wordings
from automations.notifications.types import Types
from automations.ports import Clock
from automations.retries import Jitter
from domain.deliveries import Delivery

LEASED_AT_ONCE = 100
"""Deliveries that a worker takes from the queue of a channel at a time, where they are recorded together."""

LEASED_ALONE = 20
"""The same where each is recorded by itself."""

_DELIVERIES = queue_of("")


class DeliveryWorker:
    """Delivers for one process and operator; several may work side by side.

    `channels` are those of the operator by name; a delivery on any other is looked at too, so that it ends.
    What shows no sign of life for `lease_seconds` is taken over.
    """

    def __init__(
        self,
        *,
        log: EventLog,
        clock: Clock,
        owner: str,
        default_zone: str,
        channels: Mapping[str, Channel],
        jitter: Jitter,
        lease_seconds: float = LEASE_TIME,
        types: Types | None = None,
        wordings: Wordings | None = None,
    ) -> None:
        self._log = log
        self._clock = clock
        self._owner = owner
        self._observer = LeaseObserver(clock.monotonic, lease_seconds, watches=is_delivery)
        self._deliveries = StoredDeliveries(log, owner, default_zone)
        self._expander = Expander(log, clock, owner, types or Types())
        self._dispatcher = Dispatcher(self._deliveries, channels, wordings or Wordings(), clock, jitter=jitter)

    def work_once(self) -> bool:
        """Expand and send what can be now, as much as fits one round; say whether there was anything to do.

        Raises Conflict where another worker expands the same: the next round looks again.
        """
        now = self._clock.now()
        due = {name for name, due_at in self._dues().items() if due_at <= now}
        if QUEUE in due:
            self._expander.expand()
        for name in sorted(due - {QUEUE}):
            with unit_of_work(self._log, "lease") as work:
                leases = queue.lease(work.connection, name, self._owner, self._limit(name), now)
            self._take_up(leases)
        return bool(due) | self._recover()

    def _limit(self, queue_name: str) -> int:
        together = self._dispatcher.honours_keys(queue_name.removeprefix(_DELIVERIES))
        return LEASED_AT_ONCE if together else LEASED_ALONE

    def next_due(self) -> datetime | None:
        """Return when there is something to do next, `AT_ONCE` where there is already, or None."""
        return min(self._dues().values(), default=None)

    def _recover(self) -> bool:
        """Take over what other workers left behind."""
        with reading(self._log.engine) as connection:
            abandoned = self._observer.look(connection)
        if not abandoned:
            return False
        with unit_of_work(self._log, "take over") as work:
            leases = self._observer.take_over(work.connection, self._owner, LEASED_AT_ONCE)
        return self._take_up(leases)

    def _take_up(self, leases: Sequence[Lease]) -> bool:
        """Do what was leased, be it free before or left behind by another worker; say whether it was anything."""
        deliveries = self._deliveries.hold(leases)
        try:
            for together in self._together(deliveries):
                self._dispatcher.recover(together)
        finally:
            self._deliveries.forget()
        return bool(leases)

    def beat(self) -> None:
        """Show that this worker is alive and still at all that it holds; safe to call from another thread."""
        self._deliveries.beat()

    def _together(self, deliveries: Sequence[Delivery]) -> Iterator[Sequence[Delivery]]:
        """Yield the deliveries in groups that are recorded together.

        Where a repeat would be a second message, each is recorded before the next one is sent, so that a crash
        leaves one in doubt and not many. What a worker vanished with goes alone, so that it takes no other with it.
        """
        grouped = [each for each in deliveries if self._is_harmless(each)]
        if grouped:
            yield grouped
        for delivery in deliveries:
            if not self._is_harmless(delivery):
                yield [delivery]

    def _is_harmless(self, delivery: Delivery) -> bool:
        return self._dispatcher.honours_keys(delivery.asked.channel) and delivery.crashes == 0

    def _dues(self) -> dict[str, datetime]:
        with reading(self._log.engine) as connection:
            dues = next_dues(connection)
        return {name: due_at for name, due_at in dues.items() if name == QUEUE or is_delivery(name)}


def is_delivery(queue_name: str) -> bool:
    """Say whether a queue is one of deliveries."""
    return queue_name.startswith(_DELIVERIES)
