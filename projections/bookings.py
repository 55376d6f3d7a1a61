"""Bookings by member and start: what only a table can count, such as how many a member had before."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import sqlalchemy as sa

from domain.facts import Entity
from domain.ids import id_of
from projections.columns import Key, metadata
from projections.many_rows import asked, asking, insert_or_replace
from projections.projection import Batch

bookings = sa.Table(
    "bookings",
    metadata,
    sa.Column("booking", Key, primary_key=True),
    sa.Column("member", Key, nullable=False),
    sa.Column("resource", Key, nullable=False),
    sa.Column("starts", Key, nullable=False),
    sa.Column("ends", Key, nullable=False),
    sa.Column("status", sa.Text, nullable=False),
    sa.Index("ix_bookings_member", "member", "starts"),
)


class BookingsProjection:
    """Keeps one row for each booking, as it stands."""

    tables: tuple[sa.Table, ...] = (bookings,)

    def apply(self, connection: sa.Connection, batch: Batch) -> None:
        """Write the row of each booking that the batch is about."""
        insert_or_replace(connection, bookings, map(_row, batch.entities("booking")))


def _row(booking: Entity) -> dict[str, str]:
    return {
        "booking": id_of(booking.stream),
        "member": booking.get("member_id") or "",
        "resource": booking.get("resource_id") or "",
        "starts": _sortable(booking.get("starts_at")),
        "ends": _sortable(booking.get("ends_at")),
        "status": booking.get("status") or "",
    }


def _sortable(value: Any) -> str:
    """Return an instant in UTC, or a date for a whole day, as text whose order is that of time."""
    return "" if value is None else str(value.isoformat())


def bookings_before(connection: sa.Connection, member: str, booking: Entity, without: Iterable[str] = ()) -> int:
    """Return how many bookings of a member, not cancelled, start before this one.

    Those `without` are left out, by their streams, since the table does not know their present state.
    """
    left_out = [id_of(stream) for stream in without]
    asked = {"of": member, "this": id_of(booking.stream), "start": _sortable(booking.get("starts_at"))}
    if not left_out:
        return connection.scalar(_BEFORE, asked) or 0
    query = _BEFORE.where(bookings.c.booking.not_in(sa.bindparam("left_out", expanding=True)))
    return connection.scalar(query, {**asked, "left_out": left_out}) or 0


def bookings_of(connection: sa.Connection, member: str) -> list[str]:
    """Return the ids of the bookings of a member, whatever became of them."""
    return list(connection.scalars(_OF_MEMBER, {"of": member}))


class Asked(NamedTuple):
    """A booking, its member, and its start as the table keeps it."""

    booking: str
    member: str
    start: str


def asked_about(member: str, booking: Entity) -> Asked:
    """Return what `bookings_before_each` is asked with."""
    return Asked(id_of(booking.stream), member, _sortable(booking.get("starts_at")))


def bookings_before_each(connection: sa.Connection, about: Sequence[Asked]) -> dict[str, int]:
    """Return for each booking how many others of its member, not cancelled, start before it."""
    table = asked(connection.dialect.name, *Asked._fields)
    others = (
        (bookings.c.member == table.c.member)
        & (bookings.c.status != "cancelled")
        & (bookings.c.starts > "")
        & (bookings.c.starts < table.c.start)
        & (bookings.c.booking != table.c.booking)
    )
    query = (
        sa.select(table.c.booking, sa.func.count(bookings.c.booking))
        .select_from(sa.outerjoin(table, bookings, others))
        .group_by(table.c.booking)
    )
    counted = connection.execute(query, asking(about)).all()
    return {booking: count for booking, count in counted}  # noqa: C416 - a row is no pair to mypy


def is_before(other: Entity, member: str, booking: Entity) -> bool:
    """Say whether a booking is one of those that `bookings_before` counts."""
    start = _sortable(other.get("starts_at"))
    return (
        other.stream != booking.stream
        and other.get("member_id") == member
        and other.get("status") != "cancelled"
        and "" < start < _sortable(booking.get("starts_at"))
    )


_BEFORE = (
    sa.select(sa.func.count())
    .where(bookings.c.member == sa.bindparam("of"), bookings.c.status != "cancelled")
    .where(bookings.c.starts > "", bookings.c.starts < sa.bindparam("start"))
    .where(bookings.c.booking != sa.bindparam("this"))
)
_OF_MEMBER = sa.select(bookings.c.booking).where(bookings.c.member == sa.bindparam("of"))
