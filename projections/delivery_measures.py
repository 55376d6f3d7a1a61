"""How deliveries go, in numbers: how long they take, how often they are tried, and how they fail.

Counted from the log, so that nothing is lost when a process ends, and all processes count together. A clock
starts when a delivery became due, so quiet hours do not look like an outage. Nobody is named.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from domain.delivery_events import AttemptStep, DeliveryFailed, DeliveryStep, State
from domain.delivery_receipts import DeliveryReceipt
from domain.events import DomainEvent
from domain.ids import id_of
from projections.columns import Key, metadata
from projections.deliveries import deliveries
from projections.projection import Batch

SECONDS = (0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600, 10_800, 36_000, 108_000)
"""The upper bounds of durations: from a twentieth of a second to thirty hours."""

ATTEMPTS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
"""The upper bounds of how often a delivery was tried."""

ACCEPTED, DELIVERED, REPORTED = "accepted_seconds", "delivered_seconds", "reported_seconds"
TRIED, ENDED = "attempts", "states"

HISTOGRAMS: Mapping[str, tuple[float, ...]] = {
    ACCEPTED: SECONDS,
    DELIVERED: SECONDS,
    REPORTED: SECONDS,
    TRIED: ATTEMPTS,
}
"""The bounds of each measure that is spread over buckets; the others are only counted."""

_OVER: frozenset[State] = frozenset({"sent", "failed"})

delivery_measures = sa.Table(
    "delivery_measures",
    metadata,
    sa.Column("measure", Key, primary_key=True),
    sa.Column("channel", Key, primary_key=True),
    sa.Column("lane", Key, primary_key=True),
    sa.Column("type", Key, primary_key=True),
    sa.Column("class", Key, primary_key=True),
    sa.Column("bucket", sa.Integer, primary_key=True),
    sa.Column("number", sa.BigInteger, nullable=False),
    sa.Column("total", sa.Float, nullable=False),
    sqlite_with_rowid=False,
)
"""How often what was measured; `bucket` is the place among the bounds, `total` the sum of the values."""


class Labels(NamedTuple):
    """What one number is about; `error_class` is the state, or the class of a failure, where that is counted."""

    measure: str
    channel: str
    lane: str
    type: str
    error_class: str


class _Asked(NamedTuple):
    """What a delivery is told by here."""

    channel: str
    lane: str
    type: str
    due_at: datetime


class DeliveryMeasuresProjection:
    """Counts what happens to deliveries; the table of deliveries has to take a batch over before."""

    tables: tuple[sa.Table, ...] = (delivery_measures,)

    def apply(self, connection: sa.Connection, batch: Batch) -> None:
        """Add what happened in this batch."""
        events = [entry.event for entry in batch.recorded if isinstance(entry.event, DeliveryStep)]
        if not events:
            return
        asked = _asked(connection, events)
        numbers: Counter[tuple[Labels, int]] = Counter()
        totals: defaultdict[tuple[Labels, int], float] = defaultdict(float)
        for event in events:
            found = asked.get(id_of(event.stream))
            for labels, value in _measured(event, found) if found is not None else ():
                bounds = HISTOGRAMS.get(labels.measure, ())
                place = labels, bisect_left(bounds, value)
                numbers[place] += 1
                totals[place] += value
        _add(connection, numbers, totals)


def _measured(event: DeliveryStep, asked: _Asked) -> Iterator[tuple[Labels, float]]:
    seconds = max(0.0, (event.at - asked.due_at).total_seconds())
    about = (asked.channel, asked.lane, asked.type)
    if event.STATE == "sent":
        yield Labels(ACCEPTED, *about, ""), seconds
    if event.STATE == "delivered":
        yield Labels(DELIVERED, *about, ""), seconds
    if isinstance(event, DeliveryReceipt) and (happened := _happened(event)) is not None:
        yield Labels(REPORTED, *about, ""), max(0.0, (event.at - happened).total_seconds())
    if event.STATE in _OVER and isinstance(event, AttemptStep):
        yield Labels(TRIED, *about, ""), event.attempt
    failure = event.error_class if isinstance(event, DeliveryFailed) else ""
    yield Labels(ENDED, *about, f"{event.STATE}:{failure}" if failure else event.STATE), 0.0


def _happened(event: DeliveryReceipt) -> datetime | None:
    """Return when something happened at a provider, or None where its report gives no instant to be sure of."""
    try:
        told = datetime.fromisoformat(event.told_at)
    except ValueError:
        return None
    return told if told.tzinfo is not None and not event.zone_assumed else None


def _asked(connection: sa.Connection, events: Iterable[DomainEvent]) -> dict[str, _Asked]:
    wanted = sorted({id_of(event.stream) for event in events})
    found: dict[str, _Asked] = {}
    for start in range(0, len(wanted), _CHUNK):
        rows = connection.execute(_ABOUT.where(deliveries.c.delivery.in_(wanted[start : start + _CHUNK])))
        found |= {delivery: _Asked(*about) for delivery, *about in rows}
    return found


def _add(
    connection: sa.Connection, numbers: Mapping[tuple[Labels, int], int], totals: Mapping[tuple[Labels, int], float]
) -> None:
    dialect: Any = postgresql if connection.dialect.name == "postgresql" else sqlite
    insert = dialect.insert(delivery_measures)
    keys = [column.name for column in delivery_measures.primary_key]
    added = {name: delivery_measures.c[name] + insert.excluded[name] for name in ("number", "total")}
    rows = [
        {**dict(zip(keys, (*labels, bucket), strict=True)), "number": number, "total": totals[labels, bucket]}
        for (labels, bucket), number in sorted(numbers.items())
    ]
    connection.execute(insert.on_conflict_do_update(index_elements=keys, set_=added), rows)


class Oldest(NamedTuple):
    """Since when the longest waiting delivery of a lane could have gone out."""

    channel: str
    lane: str
    due_at: datetime


def measured(connection: sa.Connection) -> list[tuple[Labels, int, int, float]]:
    """Return every number with its labels: the place of its bucket, how many, and the sum of the values."""
    query = sa.select(delivery_measures).order_by(*delivery_measures.primary_key)
    return [(Labels(*row[:5]), row.bucket, row.number, row.total) for row in connection.execute(query)]


def oldest_due(connection: sa.Connection, at: datetime) -> list[Oldest]:
    """Return for each lane in which something is due the one that has been for longest."""
    due = sa.func.coalesce(deliveries.c.next_attempt_at, deliveries.c.due_at)
    query = (
        sa.select(deliveries.c.channel, deliveries.c.lane, sa.func.min(due))
        .where(deliveries.c.status.in_(("pending", "retrying")), due <= at)
        .group_by(deliveries.c.channel, deliveries.c.lane)
        .order_by(deliveries.c.channel, deliveries.c.lane)
    )
    return [Oldest(*row) for row in connection.execute(query)]


_CHUNK = 500
_ABOUT = sa.select(
    deliveries.c.delivery, deliveries.c.channel, deliveries.c.lane, deliveries.c.type, deliveries.c.due_at
)
