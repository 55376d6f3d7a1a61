"""Rules read from the log: as they were at a position, as they are at its head, and saved."""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa

from adapters.database import log_queries
from adapters.database.event_mapper import EventMapper
from adapters.database.log_queries import StoredRow
from automations.rulebook import RuleBook
from domain.errors import CorruptEvent
from domain.events import DomainEvent
from domain.ids import id_of, kind_of
from domain.rules import RuleEvent


class StoredRules:
    """A rule book that is moved along the log; not shared between threads."""

    def __init__(self, mapper: EventMapper) -> None:
        self._mapper = mapper
        self.book = RuleBook()
        self.position = 0
        self.enabled_at: dict[str, int] = {}
        """The position from which on each rule has looked ahead the way it does now."""

    def move_to(self, connection: sa.Connection, position: int) -> RuleBook:
        """Return the rules as they were at a position; earlier than before, they are read anew."""
        if position < self.position:
            self.book, self.position, self.enabled_at = RuleBook(), 0, {}
        if position > self.position:
            for row in log_queries.of_kind(connection, "rule", self.position, position):
                self.take_over(self._read(row), row.position)
        self.position = position
        return self.book

    def at_head(self, connection: sa.Connection) -> RuleBook:
        """Return the rules as they are now."""
        return self.move_to(connection, log_queries.head_position(connection))

    def take_over(self, found: DomainEvent | CorruptEvent, position: int) -> None:
        """Take over what stands at a position, if it is about a rule: an event, or one that cannot be read."""
        if isinstance(found, RuleEvent):
            rule_id = id_of(found.stream)
            before = self._looks_ahead_from(rule_id)
            self.book.apply(found)
            if self._looks_ahead_from(rule_id) != before:
                self.enabled_at[rule_id] = position
            self.position = position
        elif isinstance(found, CorruptEvent) and kind_of(found.stream) == "rule":
            self.book.spoil(found)
            self.position = position

    def _looks_ahead_from(self, rule_id: str) -> datetime | None:
        state = self.book.get(rule_id)
        return None if state is None else state.looks_ahead_from

    def _read(self, row: StoredRow) -> DomainEvent | CorruptEvent:
        try:
            return self._mapper.read(row)
        except CorruptEvent as error:
            return error
