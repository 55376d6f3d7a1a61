"""What staff do in a scenario: they act on runs, and whatever is refused is told."""

from __future__ import annotations

from collections.abc import Iterator

from adapters.database.engine import reading
from adapters.scenarios.stage import Stage
from automations.scenario import ActOnRuns, StaffAct
from automations.staff_acts import ActName, Order
from projections.executions import runs

BY = "staff"

OPEN = frozenset({"failed", "unknown", "waiting"})
"""Statuses of runs that need somebody."""

ACTS: dict[StaffAct, ActName] = {
    "retry": "retry",
    "dismiss": "dismiss",
    "mark done": "done",
    "run again": "run-again",
}


def act_on_runs(stage: Stage, step: ActOnRuns) -> Iterator[str]:
    """Do what a step says, and return why each run was left alone that was.

    It is done to the open runs that fit, and to those that are done if they are to be run again; where there is
    none, to all that fit, so that the refusals say why. Raises InvalidInput where the act itself is refused.
    """
    order = Order(ACTS[step.act], BY, step.reason)
    wanted = OPEN | {"done"} if order.act == "run-again" else OPEN
    with reading(stage.engine) as connection:
        fitting = runs(connection, rule=step.rule or None, entity=step.entity or None)
    if not fitting:
        yield f"{step.act}: there is no such run"
        return
    chosen = [run for run in fitting if run["status"] in wanted] or fitting
    names = {run["key"]: f"{run['rule']} for {run['entity']}" for run in chosen}
    for acted in stage.run_acts().act(order, names):
        if acted.refused:
            yield f"{step.act} of {names[acted.key]}: {acted.refused}"
