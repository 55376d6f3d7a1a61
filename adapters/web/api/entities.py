"""`/v1/entities/{kind}/{id}`: one entity as it stands, what ran for it, what did not, and what will."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from typing import Annotated, Any

import sqlalchemy as sa
from fastapi import APIRouter, Path
from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from adapters.application import Application
from adapters.cli.looking import left_alone_of
from adapters.cli.story_pages import run_object
from adapters.database.engine import reading
from adapters.database.facts import EntityCache
from adapters.database.pages import page_by_position
from adapters.database.personal import StoredPersonalValues
from adapters.database.stories import ERASED
from adapters.web.api.doors import App, needs
from adapters.web.api.problem_schemas import problems
from adapters.web.api.problems import Problem
from adapters.web.api.runs import Run
from domain.facts import Entity, PersonalRef
from domain.ids import LONGEST_ID, entity
from domain.money import Money
from domain.nouns import NOUNS
from projections.executions import executions

router = APIRouter(tags=["entities"], prefix="/v1/entities")

SHOWN = 100
"""Runs that are shown, the latest; `/v1/runs` has all of them."""


class Candidate(BaseModel):
    """A run that never was, or is still to come; `reason` says why not."""

    rule: str
    version: int
    trigger: str
    entity: str
    date: date
    key: str
    status: str
    at: datetime
    reason: str


class EntityPage(BaseModel):
    """An entity: its facts as they stand, the latest runs, candidates that did not run, and what is ahead."""

    entity: str
    kind: str
    id: str
    facts: dict[str, Any]
    parts: list[dict[str, Any]]
    runs: list[Run]
    not_run: list[Candidate]
    ahead: list[Candidate]


@router.get("/{kind}/{id:path}", dependencies=needs("read"), responses=problems(401, 403, 404, 422, 503))
def show_entity(
    application: App,
    kind: Annotated[str, Path(max_length=50, description="Such as `booking`.")],
    id: Annotated[str, Path(max_length=LONGEST_ID)],
) -> EntityPage:
    """Tell all about one entity: facts as they stand, what ran, what did not and why, and what will."""
    if kind not in NOUNS:
        raise Problem(404, f"there are no entities of this kind: they are {', '.join(NOUNS)}")
    name = entity(kind, id)
    with reading(application.engine) as connection:
        found = EntityCache(application.log.mapper).at_head(connection).readable(name)
        if not found.known:
            raise Problem(404, "nothing was ever recorded about this entity")
        told = _told(connection, found)
        runs = page_by_position(connection, executions, {"entity": name}, limit=SHOWN)
        not_run = list(left_alone_of(connection, name))
    return EntityPage(
        entity=name,
        kind=kind,
        id=id,
        **told,
        runs=[Run.model_validate(run_object(row)) for row in runs],
        not_run=[Candidate.model_validate(row) for row in not_run],
        ahead=_ahead(application, name),
    )


def _ahead(application: Application, name: str) -> list[Candidate]:
    with application.clock_desk().looking_ahead() as look:
        return [Candidate.model_validate(each.to_json()) for each in look.of_entity(name)]


def _told(connection: sa.Connection, found: Entity) -> dict[str, Any]:
    """Return the facts and the parts of an entity, with personal values as far as they were not erased."""
    personal = StoredPersonalValues(connection)
    return {
        "facts": _shown(found.values, personal),
        "parts": [_shown(part, personal) for part in found.part_values()],
    }


def _shown(values: Mapping[str, Any], personal: StoredPersonalValues) -> dict[str, Any]:
    return {name: _value(value, personal) for name, value in sorted(values.items())}


def _value(value: Any, personal: StoredPersonalValues) -> Any:
    if isinstance(value, PersonalRef):
        found = personal.read(value)
        return ERASED if found is None else found
    if isinstance(value, Money):
        return str(value)
    return to_jsonable_python(value, fallback=str)
