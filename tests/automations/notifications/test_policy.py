"""What is asked before a message goes out: in which order, and what each answer leads to."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any

import pytest

from automations.notifications.decisions import Halt, Hold, spread_by_id, steps_of, without_spread
from automations.notifications.policy import Case, decided
from domain.deliveries import Delivery, DeliveryHeld, DeliveryPending, delivery_stream
from domain.ids import id_of
from domain.preferences import Preferences, Subject, chosen, preferences_stream, unsubscribed, with_quiet_hours
from domain.spaces import QuietHours
from domain.suppressions import Scope, Suppressions, suppressed, suppressions_of
from tests.automations.worlds import Ledger, book, scene

NIGHT = datetime(2026, 5, 4, 21, 0, tzinfo=UTC)  # 23:00 in Berlin
DAY = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)
MORNING = datetime(2026, 5, 5, 6, 0, tzinfo=UTC)
QUIET = {"start": "22:00", "end": "08:00"}
NOBODY = Preferences(preferences_stream("m1"))


def office(**space: Any) -> Ledger:
    """Return a world with a member who can be reached, and a booking at a space."""
    ledger = scene()
    ledger.tell("member.changed", member_id="m1", email="mia@example.org", at=DAY - timedelta(days=1))
    ledger.tell("space.changed", space_id="mitte", quiet_hours=QUIET, at=DAY - timedelta(days=1), **space)
    book(ledger)
    return ledger


def delivery(**changes: Any) -> Delivery:
    asked = DeliveryPending.model_validate(
        {
            "stream": delivery_stream("n1", "email", "member/m1"),
            "version": 1,
            "at": DAY,
            "notification": "n1",
            "producer": "tests",
            "type": "news",
            "to": "member/m1",
            "channel": "email",
            "address": "member/m1",
            "entity": "booking/b1",
            "requested_at": DAY,
            "expires_at": DAY + timedelta(days=2),
            **changes,
        }
    )
    return Delivery(id_of(asked.stream), 1, asked, asked.at)


def case(
    at: datetime = DAY,
    *,
    ledger: Ledger | None = None,
    wishes: Preferences = NOBODY,
    against: Suppressions | None = None,
    **changes: Any,
) -> Case:
    world = (ledger or office()).world
    return Case(
        delivery(**changes), at, world, preferences=wishes, suppressions=lambda address: against or _none(address)
    )


def _none(address: str) -> Suppressions:
    assert address
    return Suppressions(address)


def wanting(*choices: tuple[str, str, bool]) -> Preferences:
    found = NOBODY
    for type_name, channel, enabled in choices:
        for event in chosen(found, Subject(type_name, channel), enabled=enabled, at=DAY):
            found = found.after(event)
    return found


def blocked(why: Any, scope: Scope | None = None) -> Suppressions:
    return suppressions_of(
        "suppression/x", suppressed(Suppressions("suppression/x"), "email", why, at=DAY, scope=scope)
    )


@pytest.mark.parametrize(
    ("choice", "opt_in", "mandatory"),
    [each for each in product([True, False, None], [True, False], [True, False]) if not (each[1] and each[2])],
)
@pytest.mark.parametrize("subject", [("news", "email"), ("news", ""), ("", "email"), ("", "")])
def test_f1_type_by_channel_by_default_by_mandatory(
    choice: bool | None, opt_in: bool, mandatory: bool, subject: tuple[str, str]
) -> None:
    wishes = NOBODY if choice is None else wanting((*subject, choice))
    found = decided(case(wishes=wishes, opt_in=opt_in, mandatory=mandatory))
    if mandatory or choice is True or (choice is None and not opt_in):
        assert found is None
    else:
        assert found == Halt("skipped", "preference" if choice is False else "not asked for")


def test_f2_who_followed_the_way_out_of_a_message_is_told_apart() -> None:
    [event] = unsubscribed(NOBODY, Subject("news", "email"), at=DAY)
    assert decided(case(wishes=NOBODY.after(event))) == Halt("skipped", "unsubscribed")


class TestSuppressedAddresses:
    """Nothing overrides what is against an address; scope decides what that is about."""

    @pytest.mark.parametrize("changes", [{}, {"urgent": True}, {"mandatory": True}])
    def test_nothing_overrides_a_suppression(self, changes: dict[str, Any]) -> None:
        assert decided(case(against=blocked("complaint"), **changes)) == Halt("skipped", "suppressed: complaint")

    def test_f5_it_is_about_its_scope_alone(self) -> None:
        assert decided(case(against=blocked("opt_out", Scope(type="offers")))) is None
        assert decided(case(against=blocked("opt_out", Scope(type="news")))) == Halt("skipped", "suppressed: opt out")

    def test_an_address_that_is_dead_is_as_good_as_none(self) -> None:
        found = decided(case(against=blocked("hard_bounce")))
        assert found == Halt("skipped", "suppressed: hard bounce", unreachable=True)


class TestOrder:
    """The first answer counts."""

    def test_what_does_not_stand_any_more_comes_first(self) -> None:
        ledger = office()
        ledger.tell("member.erased", member_id="m1")
        found = decided(case(ledger=ledger, wishes=wanting(("", "", False))))
        assert found == Halt("cancelled", "member erased")

    def test_a_channel_that_there_is_not_comes_before_what_people_want(self) -> None:
        refused = wanting(("", "", False))
        without = Case(delivery(), DAY, office().world, preferences=refused, channels=())
        assert decided(without) == Halt("skipped", "there is no channel email", unreachable=True)

    def test_what_people_want_comes_before_their_address_and_that_before_the_night(self) -> None:
        quiet: dict[str, Any] = {"at": NIGHT, "against": blocked("complaint")}
        assert decided(case(**quiet, wishes=wanting(("", "", False)))) == Halt("skipped", "preference")
        assert decided(case(**quiet)) == Halt("skipped", "suppressed: complaint")
        no_address = decided(case(**quiet, channel="sms"))
        assert no_address == Halt("skipped", "no address for sms", unreachable=True)

    def test_the_night_comes_before_expiry(self) -> None:
        found = decided(case(NIGHT, expires_at=MORNING))
        assert isinstance(found, Halt)
        assert (found.state, found.reason.partition(" until")[0]) == ("expired", "of no use after quiet hours")
        assert isinstance(decided(case(NIGHT, expires_at=MORNING + timedelta(microseconds=1))), Hold)


class TestQuietHours:
    """Whose they are, on whose clocks, and who is let through."""

    def test_those_of_the_space_on_its_clocks(self) -> None:
        found = decided(case(NIGHT))
        assert isinstance(found, Hold)
        assert (found.quiet_until, found.hours_of, found.zone_of, found.zone.key) == (
            MORNING,
            "space",
            "space",
            "Europe/Berlin",
        )

    def test_those_of_the_member_come_first_and_so_do_their_clocks(self) -> None:
        ledger = office()
        ledger.tell("member.changed", member_id="m1", time_zone="America/New_York")
        [event] = with_quiet_hours(NOBODY, QuietHours(start="16:00", end="18:00"), at=DAY)
        found = decided(case(NIGHT, ledger=ledger, wishes=NOBODY.after(event)))
        assert isinstance(found, Hold)
        assert (found.quiet_until, found.hours_of, found.zone_of) == (
            datetime(2026, 5, 4, 22, 0, tzinfo=UTC),
            "recipient",
            "recipient",
        )

    def test_none_in_spite_of_the_spaces(self) -> None:
        [event] = with_quiet_hours(NOBODY, None, at=DAY)
        assert decided(case(NIGHT, wishes=NOBODY.after(event))) is None

    def test_e5_the_operators_clocks_where_nobody_elses_are_known(self) -> None:
        [event] = with_quiet_hours(NOBODY, QuietHours(start="22:00", end="08:00"), at=DAY)
        found = decided(case(NIGHT, wishes=NOBODY.after(event), entity=""))
        assert isinstance(found, Hold)
        assert found.zone_of == "operator"

    def test_urgency_of_the_type_lets_through_and_in_the_app_there_is_no_night(self) -> None:
        assert decided(case(NIGHT, urgent=True)) is None
        assert decided(case(NIGHT, channel="in_app")) is None
        assert isinstance(decided(case(NIGHT, mandatory=True)), Hold)

    def test_the_decision_is_kept_with_the_delivery(self) -> None:
        decision = decided(case(NIGHT))
        assert decision is not None
        [held] = steps_of(decision, delivery(), NIGHT, without_spread)
        assert isinstance(held, DeliveryHeld)
        kept = held.model_dump(include={"until", "quiet_until", "hours_of", "zone", "zone_of"})
        assert kept == {
            "until": MORNING,
            "quiet_until": MORNING,
            "hours_of": "space",
            "zone": "Europe/Berlin",
            "zone_of": "space",
        }

    def test_what_is_held_once_more_is_released_before(self) -> None:
        decision = decided(case(NIGHT))
        assert decision is not None
        held = delivery().after(steps_of(decision, delivery(), NIGHT, without_spread)[0])
        again = steps_of(decision, held, NIGHT, without_spread)
        assert [step.topic for step in again] == ["delivery.released", "delivery.held"]
        assert held.after(again[0]).after(again[1]).again_at == MORNING


class TestSpread:
    """Not everything of one night goes out in the same second."""

    def test_bulk_is_spread_over_five_minutes_and_the_same_each_time(self) -> None:
        parts = [spread_by_id(delivery(lane="bulk", stream=f"delivery/{number}")) for number in range(200)]
        assert parts == [spread_by_id(delivery(lane="bulk", stream=f"delivery/{number}")) for number in range(200)]
        assert timedelta() <= min(parts) < timedelta(seconds=30)
        assert timedelta(seconds=270) < max(parts) <= timedelta(minutes=5)

    def test_what_is_transactional_waits_for_nothing(self) -> None:
        assert spread_by_id(delivery()) == timedelta()

    def test_nothing_is_spread_beyond_its_use(self) -> None:
        decision = decided(case(NIGHT, expires_at=MORNING + timedelta(minutes=1)))
        assert decision is not None
        [held] = steps_of(decision, delivery(), NIGHT, lambda delivery: timedelta(minutes=4))
        assert isinstance(held, DeliveryHeld)
        assert held.until == MORNING


class TestUse:
    """Until when a message is of use (trials H): half-open, and as the fact says now."""

    @pytest.mark.parametrize(("late", "sent"), [(-1, True), (0, False)])
    def test_h_exactly_at_its_expiry_it_is_expired_and_a_millisecond_before_it_is_sent(
        self, late: int, sent: bool
    ) -> None:
        at = DAY + timedelta(hours=1, milliseconds=late)
        assert (decided(case(at, expires_at=DAY + timedelta(hours=1))) is None) is sent

    def test_until_an_instant_or_the_end_of_a_date(self) -> None:
        ledger = office()
        starts = datetime(2026, 5, 12, 8, 0, tzinfo=UTC)
        assert case(ledger=ledger, useful_until="booking.starts_at").expires_at == starts
        end_of_day = datetime(2026, 5, 12, 22, 0, tzinfo=UTC)
        assert case(ledger=ledger, useful_until="booking.date").expires_at == end_of_day

    def test_what_is_not_known_leaves_it_as_it_began(self) -> None:
        assert case(useful_until="invoice.due_on").expires_at == DAY + timedelta(days=2)
        assert case(useful_until="booking.starts_at", entity="").expires_at == DAY + timedelta(days=2)
