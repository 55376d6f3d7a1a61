"""The loop of one worker: follow the log, evaluate it, run what was claimed, try again what is due."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from adapters.database import lanes, queue
from adapters.database.backfilling import Backfill
from adapters.database.claims import QUEUE, Claimed
from adapters.database.engine import reading
from adapters.database.evaluating import Evaluated, EvaluatingFollower
from adapters.database.event_log import EventLog
from adapters.database.failures import Contended
from adapters.database.journal import StoredJournal
from adapters.database.lanes import StoredLanes
from adapters.database.late_messages import LateMessages
from adapters.database.lease_observer import LeaseObserver
from adapters.database.projecting import Projector
from adapters.database.resting import Rest
from adapters.database.ticking import Ticker
from adapters.database.unit_of_work import unit_of_work
from adapters.dossiers.keeping import DossierKeeper
from automations.lanes import Lane
from automations.ports import Clock
from automations.runner import Runner
from domain.errors import Conflict
from domain.executions import OVER
from domain.moment_ranges import Window

LEASED_AT_ONCE = 20
"""Executions that a worker takes from the queue at a time; they run one after the other."""


@dataclass(slots=True)
class Worked:
    """What a worker has done so far."""

    events: int = 0
    candidates: int = 0
    claimed: int = 0
    kept: int = 0
    ended: dict[str, int] = field(default_factory=dict)

    def __add__(self, other: Worked) -> Worked:
        """Return what two workers have done together."""
        ended = {
            status: self.ended.get(status, 0) + other.ended.get(status, 0) for status in {*self.ended, *other.ended}
        }
        return Worked(
            self.events + other.events,
            self.candidates + other.candidates,
            self.claimed + other.claimed,
            self.kept + other.kept,
            ended,
        )

    def add_ending(self, status: str) -> None:
        """Count one execution that ended, or waits now."""
        self.ended[status] = self.ended.get(status, 0) + 1


class Worker:
    """Does everything that one process does for one operator; several may work side by side."""

    def __init__(
        self,
        *,
        log: EventLog,
        clock: Clock,
        owner: str,
        projector: Projector,
        evaluating: EvaluatingFollower,
        journal: StoredJournal,
        runner: Runner,
        observer: LeaseObserver,
        ticker: Ticker,
        lanes: StoredLanes,
        dossiers: DossierKeeper,
    ) -> None:
        self._log = log
        self._clock = clock
        self.owner = owner
        self._projector = projector
        self._evaluating = evaluating
        self._journal = journal
        self._runner = runner
        self._observer = observer
        self._ticker = ticker
        self._lanes = lanes
        self._dossiers = dossiers
        self._rest = Rest(log, clock)
        self._late_messages = LateMessages(log)
        self.worked = Worked()

    def work_until_idle(self, progress: Callable[[Worked], None] = lambda worked: None) -> Worked:
        """Work until nothing is left that can be done now; what is due later stays in the queue."""
        while self.work_once():
            progress(self.worked)
        return self.worked

    def work_once(self) -> bool:
        """Do one round of everything; say whether there was anything to do."""
        if self._rest.goes_on(self._dossiers.kept):
            return False
        try:
            went_on = self._round()
        except (Conflict, Contended):  # somebody else was in the way: the next round looks again
            return True
        if not went_on:
            self._rest.begin()
        return went_on

    def _round(self) -> bool:
        followed = self._projector.follow()
        evaluated = self._evaluate()
        kept = self._dossiers.keep()
        return bool(followed or evaluated.events or kept) | self._run_due() | self._open_lanes() | self._recover()

    def beat(self) -> None:
        """Show that this worker is alive and still at all that it holds; safe to call from another thread."""
        self._journal.beat()

    def let_go(self) -> None:
        """Give back at once all that this worker holds, for others to take up; safe to call from another thread."""
        self._journal.let_go()

    def _evaluate(self) -> Evaluated:
        evaluated = self._evaluating.follow()
        self.worked.events += evaluated.events
        self._run_claimed(evaluated.claimed)
        return evaluated

    def tick(self) -> bool:
        """Evaluate the clock triggers up to now, after everything recorded so far; run what they claim.

        Say whether there was anything to look at.
        """
        looked = False
        for claimed in self._ticker.tick():
            self._run_claimed(claimed)
            looked = True
        self._late_messages.tell(self._clock.now(), self.worked.events)
        return looked

    def sweep(self, window: Window) -> None:
        """Look again at a window, by brute force; run what was missed, which should be nothing."""
        self._projector.catch_up()
        for claimed in self._ticker.sweep(window):
            self._run_claimed(claimed)

    def backfill(self, backfill: Backfill, by: str) -> None:
        """Run what is past for a rule, as somebody has asked for it; what ran already is not run again."""
        self._projector.catch_up()
        for claimed in backfill.claimed(by):
            self._run_claimed(claimed)

    def _run_claimed(self, claimed: Claimed) -> None:
        self._journal.hold_claimed(claimed.running)
        if claimed.running:
            self._projector.catch_up()  # since re-checks count up to the head
        self.worked.candidates += claimed.candidates
        self.worked.claimed += len(claimed.running) + len(claimed.over)
        self.worked.kept += claimed.kept
        for execution in claimed.over:
            self.worked.add_ending(execution.status)
        try:
            for execution in claimed.running:
                self.worked.add_ending(self._runner.run(execution).status)
        finally:
            self._journal.forget()

    def _run_due(self) -> bool:
        """Run what waited until now."""
        now = self._clock.now()
        with reading(self._log.engine) as connection:
            due = queue.next_due(connection, QUEUE)
        if due is None or due > now:
            return False
        with unit_of_work(self._log, "lease") as work:
            leases = queue.lease(work.connection, QUEUE, self.owner, LEASED_AT_ONCE, now)
        return self._take_up(leases)

    def _open_lanes(self) -> bool:
        """Run one of those that wait behind each held lane, where it is time; let go of those that had to rest."""
        now = self._clock.now()
        with reading(self._log.engine) as connection:
            opening = lanes.opening(connection, now)
        done = [self._probe(lane) if lane.is_held else self._lanes.end_rest(lane.service, now) for lane in opening]
        return any(done)  # each lane gets its turn

    def _probe(self, lane: Lane) -> bool:
        with unit_of_work(self._log, "lease") as work:
            leases = queue.lease_apart(work.connection, QUEUE, lane.service, self.owner, 1)
        return self._take_up(leases)

    def _recover(self) -> bool:
        """Take over what other workers left behind."""
        with reading(self._log.engine) as connection:
            abandoned = self._observer.look(connection)
        if not abandoned:
            return False
        with unit_of_work(self._log, "take over") as work:
            leases = self._observer.take_over(work.connection, self.owner, LEASED_AT_ONCE)
        return self._take_up(leases)

    def _take_up(self, leases: list[queue.Lease]) -> bool:
        for lease in leases:
            self._journal.hold(lease)
        try:
            for lease in leases:
                self._recover_one(lease)
        finally:
            self._journal.forget()
        return bool(leases)

    def _recover_one(self, lease: queue.Lease) -> None:
        execution = self._journal.load(lease.item)
        if execution is None or execution.status in OVER:
            self._journal.drop(lease)
            return
        self.worked.add_ending(self._runner.take_up(execution).status)
