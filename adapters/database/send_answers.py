"""What the answer to a send means beyond its delivery, in the transaction that records it.

An address that a provider refuses for good is suppressed, a registration that a push service does not know is over,
and reports that came before the answer are acted upon.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from adapters.database import callbacks
from adapters.database.devices import read_devices
from adapters.database.event_log import EventLog
from adapters.database.suppressing import SuppressionDesk
from adapters.database.unit_of_work import UnitOfWork
from automations.notifications.dispatcher import Change
from domain.deliveries import Delivery, DeliveryFailed
from domain.devices import invalidated
from domain.endings import SUPPRESSES
from domain.ids import id_of, kind_of
from domain.suppressions import Scope, Why

_REPORTABLE = frozenset({"sent", "unknown", "failed"})
"""States that the end of a call leads to, from which a report that came early can go on."""


class SendAnswers:
    """Heeds the answers of all channels; `senders` says who messages are from, by channel, where that counts."""

    def __init__(self, log: EventLog, desk: SuppressionDesk, senders: Mapping[str, str]) -> None:
        self._log = log
        self._desk = desk
        self._senders = senders

    def heed(self, work: UnitOfWork, changes: Sequence[Change], after: Mapping[str, Delivery]) -> None:
        """Do what follows from the ends of calls; raises Conflict where another transaction was faster.

        `after` holds the deliveries as the changes leave them, by id.
        """
        for change, failed in _refusals(changes):
            match SUPPRESSES.get(failed.error_class):
                case "address" if change.address:
                    self._suppress(work, change, failed)
                case "token":
                    self._invalidate(work, change, failed)
        ended = (after[change.before.id] for change in changes if change.before.state == "sending")
        reportable = [each for each in ended if each.state in _REPORTABLE]
        if reportable and callbacks.are_waiting(work.connection):
            callbacks.match(work.connection, reportable)

    def _suppress(self, work: UnitOfWork, change: Change, failed: DeliveryFailed) -> None:
        asked = change.before.asked
        opted_out = failed.error_class == "opted_out"
        why: Why = "opt_out" if opted_out else "hard_bounce"
        sender = self._senders.get(asked.channel, "") if opted_out else ""
        self._desk.suppress_in(
            work,
            asked.channel,
            change.address,
            why,
            at=failed.at,
            scope=Scope(sender=sender),
            source=f"{failed.stream}/{failed.version}",
            detail=failed.error_class,
            member=id_of(asked.to),
        )

    def _invalidate(self, work: UnitOfWork, change: Change, failed: DeliveryFailed) -> None:
        stream = change.before.asked.address
        if kind_of(stream) != "device":
            return
        work.flush()
        device = read_devices(work.connection, self._log.mapper, [stream]).get(stream)
        if device is not None:
            delivery, at, reason = change.before.id, failed.at, failed.error_class
            work.append(invalidated(device, registration=change.registration, delivery=delivery, at=at, reason=reason))


def _refusals(changes: Iterable[Change]) -> Iterator[tuple[Change, DeliveryFailed]]:
    for change in changes:
        last = change.steps[-1] if change.steps else None
        if isinstance(last, DeliveryFailed) and last.error_class in SUPPRESSES:
            yield change, last
