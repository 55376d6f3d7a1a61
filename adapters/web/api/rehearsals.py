"""`POST /v1/rehearsals`: what rules would have done over recorded history; nothing is written or called."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from itertools import islice
from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field
from pydantic_core import to_jsonable_python

from adapters.application import Application
from adapters.database.backfilling import whole_past
from adapters.web.api.doors import App, needs
from adapters.web.api.problem_schemas import problems
from adapters.web.api.problems import Problem
from automations.authoring import read_rules
from automations.rehearsal import Rehearsed, rehearsed_rule
from domain.errors import InvalidInput, Mistake
from domain.moment_ranges import Window
from domain.rules import RuleState

router = APIRouter(tags=["rehearsals"], prefix="/v1/rehearsals")

LONGEST_SECONDS = 20.0
"""After so long an answer says how far it came."""

MOST_RULES = 20

A_MOMENT = timedelta(microseconds=1)


class RehearsalForm(BaseModel):
    """What is rehearsed: a saved rule, or rules as they are written; from one instant to another, up to now at most."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"example": {"rule": "access-instructions", "from": "2026-05-01T00:00:00Z"}}
    )

    rule: Annotated[str | None, Field(max_length=100)] = None
    rules: Annotated[list[dict[str, Any]] | None, Field(min_length=1, max_length=MOST_RULES)] = None
    start: Annotated[AwareDatetime | None, Field(alias="from")] = None
    end: Annotated[AwareDatetime | None, Field(alias="to")] = None
    most: Annotated[int, Field(ge=1, le=1_000, description="How many outcomes are shown.")] = 200
    matching: Annotated[bool, Field(description="Only what would run.")] = False


class RehearsalAnswer(BaseModel):
    """How often what would have come of it, and the first outcomes; not `complete` where it took too long."""

    complete: bool
    counts: dict[str, int]
    items: list[dict[str, Any]]


class _EnoughError(Exception):
    """It takes too long."""


@router.post("", dependencies=needs("read"), responses=problems(400, 401, 403, 404, 413, 422, 503))
def rehearse(application: App, form: RehearsalForm) -> RehearsalAnswer:
    """Rehearse rules over recorded history: what would have run, with the values it would have seen."""
    walk = application.rehearsal(_meant(application, form), _window(application, form), _limit(application))
    counts: Counter[str] = Counter()
    shown: list[Rehearsed] = []
    complete = True
    try:
        for each in walk.outcomes():
            counts[each.outcome] += 1
            if len(shown) < form.most and (not form.matching or each.outcome == "would run"):
                shown.append(each)
    except _EnoughError:
        complete = False
    items = [to_jsonable_python(each.to_json(), fallback=str) for each in islice(shown, form.most)]
    return RehearsalAnswer(complete=complete, counts=dict(counts), items=items)


def _meant(application: Application, form: RehearsalForm) -> list[RuleState]:
    if (form.rule is None) == (form.rules is None):
        raise InvalidInput([Mistake((), "name a saved rule, or write rules: one of both")])
    if form.rules is not None:
        return [rehearsed_rule(one.rule) for one in read_rules(form.rules, ("rules",))]
    state = application.rules().get(form.rule or "")
    if state is None:
        raise Problem(404, "there is no rule with this id")
    return [rehearsed_rule(state.rule, state.version)]


def _window(application: Application, form: RehearsalForm) -> Window:
    whole = whole_past(application.clock.now())
    first = whole.after if form.start is None else _inside(form.start, whole, "from") - A_MOMENT
    last = whole.up_to if form.end is None else form.end
    if last < first:
        raise InvalidInput([Mistake(("to",), "lies before from")])
    return Window(first, last).until(whole.up_to)


def _inside(instant: datetime, whole: Window, name: str) -> datetime:
    if instant <= whole.after + A_MOMENT:
        raise InvalidInput([Mistake((name,), "lies before anything that could be recorded")])
    return instant


def _limit(application: Application) -> Callable[[int, int], None]:
    """Return what breaks a walk off that takes too long."""
    clock = application.clock
    until = clock.monotonic() + LONGEST_SECONDS

    def look(_done: int, _total: int) -> None:
        if clock.monotonic() > until:
            raise _EnoughError

    return look
