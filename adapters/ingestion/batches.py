"""Events are ingested in batches: each batch one transaction, each item with an answer of its own after it.

A bad item takes no other with it: it is refused, with every fault named, and the rest of its batch is
recorded. What was recorded already is a duplicate, so repeating a whole file is free.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal, Protocol

from adapters.ingestion.incoming import Incoming, Outcome
from adapters.ingestion.json_lines import Item, read_line, read_value
from adapters.ingestion.recording import FactRecorder
from domain.catalogue import known
from domain.errors import CorruptEvent, InvalidInput, Mistake

BATCH = 500
"""Items in one transaction."""

Status = Literal["accepted", "duplicate", "conflict", "refused"]

_FAULTS_OF_ONE = (InvalidInput, CorruptEvent, ValueError, ArithmeticError)
"""What one event can break a batch with: values that the database or the calendar cannot hold, or an entity
whose stream cannot be read any more."""

REUSED = Mistake((), "this source used this id before, for an event with another content; the first one stays as it is")
"""What is wrong with a conflict."""


class Recording(Protocol):
    """Where events are recorded: `adapters.application.Application`, or what stands in for it."""

    def recorder(self) -> FactRecorder:
        """Return a recorder of facts, for one loop."""
        ...

    def record(self, recorder: FactRecorder, incoming: Sequence[Incoming]) -> list[Outcome]:
        """Record a batch in one transaction."""
        ...


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of one item: recorded, known already, or not recorded for the mistakes that it names.

    `number` is that of the item: its line in a file, its place in a list from 1. A `conflict` is another
    content under an id that was used before.
    """

    number: int
    status: Status
    mistakes: tuple[Mistake, ...] = ()
    source: str = ""
    id: str = ""
    type: str = ""

    @property
    def is_good(self) -> bool:
        """Say whether the event stands in the log, now or since before."""
        return self.status in ("accepted", "duplicate")

    @property
    def is_unknown_type(self) -> bool:
        """Say whether the event was recorded without being understood: the catalogue has not its type."""
        return self.status == "accepted" and not known(self.type)

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form."""
        mistakes = [{"path": ".".join(map(str, one.path)), "message": one.message} for one in self.mistakes]
        named = {"status": self.status, "source": self.source, "id": self.id, "type": self.type}
        return {"line": self.number, **named, "mistakes": mistakes}


def ingest(application: Recording, events: Iterable[object]) -> list[Answer]:
    """Record events and return an answer for each, in their order, once all of that is committed.

    An event is a CloudEvent: a mapping, or its JSON as bytes or text. Raises Unavailable where the database
    cannot be used; what was recorded by then stays, and repeating the call is free.
    """
    return list(ingesting(application, items_of(events)))


def items_of(events: Iterable[object]) -> Iterator[Item]:
    """Return events as items, numbered from 1."""
    for number, event in enumerate(events, 1):
        match event:
            case bytes():
                yield read_line(number, event)
            case str():
                yield read_line(number, event.encode("utf-8", "surrogatepass"))
            case _:
                yield read_value(number, event)


def ingesting(application: Recording, items: Iterable[Item], batch: int = BATCH) -> Iterator[Answer]:
    """Record items batch by batch, as the answers are asked for; those of a batch come after its commit."""
    recorder = application.recorder()
    waiting = iter(items)
    while taken := list(islice(waiting, batch)):
        yield from record_together(application, recorder, taken)


def record_together(application: Recording, recorder: FactRecorder, items: Sequence[Item]) -> list[Answer]:
    """Record items in one transaction, and return an answer for each, in their order."""
    readable = [item.incoming for item in items if item.incoming is not None]
    outcomes = iter(_recorded(application, recorder, readable))
    return [_answer(item, next(outcomes) if item.incoming is not None else None) for item in items]


def _recorded(application: Recording, recorder: FactRecorder, incoming: Sequence[Incoming]) -> Sequence[Outcome]:
    """Return what came of a batch; one that the database refuses as a whole is halved until it is told why."""
    if not incoming:
        return []
    try:
        return application.record(recorder, incoming)
    except _FAULTS_OF_ONE as error:
        if len(incoming) == 1:
            return [_refused(incoming[0], error)]
    middle = len(incoming) // 2
    return [
        *_recorded(application, recorder, incoming[:middle]),
        *_recorded(application, recorder, incoming[middle:]),
    ]


def _refused(incoming: Incoming, error: Exception) -> Outcome:
    told = error.mistakes if isinstance(error, InvalidInput) else (Mistake((), str(error)),)
    return Outcome("refused", incoming.source, incoming.id, mistakes=told)


def _answer(item: Item, outcome: Outcome | None) -> Answer:
    if outcome is None:
        return Answer(item.number, "refused", item.mistakes, item.source, item.id, item.type)
    mistakes = (REUSED,) if outcome.status == "conflict" else outcome.mistakes
    return Answer(item.number, outcome.status, mistakes, item.source, item.id, item.type)


def counted(answers: Iterable[Answer]) -> Mapping[str, int]:
    """Return how many answers there are of each status, every status named."""
    counts = dict.fromkeys(("accepted", "duplicate", "conflict", "refused"), 0)
    for answer in answers:
        counts[answer.status] += 1
    return counts
