"""`/v1/runs`: what ran, the whole story of each run, and what staff do about one."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict
from pydantic_core import to_jsonable_python

from adapters.cli.story_pages import run_object, story_object
from adapters.database.engine import reading
from adapters.database.pages import page_by_position
from adapters.database.stories import Storyteller
from adapters.web.api.doors import App, By, needs
from adapters.web.api.paging import CursorParameter, Limit, Order, Page, page_of, position_at
from adapters.web.api.problem_schemas import problems
from adapters.web.api.problems import Problem
from adapters.web.api.staff_act_forms import ActForm, ActPath, ActResult, order_of, result_of
from projections.executions import executions

router = APIRouter(tags=["runs"], prefix="/v1/runs")

RunStatus = Literal["waiting", "running", "done", "skipped", "missed", "failed", "unknown", "cancelled"]


class Run(BaseModel):
    """One execution: the one run of a rule for a dedupe key; `date` is the event date, `at` its latest change."""

    rule: str
    version: int
    trigger: str
    entity: str
    date: date
    key: str
    status: RunStatus
    at: datetime
    reason: str


class Story(Run):
    """A run with everything that explains it."""

    model_config = ConfigDict(extra="allow")

    name: str
    origin: str
    occasion: str
    event: dict[str, Any] | None
    due: datetime | None
    wording: dict[str, Any] | None
    conditions: list[dict[str, Any]]
    attempts: list[dict[str, Any]]
    acts: list[dict[str, Any]]


@router.get("", dependencies=needs("read"), responses=problems(401, 403, 422, 503))
def list_runs(
    application: App,
    rule: Annotated[str | None, Query(max_length=100, description="Only those of one rule.")] = None,
    entity: Annotated[str | None, Query(max_length=300, description="Only those of one entity: `booking/b1`.")] = None,
    status: Annotated[list[RunStatus] | None, Query(description="Only those that stand so; may be repeated.")] = None,
    order: Order = "newest",
    limit: Limit = 100,
    cursor: CursorParameter = None,
) -> Page[Run]:
    """List what ran, in the order in which it was claimed."""
    wanted = {"rule": rule, "entity": entity, "status": list(status) if status else None}
    with reading(application.engine) as connection:
        rows = page_by_position(
            connection,
            executions,
            wanted,
            limit=limit + 1,
            beyond=position_at(cursor),
            newest_first=order == "newest",
        )
    return Page[Run](**page_of(rows, limit, run_object, lambda row: row["position"]))


@router.get("/{key}", dependencies=needs("read"), responses=problems(401, 403, 404, 422, 503))
def show_run(application: App, key: str) -> Story:
    """Tell the whole story of a run: what started it, each condition with its values, each attempt, each act."""
    with reading(application.engine) as connection:
        stories = Storyteller(connection, application.log.mapper).stories([key])
    if not stories:
        raise Problem(404, "there is no run with this key")
    return Story.model_validate(to_jsonable_python(story_object(stories[0]), fallback=str))


@router.post(
    "/{key}/{act}", dependencies=needs("dossiers:write"), responses=problems(400, 401, 403, 404, 409, 422, 503)
)
def act_on_run(application: App, caller: By, key: str, act: ActPath, form: ActForm) -> ActResult:
    """Retry a run, mark it as done by hand, dismiss it, or run it again on purpose."""
    acted = application.run_acts().act(order_of(act, form, caller.by), [key])
    result = result_of(acted)
    if result.done == 0:
        refused = result.runs[0].refused
        raise Problem(404 if refused == "there is no such run" else 409, refused)
    return result
