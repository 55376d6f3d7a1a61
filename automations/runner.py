"""Claimed executions are run: re-check, attempt, ending, one action after the other.

Each outcome is recorded before anything else happens; no transaction is open during a call.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import datetime
from typing import Any, Protocol

import structlog

from automations.lanes import Lane, Lanes, OpenLanes
from automations.outcomes import Attempted, outcome_of
from automations.ports import Askable, Clock, Service, is_repeatable
from automations.preparing import Prepared, operation_of, parted, prepare, service_of, unprepared, whose
from automations.recheck import Look, Stop, recheck
from automations.retries import SERVICE_RETRIES, Jitter, RetrySchedule
from automations.telling import told_error
from domain.attempts import CallStarted, ExecutionHeld, LateAnswer, late
from domain.endings import Ending, TryLater, Unknown
from domain.errors import Conflict, Unavailable
from domain.events import DomainEvent
from domain.execution_folding import after
from domain.executions import (
    ActionDone,
    AttemptStarted,
    Execution,
    ExecutionEnded,
    stream_of,
)
from domain.facts import PersonalRef

MOST_CRASHES = 3
"""Attempts in a row at one action that may lose their worker before it is given up."""

logger = structlog.get_logger(__name__)


class Journal(Protocol):
    """Where executions are read from and recorded; implemented over the log."""

    def at_head(self, execution: Execution) -> AbstractContextManager[Look]:
        """Return what a re-check sees now; reading only."""
        ...

    def record(self, after: Execution, event: DomainEvent, personal: Mapping[PersonalRef, object]) -> None:
        """Append one event of an execution and settle its place in the queue by the state after it, at once.

        Raises Conflict if somebody else took the execution over meanwhile.
        """
        ...

    def set_apart(self, execution: Execution, lane: Lane, at: datetime) -> None:
        """Let an execution that waits go on waiting, behind a lane that it may not pass now."""
        ...

    def keep(self, answer: LateAnswer) -> None:
        """Keep an answer as evidence, unless it was recorded as the execution's own; its version is not known yet."""
        ...


class Runner:
    """Runs executions with the services of one operator."""

    def __init__(
        self,
        journal: Journal,
        services: Mapping[str, Service],
        clock: Clock,
        *,
        jitter: Jitter,
        retries: RetrySchedule = SERVICE_RETRIES,
        lanes: Lanes | None = None,
    ) -> None:
        self._journal = journal
        self._services = services
        self._clock = clock
        self._jitter = jitter
        self._retries = retries
        self._lanes = lanes or OpenLanes()

    def run(self, execution: Execution) -> Execution:
        """Take an execution whose attempt has been recorded as started as far as it goes now."""
        try:
            while execution.status == "running":
                execution = self._step(execution)
        except Conflict:
            logger.warning("execution.taken-over", key=execution.key)
        return execution

    def take_up(self, execution: Execution) -> Execution:
        """Go on with an execution that waited until now, or whose worker vanished."""
        try:
            if execution.status == "running":
                return self._recover(execution)
            return self._again(execution)
        except Conflict:
            logger.warning("execution.taken-over", key=execution.key)
            return execution

    def _again(self, execution: Execution) -> Execution:
        """Start the next attempt at an action that was to be tried later, unless its lane is held."""
        at = self._clock.now()
        if self._lanes.look(service_of(execution)).permits(at):
            return self.run(self._attempt(execution))
        found = self._looked(execution, at)
        if isinstance(found, Stop):
            return self._stop(execution, found)
        if isinstance(found, Lane):
            self._journal.set_apart(execution, found, at)
            return execution
        return self.run(self._attempt(execution))

    def _recover(self, execution: Execution) -> Execution:
        """Take over from a worker that vanished; whether it made its call is not known, unless that was noted."""
        if execution.calling:
            return self._stop(execution, Stop("unknown", "the worker vanished during the call", ending="unknown"))
        if execution.lost + 1 >= MOST_CRASHES or execution.tries > len(self._retries.delays):
            crashed = f"worker crashed (attempts without an ending: {execution.lost + 1})"
            return self._stop(execution, Stop("failed", crashed, ending="crashed"))
        return self.run(self._attempt(execution))

    def _attempt(self, execution: Execution) -> Execution:
        started = AttemptStarted(
            **self._next(execution),
            action=execution.action,
            attempt=execution.next_attempt,
            series=execution.series,
        )
        return self._recorded(execution, started)

    def _step(self, execution: Execution) -> Execution:
        at = self._clock.now()
        found = self._looked(execution, at)
        if isinstance(found, Stop):
            return self._stop(execution, found)
        if isinstance(found, Lane):
            return self._hold(execution, found)
        if found.ending is not None:
            return self._settle(execution, found, found.ending, at)
        return self._called(execution, found, at)

    def _called(self, execution: Execution, found: Prepared, at: datetime) -> Execution:
        assert found.service is not None
        lane = found.lane
        if lane.is_held and not self._lanes.take_probe(lane, at):
            return self._hold(execution, lane.probed(at))
        if not is_repeatable(found.service):
            execution = self._begun(execution, found)
        ending = self._call(found)
        settled = self._settle(execution, found, ending, at)
        self._lanes.report(lane, ending, self._clock.now())
        return settled

    def _hold(self, execution: Execution, lane: Lane) -> Execution:
        """Let an attempt that had begun wait behind a lane."""
        held = ExecutionHeld(
            **self._next(execution),
            action=execution.action,
            attempt=execution.attempt,
            series=execution.series,
            service=lane.service,
            reason=f"{lane.service} is not called now: {lane.reason}",
            again_at=lane.opens_at,
        )
        return self._recorded(execution, held)

    def _begun(self, execution: Execution, prepared: Prepared) -> Execution:
        """Note that a call begins which must not be made twice."""
        started = CallStarted(
            **self._next(execution),
            action=execution.action,
            attempt=execution.attempt,
            series=execution.series,
            operation=prepared.operation,
        )
        return self._recorded(execution, started)

    def _looked(self, execution: Execution, at: datetime) -> Stop | Lane | Prepared:
        """Return the action ready to be called, as of the head of the log, or why it must not be.

        That may be the lane of its service, where it lets nothing through now.
        """
        try:
            with self._journal.at_head(execution) as look:
                situation = look.situation(execution, at) if execution.claim.origin == "rule" else None
                stop = recheck(execution, look, situation, at) if situation is not None else None
                lane = look.lane(service_of(execution))
                if stop is not None or not lane.permits(at):
                    return stop or lane
                return replace(prepare(execution, look, situation, self._services, self._clock.now()), lane=lane)
        except Conflict:
            raise
        except Unavailable as error:
            return replace(unprepared(execution, None, at), ending=TryLater(reason=str(error)))
        except Exception as error:
            logger.exception("recheck.failed", key=execution.key)
            return Stop("failed", f"could not be checked: {told_error(error)}", ending="facts")

    @staticmethod
    def _call(prepared: Prepared) -> Ending:
        assert prepared.service is not None
        assert prepared.command is not None
        try:
            return _asked(prepared) or prepared.service.perform(prepared.command, prepared.call)
        except Exception as error:
            logger.exception("call.broke-off", operation=prepared.operation, key=prepared.call.key)
            return Unknown(reason=f"the call broke off: {told_error(error)}")

    def _settle(self, execution: Execution, prepared: Prepared, ending: Ending, at: datetime) -> Execution:
        repeatable = prepared.service is not None and is_repeatable(prepared.service)
        now = self._clock.now()
        is_probe = prepared.ending is None and prepared.lane.is_held
        attempted = Attempted(execution, prepared.step, prepared.is_last, repeatable, ended_at=now, is_probe=is_probe)
        outcome = outcome_of(attempted, ending, self._retries, self._jitter())
        arguments, personal = parted(execution, prepared.command)
        done = ActionDone(
            **self._next(execution),
            action=execution.action,
            attempt=execution.attempt,
            series=execution.series,
            operation=prepared.operation,
            idempotency_key=prepared.call.key,
            started_at=at,
            arguments=arguments,
            personal={name: reference.ref for name, (reference, _) in personal.items()},
            member=whose(execution, prepared.command),
            ending=ending,
            status=outcome.status,
            reason=outcome.reason,
            again_at=outcome.again_at,
            counted=outcome.counted,
        )
        try:
            return self._recorded(execution, done, dict(personal.values()))
        except Conflict:
            self._journal.keep(late(execution.key, done))
            raise

    def _stop(self, execution: Execution, stop: Stop) -> Execution:
        values = tuple(reason.to_json() for reason in stop.verdict.reasons) if stop.verdict else ()
        ended = ExecutionEnded(
            **self._next(execution),
            status=stop.status,
            reason=stop.reason,
            values=values,
            ending=stop.ending,
            operation=operation_of(execution.occurrence.actions[execution.action]) if stop.ending else "",
        )
        return self._recorded(execution, ended)

    def _next(self, execution: Execution) -> dict[str, Any]:
        return {
            "stream": stream_of(execution.key),
            "version": execution.version + 1,
            "at": self._clock.now(),
            "cause": execution.occurrence.cause,
        }

    def _recorded(
        self,
        execution: Execution,
        event: DomainEvent,
        personal: Mapping[PersonalRef, object] | None = None,
    ) -> Execution:
        execution = after(execution, event)
        self._journal.record(execution, event, personal or {})
        logger.info(event.topic, key=execution.key, status=execution.status)
        return execution


def _asked(prepared: Prepared) -> Ending | None:
    """Return what a service that can be asked says of an earlier attempt; None where there is none that it knows of."""
    service: object = prepared.service
    if prepared.call.attempt == 1 or prepared.command is None or not isinstance(service, Askable):
        return None
    return service.look_up(prepared.command, prepared.call)
