"""What staff do about a run: it is retried, marked as done, dismissed, or run again on purpose.

Each act is an event of the execution, with who and when. Why lies among the personal values: people write
there about people.
"""

from __future__ import annotations

from domain.events import DomainEvent
from domain.executions import Status

UNJUDGED = frozenset({"conditions", "rule", "chain", "facts"})
"""Classes of failures before anything was called, which left the conditions open: a retry judges them."""


class StaffAct(DomainEvent):
    """Something that a person did about a run; `reason` is the reference of their words, a value of `member`."""

    by: str
    member: str = ""
    reason: str = ""


class ExecutionRetried(StaffAct):
    """What did not succeed is to be tried again, under the same keys."""

    TOPIC = "execution.retried"


class ExecutionMarkedDone(StaffAct):
    """Somebody did by hand what the run was for."""

    TOPIC = "execution.marked-done"


class ExecutionDismissed(StaffAct):
    """Nothing more is to come of the run.

    What waits is cancelled; what has failed stays failed, since its key must not run by itself any more. `told`
    is what is said about the run from now on.
    """

    TOPIC = "execution.dismissed"

    status: Status
    told: str


class ExecutionRunAgain(StaffAct):
    """The run is repeated on purpose in a new series, whose keys are new: all of it, or one action."""

    TOPIC = "execution.run-again"

    series: int
    action: int | None = None
