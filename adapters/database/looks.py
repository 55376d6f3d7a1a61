"""Where clock triggers look: at what an index says is due, or at all moments of some entities."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import structlog

from adapters.database.due_moments import Found, Group
from automations.clock_rules import Due
from automations.situation import World
from domain.errors import CorruptEvent
from domain.ids import kind_of
from domain.moment_ranges import Window
from domain.moments import REMINDER_DUE, Moment

LOOKED_BACK = timedelta(days=2)
"""How far back a reminder's calendar is looked at again: its runs give up at the end of their day."""

EVER = datetime.min.replace(tzinfo=UTC)
"""The beginning of a window that leaves out nothing past."""

logger = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Look:
    """One look at moments: up to which instant, and since when they have not been looked at yet."""

    now: datetime
    looked_until: datetime

    @property
    def horizon(self) -> datetime:
        """Return the last instant that matters: ticks may have looked further than the clock shows now."""
        return max(self.now, self.looked_until)

    def is_first(self, instant: datetime) -> bool:
        """Say whether nobody has looked at this instant before."""
        return self.looked_until < instant <= self.now


@dataclass(frozen=True, slots=True)
class InWindow:
    """A page of moments that may be due in a window."""

    found: tuple[Found, ...]
    window: Window

    looked_at: tuple[str, ...] = ()

    @property
    def rolled(self) -> list[str]:
        """Return the reminders whose next moment has to be stored, since this one is looked at now."""
        return list(dict.fromkeys(each.entity for each in self.found if each.group.trigger == REMINDER_DUE))

    def dues(self, world: World, look: Look) -> Iterator[Due]:
        """Return what is due in the window, as the entities are now; of a reminder all that has been due by now.

        The index holds the next moment of a reminder only, so that nothing would lead to those behind it.
        """
        groups: dict[str, dict[Group, None]] = {}
        for each in self.found:
            groups.setdefault(each.entity, {})[each.group] = None
        world.prepare(groups)
        for entity, its_groups in groups.items():
            comes_round = kind_of(entity) == "reminder"
            window = Window(self.window.after, max(self.window.up_to, look.now)) if comes_round else self.window
            for moment in _moments(world, entity, window, {group.trigger for group in its_groups}):
                about = (group for group in its_groups if group.trigger == moment.trigger)
                yield from _due_in(window, moment, about)


@dataclass(frozen=True, slots=True)
class Everything:
    """A page of entities of which every moment in a window is looked at, whatever an index says."""

    entities: tuple[str, ...]
    groups: tuple[Group, ...]
    window: Window

    looked_at: tuple[str, ...] = ()
    rolled: tuple[str, ...] = ()

    def dues(self, world: World, look: Look) -> Iterator[Due]:
        """Return what is due in the window, as the entities are now."""
        return _dues(world, self.entities, self.groups, self.window, self.window)


@dataclass(frozen=True, slots=True)
class Again:
    """A page of entities about which something has changed."""

    looked_at: tuple[str, ...]
    groups: tuple[Group, ...]

    @property
    def rolled(self) -> list[str]:
        """Return the reminders whose next moment has to be stored anew."""
        return [entity for entity in self.looked_at if kind_of(entity) == "reminder"]

    def dues(self, world: World, look: Look) -> Iterator[Due]:
        """Return when each rule is due for these entities, up to what ticks have looked at."""
        calendar = Window(look.now - LOOKED_BACK, look.horizon)
        return _dues(world, self.looked_at, self.groups, Window(EVER, look.horizon), calendar)


Page = InWindow | Everything | Again


def _dues(
    world: World, entities: Sequence[str], groups: Iterable[Group], window: Window, calendar: Window
) -> Iterator[Due]:
    """Yield what is due in a window for entities; of a reminder the `calendar` says which moments to look at."""
    by_trigger: dict[str, list[Group]] = {}
    for group in groups:
        by_trigger.setdefault(group.trigger, []).append(group)
    world.prepare(entities)
    for entity in entities:
        for moment in _moments(world, entity, calendar, by_trigger):
            yield from _due_in(window, moment, by_trigger.get(moment.trigger, ()))


def _moments(world: World, entity: str, window: Window, triggers: Collection[str]) -> Sequence[Moment]:
    try:
        return world.moments(entity, window, triggers)
    except CorruptEvent as error:  # its stream stands still, and has a dossier; others go on
        logger.warning("moments.unreadable", entity=entity, stream=error.stream)
        return ()


def _due_in(window: Window, moment: Moment, groups: Iterable[Group]) -> Iterator[Due]:
    for group in groups:
        if group.is_surely_later(moment.instant, window.up_to) or group.is_surely_past(moment):
            continue
        at = group.due(moment)
        if at in window:
            yield from (Due(rule, moment, at) for rule in group.rules)
