"""The story of an execution as lines for people and as an object for programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from adapters.cli.printing import as_json, cell_text

if TYPE_CHECKING:
    from adapters.database.stories import Attempt, Story

RUN_KEYS = ("rule", "version", "trigger", "entity", "date", "key", "status", "at", "reason")
"""What a run is told by, everywhere."""


def run_object(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a run as programs get it, from a row of the executions."""
    return {name: row["event_date" if name == "date" else name] for name in RUN_KEYS}


def story_run(story: Story) -> dict[str, Any]:
    """Return a run as programs get it, from its story."""
    execution = story.execution
    return {
        "rule": execution.claim.rule,
        "version": execution.occurrence.rule_version,
        "trigger": execution.claim.trigger,
        "entity": execution.claim.entity,
        "date": execution.occurrence.event_date,
        "key": execution.key,
        "status": execution.status,
        "at": execution.at,
        "reason": execution.reason,
    }


def story_object(story: Story) -> dict[str, Any]:
    """Return a whole story as programs get it: the run with what explains it."""
    from automations.authoring import authored_form

    return {
        **story_run(story),
        "name": story.name,
        "origin": story.execution.claim.origin,
        "occasion": story.execution.claim.occasion,
        "event": _event_object(story),
        "due": story.execution.occurrence.due,
        "wording": authored_form(story.wording) if story.wording else None,
        "conditions": list(story.execution.occurrence.reasons),
        "attempts": [_attempt_object(attempt) for attempt in story.attempts],
        "acts": [{"at": act.at, "what": act.what, "by": act.by, "why": act.why} for act in story.acts],
    }


def _event_object(story: Story) -> dict[str, Any] | None:
    event = story.event
    if event is None:
        return None
    return {"type": event.type, "source": event.source, "id": event.id, "time": event.time}


def _attempt_object(attempt: Attempt) -> dict[str, Any]:
    return {
        "action": attempt.name,
        "number": attempt.number,
        "series": attempt.series,
        "started_at": attempt.started_at,
        "ended_at": attempt.ended_at,
        "operation": attempt.operation,
        "idempotency_key": attempt.idempotency_key,
        "arguments": dict(attempt.arguments),
        "ending": attempt.ending.kind if attempt.ending else None,
        "answer": attempt.answer,
        "by": attempt.by,
    }


def story_lines(story: Story, *, whole: bool) -> Iterator[str]:
    """Return the story in lines; `whole` adds the key, the rule's text, and what was called with which values."""
    execution = story.execution
    at = cell_text(execution.at)
    rule = execution.claim.rule
    which = f"{rule}, version {execution.occurrence.rule_version}" if rule else f"asked for by {execution.claim.origin}"
    yield f"{execution.status}  {story.name} ({which})"
    reason = f": {execution.reason}" if execution.reason else ""
    yield f"    {execution.claim.entity} on {execution.occurrence.event_date}, {execution.status} at {at}{reason}"
    yield f"    started by {_start(story)}"
    if whole:
        yield f"    key {execution.key}"
        yield from _wording_lines(story)
    yield from _condition_lines(execution.occurrence.reasons)
    for attempt in story.attempts:
        yield from _attempt_lines(attempt, whole=whole)
    for act in story.acts:
        by = f" by {act.by}" if act.by else ""
        yield f"    {act.what}{by} at {cell_text(act.at)}{f': {act.why}' if act.why else ''}"
    if again_at := execution.again_at:
        yield f"    is tried again at {cell_text(again_at)}"


def _start(story: Story) -> str:
    execution = story.execution
    if story.event is not None:
        event = story.event
        return f"{event.type}, event {event.id} of {event.source}, at {cell_text(event.time)}"
    if execution.occurrence.due is not None:
        return f"{execution.claim.trigger}, due at {cell_text(execution.occurrence.due)}"
    by = f" by {execution.occurrence.by}" if execution.occurrence.by else ""
    return f"{execution.claim.trigger or execution.claim.operation} ({execution.claim.origin}{by})"


def _wording_lines(story: Story) -> Iterator[str]:
    from automations.authoring import authored_form

    if story.wording is None:
        return
    yield "    the rule as it was:"
    for name, value in authored_form(story.wording).items():
        if name not in {"id", "name", "enabled"}:
            yield f"        {name}: {value if isinstance(value, str) else as_json(value)}"


def _condition_lines(reasons: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    from automations.telling import told_reason
    from automations.verdicts import Reason

    for form in reasons:
        yield f"    {form['verdict']}: {told_reason(Reason.from_json(dict(form)))}"


def _attempt_lines(attempt: Attempt, *, whole: bool) -> Iterator[str]:
    kind = attempt.ending.kind.replace("_", " ") if attempt.ending else "not ended"
    operation = attempt.operation or attempt.name
    by = f" by {attempt.by}" if attempt.by else ""
    yield f"    {operation}, attempt {attempt.number}{by}: {kind}: {attempt.answer}"
    if not whole:
        return
    ended = cell_text(attempt.ended_at) or "not ended"
    yield f"        started {cell_text(attempt.started_at)}, ended {ended}"
    if attempt.idempotency_key:
        yield f"        idempotency key {attempt.idempotency_key}"
    for name, value in attempt.arguments.items():
        yield f"        {name}: {value if isinstance(value, str) else as_json(value)}"
