"""Personal values, the only place that holds them: the log carries references (semantics 8).

Erasing a member deletes rows here and nothing else; readers then find None and show "erased".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import sqlalchemy as sa
from pydantic_core import from_json, to_json

from adapters.database.bulk import insert_rows
from adapters.database.engine import asking
from adapters.database.schema import metadata
from domain.facts import Entity, PersonalRef
from projections.many_rows import among, texts

personal = sa.Table(
    "personal",
    metadata,
    sa.Column("ref", sa.Text, primary_key=True),
    sa.Column("member", sa.Text, nullable=False, index=True),
    sa.Column("value", sa.Text, nullable=False),
)


_COLUMNS = list(personal.c)


@dataclass(frozen=True, slots=True)
class PersonalRow:
    """One value of a member (empty where it belongs to nobody known) under its reference."""

    member: str
    ref: str
    value: object


def write(connection: sa.Connection, rows: Iterable[PersonalRow]) -> None:
    """Store personal values in the transaction that records the events which refer to them."""
    insert_rows(connection, _COLUMNS, [(row.ref, row.member, to_json(row.value).decode()) for row in rows])


def erase(connection: sa.Connection, member: str) -> int:
    """Delete every value of a member; return how many there were."""
    return connection.execute(sa.delete(personal).where(personal.c.member == member)).rowcount


def read_many(connection: sa.Connection, references: Sequence[PersonalRef]) -> dict[PersonalRef, object]:
    """Return the values that are still there."""
    found = dict(_stored(connection, [reference.ref for reference in references]))
    return {reference: found[reference] for reference in references if reference in found}


def _stored(connection: sa.Connection, references: Sequence[str]) -> Iterator[tuple[PersonalRef, object]]:
    rows = connection.execute(_selection(connection.dialect.name), texts(references)).all()
    yield from ((PersonalRef(member, ref), from_json(value)) for member, ref, value in rows)


def read_by_reference(connection: sa.Connection, references: Sequence[str]) -> dict[str, object]:
    """Return the values that are still there, whoever they belong to."""
    return {found.ref: value for found, value in _stored(connection, references)}


class StoredPersonalValues:
    """Reads personal values over one connection, each reference once.

    Who asks for the company of one member will ask for that of the next: the first question about a field
    is put for all entities `around`.
    """

    def __init__(self, connection: sa.Connection, around: Callable[[], Iterable[Entity]] = tuple) -> None:
        self._connection = connection
        self._around = around
        self._asked: set[str] = set()
        self._known: dict[PersonalRef, object | None] = {}

    def prepare(self, references: Iterable[PersonalRef]) -> None:
        """Read many values at once."""
        wanted = [reference for reference in dict.fromkeys(references) if reference not in self._known]
        with asking(self._connection):
            found = read_many(self._connection, wanted)
        self._known |= {reference: found.get(reference) for reference in wanted}

    def read(self, reference: PersonalRef) -> object | None:
        """Return the value, or None once it was erased."""
        if reference not in self._known:
            self.prepare([reference, *self._alike(reference)])
        return self._known[reference]

    def _alike(self, reference: PersonalRef) -> Iterator[PersonalRef]:
        """Return the references of all entities around to a field of the same name, the first time."""
        name = reference.ref.rpartition("/")[2]
        if name in self._asked:
            return
        self._asked.add(name)
        for entity in self._around():
            found = entity.get(name)
            if isinstance(found, PersonalRef):
                yield found


@cache
def _selection(dialect: str) -> sa.Select[Any]:
    columns = (personal.c.member, personal.c.ref, personal.c.value)
    return sa.select(*columns).where(among(dialect, personal.c.ref))
