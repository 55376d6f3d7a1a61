"""Members, as far as only a table can find them: who works at the spaces."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from domain.facts import Entity
from domain.ids import id_of
from projections.columns import Key, metadata
from projections.projection import Batch

members = sa.Table(
    "members",
    metadata,
    sa.Column("member", Key, primary_key=True),
    sa.Column("staff", sa.Boolean, nullable=False),
    sa.Column("erased", sa.Boolean, nullable=False),
    sa.Index("ix_members_staff", "member", postgresql_where=sa.text("staff"), sqlite_where=sa.text("staff")),
)


class MembersProjection:
    """Keeps one row for each member, as they stand."""

    tables: tuple[sa.Table, ...] = (members,)

    def apply(self, connection: sa.Connection, batch: Batch) -> None:
        """Write the row of each member that the batch is about."""
        rows = [_row(member) for member in batch.entities("member")]
        if not rows:
            return
        dialect: Any = postgresql if connection.dialect.name == "postgresql" else sqlite
        insert = dialect.insert(members)
        others = {name: insert.excluded[name] for name in rows[0] if name != "member"}
        connection.execute(insert.on_conflict_do_update(index_elements=["member"], set_=others), rows)


def _row(member: Entity) -> dict[str, Any]:
    return {
        "member": id_of(member.stream),
        "staff": bool(member.get("staff")),
        "erased": bool(member.get("erased")),
    }


def staff(connection: sa.Connection) -> list[str]:
    """Return the ids of the members who work at the spaces, in their order."""
    query = sa.select(members.c.member).where(members.c.staff, ~members.c.erased).order_by(members.c.member)
    return list(connection.scalars(query))
