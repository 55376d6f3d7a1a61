"""Notices what is recorded about deliveries after they were checked together, and before each is called for."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta

import sqlalchemy as sa

from adapters.database import log_queries, meta
from adapters.database.engine import reading
from domain.campaigns import campaign_of, campaign_stream
from domain.deliveries import Delivery
from domain.ids import id_of, kind_of
from domain.preferences import preferences_stream
from domain.suppressions import suppression_stream

MOMENT = timedelta(milliseconds=5)
"""Calls that follow one another within it are looked at once, so that a fast channel stays fast."""


class DeliveryWatch:
    """Looks from its making on at what is recorded; may be asked from any thread (a `Watch`)."""

    def __init__(self, engine: sa.Engine, monotonic: Callable[[], float]) -> None:
        self._engine = engine
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._looked = monotonic()
        self._salt: bytes | None = None
        self._touched: set[str] = set()
        with reading(engine) as connection:
            self._position = log_queries.head_position(connection)

    def has_changed(self, delivery: Delivery, address: str) -> bool:
        """Say whether anything that decides about a delivery to an address was recorded since."""
        with self._lock:
            self._look()
            touched = self._touched
            return bool(touched) and not touched.isdisjoint(self._streams_of(delivery, address))

    def _look(self) -> None:
        elapsed = timedelta(seconds=self._monotonic() - self._looked)
        if timedelta() < elapsed < MOMENT:  # a clock that stands still says nothing
            return
        with reading(self._engine) as connection:
            self._looked = self._monotonic()
            head = log_queries.head_position(connection)
            if head == self._position:
                return
            self._touched |= log_queries.touched_between(connection, self._position, head)
            self._position = head
            if self._salt is None and any(kind_of(stream) == "suppression" for stream in self._touched):
                self._salt = meta.salt(connection)

    def _streams_of(self, delivery: Delivery, address: str) -> set[str]:
        """Return the streams that say whether a delivery is wanted, and where it goes."""
        asked = delivery.asked
        streams = {asked.to, asked.entity, asked.address, preferences_stream(id_of(asked.to))}
        if campaign := campaign_of(asked.producer):
            streams.add(campaign_stream(campaign))
        if self._salt is not None:
            streams.add(suppression_stream(asked.channel, address, self._salt))
        return streams
