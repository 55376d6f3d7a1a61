"""`semel rules next` shows what a rule will run; `semel rules backfill` runs what is past for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from adapters.cli.authoring import AsJson, By, who
from adapters.cli.printing import cell_text, print_array, say, show_table
from adapters.cli.restoring import refuse_held
from adapters.cli.rule_explaining import told_past
from adapters.cli.rules import RuleId, app, status_of
from adapters.cli.session import opened
from adapters.cli.times import FromOption, ToOption, ZoneOption, window_of
from adapters.cli.working import sum_up

if TYPE_CHECKING:
    from automations.looking_ahead import Ahead

Most = Annotated[int, typer.Option("--limit", "-n", min=1, max=1_000, metavar="N", help="How many at most.")]
All = Annotated[bool, typer.Option("--all", help="Also what will not run as facts are now, with the reason.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do it without asking.")]


@app.command("next")
def show_next(
    context: typer.Context, rule_id: RuleId, limit: Most = 10, whatever: All = False, as_json: AsJson = False
) -> None:
    """Show what a rule will run next.

    Only rules that the clock starts can tell. Whether something will run is said as facts are now.
    """
    with opened(context) as application:
        state = application.rules().require(rule_id)
        desk = application.clock_desk()
        desk.follow()
        with desk.looking_ahead() as look:
            found = look.of_rule(rule_id, limit, whatever=whatever)
    if as_json:
        print_array(ahead.to_json() for ahead in found)
        return
    if found:
        show_table(("at", "entity", "date", "will run"), [_cells(ahead) for ahead in found])
    else:
        say("nothing that matches is in sight")
    if not state.runs:
        say(f"{rule_id} is {status_of(state)}: none of this will run")


@app.command()
def backfill(
    context: typer.Context,
    rule_id: RuleId,
    start: FromOption = None,
    end: ToOption = None,
    zone: ZoneOption = None,
    yes: Yes = False,
    by: By = None,
) -> None:
    """Run what is past for a rule.

    Enabling a rule looks ahead only. This runs what was due before and matches by the facts as they are, whatever
    the rule's limit says; what ran already is not run again. It says how much that is, and asks.
    """
    from adapters.loops import heartbeat

    with opened(context) as application:
        refuse_held(application)
        crew = application.crew()
        window = window_of(application, start, end, zone)
        act = application.clock_desk().backfill(rule_id, window, crew.owner)
        past = act.counted()
        say(f"{past.looked_at:,} were due, {told_past(past)}")
        if not past.matching:
            return
        if not yes:
            typer.confirm(f"run {past.matching:,} of {rule_id} now?", abort=True)
        act.begin(past.matching, who(by))
        with heartbeat(crew, application.settings.lease_seconds):
            crew.worker.backfill(act, who(by))
            crew.work_through()
    sum_up(crew.worked)


def _cells(ahead: Ahead) -> tuple[Any, ...]:
    return cell_text(ahead.at), ahead.entity, ahead.date, "yes" if ahead.will_run else f"no: {ahead.reason}"
