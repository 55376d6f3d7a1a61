"""What would come of items if they were recorded now; nothing is recorded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Protocol

import sqlalchemy as sa

from adapters.database.engine import reading
from adapters.ingestion.batches import BATCH, REUSED, Answer, Status
from adapters.ingestion.inbox import Name, fingerprint, inbox
from adapters.ingestion.json_lines import Item
from domain.errors import InvalidInput, Mistake


class Recorded(Protocol):
    """Where it stands what was recorded: `adapters.application.Application`, or what stands in for it."""

    @property
    def engine(self) -> sa.Engine:
        """Return the database."""
        ...

    @property
    def salt(self) -> bytes:
        """Return the secret that goes into fingerprints."""
        ...


def checking(application: Recorded, items: Iterable[Item], seen: dict[Name, bytes]) -> Iterator[Answer]:
    """Give the answer that each item would get.

    `seen` collects a fingerprint of each; pass the same one on for items that would be recorded after these.
    """
    waiting = iter(items)
    while taken := list(islice(waiting, BATCH)):
        names = {(item.incoming.source, item.incoming.id) for item in taken if item.incoming is not None}
        seen |= _recorded(application, sorted(names - seen.keys()))
        for item in taken:
            yield _answer(item, seen, application.salt)


def _answer(item: Item, seen: dict[Name, bytes], salt: bytes) -> Answer:
    status, mistakes = _judged(item, seen, salt)
    return Answer(item.number, status, mistakes, item.source, item.id, item.type)


def _judged(item: Item, seen: dict[Name, bytes], salt: bytes) -> tuple[Status, tuple[Mistake, ...]]:
    incoming = item.incoming
    if incoming is None:
        return "refused", item.mistakes
    try:
        printed = fingerprint(incoming.identity, salt)
    except InvalidInput as error:
        return "refused", error.mistakes
    name = (incoming.source, incoming.id)
    if name not in seen:
        seen[name] = printed
        return "accepted", ()
    return ("duplicate", ()) if seen[name] == printed else ("conflict", (REUSED,))


def _recorded(application: Recorded, names: Sequence[Name]) -> Mapping[Name, bytes]:
    """Return the fingerprints of those of the names that were recorded before."""
    if not names:
        return {}
    columns = (inbox.c.source, inbox.c.id)
    query = sa.select(*columns, inbox.c.fingerprint).where(sa.tuple_(*columns).in_(names))
    with reading(application.engine) as connection:
        return {(source, identifier): bytes(found) for source, identifier, found in connection.execute(query)}
