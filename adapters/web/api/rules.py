"""`/v1/rules`: list, show, check, publish, enable, disable and archive."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path
from pydantic import BaseModel, ConfigDict, Field

from adapters.application import Application
from adapters.cli.authoring import told
from adapters.cli.rules import life_of, summary
from adapters.database.engine import reading
from adapters.web.api.doors import App, By, needs
from adapters.web.api.paging import CursorParameter, Limit, Page, page_of, place_at
from adapters.web.api.problem_schemas import Fault, problems
from adapters.web.api.problems import Problem, pointer
from automations.advice import advice_on
from automations.authoring import MOST_RULES, AuthoredRule, authored_form, read_rules
from domain.rules import RuleState
from projections import executions

router = APIRouter(tags=["rules"], prefix="/v1/rules")

RuleId = Annotated[str, Path(max_length=100)]
RuleStatus = Literal["drafted", "enabled", "disabled", "archived"]

EXAMPLE: dict[str, Any] = {
    "rules": [
        {
            "id": "access-instructions",
            "name": "Access instructions",
            "when": "booking.starting",
            "before": "2 hours",
            "where": ["resource.kind is meeting_room"],
            "do": [{"notify": {"type": "access-instructions", "to": "member"}}],
        }
    ]
}

GUARDED = problems(401, 403, 404, 409, 422, 503)


class RuleFile(BaseModel):
    """Rules as they are written in a rule file, as JSON."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"example": EXAMPLE})

    rules: Annotated[list[dict[str, Any]], Field(max_length=MOST_RULES)]


class RuleSummary(BaseModel):
    """What a list of rules says of one."""

    rule: str
    status: RuleStatus
    version: int
    when: str
    once: str
    actions: list[str]
    name: str


class Happening(BaseModel):
    """Something in the life of a rule."""

    at: datetime
    what: str
    by: str


class RulePage(RuleSummary):
    """A rule with its wording, as its author would write it, its life, and how many runs there are of each status."""

    wording: dict[str, Any]
    history: list[Happening]
    runs: dict[str, int]


class Checked(BaseModel):
    """Rules without a mistake; `warnings` are about what probably means something else."""

    rules: list[str]
    warnings: list[Fault]


class Published(BaseModel):
    """What publishing did to a rule: such as `drafted and enabled`, or `unchanged`."""

    rule: str
    done: str
    version: int


class PublishedRules(BaseModel):
    """What publishing did to each rule, and warnings as in a check."""

    rules: list[Published]
    warnings: list[Fault]


@router.get("", dependencies=needs("read"), responses=problems(401, 403, 422, 503))
def list_rules(application: App, limit: Limit = 100, cursor: CursorParameter = None) -> Page[RuleSummary]:
    """List the rules, by their ids."""
    place = place_at(cursor)
    if place is not None and not isinstance(place, str):
        raise Problem(422, "this is no cursor")
    states = [state for state in application.rules() if place is None or state.rule.id > place]
    return Page[RuleSummary](**page_of(states[: limit + 1], limit, summary, lambda state: state.rule.id))


@router.get("/{rule}", dependencies=needs("read"), responses=problems(401, 403, 404, 422, 503))
def show_rule(application: App, rule: RuleId) -> RulePage:
    """Show one rule."""
    state = _found(application, rule)
    with reading(application.engine) as connection:
        runs = executions.counted(connection, rule)
    events = life_of(application, rule)
    history = [Happening(at=event.at, what=event.topic.removeprefix("rule."), by=event.by) for event in events]
    wording = authored_form(state.rule, enabled=state.enabled)
    return RulePage(**summary(state), wording=wording, history=history, runs=runs)


@router.post("/check", dependencies=needs("read"), responses=problems(400, 401, 403, 413, 422, 503))
def check_rules(file: RuleFile) -> Checked:
    """Check rules. Nothing is published; every mistake is named with its place."""
    read = read_rules(file.rules, ("rules",))
    return Checked(rules=[one.rule.id for one in read], warnings=list(_warnings(read)))


@router.post("", dependencies=needs("rules:write"), responses=problems(400, 401, 403, 409, 413, 422, 503))
def publish_rules(application: App, caller: By, file: RuleFile) -> PublishedRules:
    """Publish rules: all of them in one transaction, or none where there is a mistake. Repeating it changes nothing."""
    read = read_rules(file.rules, ("rules",))
    changes = application.save_rules([(one.rule, one.enabled) for one in read], caller.by)
    states = {state.rule.id: state for state in application.rules()}
    done = [Published(rule=rule, done=told(events), version=states[rule].version) for rule, events in changes.items()]
    return PublishedRules(rules=done, warnings=list(_warnings(read)))


@router.post("/{rule}/enable", dependencies=needs("rules:write"), responses=GUARDED)
def enable_rule(application: App, caller: By, rule: RuleId) -> RuleSummary:
    """Let a rule run from now on; it looks ahead only."""
    _found(application, rule)
    application.switch_rule(rule, "enabled", caller.by)
    return _summary(application, rule)


@router.post("/{rule}/disable", dependencies=needs("rules:write"), responses=GUARDED)
def disable_rule(application: App, caller: By, rule: RuleId) -> RuleSummary:
    """Stop a rule from running; it can be enabled again."""
    _found(application, rule)
    application.switch_rule(rule, "disabled", caller.by)
    return _summary(application, rule)


@router.post("/{rule}/archive", dependencies=needs("rules:write"), responses=GUARDED)
def archive_rule(application: App, caller: By, rule: RuleId) -> RuleSummary:
    """Put a rule away: what waits is cancelled, what was done stays readable."""
    _found(application, rule)
    application.archive_rule(rule, caller.by)
    return _summary(application, rule)


def _found(application: Application, rule: str) -> RuleState:
    state = application.rules().get(rule)
    if state is None:
        raise Problem(404, "there is no rule with this id")
    return state


def _summary(application: Application, rule: str) -> RuleSummary:
    return RuleSummary.model_validate(summary(_found(application, rule)))


def _warnings(read: Sequence[AuthoredRule]) -> Iterator[Fault]:
    for number, one in enumerate(read):
        for mistake in advice_on(one.rule):
            yield Fault(pointer=pointer(("rules", number, *mistake.path)), detail=mistake.message)
