"""Events that come while others are being committed are committed together, next: no timer, and no event alone.

Under load a commit serves many requests; without, each has its own at once. Nobody is answered before it is over.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import NamedTuple

from adapters.ingestion.batches import BATCH, Answer, Recording, record_together
from adapters.ingestion.json_lines import Item
from adapters.ingestion.recording import FactRecorder
from adapters.web.access.callers import Caller, NotSignedIn
from adapters.web.access.tokens import TokenDesk
from adapters.web.api.intake import INTAKE
from adapters.web.api.problems import Problem
from domain.errors import SemelError

MOST_WAITING = 20_000
"""Events that wait at most; more are turned away, so that memory stays as it is."""


@dataclass(slots=True)
class _Request:
    """What one request brought, and how much of it is still to come."""

    caller: Caller
    answers: list[Answer]
    done: asyncio.Future[list[Answer]]
    left: int = field(init=False)

    def __post_init__(self) -> None:
        self.left = len(self.answers)


class _Place(NamedTuple):
    """One event that waits: of which request, and where its answer belongs."""

    request: _Request
    number: int
    item: Item | Callable[[], Item]


class Committer:
    """Commits what waits, from one thread, as long as anything does."""

    def __init__(self, application: Recording, tokens: TokenDesk) -> None:
        self._application = application
        self._tokens = tokens
        self._recorder: FactRecorder | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="semel-ingest")
        self._waiting: deque[_Place] = deque()
        self._task: asyncio.Task[None] | None = None

    async def record(self, items: Sequence[Item | Callable[[], Item]], caller: Caller) -> list[Answer]:
        """Record items, and return an answer for each after their commit.

        What reads an item is called in the thread that commits: many that are read one after the other take less
        time than each in turn with the rest of its request. What it raises, this raises.

        Raises NotSignedIn where the caller's token was withdrawn meanwhile, and Unavailable where the database
        cannot be used: what was recorded by then stays, and repeating the request is free.
        """
        if not items:
            return []
        if len(self._waiting) + len(items) > MOST_WAITING:
            raise Problem(503, "too much waits to be recorded: try again in a moment", headers={"retry-after": "1"})
        unanswered = Answer(0, "refused")
        request = _Request(caller, [unanswered] * len(items), asyncio.get_running_loop().create_future())
        self._waiting.extend(_Place(request, index, item) for index, item in enumerate(items))
        if self._task is None:
            self._task = asyncio.create_task(self._commit_all())
        return await request.done

    def close(self) -> None:
        """Let go of the thread, after what it is at."""
        self._thread.shutdown()

    async def _commit_all(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            while self._waiting:
                taken = [self._waiting.popleft() for _ in range(min(BATCH, len(self._waiting)))]
                try:
                    answers = await loop.run_in_executor(self._thread, self._commit, taken)
                except Exception as error:  # noqa: BLE001 - each request is told what happened to its events
                    _fail(taken, error)
                else:
                    _deliver(taken, answers)
        finally:
            self._task = None

    def _commit(self, taken: Sequence[_Place]) -> list[Answer | SemelError]:
        """Record what was taken, but nothing under a token that was withdrawn; in the thread."""
        proofs = {place.request.caller.proof for place in taken if place.request.caller.kind == "token"}
        known = self._tokens.known(proofs) if proofs else {}
        withdrawn = proofs - known.keys()
        read = [_WITHDRAWN if place.request.caller.proof in withdrawn else _read(place) for place in taken]
        if self._recorder is None:
            self._recorder = self._application.recorder()
        items = [item for item in read if isinstance(item, Item)]
        recorded = record_together(self._application, self._recorder, items)
        for status, count in Counter(answer.status for answer in recorded).items():
            INTAKE.labels("event", status).inc(count)
        answers = iter(recorded)
        return [next(answers) if isinstance(item, Item) else item for item in read]


_WITHDRAWN = NotSignedIn("this token has expired or was revoked")


def _read(place: _Place) -> Item | SemelError:
    """Return the item of a place, or what is wrong with its request as a whole."""
    if isinstance(place.item, Item):
        return place.item
    try:
        return place.item()
    except SemelError as error:
        return error


def _deliver(taken: Sequence[_Place], answers: Sequence[Answer | SemelError]) -> None:
    for place, answer in zip(taken, answers, strict=True):
        request = place.request
        if not isinstance(answer, Answer):
            _fail([place], answer)
            continue
        request.answers[place.number] = answer
        request.left -= 1
        if not request.left and not request.done.done():
            request.done.set_result(request.answers)


def _fail(taken: Sequence[_Place], error: Exception) -> None:
    for request in {id(place.request): place.request for place in taken}.values():
        if not request.done.done():
            request.done.set_exception(error)
