"""Messages that nobody reports on: they are asked about, given up after three days, and silence is told (D12, M5)."""

from __future__ import annotations

from datetime import timedelta

import pytest
from pydantic import SecretStr

from adapters.callbacks.generic import Generic
from adapters.callbacks.receiving import CallbackDoor
from adapters.database.reconciling import Reconciler
from automations.notifications.callbacks import Receipt
from domain.endings import Done, TryLater
from domain.notifications import DeliveryRequested
from tests.adapters.delivering.office import FakeChannel, Office

HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)
SECRET = "the secret of these tests"


class AskedChannel(FakeChannel):
    """A channel whose provider can be asked what became of a message."""

    def __init__(self, became: Receipt | TryLater | None = None) -> None:
        super().__init__(answer=Done(result={"provider_message_id": "p1"}))
        self.became = became
        self.asked: list[str] = []

    def look_up(self, provider_message_id: str) -> Receipt | TryLater | None:
        self.asked.append(provider_message_id)
        return self.became


@pytest.fixture
def silent(office: Office) -> Office:
    """An office whose mails are reported on, and nothing arrives."""
    office.callbacks = {"generic": Generic(secret=SecretStr(SECRET))}
    office.use_channel("email", AskedChannel())
    return office


def reconcile(office: Office, reported: str = "email") -> Reconciler:
    """Let another process look after what was sent, which knows nothing of the ones before."""
    found = Reconciler(office.app.log, office.clock, office.channels, frozenset({reported}))
    found.reconcile()
    office.settle()
    return found


def later(office: Office, span: timedelta) -> None:
    office.clock.set(office.clock.now() + span)
    reconcile(office)


def send(office: Office, count: int = 1, first: int = 0) -> None:
    for number in range(first, first + count):
        office.request(f"k/{number}")
    office.settle()


def states(office: Office) -> list[str]:
    return [row["status"] for row in office.rows(channel="email") if row["type"] == "news"]


def channel(office: Office) -> AskedChannel:
    found = office.channels["email"]
    assert isinstance(found, AskedChannel)
    return found


def notices(office: Office) -> int:
    found = office.events("delivery.requested")
    return sum(isinstance(each, DeliveryRequested) and each.type == "semel.callbacks-silent" for each in found)


def test_d12_what_was_reported_while_nobody_listened_is_asked_for(silent: Office) -> None:
    send(silent, 20)
    channel(silent).became = Receipt("bounced", bounce="hard", detail="5.1.1")
    later(silent, 59 * MINUTE)
    assert channel(silent).asked == []
    later(silent, MINUTE)
    assert states(silent) == ["bounced"] * 20
    assert len(channel(silent).asked) == 20
    assert len(silent.events("suppression.added")) == 1


def test_d12_a_provider_that_knows_nothing_is_asked_four_times_and_the_rest_is_no_receipt(silent: Office) -> None:
    send(silent)
    for _ in range(80):
        later(silent, HOUR)
    assert len(channel(silent).asked) == 4
    assert states(silent) == ["no_receipt"]
    [event] = silent.events("delivery.no-receipt")
    [sent] = [each for each in silent.events("delivery.sent") if each.stream == event.stream]
    assert timedelta(hours=72) <= event.at - sent.at <= timedelta(hours=73)


def test_a_provider_that_cannot_be_asked_now_is_asked_again(silent: Office) -> None:
    send(silent)
    channel(silent).became = TryLater(reason="503")
    later(silent, HOUR)
    later(silent, 4 * MINUTE)
    assert len(channel(silent).asked) == 1
    channel(silent).became = Receipt("delivered")
    later(silent, MINUTE)
    assert states(silent) == ["delivered"]


def test_a_provider_that_hangs_keeps_nobody_waiting_for_each_message(silent: Office) -> None:
    send(silent, 3)
    channel(silent).became = TryLater(reason="no answer came in time")
    silent.clock.set(silent.clock.now() + HOUR)
    process = reconcile(silent)
    process.reconcile()
    assert len(channel(silent).asked) == 1


def test_m5_after_any_time_away_all_older_ones_are_found_page_by_page(silent: Office) -> None:
    send(silent, 130)
    silent.clock.set(silent.clock.now() + timedelta(days=40))
    silent.start_anew()
    reconcile(silent)
    assert states(silent) == ["no_receipt"] * 130


def test_a_report_that_comes_after_all_still_counts(silent: Office) -> None:
    send(silent)
    later(silent, timedelta(days=4))
    assert states(silent) == ["no_receipt"]
    report(silent, "delivered")
    assert states(silent) == ["delivered"]


def test_channels_that_nobody_reports_on_are_left_alone(silent: Office) -> None:
    send(silent)
    silent.clock.set(silent.clock.now() + timedelta(days=10))
    reconcile(silent, "sms")
    assert states(silent) == ["sent"]


def test_d12_staff_are_told_once_for_each_silence(silent: Office) -> None:
    send(silent, 5)
    later(silent, 119 * MINUTE)
    assert notices(silent) == 0
    for _ in range(3):
        later(silent, MINUTE)
    assert notices(silent) == 1
    report(silent, "delivered")
    later(silent, MINUTE)
    send(silent, 5, first=10)
    later(silent, 3 * HOUR)
    assert notices(silent) == 2


def test_a_few_messages_without_a_report_are_no_silence(silent: Office) -> None:
    send(silent, 4)
    later(silent, 5 * HOUR)
    assert notices(silent) == 0


def test_two_processes_ask_and_give_up_without_harm(silent: Office) -> None:
    send(silent, 3)
    channel(silent).became = Receipt("delivered")
    silent.clock.set(silent.clock.now() + HOUR)
    for _ in range(2):
        Reconciler(silent.app.log, silent.clock, silent.channels, frozenset({"email"})).reconcile()
    silent.settle()
    assert states(silent) == ["delivered"] * 3


def report(office: Office, kind: str) -> None:
    door = CallbackDoor(office.app.log, office.callbacks)
    body = f'{{"id": "1", "type": "{kind}", "message_id": "p1"}}'.encode()
    answer = door.receive("generic", {"Authorization": f"Bearer {SECRET}"}, body, "", office.clock.now())
    assert answer.status == 200
    office.settle()
