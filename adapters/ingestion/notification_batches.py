"""Requests to tell somebody are taken in batches: each one transaction, each request with an answer of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from adapters.ingestion.batches import BATCH
from adapters.ingestion.json_lines import Value
from adapters.ingestion.notification_door import NotificationDoor, RequestOutcome


@dataclass(frozen=True, slots=True)
class RequestAnswer:
    """What came of one line; `key` is that of its request, as far as it could be read."""

    number: int
    key: str
    outcome: RequestOutcome

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form."""
        found = self.outcome
        mistakes = [{"path": ".".join(map(str, one.path)), "message": one.message} for one in found.mistakes]
        named = {"status": found.status, "idempotency_key": self.key, "id": found.id}
        return {"line": self.number, **named, "mistakes": mistakes}


def requesting(
    door: NotificationDoor, producer: str, values: Iterable[Value], batch: int = BATCH
) -> Iterator[RequestAnswer]:
    """Take requests in batch by batch, as the answers are asked for; those of a batch come after its commit."""
    waiting = iter(values)
    while taken := list(islice(waiting, batch)):
        outcomes = iter(door.request_many(producer, [each.value for each in taken if not each.mistakes]))
        for each in taken:
            outcome = RequestOutcome("refused", mistakes=each.mistakes) if each.mistakes else next(outcomes)
            yield RequestAnswer(each.number, _key(each.value), outcome)


def _key(value: object) -> str:
    found = value.get("idempotency_key") if isinstance(value, dict) else None
    return found if isinstance(found, str) else ""
