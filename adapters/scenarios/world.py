"""What is there in every scenario without being written: a space, a room, a member, a rule, wordings."""

from __future__ import annotations

from collections.abc import Iterator

from adapters.ready_rules import ready_file
from adapters.wording import packaged_templates, packaged_types
from automations.authoring import AuthoredRule
from automations.notifications.types import NotificationType, Types
from automations.notifications.wordings import Wordings
from automations.scenario import MEMBER, RESOURCE, SPACE, RecordEvent, SaveRule, Scenario
from domain.nouns import NOUN_OF_TYPE

SOURCE = "scenario/world"


def events_before(scenario: Scenario) -> Iterator[RecordEvent]:
    """Return the events that are recorded before a scenario begins, the usual world first."""
    begun = {_entity(event) for event in scenario.given if event.type in _BEGINNINGS}
    yield from (event for event in _usual(scenario.zone) if _entity(event) not in begun)
    yield from scenario.given


def rules_at_first(scenario: Scenario) -> list[AuthoredRule]:
    """Return the rules that a scenario begins with: its own, and the ready one for reminders if it has none."""
    later = (timed.step.authored for timed in scenario.timeline if isinstance(timed.step, SaveRule))
    if any(each.rule.when == "reminder.due" for each in (*scenario.rules, *later)):
        return list(scenario.rules)
    taken = {each.rule.id for each in scenario.rules}
    ready = ready_file("reminders").authored
    return [*scenario.rules, *(each for each in ready if each.rule.id not in taken)]


def types_of(scenario: Scenario) -> Types:
    """Return the notification types of a scenario, beside those that need no definition."""
    own = {name: NotificationType.model_validate(each) for name, each in scenario.notification_types.items()}
    return Types({**packaged_types(), **own})


def wordings_of(scenario: Scenario) -> Wordings:
    """Return the templates of a scenario, beside those that come with Semel."""
    return Wordings({**packaged_templates(), **scenario.templates})


def _usual(zone: str) -> tuple[RecordEvent, ...]:
    space = {"space_id": SPACE, "name": "Mitte", "time_zone": zone, "currency": "EUR", "locale": "de"}
    room = {"resource_id": RESOURCE, "space_id": SPACE, "kind": "meeting_room", "name": "Room 1", "door": "d1"}
    member = {"member_id": MEMBER, "name": "Mia", "email": "mia@example.org", "locale": "de"}
    return (
        RecordEvent("space.opened", "space", space, SOURCE),
        RecordEvent("resource.added", "resource", room, SOURCE),
        RecordEvent("member.registered", "member", member, SOURCE),
    )


def _entity(event: RecordEvent) -> str:
    return NOUN_OF_TYPE[event.type].entity(event.data)


_BEGINNINGS = frozenset({"space.opened", "resource.added", "member.registered"})
