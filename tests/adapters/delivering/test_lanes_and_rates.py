"""Channels beside each other: held ones, slow ones, and what is urgent beside what is much."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta

from automations.notifications.pace import Rate
from automations.notifications.types import NotificationType, Types
from domain.endings import Done, Misconfigured, TryLater
from tests.adapters.delivering.office import FakeChannel, Office

TYPES = Types({"news": NotificationType(), "campaign": NotificationType(lane="bulk")})


def ask(office: Office, count: int, *, type: str = "news", channel: str = "email", start: int = 0) -> None:
    for number in range(start, start + count):
        office.request(f"{type}/{channel}/{number}", type=type, channels=(channel,))


def sent(office: Office) -> Counter[str]:
    return Counter(message.type for message in office.email.sent)


class TestHeld:
    """A provider that does not take us for who we are, or answers nobody (trial C6)."""

    def test_ten_minutes_of_wrong_credentials_use_up_no_attempts(self, office: Office) -> None:
        office.use_channel("email", FakeChannel(answer=Misconfigured(reason="535 bad password")))
        ask(office, 200)
        office.deliver_for(timedelta(minutes=10))
        in_vain = len(office.email.calls)
        assert in_vain <= 1 + 11, "a held channel was called more than once a minute"
        office.email.answer = Done()
        office.deliver_for(timedelta(minutes=2))
        assert sent(office) == {"news": 200}
        assert {row["reason"] for row in office.rows(channel="email")} == {""}
        opened = [event for event in office.events("dossier.") if event.topic == "dossier.opened"]
        assert len(opened) == 1

    def test_one_channel_that_is_held_keeps_no_other_back(self, office: Office) -> None:
        office.use_channel("email", FakeChannel(answer=Misconfigured(reason="535 bad password")))
        ask(office, 30)
        ask(office, 30, channel="in_app")
        office.settle()
        assert {row["status"] for row in office.rows(channel="in_app", to="member/m1")} == {"sent"}

    def test_a_provider_that_wants_to_be_left_alone_is_called_by_nobody_meanwhile(self, office: Office) -> None:
        office.use_channel("email", FakeChannel(answer=TryLater(reason="429", wait=timedelta(seconds=60))))
        office.request("k/0")
        office.settle()
        office.email.answer = Done()
        office.request("k/1")
        office.deliver_for(timedelta(seconds=59))
        assert len(office.email.calls) == 1
        office.deliver_for(timedelta(seconds=2))
        assert len(office.email.sent) == 2


class TestRates:
    """What a provider allows is shared, and what is urgent goes first (trials I5, I6)."""

    def test_no_more_goes_out_than_is_allowed_whoever_sends(self, office: Office) -> None:
        office.limit("email", Rate(10))
        ask(office, 100)
        others = [office.delivering, office.delivery_worker("other")]
        for worker in others:
            while worker.work_once():
                pass
        assert len(office.email.calls) == 10
        office.clock.advance(timedelta(seconds=1))
        for worker in others:
            while worker.work_once():
                pass
        assert len(office.email.calls) == 20

    def test_a_few_confirmations_overtake_a_campaign_which_still_moves(self, office: Office) -> None:
        office.types = TYPES
        office.limit("email", Rate(10))
        ask(office, 300, type="campaign")
        office.deliver_for(timedelta(seconds=2), step=timedelta(seconds=0.5))
        before = sent(office)
        ask(office, 20)
        office.deliver_for(timedelta(seconds=3), step=timedelta(seconds=0.5))
        after = sent(office)
        assert after["news"] == 20
        assert after["campaign"] > before["campaign"]

    def test_a_channel_that_used_up_its_rate_is_skipped_and_not_waited_for(self, office: Office) -> None:
        office.limit("email", Rate(1))
        ask(office, 5)
        ask(office, 5, channel="in_app")
        office.settle()
        assert {row["status"] for row in office.rows(channel="in_app", to="member/m1")} == {"sent"}
        assert len(office.email.calls) == 1
        assert office.delivering.next_due() == office.clock.now() + timedelta(seconds=1)
