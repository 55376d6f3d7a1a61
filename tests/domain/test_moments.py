"""Which moments entities have, when they are, and what names them."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from tests.domain.places import LONG_AGO, Place

LATER = datetime(2026, 2, 1, tzinfo=UTC)
STARTING, ENDING, ENDED = "booking.starting", "booking.ending", "booking.ended"


def booked(**more: Any) -> Place:
    place = Place()
    place.book("2026-05-12 10:00", "2026-05-12 12:00", **more)
    return place


def test_a_confirmed_booking_starts_ends_and_has_ended() -> None:
    place = booked()
    moments = place.moments()
    assert {trigger: moment.instant for trigger, moment in moments.items()} == {
        STARTING: place.local("2026-05-12 10:00"),
        ENDING: place.local("2026-05-12 12:00"),
        ENDED: place.local("2026-05-12 12:00"),
    }
    assert {moment.day for moment in moments.values()} == {date(2026, 5, 12)}
    assert {(moment.zone, moment.space, moment.known_at) for moment in moments.values()} == {
        ("Europe/Berlin", "space/s", LONG_AGO)
    }


def test_a_pending_booking_has_no_moments_until_it_is_confirmed() -> None:
    place = booked(status="pending")
    assert place.moments() == {}
    place.tell("booking.changed", {"booking_id": "b", "status": "confirmed"}, LATER)
    assert {moment.known_at for moment in place.moments().values()} == {LATER}


@pytest.mark.parametrize("event", ["booking.cancelled", "booking.no_show"])
def test_a_booking_that_will_not_be_has_no_moments(event: str) -> None:
    place = booked()
    place.tell(event, {"booking_id": "b"}, LATER)
    assert place.moments() == {}


def test_a_booking_that_was_left_has_ended_then_and_is_not_about_to_end() -> None:
    place = booked()
    place.tell("booking.checked_out", {"booking_id": "b"}, place.local("2026-05-12 11:10"))
    moments = place.moments()
    assert moments.keys() == {STARTING, ENDED}
    assert moments[ENDED].instant == moments[ENDED].known_at == place.local("2026-05-12 11:10")


def test_a_check_out_after_midnight_keeps_the_date_of_the_end() -> None:
    place = Place()
    place.book("2026-05-12 20:00", "2026-05-12 23:00")
    place.tell("booking.checked_out", {"booking_id": "b"}, place.local("2026-05-13 00:20"))
    assert place.moments()[ENDED].day == date(2026, 5, 12)


def test_an_all_day_booking_lasts_from_its_first_instant_to_the_end_of_its_last_day() -> None:
    place = Place()
    place.book("2026-10-24", "2026-10-25", all_day=True)
    moments = place.moments()
    assert moments[STARTING].instant == datetime(2026, 10, 23, 22, tzinfo=UTC)
    assert moments[ENDED].instant == datetime(2026, 10, 25, 23, tzinfo=UTC)  # that day has 25 hours
    assert (moments[STARTING].day, moments[ENDED].day) == (date(2026, 10, 24), date(2026, 10, 25))


def test_an_invoice_has_moments_while_something_is_outstanding() -> None:
    place = Place()
    place.bill(date(2026, 4, 1))
    moments = place.moments("invoice/i")
    assert moments["invoice.due"].instant == datetime(2026, 3, 31, 22, tzinfo=UTC)
    assert moments["invoice.overdue"].instant == datetime(2026, 4, 1, 22, tzinfo=UTC)
    assert {moment.day for moment in moments.values()} == {date(2026, 4, 1)}
    paid = {"payment_id": "p1", "invoice_id": "i", "amount": "60 EUR"}
    place.tell("payment.received", paid, LATER)
    assert len(place.moments("invoice/i")) == 2
    place.tell("payment.received", {**paid, "payment_id": "p2", "amount": "40 EUR"}, LATER)
    assert place.moments("invoice/i") == {}


def test_a_voided_invoice_and_one_without_a_total_have_no_moments() -> None:
    place = Place()
    place.tell("invoice.changed", {"invoice_id": "i", "due_on": "2026-04-01"})
    assert place.moments("invoice/i") == {}
    place.bill(date(2026, 4, 1))
    place.tell("invoice.voided", {"invoice_id": "i"}, LATER)
    assert place.moments("invoice/i") == {}


def test_a_late_fee_moves_nothing() -> None:
    place = Place()
    place.bill(date(2026, 4, 1))
    place.tell("invoice.changed", {"invoice_id": "i", "total": "110 EUR"}, LATER)
    assert {moment.known_at for moment in place.moments("invoice/i").values()} == {LONG_AGO}
    place.tell("invoice.changed", {"invoice_id": "i", "due_on": "2026-04-02"}, LATER)
    assert {moment.known_at for moment in place.moments("invoice/i").values()} == {LATER}


def test_a_subscription_has_moments_at_its_last_day_until_it_is_cancelled() -> None:
    place = Place("America/Los_Angeles")
    started = {"subscription_id": "u", "space_id": "s", "member_id": "m", "plan": "flex", "starts_on": "2026-01-01"}
    place.tell("subscription.started", {**started, "ends_on": "2026-06-30"})
    moments = place.moments("subscription/u")
    assert moments["subscription.expiring"].instant == place.local("2026-06-30 00:00")
    assert moments["subscription.ended"].instant == place.local("2026-07-01 00:00")
    place.tell("subscription.renewed", {"subscription_id": "u", "ends_on": "2027-06-30"}, LATER)
    assert place.moments("subscription/u")["subscription.expiring"].day == date(2027, 6, 30)
    place.tell("subscription.cancelled", {"subscription_id": "u"}, LATER)
    assert place.moments("subscription/u") == {}


# --- zones ---


def correct(place: Place, zone_name: str, at: datetime) -> None:
    place.tell("space.changed", {"space_id": "s", "time_zone": zone_name}, at)


def test_a_corrected_zone_moves_what_lies_ahead_and_names_it_as_before() -> None:
    place = booked()
    before = place.moments()[STARTING]
    correct(place, "Europe/Lisbon", LATER)
    after = place.moments()[STARTING]
    assert after.instant == before.instant + timedelta(hours=1)  # 10:00 it stays, but on the clock of Lisbon
    assert (after.day, after.identity) == (before.day, before.identity)
    assert (after.known_at, after.zone) == (LATER, "Europe/Lisbon")


def test_what_had_begun_when_the_zone_was_corrected_stays_where_it_was() -> None:
    place = booked()
    before = place.moments()
    correct(place, "Europe/Lisbon", place.local("2026-05-12 10:30"))
    after = place.moments()
    assert after[STARTING].instant == before[STARTING].instant
    assert after[STARTING].known_at == LONG_AGO
    assert after[STARTING].identity == before[STARTING].identity
    assert after[ENDED].instant == before[ENDED].instant + timedelta(hours=1)


def test_a_booking_stays_in_its_corrected_zone_once_its_old_start_has_passed() -> None:
    """What decides is the instant of the correction, and not whoever looks later, between the old start and the new."""
    place = booked()
    correct(place, "America/New_York", LATER)
    assert place.moments()[STARTING].instant == datetime(2026, 5, 12, 14, tzinfo=UTC)


def test_an_event_date_does_not_change_with_the_zone() -> None:
    place = Place("Europe/Berlin")
    place.book("2026-05-12 23:30", "2026-05-13 00:30")
    for zone_name in ("Asia/Tokyo", "America/Los_Angeles"):
        correct(place, zone_name, LATER)
        moments = place.moments()
        assert (moments[STARTING].day, moments[ENDED].day) == (date(2026, 5, 12), date(2026, 5, 13))


def test_where_no_zone_is_known_the_default_makes_the_date_for_good() -> None:
    place = Place(None)
    place.book("2026-05-12 23:30", "2026-05-13 00:30")  # in the operator's default zone, UTC
    assert place.moments()[STARTING].day == date(2026, 5, 12)
    opened = {"space_id": "s", "name": "S", "time_zone": "Asia/Tokyo", "currency": "EUR"}
    place.tell("space.opened", opened, LATER)
    moment = place.moments()[STARTING]
    assert (moment.day, moment.zone) == (date(2026, 5, 12), "Asia/Tokyo")
    assert moment.instant == datetime(2026, 5, 12, 23, 30, tzinfo=UTC)


def test_a_booking_moved_within_its_day_has_another_name_and_the_same_date() -> None:
    place = booked()
    before = place.moments()[STARTING]
    moved = {"starts_at": "2026-05-12T15:00:00+02:00", "ends_at": "2026-05-12T17:00:00+02:00"}
    place.tell("booking.changed", {"booking_id": "b", **moved}, LATER)
    after = place.moments()[STARTING]
    assert after.day == before.day
    assert after.identity == before.identity + timedelta(hours=5)


def test_without_an_offset_a_moment_is_due_at_its_instant() -> None:
    moment = booked().moments()[STARTING]
    assert moment.due(None, None) == moment.instant
