"""What staff send to act on runs and dossiers, and what they are told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from automations.staff_acts import LONGEST_REASON, Acted, ActName, Order

ActPath = Literal["retry", "dismiss", "mark-done", "run-again"]

_ACTS: dict[ActPath, ActName] = {
    "retry": "retry",
    "dismiss": "dismiss",
    "mark-done": "done",
    "run-again": "run-again",
}


class ActForm(BaseModel):
    """Why something is done; a dismissal and running again need a reason.

    `action` is the one action that is to be run again, counted from 1; without it all are.
    """

    model_config = ConfigDict(extra="forbid", json_schema_extra={"example": {"reason": "the door system is back"}})

    reason: Annotated[str, Field(max_length=LONGEST_REASON)] = ""
    action: Annotated[int | None, Field(ge=1, le=1_000)] = None


class ActedRun(BaseModel):
    """What came of an act on one run; `refused` says why nothing was changed, and is empty where it was done."""

    key: str
    refused: str = ""


class ActResult(BaseModel):
    """What came of an act: how many runs and events it changed, and each run."""

    done: int
    events: int = 0
    runs: list[ActedRun]


def order_of(act: ActPath, form: ActForm, by: str) -> Order:
    """Return what somebody wants."""
    return Order(_ACTS[act], by, form.reason, None if form.action is None else form.action - 1)


def result_of(acted: Sequence[Acted], events: int = 0) -> ActResult:
    """Return what came of it."""
    runs = [ActedRun(key=each.key, refused=each.refused) for each in acted]
    return ActResult(done=sum(not each.refused for each in acted), events=events, runs=runs)
