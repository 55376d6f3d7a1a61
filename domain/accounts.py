"""Who may use Semel: tokens of programs and users with roles, what each may do, and what was decided about them.

Secrets stand nowhere in the log: it says who made, changed or withdrew what, and when.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Literal, get_args

from domain.civil_time import Instant
from domain.errors import InvalidInput
from domain.events import DomainEvent
from domain.ids import entity

Scope = Literal[
    "events:write", "notifications:write", "rules:write", "dossiers:write", "operations:write", "read", "admin"
]
"""What a caller may do; `admin` includes everything."""

Role = Literal["viewer", "staff", "author", "admin"]

SCOPES: tuple[Scope, ...] = get_args(Scope)
ROLES: tuple[Role, ...] = get_args(Role)

_STAFF: frozenset[Scope] = frozenset({"read", "dossiers:write", "operations:write", "notifications:write"})

SCOPES_OF: Mapping[Role, frozenset[Scope]] = {
    "viewer": frozenset({"read"}),
    "staff": _STAFF,
    "author": _STAFF | {"rules:write"},
    "admin": frozenset(SCOPES),
}
"""What users of each role may do."""

SHORTEST_PASSWORD, LONGEST_PASSWORD = 10, 1_000
"""Characters; a longer one is a way to keep the machine busy."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}")


class TokenCreated(DomainEvent):
    """A program was given a token."""

    TOPIC = "token.created"

    name: str
    scopes: tuple[str, ...]
    expires_at: Instant | None = None
    by: str = ""


class TokenRevoked(DomainEvent):
    """A token is worth nothing any more."""

    TOPIC = "token.revoked"

    by: str = ""


class TokenReplaced(DomainEvent):
    """Another token of its name has taken its place; it is worth nothing from `expires_at` on."""

    TOPIC = "token.replaced"

    expires_at: Instant
    by: str = ""


class UserEvent(DomainEvent):
    """Something was decided about a user; `by` is who did it."""

    by: str = ""


class UserAdded(UserEvent):
    """Somebody may sign in."""

    TOPIC = "user.added"

    role: str


class UserRoleGiven(UserEvent):
    """A user may do what this role may; all of their sessions ended."""

    TOPIC = "user.role-given"

    role: str


class UserPasswordSet(UserEvent):
    """A user has another password; all of their sessions ended."""

    TOPIC = "user.password-set"


class UserDisabled(UserEvent):
    """A user can no longer sign in; all of their sessions ended."""

    TOPIC = "user.disabled"


class UserEnabled(UserEvent):
    """A user who was disabled may sign in again."""

    TOPIC = "user.enabled"


def token_stream(token: str) -> str:
    """Return the stream of a token's life."""
    return entity("token", token)


def user_stream(name: str) -> str:
    """Return the stream of a user's life."""
    return entity("user", name)


def checked_name(name: str) -> str:
    """Return the name of a user or token, which goes into the log with each of their acts, or refuse it."""
    if not _NAME.fullmatch(name):
        raise InvalidInput(
            f"{name[:64]!r} cannot be a name: write letters, digits and . _ @ + -, at most 64, a letter or digit first"
        )
    return name


def checked_scopes(scopes: Iterable[str]) -> tuple[Scope, ...]:
    """Return scopes in their order, or refuse an empty list and those that do not exist."""
    wanted = set(scopes)
    unknown = sorted(wanted.difference(SCOPES))
    if unknown:
        raise InvalidInput(f"there is no scope {unknown[0]!r}: they are {', '.join(SCOPES)}")
    if not wanted:
        raise InvalidInput(f"say what the token may do: {', '.join(SCOPES)}")
    return tuple(scope for scope in SCOPES if scope in wanted)


def checked_role(role: str) -> Role:
    """Return the role, or say which there are."""
    for known in ROLES:
        if role == known:
            return known
    raise InvalidInput(f"there is no role {role!r}: they are {', '.join(ROLES)}")


def checked_password(password: str, name: str = "") -> str:
    """Return a password that is not too easily guessed; the message never repeats it."""
    if not SHORTEST_PASSWORD <= len(password) <= LONGEST_PASSWORD:
        raise InvalidInput(f"a password has {SHORTEST_PASSWORD} to {LONGEST_PASSWORD:,} characters")
    if len(set(password)) < 4 or (name and password.lower() == name.lower()):
        raise InvalidInput("this password is too easily guessed: write a longer sentence")
    return password
