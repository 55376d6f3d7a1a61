"""Every suppression that there was, as `semel suppressions` lists them; who decides reads the log instead."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from domain.ids import id_of
from domain.suppressions import AddressSuppressed, SuppressionLifted
from projections.columns import Instant, Key, metadata
from projections.many_rows import insert_or_replace
from projections.projection import Batch

suppressions = sa.Table(
    "suppressions",
    metadata,
    sa.Column("suppression", Key, primary_key=True),
    sa.Column("type", Key, primary_key=True),
    sa.Column("sender", Key, primary_key=True),
    sa.Column("why", Key, primary_key=True),
    sa.Column("channel", Key, nullable=False),
    sa.Column("detail", sa.Text, nullable=False),
    sa.Column("source", sa.Text, nullable=False),
    sa.Column("member", Key, nullable=False, index=True),
    sa.Column("since", Instant, nullable=False),
    sa.Column("expires_at", Instant),
    sa.Column("lifted_at", Instant),
    sa.Column("lifted_by", sa.Text, nullable=False),
    sa.Column("lifted_why", sa.Text, nullable=False),
)

Columns = dict[str, Any]
Place = tuple[str, str, str, str]


class SuppressionsProjection:
    """Keeps one row for each scope and cause of each address: the latest."""

    tables: tuple[sa.Table, ...] = (suppressions,)

    def apply(self, connection: sa.Connection, batch: Batch) -> None:
        """Write what was suppressed in this batch, and note what was lifted."""
        fresh: dict[Place, Columns] = {}
        lifted: dict[Place, Columns] = {}
        for entry in batch.recorded:
            event = entry.event
            if isinstance(event, AddressSuppressed):
                fresh[_place(event)] = _row(event)
                lifted.pop(_place(event), None)
            elif isinstance(event, SuppressionLifted):
                changes = {"lifted_at": event.at, "lifted_by": event.by, "lifted_why": event.reason}
                (fresh if _place(event) in fresh else lifted).setdefault(_place(event), {}).update(changes)
        insert_or_replace(connection, suppressions, list(fresh.values()))
        _note(connection, lifted)


def _place(event: AddressSuppressed | SuppressionLifted) -> Place:
    return id_of(event.stream), event.type, event.sender, event.why


def _row(event: AddressSuppressed) -> Columns:
    return {
        **dict(zip(_PLACE, _place(event), strict=True)),
        "channel": event.channel,
        "detail": event.detail,
        "source": event.source,
        "member": event.member,
        "since": event.at,
        "expires_at": event.expires_at,
        "lifted_at": None,
        "lifted_by": "",
        "lifted_why": "",
    }


def _note(connection: sa.Connection, lifted: Mapping[Place, Columns]) -> None:
    for place, changes in lifted.items():
        its = (suppressions.c[name] == value for name, value in zip(_PLACE, place, strict=True))
        connection.execute(sa.update(suppressions).where(*its).values(changes))


_PLACE = ("suppression", "type", "sender", "why")

LISTED = ("suppression", "channel", "type", "sender", "why", "detail", "member", "since", "expires_at", "source")
"""The columns of a listing, in their order."""


def standing(connection: sa.Connection, at: datetime, *, member: str | None = None) -> list[Mapping[str, Any]]:
    """Return the suppressions that hold at an instant, the newest first: all of them, or those about a member."""
    query = (
        sa.select(suppressions)
        .where(suppressions.c.lifted_at.is_(None))
        .where(sa.or_(suppressions.c.expires_at.is_(None), suppressions.c.expires_at > at))
        .order_by(suppressions.c.since.desc(), *(suppressions.c[name] for name in _PLACE))
    )
    if member is not None:
        query = query.where(suppressions.c.member == member)
    return [dict(row._mapping) for row in connection.execute(query)]
