"""Acts upon what providers have reported: finds the message, moves its delivery on, and suppresses addresses.

Each report has a transaction of its own, so that none stops another. One about a message that is not known yet is
looked at again, ever more rarely; the transaction that records the message as sent hastens it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Protocol

import sqlalchemy as sa
import structlog

from adapters.database import callbacks, log_queries
from adapters.database.deliveries import read_deliveries
from adapters.database.delivery_views import DeliveryViews
from adapters.database.engine import writing
from adapters.database.event_log import EventLog
from adapters.database.personal import read_by_reference
from adapters.database.queue import Lease, complete, lease, release
from adapters.database.suppressing import SuppressionDesk
from adapters.database.unit_of_work import UnitOfWork, unit_of_work
from automations.notifications.callbacks import (
    Receipt,
    has_to_wait,
    is_proof_of_life,
    objections_to,
    steps_after_receipt,
    wait_before_look,
)
from automations.notifications.policy import address_of
from automations.ports import Clock, Entities
from automations.telling import told_error
from domain.deliveries import Delivery, DeliverySending
from domain.errors import Conflict, InvalidInput, Unavailable
from domain.facts import Entity
from domain.ids import id_of
from projections.deliveries import deliveries

logger = structlog.get_logger(__name__)

NAMES_ANOTHER = "it names another address than the one that the message went to, which alone counts"
"""What is noted beside such a report."""


class ReportReader(Protocol):
    """What a provider knows about its reports."""

    def receipts(self, content: str) -> Sequence[Receipt]:
        """Return what a report says; raises InvalidInput where it cannot be read."""
        ...


@dataclass(frozen=True, slots=True)
class Heard:
    """A report that is being acted upon: its row, the instant, and the address of the member, who may be erased."""

    row: Any
    at: datetime
    address: str = ""
    is_erased: bool = False

    @property
    def source(self) -> str:
        """Return how events name it."""
        return str(self.row.item)


class ReportWorker:
    """Acts upon reports for one worker; `bulk_types` are the notification types whose lane is bulk."""

    def __init__(
        self,
        log: EventLog,
        clock: Clock,
        owner: str,
        providers: Mapping[str, ReportReader],
        views: DeliveryViews,
        desk: SuppressionDesk,
        bulk_types: Sequence[str] = (),
    ) -> None:
        self._log = log
        self._clock = clock
        self._owner = owner
        self._providers = providers
        self._views = views
        self._desk = desk
        self._bulk_types = tuple(bulk_types)

    def work(self) -> bool:
        """Act upon the next report that is due; say whether there was one."""
        taken: list[Lease] = []
        try:
            with unit_of_work(self._log, "callback") as work:
                taken += lease(work.connection, callbacks.QUEUE, self._owner, 1, self._clock.now())
                for each in taken:
                    self._act(work, each)
        except (Conflict, Unavailable):
            raise
        except Exception as error:
            logger.exception("callback.broke-off", item=taken[0].item if taken else "")
            self._set_aside(taken, f"could not be acted upon: {told_error(error)}")
        return bool(taken)

    def _set_aside(self, taken: Sequence[Lease], why: str) -> None:
        with writing(self._log.engine) as connection:
            again = lease(connection, callbacks.QUEUE, self._owner, len(taken), self._clock.now()) if taken else []
            for each in again:
                callbacks.note(connection, each.item, "failed", note=why)
            complete(connection, again)

    def _act(self, work: UnitOfWork, taken: Lease) -> None:
        row = callbacks.read(work.connection, taken.item)
        if row is None or row.state in ("done", "failed"):
            complete(work.connection, [taken])
            return
        heard = Heard(row, self._clock.now())
        try:
            receipts = self._receipts(work.connection, row)
        except InvalidInput as error:
            callbacks.note(work.connection, row.item, "failed", note=str(error))
            complete(work.connection, [taken])
            return
        delivery = self._delivery(work.connection, row, receipts)
        if any(each.is_about_a_message for each in receipts) and (delivery is None or has_to_wait(delivery)):
            self._wait(work.connection, taken, heard, receipts)
        else:
            self._settle(work, self._with_member(work.connection, heard, delivery), receipts, delivery)
            complete(work.connection, [taken])

    def _with_member(self, connection: sa.Connection, heard: Heard, delivery: Delivery | None) -> Heard:
        """Add the member, and the address that the message went to, which they may have changed since.

        Before anything is written: what may be undone is not to be cached.
        """
        if delivery is None:
            return heard
        asked, view = delivery.asked, self._views.at_head(connection, [delivery.asked])
        then = _versions_since(connection, delivery)
        before = {asked.to: view.entities.before(asked.to, min(then))} if then else {}
        world = replace(view.world, entities=_AsTheyWere(view.entities, before))
        address = address_of(asked.to, asked.channel, world) or ""
        return replace(heard, address=address, is_erased=bool(view.entities.get(asked.to).get("erased")))

    def _receipts(self, connection: sa.Connection, row: Any) -> Sequence[Receipt]:
        content = read_by_reference(connection, [row.raw]).get(row.raw)
        provider = self._providers.get(row.provider)
        if content is None:
            return _remembered(row)
        if provider is None:
            raise InvalidInput("its provider is not set up any more")
        return [receipt.cleaned() for receipt in provider.receipts(str(content))]

    def _delivery(self, connection: sa.Connection, row: Any, receipts: Sequence[Receipt]) -> Delivery | None:
        """Return the delivery that a report is about: by our own id, or by that which its provider gave it."""
        named = [name for each in receipts for name in (each.delivery, each.message_id.partition("@")[0]) if name]
        wanted = list(dict.fromkeys(filter(None, [row.delivery, *named])))
        found = read_deliveries(connection, self._log.mapper, wanted)
        ours = next((found[each] for each in wanted if each in found), None)
        if ours is None:
            by_provider = _delivery_named(connection, row.channel, [each.message_id for each in receipts])
            ours = read_deliveries(connection, self._log.mapper, by_provider).get(next(iter(by_provider), ""))
        return ours if ours is not None and ours.asked.channel == row.channel else None

    def _wait(self, connection: sa.Connection, taken: Lease, heard: Heard, receipts: Sequence[Receipt]) -> None:
        callbacks.note(connection, heard.row.item, "unmatched", **_told(receipts))
        again_at = heard.at + wait_before_look(taken.attempt)
        release(connection, {taken: again_at})

    def _settle(self, work: UnitOfWork, heard: Heard, receipts: Sequence[Receipt], delivery: Delivery | None) -> None:
        for receipt in receipts:
            self._object(work, heard, receipt, delivery)
            if delivery is not None:
                delivery = self._moved(work, heard, receipt, delivery)
        named = delivery.id if delivery is not None else ""
        note = NAMES_ANOTHER if any(_is_elsewhere(each, heard, delivery) for each in receipts) else ""
        callbacks.note(work.connection, heard.row.item, "done", **{**_told(receipts), "delivery": named, "note": note})
        if delivery is not None:
            _file(work.connection, heard, delivery)

    def _moved(self, work: UnitOfWork, heard: Heard, receipt: Receipt, delivery: Delivery) -> Delivery:
        """Move a delivery on by a report, and return it."""
        steps = steps_after_receipt(delivery, receipt, source=heard.source, at=heard.at)
        work.append(steps)
        if heard.address and is_proof_of_life(steps):
            self._desk.proof_in(work, delivery.asked.channel, heard.address, at=heard.at, sent_at=delivery.at)
        for step in steps:
            delivery = delivery.after(step)
        return delivery

    def _object(self, work: UnitOfWork, heard: Heard, receipt: Receipt, delivery: Delivery | None) -> None:
        """Suppress the address that a report is about, as far as it objects to anything.

        That is where the message went to. What the report itself says counts only where it names no message at all.
        """
        objections = objections_to(receipt, delivery, self._bulk_types, channel=heard.row.channel)
        address = heard.address if delivery is not None else receipt.address
        if not address:
            return
        for objection in objections:
            self._desk.suppress_in(
                work,
                heard.row.channel,
                address,
                objection.why,
                at=heard.at,
                scope=objection.scope,
                # One report may object to several things about one address, each of them once.
                source="/".join(filter(None, (heard.source, objection.why, objection.scope.type))),
                detail=objection.detail,
                member=id_of(delivery.asked.to) if delivery is not None else "",
            )


class _AsTheyWere:
    """Entities as they are, but for some as they were at another time."""

    def __init__(self, now: Entities, before: Mapping[str, Entity]) -> None:
        self._now = now
        self._before = before

    def get(self, stream: str) -> Entity:
        return self._before.get(stream) or self._now.get(stream)

    def prepare(self, streams: Iterable[str]) -> list[Entity]:
        return [self._before.get(found.stream) or found for found in self._now.prepare(streams)]

    def before(self, stream: str, version: int) -> Entity:
        return self._now.before(stream, version)


def _versions_since(connection: sa.Connection, delivery: Delivery) -> list[int]:
    """Return the versions of the recipient that were recorded after the last call of a delivery began."""
    rows = log_queries.streams(connection, [delivery.stream, delivery.asked.to])
    sent = [row.position for row in rows if row.topic == DeliverySending.TOPIC]
    return [row.version for row in rows if row.stream == delivery.asked.to and sent and row.position > max(sent)]


def _is_elsewhere(receipt: Receipt, heard: Heard, delivery: Delivery | None) -> bool:
    """Say whether a report names another address than that of its message."""
    named, known = (each.strip().casefold() for each in (receipt.address, heard.address))
    return delivery is not None and bool(named) and named != known


def _file(connection: sa.Connection, heard: Heard, delivery: Delivery) -> None:
    """Put the text among the values of the member, or forget it where they were erased."""
    if heard.is_erased:
        callbacks.forget(connection, heard.row.raw)
    else:
        callbacks.belongs_to(connection, heard.row.raw, id_of(delivery.asked.to))


def _remembered(row: Any) -> list[Receipt]:
    """Return what is known of a report whose text was forgotten; raises InvalidInput where that is nothing."""
    kinds: list[Any] = [kind for kind in row.kind.split(", ") if kind]
    if not kinds:
        raise InvalidInput("its text was erased")
    return [Receipt(kind, row.message_id, row.delivery, told_at=row.told_at) for kind in kinds]


def _told(receipts: Sequence[Receipt]) -> dict[str, Any]:
    """Return the columns of what a report says."""
    told_at = next((each.told_at for each in receipts if each.told_at), "")
    return {
        "kind": ", ".join(dict.fromkeys(each.kind for each in receipts)),
        "message_id": next((each.message_id for each in receipts if each.message_id), ""),
        "delivery": next((each.delivery for each in receipts if each.delivery), ""),
        "told_at": told_at,
        "zone_assumed": any(each.zone_assumed for each in receipts),
    }


def _delivery_named(connection: sa.Connection, channel: str, message_ids: Sequence[str]) -> list[str]:
    named = [each for each in message_ids if each]
    if not named:
        return []
    query = sa.select(deliveries.c.delivery).where(
        deliveries.c.provider_message_id.in_(named), deliveries.c.channel == channel
    )
    return list(connection.scalars(query.limit(1)))
