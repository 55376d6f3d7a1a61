"""What a rule will do, in words: what starts it, what it calls, what it finds in the past and ahead."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from adapters.cli.printing import cell_text

if TYPE_CHECKING:
    from adapters.application import Application
    from automations.backfill import Past
    from automations.looking_ahead import Ahead
    from domain.rules import Rule

MOST_LOOKED_AT = 10_000
"""Entities that are looked at to say how much of the past matches; a backfill looks at all of them."""

NEXT_SHOWN = 3
"""Due times ahead that are shown."""

ONCE = {
    "event": "each event that starts it",
    "date": "each {kind} and date",
    "moment": "each {kind} and moment",
    "entity": "each {kind}, for ever",
}
"""What makes a run once, in words."""


def explained(application: Application, rule: Rule) -> Iterator[str]:
    """Yield what whoever enables a rule has to know, a line for each thing."""
    from automations.triggers import triggers

    trigger = triggers[rule.when]
    yield f"starts: {_start(rule)}"
    yield f"runs once for {ONCE[rule.once].format(kind=trigger.KIND)}"
    if trigger.IS_CLOCK:
        yield from _past_and_ahead(application, rule.id)
    yield from _calls([step.action for step in rule.do], _services(application))
    yield from _told(_staff(application))


def told_past(past: Past) -> str:
    """Return how much of the past matches, in words."""
    many = "" if past.complete else "at least "
    unused = f", {past.unused:,} of them were missed, skipped or cancelled then" if past.unused else ""
    done = f"; {past.done:,} more ran already" if past.done else ""
    return f"{many}{past.matching:,} match{unused}{done}"


def _start(rule: Rule) -> str:
    from automations.triggers import triggers

    if not triggers[rule.when].IS_CLOCK:
        return f"every {rule.when} that is recorded from now on"
    offset = rule.before or rule.after
    side = "before" if rule.before else "after"
    return f"{rule.when}{f', {offset} {side}' if offset else ''}, looking ahead from now on"


def _past_and_ahead(application: Application, rule_id: str) -> Iterator[str]:
    desk = application.clock_desk()
    past = desk.backfill(rule_id).counted(MOST_LOOKED_AT)
    run_them = f"; not run, unless you ask for it: semel rules backfill {rule_id}" if past.matching else ""
    yield f"past: {told_past(past)}{run_them}"
    desk.follow()
    with desk.looking_ahead() as look:
        found = look.of_rule(rule_id, NEXT_SHOWN)
    yield f"next: {', '.join(map(_told_ahead, found)) or 'nothing that matches is in sight'}"


def _told_ahead(ahead: Ahead) -> str:
    return f"{ahead.entity} at {cell_text(ahead.at)}"


def _services(application: Application) -> frozenset[str]:
    from adapters.application import all_services

    return frozenset(all_services(application))


def _calls(names: Sequence[str], services: frozenset[str]) -> Iterator[str]:
    from automations.actions import actions

    for name in names:
        operation = actions[name].OPERATION
        missing = operation.partition(".")[0] not in services
        yield f"calls: {name} → {operation}{' (no such service is set up: it will fail)' if missing else ''}"


def _staff(application: Application) -> list[str]:
    from adapters.database.engine import reading
    from projections.members import staff

    with reading(application.engine) as connection:
        return staff(connection)


def _told(staff: Sequence[str]) -> Iterator[str]:
    if staff:
        shown = ", ".join(f"member/{member}" for member in staff[:5])
        more = f" and {len(staff) - 5:,} more" if len(staff) > 5 else ""
        yield f"failures: open a dossier (semel dossiers), of which {shown}{more} are told"
    else:
        yield "failures: open a dossier (semel dossiers)"
        yield "warning: nobody is told of one, because no member has staff: true"
