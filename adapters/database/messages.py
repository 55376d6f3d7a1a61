"""The messages that went out, with what they said."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from adapters.database.personal import read_many
from domain.facts import PersonalRef
from domain.ids import id_of
from domain.notices import is_notice
from projections.deliveries import deliveries


@dataclass(frozen=True, slots=True)
class SentMessage:
    """A message that its channel has taken; subject and text are None once they were erased."""

    delivery: str
    to: str
    channel: str
    type: str
    at: datetime
    entity: str
    subject: str | None
    text: str | None

    @property
    def is_notice(self) -> bool:
        """Say whether Semel itself had this to say to staff."""
        return is_notice(self.type)


def sent_messages(connection: sa.Connection) -> list[SentMessage]:
    """Return every message that went out, in that order; the projections say how far they have followed."""
    query = (
        sa.select(deliveries)
        .where(deliveries.c.sent_at.is_not(None))
        .order_by(deliveries.c.sent_at, deliveries.c.position)
    )
    rows = [dict(row._mapping) for row in connection.execute(query)]
    return list(with_texts(connection, rows))


def with_texts(connection: sa.Connection, rows: Iterable[Mapping[str, Any]]) -> list[SentMessage]:
    """Return rows of deliveries, such as those of an inbox, as messages with their texts."""
    listed = list(rows)
    references = {row["delivery"]: PersonalRef(id_of(row["to"]), row["message"]) for row in listed}
    found = read_many(connection, list(references.values()))
    return [_message(row, found.get(references[row["delivery"]])) for row in listed]


def _message(row: Mapping[str, Any], content: object | None) -> SentMessage:
    said = content if isinstance(content, dict) else {}
    return SentMessage(
        delivery=row["delivery"],
        to=row["to"],
        channel=row["channel"],
        type=row["type"],
        at=row["sent_at"],
        entity=row["entity"],
        subject=said.get("subject"),
        text=said.get("text"),
    )
