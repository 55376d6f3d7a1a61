"""Which outside events were recorded: (source, id) is unique, and a salted hash tells repeats from conflicts."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Literal

import rfc8785
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from adapters.database.schema import metadata
from domain.errors import InvalidInput

inbox = sa.Table(
    "inbox",
    metadata,
    sa.Column("source", sa.Text, primary_key=True),
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("fingerprint", sa.LargeBinary, nullable=False),
)

Name = tuple[str, str]
"""The source and the id of an event."""


def fingerprint(identity: object, salt: bytes) -> bytes:
    """Return the salted hash of a JSON value's canonical form (RFC 8785), so that key order does not matter."""
    try:
        canonical = rfc8785.dumps(identity)  # type: ignore[arg-type]
    except rfc8785.CanonicalizationError as error:
        raise InvalidInput(f"holds a number that JSON cannot carry exactly (RFC 8785): {error}") from None
    return hashlib.blake2b(canonical, key=salt, digest_size=16).digest()


def enter(
    connection: sa.Connection, prints: Mapping[Name, bytes]
) -> dict[Name, Literal["accepted", "duplicate", "conflict"]]:
    """Enter events that were not there; say of each whether it is new, a repeat, or another body.

    Rows go in sorted order, so that two writers with the same events wait for, and do not deadlock, each other.
    """
    names = sorted(prints)
    rows = [{"source": name[0], "id": name[1], "fingerprint": prints[name]} for name in names]
    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    insert = dialect.insert(inbox).on_conflict_do_nothing().returning(inbox.c.source, inbox.c.id)
    new = {(source, identifier) for source, identifier in connection.execute(insert, rows)}
    found = _stored(connection, [name for name in names if name not in new])
    return {
        name: "accepted" if name in new else "duplicate" if found[name] == prints[name] else "conflict"
        for name in names
    }


def _stored(connection: sa.Connection, names: Sequence[Name]) -> dict[Name, bytes]:
    found: dict[Name, bytes] = {}
    for start in range(0, len(names), _CHUNK):
        wanted = sa.tuple_(inbox.c.source, inbox.c.id).in_(names[start : start + _CHUNK])
        rows = connection.execute(sa.select(inbox.c.source, inbox.c.id, inbox.c.fingerprint).where(wanted))
        found |= {(source, identifier): bytes(stored) for source, identifier, stored in rows}
    return found


_CHUNK = 500
