"""Reports of providers, from their post to the state of the delivery and what is held against the address."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from itertools import permutations
from typing import Any

import pytest
import sqlalchemy as sa
from pydantic import SecretStr

from adapters.callbacks.generic import Generic
from adapters.callbacks.receiving import CallbackAnswer, CallbackDoor
from adapters.callbacks.twilio import Twilio
from adapters.database import callbacks
from adapters.database.engine import reading
from adapters.database.personal import personal
from adapters.database.suppressing import SuppressionDesk
from automations.notifications.types import NotificationType, Types
from domain.endings import Done, Refused, Unknown
from domain.errors import Conflict
from domain.suppressions import Scope
from projections.suppressions import standing
from tests.adapters.callbacks.test_twilio import signed
from tests.adapters.delivering.office import FakeChannel, Office

SECRET = "the secret of these tests"
DAY = timedelta(days=1)


@pytest.fixture
def desk(office: Office) -> Desk:
    """An office that somebody reports to, with one mail that was sent."""
    office.callbacks = {"generic": Generic(secret=SecretStr(SECRET)), "twilio": Twilio(token=SecretStr(SECRET))}
    office.email.answer = Done(result={"provider_message_id": "p1"})
    office.start_anew()
    return Desk(office)


class Desk:
    """Posts reports to an office, and looks at what came of them."""

    def __init__(self, office: Office) -> None:
        self.office = office
        self.door = CallbackDoor(office.app.log, office.callbacks)

    def post(self, *reports: dict[str, Any]) -> CallbackAnswer:
        """Post reports in one body."""
        body = json.dumps(list(reports)).encode()
        headers = {"Authorization": f"Bearer {SECRET}"}
        return self.door.receive("generic", headers, body, "https://semel.example.org", self.office.clock.now())

    def report(self, kind: str, number: str = "1", **more: Any) -> CallbackAnswer:
        """Post one report about the message `p1`."""
        return self.post({"id": f"{kind} {number}", "type": kind, "message_id": "p1", **more})

    def rows(self) -> list[Any]:
        with reading(self.office.app.engine) as connection:
            return list(connection.execute(sa.select(callbacks.callbacks).order_by(callbacks.callbacks.c.event_id)))

    def states(self) -> list[str]:
        return [row.state for row in self.rows()]

    def texts(self) -> list[tuple[str, str]]:
        query = sa.select(personal.c.member, personal.c.value).where(personal.c.ref.like("callback/%"))
        with reading(self.office.app.engine) as connection:
            return [tuple(row) for row in connection.execute(query)]

    def status(self) -> str:
        return str(self.office.rows(channel="email")[0]["status"])

    def suppressions(self) -> list[tuple[str, str, str]]:
        self.office.worker.work_until_idle()
        with reading(self.office.app.engine) as connection:
            found = standing(connection, self.office.clock.now())
        return [(row["channel"], row["why"], row["sender"]) for row in found]

    def suppress(self) -> SuppressionDesk:
        return SuppressionDesk(self.office.app.log, self.office.clock, self.office.app.salt)


def sent(desk: Desk) -> None:
    desk.office.request()
    desk.office.settle()
    assert desk.status() == "sent"


@pytest.mark.parametrize("order", list(permutations(["delivered", "bounced", "complained"])), ids=" ".join)
def test_d1_any_order_ends_as_complained_and_all_reports_are_kept(desk: Desk, order: tuple[str, ...]) -> None:
    sent(desk)
    for kind in order:
        desk.report(kind)
        desk.office.settle()
    assert desk.status() == "complained"
    assert desk.states() == ["done"] * 3


def test_d1_two_workers_take_the_reports_of_one_message_at_once(desk: Desk) -> None:
    sent(desk)
    for kind in ("sent", "delivered", "bounced", "complained"):
        desk.report(kind)
    workers = [desk.office.delivery_worker(name) for name in ("one", "two")]

    def work(number: int) -> None:
        for _ in range(8):
            try:
                workers[number].work_once()
            except Conflict:  # the other one was faster
                continue

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(work, range(2)))
    desk.office.settle()
    assert (desk.status(), desk.states()) == ("complained", ["done"] * 4)


@pytest.mark.parametrize("delay", [timedelta(0), timedelta(minutes=10), timedelta(days=9)])
def test_d2_a_report_that_comes_before_the_send_is_recorded_waits_for_it(desk: Desk, delay: timedelta) -> None:
    office = desk.office

    def report_before_the_answer() -> None:
        assert desk.report("delivered").status == 200
        other = office.delivery_worker("another")
        other.work_once()
        assert desk.states() == ["unmatched"]
        office.clock.set(office.clock.now() + delay)

    office.email.after = report_before_the_answer
    sent_after(desk)
    assert (desk.status(), desk.states()) == ("delivered", ["done"])


def sent_after(desk: Desk) -> None:
    desk.office.request()
    desk.office.settle()


def test_d2_a_report_of_nobodys_message_waits_and_is_matched_at_any_delay(desk: Desk) -> None:
    assert desk.report("delivered").status == 200
    desk.office.deliver_for(timedelta(days=20))
    assert desk.states() == ["unmatched"]
    with reading(desk.office.app.engine) as connection:
        assert callbacks.unmatched(connection) == 1
    sent_after(desk)
    assert (desk.status(), desk.states()) == ("delivered", ["done"])


def test_d5_forty_six_times_the_same_bounce_in_parallel_is_one(desk: Desk) -> None:
    sent(desk)
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda _: desk.report("bounced", bounce="hard", detail="5.1.1"), range(46)))
    assert [answer.status for answer in answers] == [200] * 46
    assert sum(answer.new for answer in answers) == 1
    desk.office.settle()
    assert len(desk.rows()) == 1
    assert len(desk.office.events("delivery.bounced")) == 1
    assert desk.suppressions() == [("email", "hard_bounce", "")]


def test_a1_duplicate_receipts_are_answered_well_and_change_nothing(desk: Desk) -> None:
    sent(desk)
    desk.report("delivered")
    desk.office.settle()
    answer = desk.report("delivered")
    desk.office.settle()
    assert (answer.status, answer.new, answer.known) == (200, 0, 1)
    desk.report("delivered", "under another id")
    desk.office.settle()
    assert len(desk.office.events("delivery.delivered")) == 1


def test_n2_a_late_report_ends_the_doubt_about_a_message(desk: Desk) -> None:
    desk.office.use_channel("email", FakeChannel(honours_keys=False, answer=Unknown(reason="timed out")))
    desk.office.request()
    desk.office.settle()
    [row] = desk.office.rows(channel="email")
    desk.report("delivered", delivery=row["delivery"])
    desk.office.settle()
    assert desk.status() == "delivered"


def test_n10_one_bad_report_of_a_batch_stops_no_other(desk: Desk) -> None:
    sent(desk)
    good = {"id": "3", "type": "delivered", "message_id": "p1"}
    answer = desk.post({"id": "1", "of": "nothing"}, {"id": "2", "type": "dreamt"}, good)
    assert (answer.status, answer.new) == (200, 3)
    desk.office.settle()
    assert (desk.states(), desk.status()) == (["failed", "done", "done"], "delivered")


def test_n14_each_duplicate_of_a_bounce_counts_once_and_soft_ones_suppress_nothing(desk: Desk) -> None:
    sent(desk)
    for number in "123":
        desk.report("bounced", number, bounce="soft", detail="4.2.2")
    desk.office.settle()
    assert (desk.status(), desk.suppressions()) == ("bounced", [])


def test_c11_a_delay_is_no_bounce(desk: Desk) -> None:
    sent(desk)
    desk.report("delayed", detail="4.4.1")
    desk.office.deliver_for(DAY)
    assert (desk.status(), desk.states(), desk.suppressions()) == ("sent", ["done"], [])
    assert len(desk.office.email.calls) == 1


def test_a_bounce_and_a_complaint_keep_the_next_message_from_the_address(desk: Desk) -> None:
    sent(desk)
    desk.report("bounced", bounce="hard", address="MIA@example.org")
    desk.office.settle()
    desk.office.request("k/1")
    desk.office.settle()
    assert [row["reason"] for row in desk.office.rows(status=["skipped"])] == ["suppressed: hard bounce"]


def test_a_delivery_lifts_older_bounces_and_nothing_else(desk: Desk) -> None:
    office = desk.office
    office.email.before = lambda: (
        desk.suppress().suppress("email", "mia@example.org", "hard_bounce"),
        desk.suppress().suppress("email", "mia@example.org", "complaint"),
    )
    sent(desk)
    desk.report("delivered")
    office.settle()
    assert desk.suppressions() == [("email", "complaint", "")]


def test_the_text_of_a_report_goes_with_the_member(desk: Desk) -> None:
    sent(desk)
    desk.report("delivered", address="mia@example.org")
    [(member, text)] = desk.texts()
    assert (member, "mia@example.org" in text) == ("", True)
    desk.office.settle()
    assert [member for member, _ in desk.texts()] == ["m1"]
    desk.office.tell("member.erased", member_id="m1")
    assert desk.texts() == []
    assert not any("mia@" in str(row) for row in desk.rows())


def test_the_text_of_a_strangers_report_is_forgotten_after_a_month(desk: Desk) -> None:
    desk.report("delivered", address="mia@example.org")
    desk.office.deliver_for(timedelta(days=1))
    with desk.office.app.engine.begin() as connection:
        assert callbacks.forget_strangers(connection, desk.office.clock.now()) == 0
        assert callbacks.forget_strangers(connection, desk.office.clock.now() + timedelta(days=30)) == 1


class TestOptOut:
    """D11: twenty-one thousand six hundred and ten, as an answer and as a report."""

    @pytest.fixture
    def texts(self, desk: Desk) -> Desk:
        desk.office.tell("member.changed", member_id="m1", phone="+34600000001")
        desk.office.use_channel("sms", FakeChannel(answer=Done(result={"provider_message_id": "SM1"})))
        return desk

    def test_d11_a_report_suppresses_the_number_for_its_sender(self, texts: Desk) -> None:
        texts.office.request("k/1", channels=("sms",))
        texts.office.settle()
        fields = {"MessageSid": "SM1", "MessageStatus": "undelivered", "ErrorCode": "21610"}
        post = signed({**fields, "To": "+34600000001", "From": "+34911"}, SECRET)
        assert texts.door.receive("twilio", post.headers, post.body, post.url, texts.office.clock.now()).new == 1
        texts.office.request("k/2", channels=("sms",))
        texts.office.settle()
        assert texts.suppressions() == [("sms", "opt_out", "+34911")]
        texts.office.request("k/3", channels=("sms",))
        texts.office.settle()
        assert texts.office.rows(channel="sms", status=["skipped"])[-1]["reason"] == "suppressed: opt out (21610)"

    def test_d11_an_answer_suppresses_it_too_and_what_waits_is_skipped(self, texts: Desk) -> None:
        refusing = FakeChannel(answer=Refused(reason="code 21610", error_class="opted_out"))
        texts.office.use_channel("sms", refusing)
        for number in range(3):
            texts.office.request(f"k/{number}", channels=("sms",))
        texts.office.settle()
        statuses = sorted(row["status"] for row in texts.office.rows(channel="sms"))
        assert statuses.count("failed") >= 1
        texts.office.request("k/9", channels=("sms",))
        texts.office.settle()
        assert texts.office.rows(channel="sms")[-1]["status"] == "skipped"
        assert texts.suppressions() == [("sms", "opt_out", "")]

    def test_a_stop_without_any_message_counts_too(self, texts: Desk) -> None:
        post = signed({"OptOutType": "STOP", "From": "+34600000001", "To": "+34911", "MessageSid": "SM9"}, SECRET)
        texts.door.receive("twilio", post.headers, post.body, post.url, texts.office.clock.now())
        texts.office.settle()
        assert texts.suppressions() == [("sms", "opt_out", "+34911")]


def test_a_refused_address_is_suppressed_and_a_refused_content_is_not(desk: Desk) -> None:
    desk.office.email.answer = Refused(reason="550 5.6.0", error_class="content")
    desk.office.request("k/1")
    desk.office.settle()
    assert desk.suppressions() == []
    desk.office.email.answer = Refused(reason="550 5.1.1", error_class="bad_address")
    desk.office.request("k/2")
    desk.office.settle()
    assert desk.suppressions() == [("email", "hard_bounce", "")]


def test_n10_what_no_database_can_hold_stops_nothing(desk: Desk) -> None:
    sent(desk)
    odd = [{"id": "\0", "type": "delivered", "message_id": "\0"}, {"id": "\ud800", "type": "opened", "email": "\ud800"}]
    assert desk.post(*odd, {"id": "3" * 500, "type": "delivered", "message_id": "p1"}).new == 3
    desk.office.settle()
    assert (desk.states(), desk.status()) == (["done"] * 3, "delivered")


def test_f5_an_opt_out_of_one_sender_stops_no_other(desk: Desk) -> None:
    desk.office.tell("member.changed", member_id="m1", phone="+34600000001")
    desk.suppress().suppress("sms", "+34600000001", "opt_out", scope=Scope(sender="+34911"))
    for number, sender in enumerate(("+34922", "+34911")):
        desk.office.use_channel("sms", SendingChannel(sender))
        desk.office.request(f"k/{number}", channels=("sms",))
        desk.office.settle()
    assert [row["status"] for row in desk.office.rows(channel="sms")] == ["sent", "skipped"]


class SendingChannel(FakeChannel):
    """A channel whose messages are from somebody."""

    def __init__(self, sent_from: str) -> None:
        super().__init__()
        self.sent_from = sent_from


def test_a_complaint_about_bulk_ends_all_bulk_and_leaves_the_rest(desk: Desk) -> None:
    bulk = NotificationType(lane="bulk")
    desk.office.types = Types({"news": bulk, "offers": bulk, "door-code": NotificationType()})
    desk.office.start_anew()
    sent(desk)
    desk.report("complained")
    desk.office.settle()
    for number, type_name in enumerate(("news", "offers", "door-code"), start=1):
        desk.office.request(f"k/{number}", type=type_name)
    desk.office.settle()
    reasons = {row["type"]: row["reason"] for row in desk.office.rows(channel="email") if row["status"] == "skipped"}
    assert reasons == {"news": "suppressed: complaint", "offers": "suppressed: complaint"}


def test_d2_a_report_whose_text_was_forgotten_is_matched_all_the_same(desk: Desk) -> None:
    desk.report("delivered")
    desk.office.settle()
    with desk.office.app.engine.begin() as connection:
        callbacks.forget_strangers(connection, desk.office.clock.now() + timedelta(days=31))
    desk.office.deliver_for(timedelta(days=31))
    sent_after(desk)
    assert (desk.status(), desk.texts()) == ("delivered", [])
