"""A scenario: rules, facts, a timeline, and what is expected of them (contract 4).

It is read by `scenarios.reading`, played by an adapter, and judged by `scenarios.comparing`. Every instant in
it is UTC; the paths say where in its document a thing stands.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal, get_args

from automations.authoring import AuthoredRule
from automations.mistakes import Path
from automations.scenarios.expectations import Expectations

Fault = Literal["ok", "unavailable", "refused", "misconfigured", "times out", "accepts and times out"]
CrashPoint = Literal["before call", "after call", "before commit"]
StaffAct = Literal["retry", "dismiss", "mark done", "run again"]
CallbackEvent = Literal["bounced", "complained", "delivered"]

FAULTS: tuple[str, ...] = get_args(Fault)
CRASH_POINTS: tuple[str, ...] = get_args(CrashPoint)
STAFF_ACTS: tuple[str, ...] = get_args(StaffAct)
CALLBACK_EVENTS: tuple[str, ...] = get_args(CallbackEvent)

CHANNELS = ("email", "sms", "web_push", "in_app", "webhook")
"""The channels whose provider a scenario can make fail."""

SERVICES = ("billing", "access", "tasks", "memberships", "notifications")
"""The services that a scenario can make fail, beside the channels."""

SPACE = "mitte"
"""The space that exists in every scenario, in the zone of its file."""

RESOURCE = "r1"
"""The meeting room that exists in every scenario."""

MEMBER = "m1"
"""The member who exists in every scenario."""


@dataclass(frozen=True, slots=True)
class RecordEvent:
    """An event arrives. Its time is that of the step, unless it has one of its own."""

    type: str
    id: str
    data: Mapping[str, Any]
    source: str = "scenario"
    time: datetime | None = None


@dataclass(frozen=True, slots=True)
class SwitchEngine:
    """The engine is stopped, as in an outage, or started again; events are recorded all the while."""

    running: bool


@dataclass(frozen=True, slots=True)
class SaveRule:
    """A rule is written or changed."""

    authored: AuthoredRule


@dataclass(frozen=True, slots=True)
class SwitchRule:
    """A rule is enabled or disabled."""

    rule: str
    enabled: bool


@dataclass(frozen=True, slots=True)
class ArchiveRule:
    """A rule is archived."""

    rule: str


@dataclass(frozen=True, slots=True)
class SetFaults:
    """Services and channels begin to fail, or work again."""

    faults: Mapping[str, Fault]


@dataclass(frozen=True, slots=True)
class ArmCrash:
    """The next time the engine gets to this point it dies, and is started again."""

    point: CrashPoint


@dataclass(frozen=True, slots=True)
class SetClock:
    """Somebody sets the clock, without any time passing; what follows happens on the new clock."""

    to: datetime


@dataclass(frozen=True, slots=True)
class Sweep:
    """A window is looked at again by brute force."""

    start: datetime
    end: datetime


@dataclass(frozen=True, slots=True)
class ActOnRuns:
    """Staff act on failed or unknown runs: those of a rule, of an entity, or of both; empty texts mean any."""

    act: StaffAct
    rule: str = ""
    entity: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class SetPreference:
    """A member wants a type of notification on a channel, or does not; an empty text means every one."""

    member: str
    type: str
    channel: str
    enabled: bool


@dataclass(frozen=True, slots=True)
class CallBack:
    """A provider reports what became of the message with this number, counted from 1 in order of sending."""

    channel: str
    message: int
    event: CallbackEvent


@dataclass(frozen=True, slots=True)
class Check:
    """What is expected at that instant."""

    expect: Expectations


Step = (
    RecordEvent
    | SwitchEngine
    | SaveRule
    | SwitchRule
    | ArchiveRule
    | SetFaults
    | ArmCrash
    | SetClock
    | Sweep
    | ActOnRuns
    | SetPreference
    | CallBack
    | Check
)
"""Anything that can happen in a timeline."""


@dataclass(frozen=True, slots=True)
class Timed:
    """A step, when it happens on the clock of that moment, and where it stands in the document."""

    at: datetime
    step: Step
    path: Path


@dataclass(frozen=True, slots=True)
class Scenario:
    """One scenario, checked.

    It lasts from `start` to `end`, both included, with a tick at `start` and at each `tick` after it. `zone`
    is the IANA name of the zone of bare local times. `notification_types` and `templates` are plain data, the
    latter by `<type>/<channel>.<locale>`.
    """

    name: str
    zone: str
    start: datetime
    end: datetime
    tick: timedelta
    rules: tuple[AuthoredRule, ...] = ()
    notification_types: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    templates: Mapping[str, str] = field(default_factory=dict)
    given: tuple[RecordEvent, ...] = ()
    timeline: tuple[Timed, ...] = ()
    expect: Expectations = field(default_factory=Expectations)
