"""What is to be recorded, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from domain.errors import Mistake
from domain.events import Cause
from domain.facts import Fact
from domain.outside import OutsideEvent


@dataclass(frozen=True, slots=True)
class Incoming:
    """One event of the catalogue, checked, that is to be recorded once for its (source, id).

    `data` is JSON. `fingerprint` is what a repeat must equal to count as the same; by default the event's
    type, time and data. `cause` is set for what an execution of ours made happen; `idempotency_key` is what a
    caller of ours hands back with an event that our call made happen outside.
    """

    source: str
    id: str
    type: str
    time: datetime
    data: Any
    sequence: str = ""
    cause: Cause | None = None
    idempotency_key: str | None = None
    fingerprint: object | None = None

    @property
    def identity(self) -> object:
        """Return the JSON value whose canonical form decides whether a repeat is the same event."""
        if self.fingerprint is not None:
            return self.fingerprint
        return [self.type, self.time.isoformat(), self.sequence, self.data]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one incoming event: recorded, known already, or refused with every fault named.

    A `conflict` is another body under an id that was used before; it changes nothing. `fact` is there for
    what was recorded now.
    """

    status: Literal["accepted", "duplicate", "conflict", "refused"]
    source: str = ""
    id: str = ""
    fact: Fact | OutsideEvent | None = None
    mistakes: tuple[Mistake, ...] = ()
