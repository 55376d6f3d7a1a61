"""What people want is looked at right before each call: whatever they said until then counts (delivery trials F)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from adapters.database.engine import reading
from adapters.database.preferences import PreferenceDesk
from adapters.database.projecting import Projector
from adapters.database.readers import projections
from adapters.database.suppressing import SuppressionDesk
from automations.notifications.channels import Channel
from automations.notifications.types import NotificationType, Types
from domain.deliveries import DeliveryHeld, DeliverySending
from domain.endings import Done, TryLater
from domain.errors import InvalidInput
from domain.preferences import Subject
from domain.spaces import QuietHours
from domain.suppressions import Scope
from projections.preferences import opted_out
from projections.suppressions import standing
from tests.adapters.delivering.office import FakeChannel, Office
from tests.domain.reminder_story import at

NEWS = Subject("news", "email")
MANY, LEAVER, LEAVES_AT = 30, 20, 9
ALL_DAY = QuietHours(start="00:00", end="23:00")


@pytest.fixture
def preferences(office: Office) -> PreferenceDesk:
    return PreferenceDesk(office.app.log, office.clock)


@pytest.fixture
def suppressions(office: Office) -> SuppressionDesk:
    return SuppressionDesk(office.app.log, office.clock, office.app.salt)


def use_types(office: Office, **types: NotificationType) -> None:
    office.types = Types(types)
    office.start_anew()


def outcomes(office: Office) -> list[tuple[str, str, str]]:
    return [(row["channel"], row["status"], row["reason"]) for row in office.rows()]


def test_f2_who_leaves_while_a_campaign_runs_gets_nothing_any_more(office: Office, preferences: PreferenceDesk) -> None:
    email = FakeChannel(honours_keys=False)
    office.use_channel("email", email)
    for number in range(MANY):
        office.tell("member.registered", member_id=f"n{number}", name="N", email=f"n{number}@example.org")
        office.request(f"k{number}/0", to=f"member/n{number}")
    told: list[str] = []

    def leave() -> None:
        if len(email.calls) == LEAVES_AT:
            waiting = {f"member/n{number}" for number in range(MANY)} - {each.to for each in email.sent}
            told.append(min(waiting))
            preferences.unsubscribe(told[0].removeprefix("member/"), NEWS)

    email.after = leave
    office.settle()
    rows = {row["to"]: (row["status"], row["reason"]) for row in office.rows()}
    assert rows.pop(told[0]) == ("skipped", "unsubscribed")
    assert set(rows.values()) == {("sent", "")}
    assert len(email.calls) == MANY - 1


def test_f2_who_leaves_while_a_message_waits_for_another_attempt(office: Office, preferences: PreferenceDesk) -> None:
    office.email.answer = TryLater(reason="busy")
    office.request()
    office.settle()
    preferences.unsubscribe("m1", NEWS)
    office.email.answer = Done()
    office.deliver_for(timedelta(minutes=2))
    assert outcomes(office) == [("email", "skipped", "unsubscribed")]
    assert len(office.email.calls) == 1


def test_f3_what_waits_is_with_us_and_with_no_provider(office: Office, preferences: PreferenceDesk) -> None:
    preferences.set_quiet_hours("m1", ALL_DAY)
    office.request()
    office.settle()
    assert office.statuses() == {"held": 1}
    assert office.email.calls == []


def test_f6_a_suppressed_address_is_a_row_that_says_so(office: Office, suppressions: SuppressionDesk) -> None:
    suppressions.suppress("email", "MIA@example.org", "hard_bounce", source="e1", detail="5.1.1")
    assert office.request()
    office.settle()
    assert outcomes(office) == [("email", "skipped", "suppressed: hard bounce (5.1.1)")]
    assert office.email.calls == []


def test_d11_what_waits_for_a_number_that_opted_out_is_skipped(office: Office, suppressions: SuppressionDesk) -> None:
    sms = FakeChannel(answer=TryLater(reason="busy"))
    office.use_channel("sms", sms)
    office.tell("member.changed", member_id="m1", phone="+34600111222")
    office.request(channels=("sms",))
    office.settle()
    suppressions.suppress("sms", "+34600111222", "opt_out", scope=Scope(sender="+34900"), source="21610")
    office.deliver_for(timedelta(minutes=1))
    assert outcomes(office) == [("sms", "skipped", "suppressed: opt out")]


def test_f5_a_stop_to_one_number_is_no_stop_to_another(office: Office, suppressions: SuppressionDesk) -> None:
    office.tell("member.changed", member_id="m1", phone="+34600111222")
    sms = FakeChannel()
    sms.sent_from = "+34911"  # type: ignore[attr-defined]
    office.use_channel("sms", sms)
    suppressions.suppress("sms", "+34600111222", "opt_out", scope=Scope(sender="+34900"))
    office.request("k/0", channels=("sms",))
    office.settle()
    suppressions.suppress("sms", "+34600111222", "opt_out", scope=Scope(sender="+34911"))
    office.request("k/1", channels=("sms",))
    office.settle()
    assert [status for _, status, _ in outcomes(office)] == ["sent", "skipped"]


def test_d5_the_same_bounce_many_times_is_one_suppression_that_can_be_lifted(
    office: Office, suppressions: SuppressionDesk
) -> None:
    for _ in range(46):
        suppressions.suppress("email", "mia@example.org", "hard_bounce", source="e1", member="m1")
    assert len(office.events("suppression.")) == 1
    office.worker.work_until_idle()
    with reading(office.app.engine) as connection:
        [row] = standing(connection, office.clock.now())
    assert (row["member"], row["expires_at"] - row["since"]) == ("m1", timedelta(days=30))
    suppressions.lift(row["suppression"], reason="a new mailbox", by="ines")
    office.worker.work_until_idle()
    with reading(office.app.engine) as connection:
        assert standing(connection, office.clock.now()) == []
    with pytest.raises(InvalidInput, match="stands"):
        suppressions.lift(row["suppression"], reason="again")
    office.request()
    office.settle()
    assert office.statuses() == {"sent": 1}


def test_a_proof_of_life_lets_messages_through_again(office: Office, suppressions: SuppressionDesk) -> None:
    suppressions.suppress("email", "mia@example.org", "hard_bounce", source="e1")
    suppressions.proof_of_life("email", "mia@example.org")
    office.request()
    office.settle()
    assert office.statuses() == {"sent": 1}


class TestHeld:
    """What waits for the end of quiet hours."""

    def test_it_goes_out_at_the_first_instant_after(self, office: Office, preferences: PreferenceDesk) -> None:
        preferences.set_quiet_hours("m1", ALL_DAY)
        office.request()
        office.settle()
        [held] = [event for event in office.events() if isinstance(event, DeliveryHeld)]
        [row] = office.rows()
        assert (held.hours, held.hours_of, held.zone_of) == (ALL_DAY, "recipient", "operator")
        assert (row["status"], row["next_attempt_at"]) == ("held", held.until)
        office.deliver_for(held.until - office.clock.now() - timedelta(microseconds=1))
        assert office.statuses() == {"held": 1}
        office.deliver_for(timedelta(microseconds=1))
        assert [event.topic for event in office.events("delivery.")][1:] == [
            "delivery.pending",
            "delivery.held",
            "delivery.released",
            "delivery.sending",
            "delivery.sent",
        ]

    def test_other_quiet_hours_are_looked_at_at_once(self, office: Office, preferences: PreferenceDesk) -> None:
        preferences.set_quiet_hours("m1", ALL_DAY)
        office.request()
        office.settle()
        assert office.statuses() == {"held": 1}
        preferences.set_quiet_hours("m1", QuietHours(start="00:00", end="12:00"))
        office.settle()
        assert office.statuses() == {"held": 1}
        preferences.clear_quiet_hours("m1")
        office.settle()
        assert office.statuses() == {"sent": 1}

    @pytest.mark.parametrize(
        ("fact_type", "change"),
        [
            ("space.changed", {"space_id": "mitte", "quiet_hours": None}),
            ("space.changed", {"space_id": "mitte", "time_zone": "America/New_York"}),
            ("member.changed", {"member_id": "m1", "time_zone": "America/New_York"}),
        ],
    )
    def test_so_are_other_hours_of_a_space_and_another_zone(
        self, office: Office, fact_type: str, change: dict[str, Any]
    ) -> None:
        office.save_rule(id="hello", name="Hello", when="booking.created", do=[{"notify": {"type": "news"}}])
        office.tell("resource.added", resource_id="r1", space_id="mitte", kind="desk", name="R1")
        office.tell("space.changed", space_id="mitte", quiet_hours={"start": "22:00", "end": "08:00"})
        office.clock.set(at("2026-08-08 23:00"))
        times = {"starts_at": at("2026-08-10 10:00").isoformat(), "ends_at": at("2026-08-10 11:00").isoformat()}
        office.tell("booking.created", booking_id="b1", resource_id="r1", member_id="m1", **times)
        office.settle()
        assert office.statuses() == {"held": 1}
        office.tell(fact_type, **change)
        office.settle()
        assert office.statuses() == {"sent": 1}

    def test_what_is_urgent_says_that_it_was_let_through(self, office: Office, preferences: PreferenceDesk) -> None:
        use_types(office, news=NotificationType(urgency="urgent"))
        office.request("k/0")
        office.settle()
        preferences.set_quiet_hours("m1", ALL_DAY)
        office.request("k/1")
        office.settle()
        overrides = [event.override for event in office.events() if isinstance(event, DeliverySending)]
        assert overrides == ["", "urgent"]

    def test_wording_that_does_not_come_out_fails_it_after_its_release(
        self, office: Office, preferences: PreferenceDesk
    ) -> None:
        office.use_templates({"news/email.en": "{{ member.company }}"})
        preferences.set_quiet_hours("m1", ALL_DAY)
        office.request()
        office.deliver_for(timedelta(days=1) - timedelta(minutes=1))
        assert [status for _, status, _ in outcomes(office)] == ["failed"]


def test_tables_are_the_same_after_a_rebuild(
    office: Office, preferences: PreferenceDesk, suppressions: SuppressionDesk
) -> None:
    office.tell("member.registered", member_id="m2", name="Max", email="max@example.org")
    preferences.choose("m1", NEWS, enabled=True)
    preferences.choose("m1", Subject("news"), enabled=False)
    preferences.unsubscribe("m2", NEWS)
    suppressions.suppress("email", "a@example.org", "complaint", source="e1")
    suppressions.suppress("email", "b@example.org", "hard_bounce", source="e2")
    suppressions.proof_of_life("email", "b@example.org")
    preferences.set_quiet_hours("m1", ALL_DAY)
    office.request()
    office.settle()
    before = _seen(office)
    assert before[1] == {("news", ""): 1, ("news", "email"): 1}
    assert len(before[2]) == 1
    Projector(office.app.log, projections("Europe/Madrid")).empty()
    assert _seen(office) == before


def _seen(office: Office) -> tuple[object, dict[tuple[str, str], int], list[object]]:
    rows = office.rows()
    with reading(office.app.engine) as connection:
        return rows, opted_out(connection), list(standing(connection, office.clock.now()))


@pytest.mark.parametrize("moment", ["held", "retrying", "sending"])
def test_g1_what_was_cancelled_meanwhile_is_not_sent(office: Office, preferences: PreferenceDesk, moment: str) -> None:
    office.tell("resource.added", resource_id="r1", space_id="mitte", kind="meeting_room", name="R1")
    times = {"starts_at": "2026-08-08T10:00:00+02:00", "ends_at": "2026-08-08T11:00:00+02:00"}
    office.tell("booking.created", booking_id="b1", resource_id="r1", member_id="m1", **times)
    office.save_rule(id="soon", when="booking.starting", before="2 hours", do=[{"notify": {"type": "news"}}])

    def cancel() -> None:
        office.email.before = lambda: None
        office.tell("booking.cancelled", booking_id="b1")

    if moment == "held":
        preferences.set_quiet_hours("m1", QuietHours(start="07:00", end="09:00"))
    if moment == "sending":
        office.email.before = cancel
    office.email.answer = TryLater(reason="busy")
    office.until("2026-08-08 08:00")
    calls = len(office.email.calls)
    if moment != "sending":
        cancel()
    office.email.answer = Done()
    office.until("2026-08-08 12:00")
    [(_, status, reason)] = outcomes(office)
    assert (status, "cancelled" in reason) == ("cancelled", True)
    assert len(office.email.calls) == calls == (0 if moment == "held" else 1)


def test_g2_a_channel_is_asked_to_send_and_never_to_wait_or_to_cancel() -> None:
    offered = {name for name in vars(Channel) if not name.startswith("_")}
    assert offered == {"honours_keys", "send"}
