"""What embedded services have in common: one transaction for each call, and an ending whatever happens.

The head of the log is locked first. So what a service decides upon still holds when it is recorded: a member
is not erased in between, and no number is taken twice.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from adapters.database.event_log import EventLog
from adapters.database.failures import Unreachable
from adapters.database.unit_of_work import UnitOfWork, retrying, unit_of_work
from automations.ports import Call
from domain.commands import Command
from domain.endings import Done, Misconfigured, Refused, TryLater, Unknown
from domain.errors import Conflict, InvalidInput, Unavailable

Ending = Done | Refused | TryLater | Misconfigured | Unknown

ATTEMPTS = 5
"""Transactions that one call begins before it asks to be made later."""

KEY_REUSED = Refused(reason="this key was used for another request")


@dataclass(frozen=True, slots=True)
class Foundation:
    """What embedded services stand on; `salt` goes into hashes that tell a repeat from another request."""

    log: EventLog
    salt: bytes
    default_zone: str
    sleep: Callable[[float], object]


class CommitUnknown(Unavailable):
    """The database was lost during a commit, so that nobody knows whether it took place."""


class EmbeddedService(ABC):
    """A service whose operations are recorded in the log of the engine itself; serves any thread."""

    name: str
    honours_keys = True

    def __init__(self, foundation: Foundation) -> None:
        self._foundation = foundation

    def perform(self, command: Command, call: Call) -> Ending:
        """Do what the command says, once for each key; a repeated key gets the first answer."""
        try:
            return retrying(lambda: self._attempt(command, call), sleep=self._foundation.sleep, attempts=ATTEMPTS)
        except CommitUnknown as error:
            return Unknown(reason=str(error))
        except (Conflict, Unavailable) as error:
            return TryLater(reason=str(error))
        except InvalidInput as error:
            return Refused(reason=str(error), at_fault="rule")

    def _attempt(self, command: Command, call: Call) -> Ending:
        with _committing(self._foundation.log) as work:
            work.lock_head()
            return self._do(work, command, call)

    @abstractmethod
    def _do(self, work: UnitOfWork, command: Command, call: Call) -> Ending:
        """Decide and record, in a transaction that nobody else's can come between."""


@contextmanager
def _committing(log: EventLog) -> Iterator[UnitOfWork]:
    reached_the_commit = False
    try:
        with unit_of_work(log, "serve") as work:
            yield work
            reached_the_commit = True
    except Unreachable as error:
        if reached_the_commit:
            raise CommitUnknown(str(error)) from error
        raise
