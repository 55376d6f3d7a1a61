"""What staff do about what failed is decided and recorded, with the place of each run in the queue."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice

from adapters.database import lanes
from adapters.database.claims import QUEUE
from adapters.database.delivery_stories import is_delivery_id
from adapters.database.engine import reading
from adapters.database.event_log import EventLog
from adapters.database.personal import PersonalRow, write
from adapters.database.queue import Waiting, enqueue, hasten, withdraw
from adapters.database.rules import StoredRules
from adapters.database.stored_executions import read_executions
from adapters.database.unit_of_work import UnitOfWork, retrying, unit_of_work
from adapters.dossiers.delivery_acting import act_on_deliveries
from automations.ports import Clock
from automations.preparing import service_of
from automations.rulebook import RuleBook
from automations.staff_acts import RUNS, Acted, Order, decided, refusal, refusal_of_order
from domain.errors import InvalidInput
from domain.execution_folding import after
from domain.executions import OVER, Execution, stream_of
from domain.staff_acts import StaffAct
from projections.dossier_lists import runs_of

CHUNK = 100
"""Runs that are acted on in one transaction."""

UNDER_WAY = "it is being run right now: look again in a moment"


class RunActs:
    """Acts on the runs of one operator; serves any thread."""

    def __init__(self, log: EventLog, clock: Clock) -> None:
        self._log = log
        self._clock = clock

    def act(self, order: Order, keys: Iterable[str]) -> list[Acted]:
        """Act on runs, by their keys, and on deliveries, by their ids.

        Says of each, in order, whether it was done, or why nothing was changed. Raises InvalidInput where the
        order itself is wrong, such as a dismissal without a reason.
        """
        wrong = refusal_of_order(order)
        if wrong:
            raise InvalidInput(wrong)
        done: list[Acted] = []
        for chunk in _chunks(keys):
            acted = retrying(partial(self._attempt, order, chunk), sleep=time.sleep)
            done += sorted(acted, key=lambda each: chunk.index(each.key))
        return done

    def act_on_all(self, order: Order, dossier: str) -> list[Acted]:
        """Act on everything of one cause: what failed, and what waits behind it."""
        with reading(self._log.engine) as connection:
            keys = [run["key"] for run in runs_of(connection, dossier)]
        return self.act(order, keys)

    def _attempt(self, order: Order, keys: Sequence[str]) -> list[Acted]:
        with unit_of_work(self._log, "act") as work:
            rules = StoredRules(self._log.mapper).at_head(work.connection)
            deliveries = [key for key in keys if is_delivery_id(key)]
            runs = [key for key in keys if not is_delivery_id(key)]
            acted = act_on_deliveries(work, self._log.mapper, self._clock, order, deliveries)
            found = read_executions(work.connection, self._log.mapper, runs)
            services: set[str] = set()
            for key in runs:
                execution = found.readable.get(key)
                error = found.unreadable.get(key)
                if execution is None:
                    acted.append(Acted(key, f"its record cannot be read: {error}" if error else "there is no such run"))
                    continue
                refused = self._acted(work, order, execution, rules)
                acted.append(Acted(key, refused or ""))
                services |= {service_of(execution)} if refused is None else set()
            if order.act in RUNS:
                self._probe(work, services)
            return acted

    def _probe(self, work: UnitOfWork, services: Collection[str]) -> None:
        """Let one call of each held lane through: somebody wants to know now whether its service answers."""
        for service in sorted(services):
            lanes.probe_now(work.connection, service, self._clock.now())

    def _acted(self, work: UnitOfWork, order: Order, execution: Execution, rules: RuleBook) -> str | None:
        """Do one act; return why it is refused, or None."""
        refused = refusal(order, execution, rules.get(execution.claim.rule))
        if refused:
            return refused
        reference = f"{stream_of(execution.key)}/{execution.version + 1}/reason" if order.reason else ""
        event = decided(order, execution, self._clock.now(), reference)
        if not _queued(work, execution, event):
            return UNDER_WAY
        if reference:
            write(work.connection, [PersonalRow(event.member, reference, order.reason)])
        work.append([event])
        return None


def _queued(work: UnitOfWork, before: Execution, event: StaffAct) -> bool:
    """Put a run where it belongs after an act; say whether nobody has it in hand."""
    then = after(before, event)
    if before.status in OVER and then.status in OVER:
        return True
    if then.status in OVER:
        return withdraw(work.connection, QUEUE, [before.key]) == 1
    if before.status in OVER:
        enqueue(work.connection, [Waiting(QUEUE, before.key)])
        return True
    return hasten(work.connection, QUEUE, [before.key]) == 1


def _chunks(keys: Iterable[str]) -> Iterator[list[str]]:
    waiting = iter(dict.fromkeys(keys))
    while chunk := list(islice(waiting, CHUNK)):
        yield chunk
