"""The tables of who may use Semel. Of each secret only what proves it is kept: a hash, never the secret."""

from __future__ import annotations

import sqlalchemy as sa

from adapters.database.schema import metadata
from projections.columns import Instant, Json, Key

tokens = sa.Table(
    "tokens",
    metadata,
    sa.Column("id", Key, primary_key=True),
    sa.Column("name", Key, nullable=False),
    sa.Column("hash", sa.LargeBinary, nullable=False, unique=True),
    sa.Column("scopes", Json, nullable=False),
    sa.Column("created_at", Instant, nullable=False),
    sa.Column("created_by", sa.Text, nullable=False),
    sa.Column("expires_at", Instant),
    sa.Column("last_used_at", Instant),
    sa.Column("revoked_at", Instant),
)
"""Tokens of programs, by the SHA-256 of 256 random bits, which nobody can guess back."""

users = sa.Table(
    "users",
    metadata,
    sa.Column("name", Key, primary_key=True),
    sa.Column("role", Key, nullable=False),
    sa.Column("password", sa.Text, nullable=False),
    sa.Column("created_at", Instant, nullable=False),
    sa.Column("disabled_at", Instant),
)
"""People who sign in; of the password there is what argon2 makes of it."""

sessions = sa.Table(
    "sessions",
    metadata,
    sa.Column("hash", sa.LargeBinary, primary_key=True),
    sa.Column("user", Key, nullable=False, index=True),
    sa.Column("created_at", Instant, nullable=False),
    sa.Column("seen_at", Instant, nullable=False),
)
"""Who is signed in, by the SHA-256 of what their browser keeps."""

sign_in_failures = sa.Table(
    "sign_in_failures",
    metadata,
    sa.Column("of", sa.LargeBinary, primary_key=True),
    sa.Column("failures", sa.Integer, nullable=False),
    sa.Column("at", Instant, nullable=False),
)
"""How often signing in failed lately; whose failures they are is hashed, since people type passwords as names."""
