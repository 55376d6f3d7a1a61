"""`semel rules` lists the rules; its commands show one, and switch it on, off, or off for ever."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adapters.cli.authoring import AsJson, By, who
from adapters.cli.printing import cell_text, print_array, say, show_table
from adapters.cli.rule_explaining import explained
from adapters.cli.session import opened

if TYPE_CHECKING:
    from adapters.application import Application
    from domain.rules import RuleEvent, RuleState

app = typer.Typer(rich_markup_mode=None)
"""The group of commands."""

RuleId = Annotated[str, typer.Argument(metavar="ID", help="The id of the rule.")]


@app.callback(invoke_without_command=True)
def rules(context: typer.Context, as_json: AsJson = False) -> None:
    """List the rules, or act on one.

    Without a command, all rules are listed with their status and version.
    """
    if context.invoked_subcommand is not None:
        return
    with opened(context) as application:
        found = [summary(state) for state in application.rules()]
    if as_json:
        print_array(found)
    elif found:
        show_table(list(found[0]), [_cells(rule) for rule in found])
    else:
        say("there is no rule yet: write some into a file, and semel apply publishes them")


@app.command()
def show(context: typer.Context, rule_id: RuleId, as_json: AsJson = False) -> None:
    """Show one rule.

    Its wording is shown as its author would write it, and who did what to it when.
    """
    from automations.authoring import authored_form

    with opened(context) as application:
        state = application.rules().require(rule_id)
        events = list(life_of(application, rule_id))
        runs, missed = _counted(application, rule_id)
    form = authored_form(state.rule, enabled=state.enabled)
    history = [{"at": event.at, "what": event.topic.removeprefix("rule."), "by": event.by} for event in events]
    if as_json:
        counts = {"runs": runs, "missed_while_disabled": missed}
        print_array([{**summary(state), "wording": form, "history": history, **counts}])
        return
    say(f"{state.rule.id}, version {state.version}: {status_of(state)}\n")
    say(_as_yaml(form))
    for entry in history:
        by = f" by {entry['by']}" if entry["by"] else ""
        say(f"{cell_text(entry['at'])}  {entry['what']}{by}")
    if runs:
        say(f"\nruns: {', '.join(f'{count:,} {status}' for status, count in runs.items())}")
    if missed:
        say(f"{missed:,} of the missed fell due while the rule was disabled: semel rules backfill {rule_id} runs them")


@app.command()
def enable(context: typer.Context, rule_id: RuleId, by: By = None) -> None:
    """Let a rule run from now on.

    It looks ahead only. Says what starts it, what makes a run once, how much of the past matches and is not
    run, what comes next, which service each action calls, and who is told of a failure.
    """
    with opened(context) as application:
        events = application.switch_rule(rule_id, "enabled", who(by))
        state = application.rules().require(rule_id)
        lines = list(explained(application, state.rule))
    say(f"{rule_id} {'is enabled' if events else 'was enabled already'}, in version {state.version}")
    for line in lines:
        say(line)


@app.command()
def disable(context: typer.Context, rule_id: RuleId, by: By = None) -> None:
    """Stop a rule from running.

    It keeps its wording, and can be enabled again.
    """
    with opened(context) as application:
        events = application.switch_rule(rule_id, "disabled", who(by))
    say(f"{rule_id} {'is disabled: nothing of it runs from now on' if events else 'was disabled already'}")


@app.command()
def archive(context: typer.Context, rule_id: RuleId, by: By = None) -> None:
    """Put a rule away.

    What waits is cancelled, what was done stays readable. Applying its file brings it back.
    """
    with opened(context) as application:
        events = application.archive_rule(rule_id, who(by))
    say(f"{rule_id} {'is archived: its waiting runs are cancelled' if events else 'was archived already'}")


def summary(state: RuleState) -> dict[str, Any]:
    """Return what a list of rules says of one."""
    return {
        "rule": state.rule.id,
        "status": status_of(state),
        "version": state.version,
        "when": state.rule.when,
        "once": state.rule.once,
        "actions": [step.action for step in state.rule.do],
        "name": state.rule.name,
    }


def status_of(state: RuleState) -> str:
    """Return where a rule is in its life: drafted, enabled, disabled or archived."""
    if state.archived:
        return "archived"
    if state.enabled:
        return "enabled"
    return "drafted" if state.disabled_at is None else "disabled"


def _cells(rule: Mapping[str, Any]) -> list[object]:
    return [", ".join(value) if isinstance(value, list) else value for value in rule.values()]


def life_of(application: Application, rule_id: str) -> Iterator[RuleEvent]:
    """Yield what happened to a rule, in order."""
    from adapters.database import log_queries
    from adapters.database.engine import reading
    from domain.rules import RuleEvent, rule_stream

    with reading(application.engine) as connection:
        for row in log_queries.streams(connection, [rule_stream(rule_id)]):
            event = application.log.mapper.read(row)
            if isinstance(event, RuleEvent):
                yield event


def _counted(application: Application, rule_id: str) -> tuple[dict[str, int], int]:
    """Return how many runs of a rule there are by status, and how many were missed while it was disabled."""
    from adapters.database.engine import reading
    from automations.clock_evaluator import MISSED_WHILE_DISABLED
    from projections import executions

    with reading(application.engine) as connection:
        runs = executions.counted(connection, rule_id)
        return runs, executions.counted(connection, rule_id, MISSED_WHILE_DISABLED).get("missed", 0)


def _as_yaml(form: Mapping[str, Any]) -> str:
    from io import StringIO

    from ruamel.yaml import YAML

    writer = YAML(typ="safe", pure=True)
    writer.default_flow_style = False
    writer.sort_base_mapping_type_on_output = False  # type: ignore[assignment]
    writer.width = 100
    text = StringIO()
    writer.dump({"rules": [dict(form)]}, text)
    return text.getvalue()
