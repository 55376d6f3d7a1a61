"""Which outside events were recorded: (source, id) is unique, and a salted hash tells repeats from conflicts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

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
    return hashlib.blake2b(canonical(identity), key=salt, digest_size=16).digest()


def canonical(value: object) -> bytes:
    """Return the canonical form of a JSON value (RFC 8785); raises InvalidInput for a number that has none.

    What holds plain names, texts and small whole numbers only, as most events do, is written by the standard
    library, which comes to the same ten times as fast.
    """
    try:
        if _is_plain(value):
            return _PLAIN.encode(value).encode()
        return rfc8785.dumps(value)  # type: ignore[arg-type]
    except (rfc8785.CanonicalizationError, UnicodeEncodeError) as error:
        raise InvalidInput(f"holds what JSON cannot carry exactly (RFC 8785): {error}") from None


def _is_plain(value: object) -> bool:
    kind = type(value)
    if kind is str or value is None or kind is bool:
        return True
    if kind is int:
        return -_EXACT <= value <= _EXACT  # type: ignore[operator]
    if kind is dict:
        # Names in ASCII sort alike by code points and by UTF-16.
        return all(type(name) is str and name.isascii() and _is_plain(part) for name, part in value.items())  # type: ignore[attr-defined]
    return kind is list and all(map(_is_plain, value))  # type: ignore[call-overload]


def enter(
    connection: sa.Connection, prints: Mapping[Name, bytes]
) -> dict[Name, Literal["accepted", "duplicate", "conflict"]]:
    """Enter events that were not there; say of each whether it is new, a repeat, or another body.

    Rows go in sorted order, so that two writers with the same events wait for, and do not deadlock, each other.
    """
    names = sorted(prints)
    new = {(source, identifier) for source, identifier in _entered(connection, names, prints)}
    found = _stored(connection, [name for name in names if name not in new])
    return {
        name: "accepted" if name in new else "duplicate" if found[name] == prints[name] else "conflict"
        for name in names
    }


def _entered(connection: sa.Connection, names: Sequence[Name], prints: Mapping[Name, bytes]) -> Iterable[Any]:
    """Insert what is not there, and return the names of that."""
    if connection.dialect.name == "postgresql":
        # One statement for any number of rows, whose plan is kept.
        columns = {"sources": [name[0] for name in names], "ids": [name[1] for name in names]}
        return connection.execute(_ENTER_ARRAYS, {**columns, "prints": [prints[name] for name in names]})
    rows = [{"source": name[0], "id": name[1], "fingerprint": prints[name]} for name in names]
    return connection.execute(_ENTER_ROWS, rows)


def _stored(connection: sa.Connection, names: Sequence[Name]) -> dict[Name, bytes]:
    found: dict[Name, bytes] = {}
    for start in range(0, len(names), _CHUNK):
        wanted = sa.tuple_(inbox.c.source, inbox.c.id).in_(names[start : start + _CHUNK])
        rows = connection.execute(sa.select(inbox.c.source, inbox.c.id, inbox.c.fingerprint).where(wanted))
        found |= {(source, identifier): bytes(stored) for source, identifier, stored in rows}
    return found


def _array(name: str, kind: sa.types.TypeEngine[Any]) -> sa.ColumnElement[Any]:
    return sa.func.unnest(sa.bindparam(name, type_=postgresql.ARRAY(kind)))


_CHUNK = 500
_EXACT = 2**53 - 1
_PLAIN = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)
_ENTER_ROWS = sqlite.insert(inbox).on_conflict_do_nothing().returning(inbox.c.source, inbox.c.id)
_ENTER_ARRAYS = (
    postgresql.insert(inbox)
    .from_select(
        ["source", "id", "fingerprint"],
        sa.select(_array("sources", sa.Text()), _array("ids", sa.Text()), _array("prints", sa.LargeBinary())),
    )
    .on_conflict_do_nothing()
    .returning(inbox.c.source, inbox.c.id)
)
