"""`/v1/dossiers`: what failed, grouped by cause, and what staff do about it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from adapters.application import Application
from adapters.database.engine import reading
from adapters.dossiers.documents import dossier_document
from adapters.dossiers.minding import LONGEST_NOTE
from adapters.web.api.doors import App, By, needs
from adapters.web.api.paging import CursorParameter, Limit, Page, page_of, place_at
from adapters.web.api.problem_schemas import problems
from adapters.web.api.problems import Problem
from adapters.web.api.staff_act_forms import ActForm, ActPath, ActResult, order_of, result_of
from domain.errors import InvalidInput, Mistake
from projections.dossier_lists import Dossier, closed_dossiers, dossiers_named, open_dossiers

router = APIRouter(tags=["dossiers"], prefix="/v1/dossiers")

CLOSED_SHOWN = 1_000
"""Closed dossiers that are listed, the latest."""

GUARDED = problems(401, 403, 404, 409, 422, 503)


class DossierSummary(BaseModel):
    """A cause of failures; `runs` is how many stand open in it, or wait behind it."""

    dossier: str
    cause: str
    service: str
    operation: str
    ending: str
    rule: str
    is_open: bool
    runs: int
    since: datetime | None
    closed_at: datetime | None
    reason: str
    assigned_to: str
    settled: dict[str, int]


class DossierDocument(BaseModel):
    """Everything about a dossier, readable without any other record."""

    model_config = ConfigDict(extra="allow")

    dossier: str
    cause: str
    is_open: bool
    history: list[dict[str, Any]]
    runs: list[dict[str, Any]]
    unread: list[dict[str, Any]]


class Assignment(BaseModel):
    """Who looks after a dossier; nobody if it is empty."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"example": {"to": "ana"}})

    to: Annotated[str, Field(max_length=200)]


class Note(BaseModel):
    """What is to be known about a dossier."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"example": {"text": "the door system is being fixed"}})

    text: Annotated[str, Field(min_length=1, max_length=LONGEST_NOTE)]


@router.get("", dependencies=needs("read"), responses=problems(401, 403, 422, 503))
def list_dossiers(
    application: App,
    state: Annotated[
        Literal["open", "closed"], Query(description="Open ones, or those that were closed last.")
    ] = "open",
    limit: Limit = 100,
    cursor: CursorParameter = None,
) -> Page[DossierSummary]:
    """List the dossiers: open ones, the oldest first; closed ones, the latest first."""
    with reading(application.engine) as connection:
        found = open_dossiers(connection) if state == "open" else closed_dossiers(connection, CLOSED_SHOWN)
    rows = _beyond(found, place_at(cursor))[: limit + 1]
    return Page[DossierSummary](**page_of(rows, limit, _summary, lambda each: [_since(each), each.id]))


@router.get("/{dossier}", dependencies=needs("read"), responses=problems(401, 403, 404, 422, 503))
def show_dossier(application: App, dossier: str) -> DossierDocument:
    """Tell everything about a dossier: each run with its conditions, attempts and answers, and who did what."""
    found = _found(application, dossier)
    with reading(application.engine) as connection:
        document = dossier_document(connection, application.log.mapper, found)
    return DossierDocument.model_validate(document)


@router.post("/{dossier}/assign", status_code=204, dependencies=needs("dossiers:write"), responses=GUARDED)
def assign_dossier(application: App, caller: By, dossier: str, form: Assignment) -> None:
    """Say who looks after a dossier."""
    _decide(application, dossier)
    application.dossier_acts().assign(dossier, form.to, caller.by)


@router.post("/{dossier}/notes", status_code=204, dependencies=needs("dossiers:write"), responses=GUARDED)
def note_dossier(application: App, caller: By, dossier: str, form: Note) -> None:
    """Write a note into a dossier."""
    _decide(application, dossier)
    application.dossier_acts().note(dossier, form.text, caller.by)


@router.post("/{dossier}/{act}", dependencies=needs("dossiers:write"), responses=GUARDED)
def act_on_dossier(application: App, caller: By, dossier: str, act: ActPath, form: ActForm) -> ActResult:
    """Retry all runs of a dossier, mark them as done by hand, dismiss them, or run them again on purpose."""
    found, order = _found(application, dossier), order_of(act, form, caller.by)
    if not found.is_about_the_log:
        return result_of(application.run_acts().act_on_all(order, dossier))
    acts = application.dossier_acts()
    match order.act:
        case "retry":
            return result_of([], acts.read_again(dossier, order.by))
        case "dismiss":
            return result_of([], acts.leave_unread(dossier, order.reason, order.by))
        case _:
            raise InvalidInput([Mistake((), "it is about events that cannot be read: retry it, or dismiss it")])


def _found(application: Application, dossier: str) -> Dossier:
    with reading(application.engine) as connection:
        found = [each for each in dossiers_named(connection, dossier) if each.id == dossier]
    if not found:
        raise Problem(404, "there is no dossier with this id")
    return found[0]


def _decide(application: Application, dossier: str) -> None:
    """Raise Problem where there is no such dossier, or none that was ever opened."""
    if _found(application, dossier).opened_at is None:
        raise Problem(409, "this dossier is about to be opened: try again in a moment", headers={"retry-after": "1"})


def _since(dossier: Dossier) -> str:
    return str(dossier.since if dossier.is_open else dossier.closed_at)


def _beyond(found: Sequence[Dossier], place: Any) -> list[Dossier]:
    """Return what comes after a place in a list that may have changed since; what has left it is no hindrance."""
    if place is None:
        return list(found)
    if not (isinstance(place, list) and len(place) == 2 and all(isinstance(part, str) for part in place)):
        raise Problem(422, "this is no cursor")
    since, name = place
    if found and not found[0].is_open:  # the latest first, and by id among those of one instant
        return [each for each in found if (_since(each) < since) or (_since(each) == since and each.id > name)]
    return [each for each in found if (_since(each), each.id) > (since, name)]


def _summary(dossier: Dossier) -> dict[str, Any]:
    return {
        "dossier": dossier.id,
        "cause": str(dossier.cause),
        "service": dossier.cause.service,
        "operation": dossier.operation,
        "ending": dossier.ending,
        "rule": dossier.rule,
        "is_open": dossier.is_open,
        "runs": len(dossier.runs),
        "since": dossier.since,
        "closed_at": dossier.closed_at,
        "reason": dossier.reason,
        "assigned_to": dossier.assigned_to,
        "settled": dict(dossier.settled),
    }
