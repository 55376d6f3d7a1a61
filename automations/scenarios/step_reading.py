"""The steps of a timeline, read from a scenario file: one small function for each kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import cast

from automations.mistakes import Path
from automations.scenario import (
    CALLBACK_EVENTS,
    CHANNELS,
    CRASH_POINTS,
    FAULTS,
    SERVICES,
    STAFF_ACTS,
    ActOnRuns,
    ArmCrash,
    CallBack,
    CallbackEvent,
    Check,
    CrashPoint,
    Fault,
    SetClock,
    SetFaults,
    SetPreference,
    StaffAct,
    Step,
    Sweep,
    SwitchEngine,
    Timed,
)
from automations.scenarios.event_reading import MODIFIERS, EventReader, is_event, unknown_name
from automations.scenarios.expectation_reading import read_entity, read_expectations
from automations.scenarios.parts import Part, Reading
from automations.scenarios.rule_reading import RuleReader


@dataclass(frozen=True, slots=True)
class StepReader:
    """Reads the steps of one document, between two instants."""

    reading: Reading
    rules: RuleReader
    events: EventReader
    start: datetime
    end: datetime

    def read(self, data: object, path: Path) -> Iterator[Timed]:
        """Return the steps in the order written; an item that holds several is taken key by key."""
        now = self.start
        for item, place in self.reading.items(data, path, "a timeline is a list of steps"):
            part = self.reading.part(item, place, "a step is a mapping with at and what happens then")
            if part is None:
                continue
            now = self._at(part, now)
            names = [name for name in part.data if name != "at" and name not in MODIFIERS]
            _check_modifiers(part, names)
            for name in names:
                step = self._step(part, name)
                if step is not None:
                    yield Timed(now, step, (*place, name))
                if isinstance(step, SetClock):
                    now = step.to

    def _at(self, part: Part, now: datetime) -> datetime:
        """Return when a step happens; what is wrong about that counts as right after the step before."""
        if "at" not in part.data:
            part.missing("at", "'at' is missing: when does this happen?")
            return now
        at = part.instant("at")
        if at is None:
            return now
        if at < now:
            first = now == self.start
            part.mistake("at", f"this lies before {'the beginning' if first else 'the step above it'}")
            return now
        if at > self.end:
            part.mistake("at", "this never happens: the scenario has ended by then")
        return at

    def _step(self, part: Part, name: str) -> Step | None:
        path, data = (*part.path, name), part.data[name]
        match name:
            case "expect":
                return Check(read_expectations(data, path, self.reading))
            case "rule":
                return self.rules.change(data, path)
            case _ if name in _READERS:
                return _READERS[name](part)
            case _ if is_event(name):
                return self.events.read(name, data, part)
        unknown_name(part, name, STEPS)
        return None


def _check_modifiers(part: Part, names: list[str]) -> None:
    events = [name for name in names if is_event(name)]
    if not names:
        part.reading.mistakes.add(part.path, "nothing happens in this step")
    for modifier in MODIFIERS:
        if modifier in part.data and len(events) != 1 and names:
            part.key_mistake(modifier, f"{modifier} goes with one event in the same step")


def _engine(name: str, *, running: bool) -> Callable[[Part], Step | None]:
    def read(part: Part) -> Step | None:
        return SwitchEngine(running) if part.one_of(name, ("engine",), required=True) else None

    return read


def _service(part: Part) -> Step | None:
    inside = _inside(part, "service", "service says how services answer: {billing: unavailable}")
    if inside is None:
        return None
    known = tuple(dict.fromkeys((*SERVICES, *CHANNELS)))
    inside.only(known)
    faults = {name: inside.one_of(name, FAULTS, required=True) for name in inside.data if name in known}
    return SetFaults({name: cast(Fault, fault) for name, fault in faults.items() if fault})


def _crash(part: Part) -> Step | None:
    point = part.one_of("crash", CRASH_POINTS, required=True)
    return ArmCrash(cast(CrashPoint, point)) if point else None


def _clock(part: Part) -> Step | None:
    to = part.instant("clock")
    if part.given("clock") is None:
        part.missing("clock", "clock: <time> says which time the clock shows from now on")
    return None if to is None else SetClock(to)


def _sweep(part: Part) -> Step | None:
    inside = _inside(part, "sweep", "a sweep has a window: {from: …, to: …}")
    if inside is None:
        return None
    inside.only(("from", "to"))
    start, end = _window(inside)
    return None if start is None or end is None else Sweep(start, end)


def _window(part: Part) -> tuple[datetime | None, datetime | None]:
    """Return two instants in order."""
    for name in ("from", "to"):
        if part.given(name) is None:
            part.missing(name)
    start, end = part.instant("from"), part.instant("to")
    if start is not None and end is not None and end < start:
        part.mistake("to", "to lies before from")
    return start, end


def _staff(part: Part) -> Step | None:
    inside = _inside(part, "staff", f"staff act on runs: {{{STAFF_ACTS[0]}: {{rule: …, entity: …}}, reason: …}}")
    if inside is None:
        return None
    inside.only((*STAFF_ACTS, "reason"))
    acts = [name for name in inside.data if name in STAFF_ACTS]
    if len(acts) != 1:
        inside.reading.mistakes.add(inside.path, f"staff do one of these in a step: {', '.join(STAFF_ACTS)}")
        return None
    about = _inside(inside, acts[0], f"{acts[0]} says what for: {{rule: …, entity: …}}")
    if about is None:
        return None
    about.only(("rule", "entity"))
    rule, entity = about.rule(), read_entity(about)
    if not about.data:
        about.reading.mistakes.add(about.path, f"{acts[0]} needs a rule, an entity, or both")
    return ActOnRuns(cast(StaffAct, acts[0]), rule, entity, inside.words("reason"))


def _preference(part: Part) -> Step | None:
    inside = _inside(part, "preference", "a preference is {member: …, type: …, channel: …, enabled: …}")
    if inside is None:
        return None
    inside.only(("member", "type", "channel", "enabled"))
    if "enabled" not in inside.data:
        inside.missing("enabled")
    return SetPreference(
        inside.text("member", required=True).removeprefix("member/"),
        inside.text("type"),
        inside.one_of("channel", CHANNELS),
        inside.flag("enabled", default=True),
    )


def _callback(part: Part) -> Step | None:
    inside = _inside(part, "callback", "a callback is {channel: …, of: <number>, event: …}")
    if inside is None:
        return None
    inside.only(("channel", "of", "event"))
    channel = inside.one_of("channel", CHANNELS, required=True)
    event = inside.one_of("event", CALLBACK_EVENTS, required=True)
    number = inside.count("of", least=1)
    if "of" not in inside.data:
        inside.missing("of", "'of' is missing: the number of the message, from 1")
    if not (channel and event and number):
        return None
    return CallBack(channel, number, cast(CallbackEvent, event))


def _inside(part: Part, name: str, what: str) -> Part | None:
    return part.reading.part(part.data[name], (*part.path, name), what)


_READERS: dict[str, Callable[[Part], Step | None]] = {
    "stop": _engine("stop", running=False),
    "start": _engine("start", running=True),
    "service": _service,
    "crash": _crash,
    "clock": _clock,
    "sweep": _sweep,
    "staff": _staff,
    "preference": _preference,
    "callback": _callback,
}

STEPS = (*_READERS, "rule", "expect")
"""Every step that is not an event."""
