"""What staff may do about a run, and why not: pure decisions (semantics 9).

A refusal is a text that says what stands against it, and what can be done instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, get_args

from domain.executions import Execution, stream_of
from domain.rules import RuleState
from domain.staff_acts import (
    UNJUDGED,
    ExecutionDismissed,
    ExecutionMarkedDone,
    ExecutionRetried,
    ExecutionRunAgain,
    StaffAct,
)

ActName = Literal["retry", "done", "dismiss", "run-again"]

ACTS: tuple[ActName, ...] = get_args(ActName)

NEEDS_REASON: frozenset[ActName] = frozenset({"dismiss", "run-again"})
"""Acts that somebody will ask about later."""

RUNS: frozenset[ActName] = frozenset({"retry", "run-again"})
"""Acts after which something is called."""

LONGEST_REASON = 2_000
"""Characters of what somebody writes about an act."""


@dataclass(frozen=True, slots=True)
class Order:
    """An act that somebody wants; `action` is the one action that is to be run again, None for all of them."""

    act: ActName
    by: str
    reason: str = ""
    action: int | None = None


@dataclass(frozen=True, slots=True)
class Acted:
    """What came of an act on one run; a refusal says why nothing was changed."""

    key: str
    refused: str = ""


def refusal_of_order(order: Order) -> str | None:
    """Return what is wrong with an order, whatever run it is about."""
    if order.act in NEEDS_REASON and not order.reason.strip():
        return f"{_WORDS[order.act]} needs a reason"
    if len(order.reason) > LONGEST_REASON:
        return f"a reason has at most {LONGEST_REASON} characters, this one has {len(order.reason)}"
    return None


def refusal(order: Order, execution: Execution, rule: RuleState | None) -> str | None:
    """Return why an act is not done to a run of this rule as it is now, or None if it may be."""
    if execution.status == "running":
        return "it is being run right now: look again in a moment"
    if order.act in RUNS and execution.claim.origin == "rule" and (rule is None or rule.archived):
        name = rule.rule.name if rule is not None else execution.claim.rule
        return f"the rule {name} is archived: save it again to bring it back, or do by hand what is needed"
    match order.act:
        case "retry":
            return _not_retried(execution)
        case "done":
            return _not_open(execution)
        case "dismiss":
            return "it was dismissed already" if execution.dismissed else _not_dismissed(execution)
        case "run-again":
            return _not_run_again(order, execution)


def decided(order: Order, execution: Execution, at: datetime, reason: str) -> StaffAct:
    """Return the event of an act; `reason` is the reference of its words, empty where there are none."""
    common: dict[str, Any] = {
        "stream": stream_of(execution.key),
        "version": execution.version + 1,
        "at": at,
        "cause": execution.occurrence.cause,
        "by": order.by,
        "member": execution.occurrence.member,
        "reason": reason,
    }
    match order.act:
        case "retry":
            return ExecutionRetried(**common)
        case "done":
            return ExecutionMarkedDone(**common)
        case "run-again":
            return ExecutionRunAgain(**common, series=execution.series + 1, action=order.action)
        case "dismiss":
            status = "cancelled" if execution.status == "waiting" else execution.status
            told = f"dismissed by {order.by}{f': {execution.reason}' if execution.reason else ''}"
            return ExecutionDismissed(**common, status=status, told=told)


def _not_retried(execution: Execution) -> str | None:
    if execution.status == "done":
        return "it is done: only running it again on purpose, with a reason, repeats it"
    return _not_open(execution)


def _not_dismissed(execution: Execution) -> str | None:
    return None if execution.contradicted else _not_open(execution)


def _not_open(execution: Execution) -> str | None:
    if execution.status in ("failed", "unknown", "waiting"):
        return None
    told = f" ({execution.reason})" if execution.reason else ""
    return f"it did not fail: it is {execution.status}{told}"


def _not_run_again(order: Order, execution: Execution) -> str | None:
    if execution.status == "waiting":
        return "it is not over yet: retry it, or dismiss it"
    if execution.status not in ("done", "failed", "unknown"):
        return _not_open(execution)
    if execution.failure in UNJUDGED:
        return "nothing was called yet: retry it"
    last = len(execution.occurrence.actions)
    if order.action is not None and not 0 <= order.action < last:
        return f"it has no action {order.action + 1}: its actions are numbered from 1 to {last}"
    return None


_WORDS: dict[ActName, str] = {
    "retry": "a retry",
    "done": "marking as done",
    "dismiss": "a dismissal",
    "run-again": "running it again",
}
