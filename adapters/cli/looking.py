"""`semel runs` lists what ran; `semel why` tells of one entity what ran for it, what did not, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adapters.cli.authoring import AsJson
from adapters.cli.printing import cell_text, complain, print_array, say, show_table
from adapters.cli.session import opened
from adapters.cli.story_pages import run_object, story_lines, story_run
from domain.errors import InvalidInput

if TYPE_CHECKING:
    import sqlalchemy as sa

    from adapters.application import Application
    from adapters.database.stories import Story

SHORT_KEY = 12
"""Characters of a key in a table; programs get all of it."""

NOT_RUN = "not run"
"""The status of a candidate that was looked at and left alone."""


class Status(StrEnum):
    """What can be asked for with `--status`."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    SKIPPED = "skipped"
    MISSED = "missed"
    FAILED = "failed"
    UNKNOWN = "unknown"
    CANCELLED = "cancelled"


EntityOption = Annotated[
    str | None, typer.Option(metavar="ENTITY", help="Only those of one entity, such as booking/b1.")
]
RuleOption = Annotated[str | None, typer.Option(metavar="ID", help="Only those of one rule.")]
StatusOption = Annotated[
    list[Status] | None,
    typer.Option(metavar="STATUS", help=f"Only those that are {', '.join(Status)}; may be repeated."),
]


def runs(
    context: typer.Context,
    rule: RuleOption = None,
    entity: EntityOption = None,
    status: StatusOption = None,
    as_json: AsJson = False,
) -> None:
    """List what ran.

    These are the executions, in the order in which they were claimed, with what became of each.
    """
    from adapters.database.engine import reading
    from projections import executions

    with opened(context) as application:
        if rule is not None:
            application.rules().require(rule)
        with reading(application.engine) as connection:
            rows = executions.runs(
                connection, rule=rule, entity=checked(entity), status=[str(one) for one in status or ()]
            )
        found = [run_object(row) for row in rows]
        _say_if_behind(application)
    if as_json:
        print_array(found)
    elif found:
        show_table(list(found[0]), [_cells(run) for run in found])
    else:
        say("nothing ran" + (" that fits" if rule or entity or status else " yet"))


def why(
    context: typer.Context,
    entity: Annotated[str, typer.Argument(metavar="ENTITY", help="The entity, such as booking/b1.")],
    as_json: AsJson = False,
) -> None:
    """Tell what ran for one entity, what did not, and what will.

    Each run comes with what started it, its conditions and its attempts; each candidate that did not run
    with the first condition that said no, and the value that it saw; each due time ahead with whether it will
    run as facts are now. Events that went to webhooks stand at the end.
    """
    from adapters.database.engine import reading
    from adapters.database.stories import Storyteller
    from projections import executions

    with opened(context) as application:
        name = checked(entity)
        with reading(application.engine) as connection:
            keys = [row["key"] for row in executions.runs(connection, entity=name)]
            stories = Storyteller(connection, application.log.mapper).stories(keys)
            left_alone = list(left_alone_of(connection, entity))
            is_known = bool(_version(connection, entity))
            told = list(told_to_webhooks(connection, entity))
        with application.clock_desk().looking_ahead() as look:
            ahead = [each.to_json() for each in look.of_entity(entity)] if is_known else []
        _say_if_behind(application)
    if as_json:
        print_array([*map(story_run, stories), *left_alone, *ahead])
        return
    if not is_known:
        say(f"nothing was ever recorded about {entity}")
    elif not stories and not left_alone and not ahead:
        say(f"no rule has looked at {entity}")
    _say_story(stories, left_alone, ahead)
    for line in told:
        say(line)


def _say_story(stories: list[Story], left_alone: list[dict[str, Any]], ahead: list[dict[str, Any]]) -> None:
    for story in stories:
        say("\n".join([*story_lines(story, whole=False), ""]))
    for run in left_alone:
        say(f"{NOT_RUN}  {run['rule']}, version {run['version']}, {run['trigger']} on {run['date']}")
        say(f"    {run['reason']} (last looked at {cell_text(run['at'])})\n")
    for run in ahead:
        why_not = f": {run['reason']}" if run["reason"] else ""
        say(f"{cell_text(run['at'])}  {run['rule']} {run['status']}{why_not}")


def told_to_webhooks(connection: sa.Connection, entity: str) -> Iterator[str]:
    """Return a line for each event of an entity that goes, or went, to a webhook."""
    from domain.webhooks import is_webhook_channel
    from projections.deliveries import listed

    for row in listed(connection, entity=entity):
        if is_webhook_channel(row["channel"]):
            reason = f": {row['reason']}" if row["reason"] else ""
            yield f"{cell_text(row['at'])}  {row['to']}  {row['type']} {row['status']}{reason}"


def left_alone_of(connection: sa.Connection, entity: str) -> Iterator[dict[str, Any]]:
    """Return the candidates of an entity that did not run, each as a run that never was."""
    from adapters.database import traces
    from domain.executions import dedupe_key

    for row in traces.of_entity(connection, entity):
        for rule, verdict in row["verdicts"].items():
            yield {
                "rule": rule,
                "version": verdict["version"],
                "trigger": verdict["trigger"],
                "entity": entity,
                "date": row["event_date"],
                "key": dedupe_key(rule, verdict["trigger"], entity, row["occasion"]),
                "status": NOT_RUN,
                "at": row["seen_at"],
                "reason": _reason(verdict),
            }


def _reason(verdict: Mapping[str, Any]) -> str:
    from automations.telling import told_reason
    from automations.verdicts import Reason

    failed = verdict.get("failed")
    told = told_reason(Reason.from_json(failed)) if failed else ""
    return "; ".join(part for part in (verdict.get("note", ""), told) if part)


def checked(entity: str | None) -> str | None:
    """Return the entity, or say how one is written."""
    from automations.registry import nearest
    from domain.nouns import NOUNS

    if entity is None:
        return None
    kind, slash, identifier = entity.partition("/")
    if not slash or not identifier:
        raise InvalidInput(f"{entity!r} is no entity: write its kind and its id, such as booking/b1")
    if kind not in NOUNS:
        raise InvalidInput(f"there are no entities of the kind {kind!r}{nearest(kind, NOUNS)}")
    return entity


def _version(connection: sa.Connection, entity: str) -> int:
    from adapters.database import log_queries

    return log_queries.last_versions(connection, [entity]).get(entity, 0)


def _say_if_behind(application: Application) -> None:
    """Warn where the log holds more than what was worked through."""
    from adapters.database import evaluating, log_queries, projecting
    from adapters.database.engine import reading

    with reading(application.engine) as connection:
        head = log_queries.head_position(connection)
        followers = (projecting.FOLLOWER, evaluating.FOLLOWER)
        behind = head - min(log_queries.tracked_position(connection, name) for name in followers)
    if behind:
        complain(f"{behind:,} events were recorded since anybody worked: semel work --until-idle looks at them")


def _cells(run: Mapping[str, Any]) -> list[object]:
    return [value[:SHORT_KEY] if name == "key" else value for name, value in run.items()]
