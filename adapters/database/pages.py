"""Pages of what stands in a table in the order of the log: whoever turns them misses nothing and sees nothing twice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa


def page_by_position(
    connection: sa.Connection,
    table: sa.Table,
    wanted: Mapping[str, Any],
    *,
    limit: int,
    beyond: int | None = None,
    newest_first: bool = True,
) -> list[dict[str, Any]]:
    """Return the next rows whose columns have the wanted values, beyond a position; None stands for any value.

    A list of values stands for any of them.
    """
    position = table.c.position
    query = sa.select(table).order_by(position.desc() if newest_first else position).limit(limit)
    for name, value in wanted.items():
        if isinstance(value, list):
            query = query.where(table.c[name].in_(value))
        elif value is not None:
            query = query.where(table.c[name] == value)
    if beyond is not None:
        query = query.where(position < beyond if newest_first else position > beyond)
    return [dict(row._mapping) for row in connection.execute(query)]
