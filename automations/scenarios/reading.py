"""A scenario read from plain data: everything that is wrong with it is told at once, each with its place.

The data are mappings, lists, texts, numbers and yes or no, as one document of a YAML file gives them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from pydantic import ValidationError

from automations.mistakes import Mistakes, mistakes_in
from automations.notifications.types import NotificationType
from automations.scenario import CHANNELS, RecordEvent, Scenario
from automations.scenarios.event_reading import MODIFIERS, EventReader, is_event, unknown_name
from automations.scenarios.expectation_reading import read_expectations
from automations.scenarios.expectations import Expectations
from automations.scenarios.parts import Part, Reading
from automations.scenarios.rule_reading import RuleReader, RulesAt
from automations.scenarios.step_reading import StepReader
from domain.civil_time import zone
from domain.notifications import is_type_name
from domain.text_values import shown

KEYS = (
    "scenario",
    "zone",
    "from",
    "to",
    "tick",
    "rules",
    "notification_types",
    "templates",
    "given",
    "timeline",
    "expect",
)
"""Everything that a scenario can have."""

TICK = timedelta(minutes=1)
"""The time between two ticks, where a scenario does not say."""

MOST_TICKS = 1_000_000
"""In one scenario: two years of a tick every minute."""

TYPE_KEYS = (
    "channels",
    "first_of",
    "lane",
    "urgency",
    "mandatory",
    "useful_for",
    "useful_until",
    "on_unknown",
    "opt_in",
)
"""Everything that can be settled for a notification type."""

_LONGEST_NAME = 300


def read_scenario(data: object, rules_at: RulesAt) -> Scenario:
    """Return one scenario, or raise InvalidInput with every mistake in it.

    `rules_at` reads the file of rules that `rules` may name instead of listing them.
    """
    reading = Reading(_zone(data), Mistakes())
    part = reading.part(data, (), f"a scenario is a mapping with {', '.join(KEYS)}")
    scenario = None if part is None else _read(part, rules_at)
    reading.mistakes.raise_if_any()
    assert scenario is not None
    return scenario


def _read(part: Part, rules_at: RulesAt) -> Scenario:
    reading = part.reading
    part.only(KEYS)
    name = part.text("scenario", required=True, longest=_LONGEST_NAME)
    zone_name = _zone_name(part)
    start, end = _span(part)
    tick = part.duration("tick") or TICK
    if start > _FIRST and end < _LAST and (end - start) / tick > MOST_TICKS:
        part.mistake("tick" if "tick" in part.data else "to", f"these are more than {MOST_TICKS:,} ticks")
    rules, events = RuleReader(reading, rules_at), EventReader(reading)
    scenario = Scenario(
        name,
        zone_name,
        start,
        end,
        tick,
        rules=rules.read(part.given("rules"), ("rules",)),
        notification_types=_types(part),
        templates=_templates(part),
        given=tuple(_given(part, events)),
        timeline=tuple(StepReader(reading, rules, events, start, end).read(part.given("timeline"), ("timeline",))),
        expect=_expect(part),
    )
    rules.check_names()
    return scenario


def _zone(data: object) -> ZoneInfo:
    """Return the zone of local times, for now; one that does not exist is complained about later."""
    named = data.get("zone") if isinstance(data, dict) else None
    try:
        return zone(named) if isinstance(named, str) else zone("UTC")
    except ValueError:
        return zone("UTC")


def _zone_name(part: Part) -> str:
    name = part.text("zone", required=True)
    try:
        return zone(name).key if name else "UTC"
    except ValueError as error:
        part.mistake("zone", str(error))
        return "UTC"


def _span(part: Part) -> tuple[datetime, datetime]:
    """Return when the scenario begins and ends; without these, all of time."""
    for name in ("from", "to"):
        if part.given(name) is None:
            part.missing(name)
    start, end = part.instant("from") or _FIRST, part.instant("to") or _LAST
    if end < start:
        part.mistake("to", "to lies before from")
    return start, max(start, end)


def _given(part: Part, events: EventReader) -> Iterator[RecordEvent]:
    for item, path in part.reading.items(part.given("given"), ("given",), "given is a list of events"):
        line = part.reading.part(item, path, "what is given is written <event type>: {its data}")
        if line is None:
            continue
        names = [name for name in line.data if name not in MODIFIERS]
        if not names:
            line.reading.mistakes.add(path, "there is no event in this")
        for name in names:
            if is_event(name):
                event = events.read(name, line.data[name], line)
                yield from () if event is None else (event,)
            else:
                unknown_name(line, name, ())


def _types(part: Part) -> dict[str, Mapping[str, Any]]:
    types = _mapping(part, "notification_types", "notification types are a mapping from names to what each is like")
    read: dict[str, Mapping[str, Any]] = {}
    for name in types.data if types else ():
        assert types is not None
        if not is_type_name(name):
            wrong = "is not a name: it has only a-z, 0-9, dots, dashes and underscores"
            types.key_mistake(name, f"{shown(name)} {wrong}")
        path = (*types.path, name)
        inside = types.reading.part(types.data[name] or {}, path, "a notification type is a mapping")
        if inside is not None:
            inside.only(TYPE_KEYS)
            read[name] = inside.data
            _check_type(inside)
    return read


def _check_type(part: Part) -> None:
    known = {name: value for name, value in part.data.items() if name in TYPE_KEYS}
    try:
        NotificationType.model_validate(known)
    except ValidationError as error:
        part.reading.mistakes.extend(mistakes_in(error, NotificationType, known), part.path)


def _templates(part: Part) -> dict[str, str]:
    templates = _mapping(part, "templates", "templates are a mapping from <type>/<channel>.<locale> to their text")
    read: dict[str, str] = {}
    for name in templates.data if templates else ():
        assert templates is not None
        text = templates.data[name]
        if not _names_a_template(name):
            templates.key_mistake(name, f"{shown(name)} is not <type>/<channel>.<locale>, like reminder/email.de")
        if not isinstance(text, str):
            templates.mistake(name, f"a template is text, and not {shown(text)}")
        else:
            read[name] = text
    return read


def _names_a_template(name: str) -> bool:
    type_name, _, rest = name.rpartition("/")
    channel, _, locale = rest.partition(".")
    return is_type_name(type_name) and channel in CHANNELS and bool(locale)


def _mapping(part: Part, name: str, what: str) -> Part | None:
    found = part.given(name)
    return None if found is None else part.reading.part(found, (name,), what)


def _expect(part: Part) -> Expectations:
    if "expect" in part.data:
        return read_expectations(part.data["expect"], ("expect",), part.reading)
    timeline = part.given("timeline")
    steps = timeline if isinstance(timeline, list) else ()
    if not any(isinstance(step, dict) and "expect" in step for step in steps):
        part.missing("expect", "'expect' is missing: without it the scenario proves nothing")
    return Expectations()


_FIRST = datetime(1, 1, 2, tzinfo=UTC)
_LAST = datetime(9999, 12, 30, tzinfo=UTC)
