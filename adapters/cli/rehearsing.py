"""`semel rehearse` shows what a rule would have done over recorded history; nothing is written or called."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from adapters.cli.authoring import AsJson
from adapters.cli.faults import WRONG_INPUT
from adapters.cli.printing import as_json as json_text
from adapters.cli.printing import cell_text, complain, print_array, say
from adapters.cli.progress import Bar, bar
from adapters.cli.session import opened
from adapters.cli.times import FromOption, ToOption, ZoneOption, window_of
from automations.visible_text import one_line

if TYPE_CHECKING:
    from adapters.application import Application
    from automations.planned_calls import PlannedCall
    from automations.rehearsal import Rehearsed
    from domain.rules import RuleState

RuleOrFile = Annotated[
    str, typer.Argument(metavar="RULE", help="The id of a saved rule, or a rule file: then all of its rules.")
]
Matching = Annotated[bool, typer.Option("--matching", help="Only what would run, and not what would not.")]

ENDINGS = (".yaml", ".yml")
"""What a name ends in that is meant as a file."""


def rehearse(
    context: typer.Context,
    rule: RuleOrFile,
    start: FromOption = None,
    end: ToOption = None,
    zone: ZoneOption = None,
    matching: Matching = False,
    as_json: AsJson = False,
) -> None:
    """Rehearse a rule over recorded history.

    Goes through everything that could have started it from --from to --to, as if the rule had been enabled
    then: each fact at its time, and what fell due between them, judged by what was known at that instant. Says
    of each what would have run, with the settings of its actions filled in; what would not, with the first
    condition that said no and the value that it saw; and what would have been kept from repeating. Personal
    values are shown as they are now. Nothing is written, and no service is called.
    """
    with opened(context) as application, bar("rehearsing") as shown:
        states = _meant(application, rule)
        walk = application.rehearsal(states, window_of(application, start, end, zone), shown.move_to)
        counts: Counter[str] = Counter()
        found = _counted(walk.outcomes(), counts)
        wanted = (each for each in found if not matching or each.outcome == "would run")
        if as_json:
            print_array(each.to_json() for each in wanted)
            return
        for each in wanted:
            _tell(each, shown, named=len(states) > 1)
    say(", ".join(f"{count:,} {outcome}" for outcome, count in counts.items()) or "nothing could have started it")


def _meant(application: Application, name: str) -> list[RuleState]:
    """Return the rule that is saved under a name, or those of a file, as if they were enabled."""
    from automations.rehearsal import rehearsed_rule

    if not name.endswith(ENDINGS):
        state = application.rules().require(name)
        return [rehearsed_rule(state.rule, state.version)]
    from adapters.cli.rule_files import read_rule_files

    read = read_rule_files([name])
    for found in read.findings:
        complain(str(found))
    if read.mistakes:
        raise typer.Exit(WRONG_INPUT)
    return [rehearsed_rule(one.rule) for one in read.rules]


def _counted(outcomes: Iterator[Rehearsed], counts: Counter[str]) -> Iterator[Rehearsed]:
    for each in outcomes:
        counts[each.outcome] += 1
        yield each


def _tell(found: Rehearsed, shown: Bar, *, named: bool) -> None:
    candidate = found.candidate
    rule = f"{candidate.rule.id}  " if named else ""
    late = " late" if found.late and found.outcome == "would run" else ""
    why = f": {found.reason}" if found.reason else ""
    line = f"{cell_text(found.at)}  {rule}{candidate.entity}  {candidate.event_date}  {found.outcome}{late}{why}"
    shown.say("\n".join([one_line(line), *map(_call_line, found.calls)]))


def _call_line(call: PlannedCall) -> str:
    if call.fault:
        return one_line(f"    {call.action} would fail: {call.fault}")
    told = " ".join(f"{name}={_shown(value)}" for name, value in call.arguments.items())
    return one_line(f"    {call.operation} {told}")


def _shown(value: object) -> str:
    return value if isinstance(value, str) and value and " " not in value else json_text(value)
