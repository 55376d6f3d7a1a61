"""The metadata that all projections share, and the column types of Semel's tables.

Each type holds the same values in the same order on SQLite and PostgreSQL, so that one statement serves
both. Names of constraints follow one convention; nothing may depend on them to tell errors apart.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from pydantic_core import to_json

from domain.money import Money

NAMING = {
    "ix": "ix_%(column_0_N_label)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}
"""How constraints and indexes are named: a named one can be altered later, on every database."""

metadata = sa.MetaData(naming_convention=NAMING)
"""The tables of all projections: whatever stands here can be dropped and rebuilt from the log."""

BigInt = sa.BigInteger().with_variant(sa.Integer, "sqlite")
"""A 64-bit integer; on SQLite spelled so that a primary key of it is the row id itself."""

Key = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
"""Text compared by its bytes, so that ids and streams sort alike on both databases."""


class Instant(sa.types.TypeDecorator[datetime]):
    """An aware datetime in UTC, both ways; one without an offset is refused.

    PostgreSQL keeps a `timestamptz`; SQLite keeps text of fixed width in UTC, whose order is that of time.
    """

    impl = sa.Text
    cache_ok = True

    def load_dialect_impl(self, dialect: sa.Dialect) -> sa.types.TypeEngine[Any]:
        """Return what the database stores."""
        stored = sa.Text() if dialect.name == "sqlite" else sa.DateTime(timezone=True)
        return dialect.type_descriptor(stored)

    def process_bind_param(self, value: datetime | None, dialect: sa.Dialect) -> Any:
        """Return the instant as the database stores it."""
        if value is None:
            return None
        if value.utcoffset() is None:
            raise ValueError(f"{value.isoformat()} has no offset, so it names no instant")
        value = value.astimezone(UTC)
        if dialect.name == "sqlite":
            return value.replace(tzinfo=None).isoformat(sep=" ", timespec="microseconds")
        return value

    def process_result_value(self, value: Any, dialect: sa.Dialect) -> datetime | None:
        """Return the stored instant, in UTC."""
        if value is None:
            return None
        if dialect.name == "sqlite":
            return datetime.fromisoformat(value).replace(tzinfo=UTC)
        instant: datetime = value.astimezone(UTC)
        return instant


_COMPACT = json.JSONEncoder(separators=(",", ":"), allow_nan=False)


class Json(sa.types.TypeDecorator[Any]):
    """A JSON value kept as text: no statement looks inside, and text takes any character escaped.

    None is SQL's NULL. Numbers are those of JSON; amounts and instants go in as text.
    """

    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: sa.Dialect) -> str | None:
        """Return the value as compact JSON in ASCII."""
        return None if value is None else _COMPACT.encode(value)

    def process_result_value(self, value: Any, dialect: sa.Dialect) -> Any:
        """Return the stored value."""
        return None if value is None else json.loads(value)


class OwnJson(Json):
    """JSON of texts, numbers, lists and mappings that Semel itself made: written several times as fast, unchecked."""

    cache_ok = True

    def process_bind_param(self, value: Any, dialect: sa.Dialect) -> str | None:
        """Return the value as compact JSON."""
        return None if value is None else to_json(value).decode()


def money_columns(name: str, *, nullable: bool = False) -> tuple[sa.Column[int], sa.Column[str]]:
    """Return the two columns of an amount: `<name>_minor`, in minor units, and `<name>_currency`."""
    return (
        sa.Column(f"{name}_minor", BigInt, nullable=nullable),
        sa.Column(f"{name}_currency", sa.Text, nullable=nullable),
    )


def money_values(name: str, money: Money | None) -> dict[str, int | str | None]:
    """Return what the two columns of an amount hold; both are empty where there is none."""
    return {
        f"{name}_minor": None if money is None else money.minor_units(),
        f"{name}_currency": None if money is None else money.currency,
    }


def money_of(minor: int | None, currency: str | None) -> Money | None:
    """Return the amount that two columns hold."""
    return None if minor is None or currency is None else Money.from_minor_units(minor, currency)
