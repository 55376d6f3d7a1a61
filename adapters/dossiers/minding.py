"""What staff do about a dossier as a whole: who looks after it, what is written into it, what is left unread."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from typing import TypeVar

from adapters.database import log_queries, set_aside
from adapters.database.event_log import EventLog
from adapters.database.personal import PersonalRow, write
from adapters.database.set_aside import SetAside
from adapters.database.unit_of_work import UnitOfWork, retrying, unit_of_work
from adapters.dossiers.stored_dossiers import stored_state
from automations.ports import Clock
from domain.dossiers import (
    CORRUPT,
    LOG,
    DossierAssigned,
    DossierNoted,
    DossierSettled,
    DossierState,
    dossier_stream,
)
from domain.errors import CorruptEvent, InvalidInput
from projections.dossier_lists import members_of

LONGEST_NOTE = 5_000
"""Characters of one note."""

T = TypeVar("T")


class DossierActs:
    """Acts on the dossiers of one operator; serves any thread."""

    def __init__(self, log: EventLog, clock: Clock) -> None:
        self._log = log
        self._clock = clock

    def assign(self, dossier: str, to: str, by: str) -> None:
        """Say who looks after a dossier; nobody does any more if the name is empty."""

        def attempt(work: UnitOfWork, state: DossierState) -> None:
            event = DossierAssigned(
                stream=dossier_stream(dossier), version=state.version + 1, at=self._clock.now(), to=to, by=by
            )
            work.append([event])

        self._decide(dossier, attempt)

    def note(self, dossier: str, text: str, by: str) -> None:
        """Write a note into a dossier. Its words are kept apart from the log, since they may be about people."""
        if not text.strip() or len(text) > LONGEST_NOTE:
            raise InvalidInput(f"a note has 1 to {LONGEST_NOTE} characters, this one has {len(text.strip())}")

        def attempt(work: UnitOfWork, state: DossierState) -> None:
            stream, version = dossier_stream(dossier), state.version + 1
            reference = f"{stream}/{version}/note"
            member = _whose(work, dossier)
            write(work.connection, [PersonalRow(member, reference, text)])
            at = self._clock.now()
            work.append([DossierNoted(stream=stream, version=version, at=at, by=by, member=member, note=reference)])

        self._decide(dossier, attempt)

    def leave_unread(self, dossier: str, reason: str, by: str) -> int:
        """Look no further at the events of a dossier that cannot be read; return how many those were."""
        if not reason.strip():
            raise InvalidInput("a dismissal needs a reason")
        return self._decide(dossier, lambda work, state: self._settle(work, state, _unread(work, state), by, reason))

    def read_again(self, dossier: str, by: str) -> int:
        """Read again what could not be read, after an upgrade for instance; return how much of it can be now."""

        def attempt(work: UnitOfWork, state: DossierState) -> int:
            readable = [each for each in _unread(work, state) if self._is_readable(work, each)]
            return self._settle(work, state, readable, by, "")

        return self._decide(dossier, attempt)

    def _settle(self, work: UnitOfWork, state: DossierState, events: Collection[SetAside], by: str, reason: str) -> int:
        assert state.cause is not None
        at = self._clock.now()
        number = set_aside.settle(work.connection, [each.position for each in events], at)
        if not number:
            return 0
        stream, version = dossier_stream(state.cause.dossier), state.version + 1
        reference = f"{stream}/{version}/reason" if reason else ""
        if reference:
            write(work.connection, [PersonalRow("", reference, reason)])
        event = DossierSettled(
            stream=stream,
            version=version,
            at=at,
            how="dismissed" if reason else "read",
            events=number,
            by=by,
            reason=reference,
        )
        work.append([event])
        return number

    def _is_readable(self, work: UnitOfWork, each: SetAside) -> bool:
        rows = log_queries.events_after(work.connection, each.position - 1, 1, each.position)
        try:
            return bool([self._log.mapper.read(row) for row in rows])
        except CorruptEvent:
            return False

    def _decide(self, dossier: str, attempt: Callable[[UnitOfWork, DossierState], T]) -> T:
        def in_transaction() -> T:
            with unit_of_work(self._log, "act") as work:
                state = stored_state(work.connection, self._log.mapper, dossier)
                if state.cause is None:
                    raise InvalidInput(f"no dossier is called {dossier!r}")
                return attempt(work, state)

        return retrying(in_transaction, sleep=time.sleep)


def _whose(work: UnitOfWork, dossier: str) -> str:
    """Return the one member that all runs of a dossier are about: what is said there is said about them."""
    members = members_of(work.connection, dossier)
    return members.pop() if len(members) == 1 else ""


def _unread(work: UnitOfWork, state: DossierState) -> list[SetAside]:
    """Return the events of a dossier that cannot be read."""
    cause = state.cause
    if cause is None or cause.ending != CORRUPT:
        return []
    return set_aside.unsettled(work.connection, cause.operation.removeprefix(f"{LOG}."))
