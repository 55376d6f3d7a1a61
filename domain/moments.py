"""Moments: the dated instants of entities that clock triggers look at.

A moment belongs to one clock trigger. Bookings have theirs while they are confirmed, invoices while something
is outstanding, subscriptions while they are not cancelled (contract 2). Reminders have a calendar instead.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time
from zoneinfo import ZoneInfo

from domain.booking_times import day_of_booking, instant_of_booking
from domain.civil_time import end_of_date, start_of_date, wall_of, zone
from domain.facts import Entity
from domain.invoices import outstanding
from domain.offsets import Offset
from domain.places import Find, corrected_at, space_of, zone_of
from domain.reminder_calendar import occurrences
from domain.reminder_plans import LATEST

KINDS = ("booking", "invoice", "subscription", "reminder")
"""The kinds of entities that have moments."""

REMINDER_DUE = "reminder.due"
"""The trigger of reminders, which have a calendar of moments rather than a few."""

OF_STATES = frozenset(
    {
        *("booking.starting", "booking.ending", "booking.ended"),
        *("invoice.due", "invoice.overdue", "subscription.expiring", "subscription.ended"),
    }
)
"""The triggers of moments that follow from the state of an entity."""


@dataclass(frozen=True, slots=True)
class Moment:
    """One instant of an entity, as one clock trigger looks at it.

    `anchor` is what offsets count from: an instant, or a local date. `instant` is where the anchor stands on
    the clock: an instant itself, a date by its first instant or its end. `day` is the event date. `known_at`
    is the instant of recording since which the moment has been known as it is now, `space` the stream of the
    entity's space. `occasion` is what is acted once for, where the event date alone does not say it, and
    `told_wall` the wall time that the anchor was recorded with.
    """

    entity: str
    trigger: str
    anchor: date | datetime
    instant: datetime
    day: date
    zone: str
    known_at: datetime
    space: str = ""
    occasion: str = ""
    told_wall: datetime | None = None

    @property
    def identity(self) -> datetime:
        """Return the wall time that names the moment: when its zone is corrected, it stays the same one."""
        return self.told_wall or self.wall

    @property
    def wall(self) -> datetime:
        """Return the wall time of the anchor in the moment's zone; a date stands at its midnight."""
        if isinstance(self.anchor, datetime):
            return wall_of(self.anchor, self.place)
        return datetime.combine(self.anchor, time())

    @property
    def place(self) -> ZoneInfo:
        """Return the moment's zone."""
        return zone(self.zone)

    def due(self, before: Offset | None, after: Offset | None) -> datetime:
        """Return when a rule with this offset is due; without one, at the instant itself."""
        if before is not None:
            return before.before(self.anchor, self.place)
        if after is not None:
            return after.after(self.anchor, self.place)
        return self.instant


def moments_of(entity: Entity, find: Find, default_zone: str, triggers: Collection[str] = OF_STATES) -> list[Moment]:
    """Return the moments that an entity has by its state, for these clock triggers."""
    moments = _MOMENTS.get(entity.noun.kind)
    return [] if moments is None else list(moments(_Place.of(entity, find, zone(default_zone), triggers)))


def reminder_moments(
    reminder: Entity, find: Find, default_zone: str, after: datetime, up_to: datetime
) -> Iterator[Moment]:
    """Yield the moments of a reminder after an instant, up to and including another, in order."""
    place = zone(zone_of(reminder, find) or default_zone)
    space = space_of(reminder, find)
    for due in occurrences(reminder, place, after, up_to):
        yield Moment(
            reminder.stream,
            REMINDER_DUE,
            due.instant,
            due.instant,
            due.date,
            place.key,
            due.known_at,
            space.stream if space is not None and space.known else "",
            due.occasion,
        )


def next_reminder_moment(reminder: Entity, find: Find, default_zone: str, after: datetime) -> Moment | None:
    """Return the first moment of a reminder after an instant, or None where none is left."""
    return next(reminder_moments(reminder, find, default_zone, after, LATEST), None)


@dataclass(frozen=True, slots=True)
class _Place:
    """An entity in its space and zone; `default` is the zone of the operator, `corrected_at` when its own was.

    `triggers` are those that somebody asks for.
    """

    entity: Entity
    space: Entity | None
    zone: ZoneInfo
    default: ZoneInfo
    corrected_at: datetime | None
    triggers: Collection[str]

    @classmethod
    def of(cls, entity: Entity, find: Find, default: ZoneInfo, triggers: Collection[str]) -> _Place:
        """Return where an entity is."""
        space = space_of(entity, find)
        named = space.get("time_zone") if space is not None else None
        return cls(entity, space, default if named is None else zone(named), default, corrected_at(space), triggers)

    def moment(
        self,
        trigger: str,
        anchor: date,
        instant: datetime,
        day: date,
        fields: Iterable[str],
        told: datetime | None = None,
    ) -> Moment:
        """Return a moment that has been what it is since these fields have had their values."""
        space = self.space.stream if self.space is not None and self.space.known else ""
        known_at = self._known_at(instant, fields)
        return Moment(self.entity.stream, trigger, anchor, instant, day, self.zone.key, known_at, space, "", told)

    def _known_at(self, instant: datetime, fields: Iterable[str]) -> datetime:
        since = self.entity.since
        known_at = max(since[name] for name in fields if name in since)
        # A corrected zone moves what lies ahead, and leaves alone what has passed.
        is_moved = self.corrected_at is not None and known_at < self.corrected_at < instant
        return self.corrected_at if is_moved and self.corrected_at is not None else known_at


def _of_booking(place: _Place) -> Iterator[Moment]:
    booking = place.entity
    if booking.get("status") != "confirmed":
        return
    yield from _of_span(place, ("booking.starting",), "starts_at")
    ended = booking.get("checked_out_at")
    if ended is None:
        yield from _of_span(place, ("booking.ending", "booking.ended"), "ends_at")
    elif "booking.ended" in place.triggers:
        day = day_of_booking(booking, "ends_at", place.default) or wall_of(ended, place.zone).date()
        yield place.moment("booking.ended", ended, ended, day, ("checked_out_at", "status"))


def _of_span(place: _Place, triggers: Collection[str], name: str) -> Iterator[Moment]:
    """Yield the moments of one end of a booking, if it is known."""
    wanted = [trigger for trigger in triggers if trigger in place.triggers]
    instant = instant_of_booking(place.entity, name, place.zone, place.corrected_at) if wanted else None
    day = day_of_booking(place.entity, name, place.default)
    if instant is not None and day is not None:
        told = place.entity.walls.get(name)
        yield from (place.moment(trigger, instant, instant, day, (name, "status"), told) for trigger in wanted)


def _of_invoice(place: _Place) -> Iterator[Moment]:
    invoice = place.entity
    due_on, left = invoice.get("due_on"), outstanding(invoice.get("total"), invoice.part_values())
    if due_on is not None and left is not None and left.amount > 0 and invoice.get("status") != "voided":
        yield from _of_date(place, due_on, "invoice.due", "invoice.overdue", "due_on")


def _of_subscription(place: _Place) -> Iterator[Moment]:
    subscription = place.entity
    ends_on = subscription.get("ends_on")
    if ends_on is not None and subscription.get("status") != "cancelled":
        yield from _of_date(place, ends_on, "subscription.expiring", "subscription.ended", "ends_on")


def _of_date(place: _Place, day: date, ahead: str, behind: str, field: str) -> Iterator[Moment]:
    """Yield the two moments of a date: its first instant for `before`, its end for `after`."""
    fields = (field, "status")
    if ahead in place.triggers:
        yield place.moment(ahead, day, start_of_date(day, place.zone), day, fields)
    if behind in place.triggers:
        yield place.moment(behind, day, end_of_date(day, place.zone), day, fields)


_MOMENTS: Mapping[str, Callable[[_Place], Iterator[Moment]]] = {
    "booking": _of_booking,
    "invoice": _of_invoice,
    "subscription": _of_subscription,
}
