"""Bookings: a member has a resource from one instant to another, or for whole days."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from domain.events import DomainEvent
from domain.fields import Count, DayOrMoment, Fields, Flag, Moment, PersonalText
from domain.ids import Id
from domain.money import Money
from domain.nouns import FactType, Noun, define

BookingStatus = Literal["pending", "confirmed", "cancelled", "no_show"]


class BookingFields(Fields):
    """What is told about a booking. An all-day one gives local dates, both included."""

    booking_id: Id | None = None
    resource_id: Id | None = None
    member_id: Id | None = None
    space_id: Id | None = None
    starts_at: DayOrMoment | None = None
    ends_at: DayOrMoment | None = None
    all_day: Flag | None = None
    status: BookingStatus | None = None
    attendees: Count | None = None
    price: Money | None = None
    series_id: Id | None = None
    first_in_series: Flag | None = None
    reason: PersonalText | None = None
    checked_in_at: Moment | None = None
    checked_out_at: Moment | None = None


BOOKING = define(
    Noun(
        kind="booking",
        fields=BookingFields,
        types={
            "booking.created": FactType(
                needs=("booking_id", "resource_id", "member_id", "starts_at", "ends_at"),
                defaults={"status": "confirmed"},
            ),
            "booking.changed": FactType(needs=("booking_id",)),
            "booking.cancelled": FactType(needs=("booking_id",), sets={"status": "cancelled"}),
            "booking.checked_in": FactType(
                needs=("booking_id",), sets={"status": "confirmed"}, sets_time="checked_in_at"
            ),
            "booking.checked_out": FactType(needs=("booking_id",), sets_time="checked_out_at"),
            "booking.no_show": FactType(needs=("booking_id",), sets={"status": "no_show"}),
        },
    )
)


def faults_of(fields: BookingFields) -> list[tuple[str, str]]:
    """Return what is wrong among a booking's own values: the field, and the fault in words."""
    start, end = fields.starts_at, fields.ends_at
    if start is None or end is None:
        return []
    if isinstance(start, datetime) is not isinstance(end, datetime):
        return [("ends_at", "is a date where starts_at is an instant, or the other way round")]
    if end < start or (end == start and isinstance(end, datetime)):
        return [("ends_at", f"{end} does not lie after starts_at, {start}")]
    return []


class SeriesBegun(DomainEvent):
    """The first booking of a series was recorded; the stream `series/<id>` lets that happen once."""

    TOPIC = "series.begun"

    booking: str
