"""The devices of members, as lists need them; who decides about one reads the log instead."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

import sqlalchemy as sa

from domain.devices import DeviceInvalidated, DeviceRegistered, DeviceWithdrawn
from domain.events import DomainEvent
from domain.ids import id_of
from projections.columns import Instant, Key, metadata
from projections.many_rows import insert_or_replace
from projections.projection import Batch

devices = sa.Table(
    "devices",
    metadata,
    sa.Column("device", Key, primary_key=True),
    sa.Column("member", Key, nullable=False, index=True),
    sa.Column("platform", sa.Text, nullable=False),
    sa.Column("registered_at", Instant, nullable=False),
    sa.Column("withdrawn_at", Instant),
    sa.Column("invalidated_at", Instant),
)

LISTED = ("device", "platform", "registered_at", "withdrawn_at", "invalidated_at")
"""The columns of a listing, in their order."""

Columns = dict[str, Any]


class DevicesProjection:
    """Keeps one row for each device: its latest registration."""

    tables: tuple[sa.Table, ...] = (devices,)

    def apply(self, connection: sa.Connection, batch: Batch) -> None:
        """Write what was registered in this batch, and note what ended."""
        fresh: dict[str, Columns] = {}
        ended: dict[str, Columns] = {}
        for entry in batch.recorded:
            event = entry.event
            if isinstance(event, DeviceRegistered):
                fresh[event.stream] = _row(event)
                ended.pop(event.stream, None)
            elif changes := _ends(event):
                (fresh if event.stream in fresh else ended).setdefault(event.stream, {}).update(changes)
        insert_or_replace(connection, devices, list(fresh.values()))
        for stream, changes in ended.items():
            connection.execute(sa.update(devices).where(devices.c.device == id_of(stream)).values(changes))


def _row(event: DeviceRegistered) -> Columns:
    return {
        "device": id_of(event.stream),
        "member": event.member,
        "platform": event.platform,
        "registered_at": event.at,
        "withdrawn_at": None,
        "invalidated_at": None,
    }


def _ends(event: DomainEvent) -> Columns | None:
    match event:
        case DeviceWithdrawn():
            return {"withdrawn_at": event.at}
        case DeviceInvalidated():
            return {"invalidated_at": event.at}
        case _:
            return None


def of_member(connection: sa.Connection, member: str) -> list[Mapping[str, Any]]:
    """Return the devices of a member, the newest first."""
    query = (
        sa.select(devices).where(devices.c.member == member).order_by(devices.c.registered_at.desc(), devices.c.device)
    )
    return [dict(row._mapping) for row in connection.execute(query)]


def reachable(connection: sa.Connection, members: Iterable[str]) -> dict[str, list[str]]:
    """Return the ids of the devices that pushes go to, of each of these members that has any."""
    query = (
        sa.select(devices.c.member, devices.c.device)
        .where(devices.c.member.in_(list(members)), devices.c.platform == "web")
        .where(devices.c.withdrawn_at.is_(None), devices.c.invalidated_at.is_(None))
        .order_by(devices.c.device)
    )
    found: defaultdict[str, list[str]] = defaultdict(list)
    for member, device in connection.execute(query):
        found[member].append(device)
    return dict(found)
