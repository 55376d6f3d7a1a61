"""What members have chosen, one row for each choice: who has opted out of which type. The log decides, not this."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from domain.ids import id_of
from domain.preferences import PreferenceCleared, PreferenceSet
from projections.columns import Instant, Key, metadata
from projections.many_rows import insert_or_replace
from projections.projection import Batch

preferences = sa.Table(
    "preferences",
    metadata,
    sa.Column("member", Key, primary_key=True),
    sa.Column("type", Key, primary_key=True),
    sa.Column("channel", Key, primary_key=True),
    sa.Column("enabled", sa.Boolean, nullable=False),
    sa.Column("how", sa.Text, nullable=False),
    sa.Column("at", Instant, nullable=False),
    sa.Index("ix_preferences_type", "type", "channel"),
)

Place = tuple[str, str, str]


class PreferencesProjection:
    """Keeps one row for each choice that stands."""

    tables: tuple[sa.Table, ...] = (preferences,)

    def apply(self, connection: sa.Connection, batch: Batch) -> None:
        """Write what was chosen in this batch, and remove what was cleared."""
        news: dict[Place, dict[str, Any] | None] = {}
        for entry in batch.recorded:
            event = entry.event
            if isinstance(event, PreferenceSet | PreferenceCleared):
                place = id_of(event.stream), event.type, event.channel
                news[place] = _row(place, event) if isinstance(event, PreferenceSet) else None
        insert_or_replace(connection, preferences, [row for row in news.values() if row is not None])
        for place in (place for place, row in news.items() if row is None):
            its = (preferences.c[name] == value for name, value in zip(_PLACE, place, strict=True))
            connection.execute(sa.delete(preferences).where(*its))


def _row(place: Place, event: PreferenceSet) -> dict[str, Any]:
    values = {"enabled": event.enabled, "how": event.how, "at": event.at}
    return {**dict(zip(_PLACE, place, strict=True)), **values}


_PLACE = ("member", "type", "channel")


def opted_out(connection: sa.Connection) -> dict[tuple[str, str], int]:
    """Return how many members refuse each type on each channel; an empty text stands for all."""
    query = (
        sa.select(preferences.c.type, preferences.c.channel, sa.func.count())
        .where(~preferences.c.enabled)
        .group_by(preferences.c.type, preferences.c.channel)
    )
    return {(type_name, channel): count for type_name, channel, count in connection.execute(query)}
