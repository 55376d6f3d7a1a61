"""Suppressions: addresses that must not be written to on a channel, for which scope, why, and until when.

An address is one stream, named by a salted hash, since it is personal. A hard bounce is forgotten after some
time, and lifted by any proof that the address is alive; a complaint and an opt-out never are.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Literal, NamedTuple

from domain.civil_time import Instant
from domain.events import DomainEvent
from domain.ids import entity, id_of

Why = Literal["hard_bounce", "complaint", "opt_out", "staff"]
"""What can have led to a suppression."""

LASTING: Mapping[Why, timedelta] = {"hard_bounce": timedelta(days=30)}
"""How long each kind lasts; the others have no end."""

LIFTED_BY_LIFE: frozenset[Why] = frozenset({"hard_bounce"})
"""What a proof of life lifts. Nobody's wish not to be written to ends with the address being alive."""

_HEX = 32
"""Hexadecimal characters of a hash: 128 bits, which never meet by chance."""


REFUSABLE = "*"
"""In the place of a type: every type that can be refused, so none that is mandatory or urgent."""


class Scope(NamedTuple):
    """What must not be sent: one type, or what one sender sends; everything where both are empty."""

    type: str = ""
    sender: str = ""

    def holds(self, type_name: str, sender: str) -> bool:
        """Say whether a message is meant; one whose sender is not known is meant by every sender's."""
        return self.type in ("", REFUSABLE, type_name) and (not sender or self.sender in ("", sender))

    def __str__(self) -> str:
        told = [f"of the type {self.type}"] if self.type else []
        told = ["what can be refused"] if self.type == REFUSABLE else told
        return " ".join([*told, *([f"from {self.sender}"] if self.sender else [])]) or "everything"


class AddressSuppressed(DomainEvent):
    """An address must not be written to from now on.

    `source` names what said so, such as the id of a provider's event; `member` whose address it was, if known.
    `detail` is a class such as `5.1.1`, never a text that may hold the address.
    """

    TOPIC = "suppression.added"

    channel: str
    type: str = ""
    sender: str = ""
    why: Why
    detail: str = ""
    source: str = ""
    member: str = ""
    expires_at: Instant | None = None


class SuppressionLifted(DomainEvent):
    """A suppression is over before its end; `reason` says why, and `by` who did it."""

    TOPIC = "suppression.lifted"

    type: str = ""
    sender: str = ""
    why: Why
    reason: str
    by: str = ""


@dataclass(frozen=True, slots=True)
class Suppression:
    """Why one scope of an address is suppressed; half-open, so exactly at `expires_at` it is over."""

    scope: Scope
    why: Why
    since: datetime
    detail: str = ""
    expires_at: datetime | None = None

    def stands(self, at: datetime) -> bool:
        """Say whether it holds at an instant."""
        return self.expires_at is None or at < self.expires_at

    def __str__(self) -> str:
        told = self.why.replace("_", " ")
        return f"{told} ({self.detail})" if self.detail else told


@dataclass(frozen=True, slots=True)
class Suppressions:
    """All that is known against one address on one channel; `sources` are those that were heard."""

    stream: str
    version: int = 0
    standing: Mapping[tuple[Scope, Why], Suppression] = field(default_factory=dict)
    sources: frozenset[str] = frozenset()

    def against(self, type_name: str, at: datetime, sender: str = "") -> Suppression | None:
        """Return what forbids a message now, what lasts longest first, or None."""
        found = [each for each in self.standing.values() if each.stands(at) and each.scope.holds(type_name, sender)]
        return max(found, key=lambda each: (each.expires_at is None, each.expires_at or at, each.since), default=None)

    def of_what_must_arrive(self) -> Suppressions:
        """Return what is known against messages that cannot be refused."""
        standing = {key: each for key, each in self.standing.items() if each.scope.type != REFUSABLE}
        return self if len(standing) == len(self.standing) else replace(self, standing=standing)

    def after(self, event: DomainEvent) -> Suppressions:
        """Return what is known after one more event."""
        match event:
            case AddressSuppressed():
                key = Scope(event.type, event.sender), event.why
                news = Suppression(*key, event.at, event.detail, event.expires_at)
                sources = self.sources | ({event.source} if event.source else frozenset())
                return replace(self, version=event.version, standing={**self.standing, key: news}, sources=sources)
            case SuppressionLifted():
                over = Scope(event.type, event.sender), event.why
                left = {key: each for key, each in self.standing.items() if key != over}
                return replace(self, version=event.version, standing=left)
        raise TypeError(f"{event.topic} is no event about suppressions")


def suppression_stream(channel: str, address: str, salt: bytes) -> str:
    """Return the stream of an address on a channel; how an address is written in capitals makes no difference."""
    hashed = hmac.new(salt, f"{channel}\0{address.strip().casefold()}".encode(), hashlib.sha256).hexdigest()
    return entity("suppression", hashed[:_HEX])


def suppressions_of(stream: str, events: Iterable[DomainEvent]) -> Suppressions:
    """Return what the events of an address fold to."""
    found = Suppressions(stream)
    for event in events:
        found = found.after(event)
    return found


def suppressed(
    before: Suppressions,
    channel: str,
    why: Why,
    *,
    at: datetime,
    scope: Scope | None = None,
    source: str = "",
    detail: str = "",
    member: str = "",
) -> list[AddressSuppressed]:
    """Decide on a suppression; none follows from what was heard before, or says what stands already."""
    wanted = scope or Scope()
    known = before.standing.get((wanted, why))
    if (source and source in before.sources) or (known is not None and known.stands(at)):
        return []
    lasts = LASTING.get(why)
    return [
        AddressSuppressed(
            stream=before.stream,
            version=before.version + 1,
            at=at,
            channel=channel,
            **wanted._asdict(),
            why=why,
            detail=detail,
            source=source,
            member=member,
            expires_at=None if lasts is None else at + lasts,
        )
    ]


def alive(before: Suppressions, *, at: datetime, reason: str = "the address is alive") -> list[SuppressionLifted]:
    """Decide on a proof of life, such as a message that was delivered: it lifts bounces, and nothing else."""
    return lifted(before, at=at, reason=reason, only=LIFTED_BY_LIFE)


def lifted(
    before: Suppressions, *, at: datetime, reason: str, by: str = "", only: Iterable[Why] | None = None
) -> list[SuppressionLifted]:
    """Decide to lift what stands against an address, of some kinds or of all; none follows where nothing stands."""
    kinds = None if only is None else frozenset(only)
    over = [
        (scope, why)
        for (scope, why), each in before.standing.items()
        if each.stands(at) and (kinds is None or why in kinds)
    ]
    return [
        SuppressionLifted(
            stream=before.stream, version=version, at=at, **scope._asdict(), why=why, reason=reason, by=by
        )
        for version, (scope, why) in enumerate(over, start=before.version + 1)
    ]


def hash_of(stream: str) -> str:
    """Return the hash that stands for the address of a stream."""
    return id_of(stream)
