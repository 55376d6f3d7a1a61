"""What a scenario expects: each line with its place in the document.

A field that is None, or a text that is empty, was not written and so may be anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from automations.mistakes import Path
from domain.executions import Status


@dataclass(frozen=True, slots=True)
class Written:
    """An instant as somebody wrote it: to the minute, or to the second."""

    instant: datetime
    precision: timedelta

    def fits(self, instant: datetime | None) -> bool:
        """Say whether an instant lies within what was written: any second of a minute without seconds."""
        return instant is not None and self.instant <= instant < self.instant + self.precision


@dataclass(frozen=True, slots=True)
class ExpectedRun:
    """A run of a rule for an entity; `at` is when it ended."""

    path: Path
    rule: str = ""
    entity: str = ""
    status: Status | None = None
    date: date | None = None
    at: Written | None = None
    late: bool | None = None
    reason_contains: str = ""
    times: int = 1


@dataclass(frozen=True, slots=True)
class ExpectedCalls:
    """How often an operation of a service had an effect, and how often it was called."""

    path: Path
    operation: str
    effects: int | None = None
    attempts: int | None = None


@dataclass(frozen=True, slots=True)
class ExpectedMessage:
    """A message that a provider accepted; `to` is written `member/m1` or `staff`."""

    path: Path
    to: str = ""
    channel: str = ""
    type: str = ""
    at: Written | None = None
    text_contains: str = ""
    times: int = 1


@dataclass(frozen=True, slots=True)
class ExpectedDelivery:
    """A delivery and what became of it."""

    path: Path
    status: str = ""
    reason: str = ""
    to: str = ""
    channel: str = ""
    type: str = ""
    at: Written | None = None
    times: int = 1


@dataclass(frozen=True, slots=True)
class ExpectedDossier:
    """An open dossier: of a service or channel, or of a rule, and how many runs it holds."""

    path: Path
    service: str = ""
    rule: str = ""
    runs: int | None = None
    times: int = 1


@dataclass(frozen=True, slots=True)
class ExpectedDue:
    """What is going to run."""

    path: Path
    entity: str = ""
    rule: str = ""
    at: Written | None = None
    times: int = 1


@dataclass(frozen=True, slots=True)
class Expectations:
    """Everything under one `expect`; None where nothing is said.

    A number stands for how many there are. `no_calls` says that nothing at all may have been called.
    """

    path: Path = ()
    runs: tuple[ExpectedRun, ...] | None = None
    runs_include: tuple[ExpectedRun, ...] = ()
    counts: Mapping[str, int] | None = None
    calls: tuple[ExpectedCalls, ...] = ()
    no_calls: bool = False
    messages: tuple[ExpectedMessage, ...] | int | None = None
    notices: tuple[ExpectedMessage, ...] | int | None = None
    deliveries: tuple[ExpectedDelivery, ...] | Mapping[str, int] | int | None = None
    dossiers: tuple[ExpectedDossier, ...] | int | None = None
    will_run: tuple[ExpectedDue, ...] | None = None
