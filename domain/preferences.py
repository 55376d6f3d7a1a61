"""Preferences: what a member wants to be told on which channel, and in which hours not at all.

A member's preferences are one stream. Each is about a type and a channel; an empty text stands for all of them,
and the more exact one counts. What is unset falls to the default of the type.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal, NamedTuple

from domain.errors import InvalidInput
from domain.events import DomainEvent
from domain.ids import entity
from domain.notifications import is_type_name
from domain.spaces import QuietHours
from domain.text_values import shown

How = Literal["preference", "unsubscribed"]
"""Whether somebody chose among settings, or followed the way out of a message."""


class Subject(NamedTuple):
    """What a preference is about: a type and a channel, each empty where all of them are meant."""

    type: str = ""
    channel: str = ""

    def covers(self, other: Subject) -> bool:
        """Say whether everything that the other is about is meant here as well."""
        return self.type in ("", other.type) and self.channel in ("", other.channel)


class PreferenceEvent(DomainEvent):
    """Something that a member prefers has changed; `by` is who changed it."""

    by: str = ""


class PreferenceSet(PreferenceEvent):
    """A member wants a type on a channel, or does not want it."""

    TOPIC = "preference.set"

    type: str = ""
    channel: str = ""
    enabled: bool
    how: How = "preference"


class PreferenceCleared(PreferenceEvent):
    """A member has no preference any more about a type on a channel."""

    TOPIC = "preference.cleared"

    type: str = ""
    channel: str = ""


class QuietHoursSet(PreferenceEvent):
    """A member has quiet hours of their own in place of those of the space; None means that they want none."""

    TOPIC = "preference.quiet-hours-set"

    hours: QuietHours | None


class QuietHoursCleared(PreferenceEvent):
    """A member keeps to the quiet hours of the space again."""

    TOPIC = "preference.quiet-hours-cleared"


@dataclass(frozen=True, slots=True)
class Choice:
    """What a member has chosen about one subject, how, and when."""

    enabled: bool
    how: How
    at: datetime


@dataclass(frozen=True, slots=True)
class Preferences:
    """Everything that one member prefers; `own_hours` says whether quiet hours were chosen at all."""

    stream: str
    version: int = 0
    choices: Mapping[Subject, Choice] = field(default_factory=dict)
    own_hours: bool = False
    quiet_hours: QuietHours | None = None

    def about(self, type_name: str, channel: str) -> Choice | None:
        """Return the choice that counts for a type on a channel, or None where nothing was chosen.

        The exact one comes first, that for everything last. Between one for the whole type and one for the whole
        channel a no counts.
        """
        exact, whole = self.choices.get(Subject(type_name, channel)), self.choices.get(Subject())
        halves = (self.choices.get(Subject(type_name)), self.choices.get(Subject("", channel)))
        between = sorted((each for each in halves if each is not None), key=lambda choice: choice.enabled)
        return exact or next(iter(between), None) or whole

    def after(self, event: DomainEvent) -> Preferences:
        """Return the preferences after one more event."""
        match event:
            case PreferenceSet():
                choice = Choice(event.enabled, event.how, event.at)
                return self._with({**self.choices, Subject(event.type, event.channel): choice}, event)
            case PreferenceCleared():
                cleared = Subject(event.type, event.channel)
                return self._with({each: it for each, it in self.choices.items() if each != cleared}, event)
            case QuietHoursSet():
                return replace(self, version=event.version, own_hours=True, quiet_hours=event.hours)
            case QuietHoursCleared():
                return replace(self, version=event.version, own_hours=False, quiet_hours=None)
        raise TypeError(f"{event.topic} is no event about preferences")

    def _with(self, choices: Mapping[Subject, Choice], event: DomainEvent) -> Preferences:
        return replace(self, version=event.version, choices=choices)


def preferences_stream(member: str) -> str:
    """Return the stream of what the member with this id prefers."""
    return entity("preference", member)


def preferences_of(stream: str, events: Iterable[DomainEvent]) -> Preferences:
    """Return what the events of a member's stream fold to."""
    found = Preferences(stream)
    for event in events:
        found = found.after(event)
    return found


def chosen(
    before: Preferences, subject: Subject, *, enabled: bool, at: datetime, by: str = "", how: How = "preference"
) -> list[PreferenceEvent]:
    """Decide on a choice; none follows where it stands already.

    A no for a whole type or channel puts an end to every narrower yes. Raises InvalidInput for what is no type.
    """
    _check(subject)
    narrower = _narrower_yes(before, subject) if not enabled else ()
    events: list[dict[str, Any]] = [{"kind": PreferenceCleared, **each._asdict()} for each in narrower]
    known = before.choices.get(subject)
    # Who leaves by way of a message has left, also where a setting had said so before.
    if known is None or known.enabled != enabled or (known.how, how) == ("preference", "unsubscribed"):
        events.append({"kind": PreferenceSet, **subject._asdict(), "enabled": enabled, "how": how})
    return _numbered(before, events, at, by)


def unsubscribed(
    before: Preferences, subject: Subject, *, at: datetime, by: str = "unsubscribe"
) -> list[PreferenceEvent]:
    """Decide on the way out that a message offers: of its type, on its channel or on all."""
    return chosen(before, subject, enabled=False, at=at, by=by, how="unsubscribed")


def cleared(before: Preferences, subject: Subject, *, at: datetime, by: str = "") -> list[PreferenceEvent]:
    """Decide that nothing is preferred about a subject any more; none follows where nothing was."""
    _check(subject)
    events = [{"kind": PreferenceCleared, **subject._asdict()}] if subject in before.choices else []
    return _numbered(before, events, at, by)


def with_quiet_hours(
    before: Preferences, hours: QuietHours | None, *, at: datetime, by: str = ""
) -> list[PreferenceEvent]:
    """Decide on a member's own quiet hours, or on none in spite of the space's."""
    same = before.own_hours and before.quiet_hours == hours
    return _numbered(before, [] if same else [{"kind": QuietHoursSet, "hours": hours}], at, by)


def without_quiet_hours(before: Preferences, *, at: datetime, by: str = "") -> list[PreferenceEvent]:
    """Decide that a member keeps to the space's quiet hours."""
    return _numbered(before, [{"kind": QuietHoursCleared}] if before.own_hours else [], at, by)


def _narrower_yes(before: Preferences, subject: Subject) -> Iterator[Subject]:
    for each, choice in before.choices.items():
        if each != subject and subject.covers(each) and choice.enabled:
            yield each


def _numbered(before: Preferences, events: list[dict[str, Any]], at: datetime, by: str) -> list[PreferenceEvent]:
    return [
        values.pop("kind")(stream=before.stream, version=version, at=at, by=by, **values)
        for version, values in enumerate(events, start=before.version + 1)
    ]


def _check(subject: Subject) -> None:
    if subject.type and not is_type_name(subject.type):
        allowed = "a type has a name of a-z, 0-9, dots, dashes and underscores"
        raise InvalidInput(f"{shown(subject.type)} is no type: {allowed}")
