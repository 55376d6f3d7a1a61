"""A dossier as one document that explains itself: plain data, with no reference that has to be looked up.

It is told from the log and the personal values alone, so it stays readable when a rule, a plug-in or a projection
is gone; `ERASED` stands for what was erased.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from pydantic_core import to_jsonable_python

from adapters.database import log_queries, set_aside
from adapters.database.delivery_stories import delivery_stories, is_delivery_id
from adapters.database.event_mapper import EventMapper
from adapters.database.personal import read_by_reference
from adapters.database.stories import ERASED, Attempt, Story, Storyteller
from adapters.dossiers.stored_dossiers import stored_events
from automations.authoring import authored_form
from domain.attempts import LateAnswer, late_answers_of
from domain.dossiers import CORRUPT, LOG, DossierEvent, DossierNoted, DossierSettled
from domain.errors import CorruptEvent
from domain.facts import Fact
from projections.dossier_lists import Dossier, runs_of
from projections.standings import STANDINGS

Document = dict[str, Any]

CHUNK = 200
"""Runs that are told together."""


def dossier_document(connection: sa.Connection, mapper: EventMapper, dossier: Dossier) -> Document:
    """Return everything about a dossier as JSON values, instants as text in UTC."""
    writer = _Writer(connection, mapper)
    return {
        **_heading(dossier),
        "history": list(writer.history(dossier.id)),
        "runs": list(writer.runs(dossier.id)),
        "deliveries": list(writer.deliveries(dossier.id)),
        "unread": list(writer.unread(dossier)),
    }


def _heading(dossier: Dossier) -> Document:
    heading = {
        "dossier": dossier.id,
        "cause": str(dossier.cause),
        "service": dossier.cause.service,
        "operation": dossier.operation,
        "ending": dossier.ending,
        "rule": dossier.rule,
        "is_open": dossier.is_open,
        "held": dossier.held,
        "opened_at": dossier.opened_at,
        "closed_at": dossier.closed_at,
        "assigned_to": dossier.assigned_to,
        "settled": dossier.settled,
    }
    return _json(heading)


class _Writer:
    """Writes the parts of one document over one connection."""

    def __init__(self, connection: sa.Connection, mapper: EventMapper) -> None:
        self._connection = connection
        self._mapper = mapper
        self._storyteller = Storyteller(connection, mapper)

    def history(self, dossier: str) -> Iterator[Document]:
        """Return what happened to the dossier as a whole: openings, closings, and what staff did."""
        for event in stored_events(self._connection, self._mapper, dossier):
            told = event.model_dump(exclude={"stream", "version", "at", "cause", "by", "member"})
            what = event.topic.removeprefix("dossier.")
            reference = _words_of(event)
            if reference:
                words = self._personal([reference])
                told |= {name: words[reference] for name in ("note", "reason") if told.get(name) == reference}
            yield _json({"at": event.at, "what": what, "by": getattr(event, "by", ""), **told})

    def runs(self, dossier: str) -> Iterator[Document]:
        """Return the whole story of every run of the dossier: the open ones first, then those that left it."""
        for standings in self._chunks(dossier, deliveries=False):
            for story in self._storyteller.stories(standings):
                yield {"standing": standings[story.execution.key], **self._run(story)}

    def deliveries(self, dossier: str) -> Iterator[Document]:
        """Return the whole story of every delivery of the dossier, in the same order."""
        for standings in self._chunks(dossier, deliveries=True):
            for story in delivery_stories(self._connection, self._mapper, standings):
                yield {"standing": standings[story.delivery.id], **_json(story.to_json())}

    def _chunks(self, dossier: str, *, deliveries: bool) -> Iterator[dict[str, str]]:
        """Return what stands in a dossier, some at a time, each with how it stands there."""
        found = [row for standing in STANDINGS for row in runs_of(self._connection, dossier, [standing])]
        rows = [row for row in found if is_delivery_id(row["key"]) is deliveries]
        for start in range(0, len(rows), CHUNK):
            yield {row["key"]: row["standing"] for row in rows[start : start + CHUNK]}

    def unread(self, dossier: Dossier) -> Iterator[Document]:
        """Return the events that cannot be read, where the dossier is about those."""
        if dossier.ending != CORRUPT:
            return
        for each in set_aside.unsettled(self._connection, dossier.operation.removeprefix(f"{LOG}.")):
            error = each.error
            yield {
                "position": each.position,
                "stream": error.stream,
                "version": error.version,
                "topic": error.topic,
                "reason": error.reason,
            }

    def _run(self, story: Story) -> Document:
        execution = story.execution
        claim, occurrence = execution.claim, execution.occurrence
        told = {
            "rule": claim.rule,
            "name": story.name,
            "version": occurrence.rule_version,
            "trigger": claim.trigger,
            "entity": claim.entity,
            "date": occurrence.event_date,
            "occasion": claim.occasion,
            "key": execution.key,
            "origin": claim.origin,
            "status": execution.status,
            "at": execution.at,
            "reason": execution.reason,
            "claimed_at": occurrence.at,
            "due": occurrence.due,
            "late": occurrence.late,
            "by": occurrence.by,
            "again_at": execution.again_at,
            "event": self._event(story.event),
            "wording": authored_form(story.wording) if story.wording else None,
            "conditions": self._conditions(occurrence.reasons),
            "attempts": [_attempt(attempt) for attempt in story.attempts],
            "acts": [{"at": act.at, "what": act.what, "by": act.by, "why": act.why} for act in story.acts],
            "late_answers": self._late_answers(execution.key),
        }
        return _json(told)

    def _event(self, event: Fact | None) -> Document | None:
        if event is None:
            return None
        values = self._personal(list(event.personal.values()))
        told = {name: values[reference] for name, reference in event.personal.items()}
        return {
            "type": event.type,
            "source": event.source,
            "id": event.id,
            "time": event.time,
            "recorded_at": event.at,
            "changed": event.changed,
            "data": {**event.data, **told},
        }

    def _conditions(self, reasons: Sequence[Mapping[str, Any]]) -> list[Document]:
        """Return each condition with the value it saw, a personal one too as long as it is there."""
        values = self._personal([reason["reference"] for reason in reasons if "reference" in reason])
        return [
            {**reason, "seen": values[reason["reference"]]} if "reference" in reason else dict(reason)
            for reason in reasons
        ]

    def _late_answers(self, key: str) -> list[Document]:
        found: list[Document] = []
        for row in log_queries.streams(self._connection, [late_answers_of(key)]):
            try:
                event = self._mapper.read(row)
            except CorruptEvent:
                continue
            if isinstance(event, LateAnswer):
                found.append(event.model_dump(exclude={"stream", "version", "cause", "key"}))
        return found

    def _personal(self, references: Sequence[str]) -> dict[str, object]:
        found = read_by_reference(self._connection, references)
        return {reference: found.get(reference, ERASED) for reference in references}


def _attempt(attempt: Attempt) -> Document:
    return {
        "action": attempt.action + 1,
        "name": attempt.name,
        "number": attempt.number,
        "series": attempt.series,
        "started_at": attempt.started_at,
        "ended_at": attempt.ended_at,
        "operation": attempt.operation,
        "idempotency_key": attempt.idempotency_key,
        "arguments": dict(attempt.arguments),
        "class": attempt.ending.kind if attempt.ending else None,
        "answer": attempt.answer,
        "by": attempt.by,
    }


def _words_of(event: DossierEvent) -> str:
    """Return where the words of a person lie, if there are any."""
    match event:
        case DossierNoted():
            return event.note
        case DossierSettled():
            return event.reason
        case _:
            return ""


def _json(document: Document) -> Document:
    told: Document = to_jsonable_python(document)
    return told
