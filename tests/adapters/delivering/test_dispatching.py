"""How deliveries end, and what is done about it: one message each, whatever the channel answers."""

from __future__ import annotations

from datetime import timedelta

import pytest

from adapters.database.projecting import Projector
from adapters.database.readers import projections
from automations.notifications.types import NotificationType, Types
from domain.deliveries import DeliveryRetrying, DeliverySending
from domain.endings import Done, Misconfigured, Refused, TryLater, Unknown
from domain.ids import entity
from tests.adapters.delivering.office import FakeChannel, Office

MINUTE = timedelta(minutes=1)


def test_what_is_requested_is_sent_with_its_own_id_as_the_key(office: Office) -> None:
    notification = office.request()
    office.settle()
    [row] = office.rows()
    [message] = office.messages()
    assert (row["notification"], row["to"], row["channel"], row["status"]) == (
        notification,
        "member/m1",
        "email",
        "sent",
    )
    assert (message.text, message.subject) == ("news", "news")
    assert office.email.calls == [row["delivery"]]
    assert office.email.sent[0].address == "mia@example.org"


def test_the_same_request_twice_is_delivered_once(office: Office) -> None:
    assert office.request() == office.request()
    office.settle()
    assert office.request()
    office.settle()
    assert len(office.email.calls) == 1


def test_a_refusal_is_the_end(office: Office) -> None:
    office.email.answer = Refused(reason="no such mailbox")
    office.request()
    office.deliver_for(timedelta(days=2))
    [row] = office.rows()
    assert (row["status"], row["reason"], row["attempts"]) == ("failed", "no such mailbox", 1)


def test_n4_later_means_the_schedule_of_the_channel_until_the_message_is_of_no_use(office: Office) -> None:
    office.email.answer = TryLater(reason="busy")
    office.request()
    office.deliver_for(timedelta(days=2))
    waits = [event.again_at - event.at for event in office.events("delivery.") if isinstance(event, DeliveryRetrying)]
    minutes = [int(wait / MINUTE) for wait in waits]
    assert minutes == [1, 5, 15, 30, 60, 120, 240, 480]
    [row] = office.rows(channel="email")
    assert (row["status"], row["attempts"], row["last_error"]) == ("failed", 9, row["reason"])
    assert row["reason"] == "gave up after 9 attempts: busy"


def test_what_the_provider_asks_for_is_waited_at_least(office: Office) -> None:
    office.email.answer = TryLater(reason="slow down", wait=timedelta(minutes=17))
    office.request()
    office.settle()
    [row] = office.rows()
    assert row["next_attempt_at"] == office.clock.now() + timedelta(minutes=17)


def test_our_own_set_up_is_tried_each_minute_and_burns_no_attempt(office: Office) -> None:
    office.email.answer = Misconfigured(reason="bad password")
    office.request()
    office.deliver_for(timedelta(minutes=30))
    office.email.answer = TryLater(reason="busy")
    office.deliver_for(timedelta(minutes=1))
    [row] = office.rows(channel="email")
    assert row["next_attempt_at"] - row["at"] == MINUTE  # the first wait of the schedule
    office.email.answer = Done()
    office.deliver_for(timedelta(minutes=1))
    [row] = office.rows(channel="email")
    assert row["status"] == "sent"


class TestInDoubt:
    """Nobody knows whether the message was taken (trials A1 and A3)."""

    def test_a_channel_that_honours_keys_is_asked_again_with_the_same_key(self, office: Office) -> None:
        office.email.answer = Unknown(reason="timed out")
        office.request()
        office.settle()
        office.email.answer = Done()
        office.deliver_for(timedelta(minutes=2))
        [row] = office.rows()
        assert (row["status"], row["attempts"]) == ("sent", 2)
        assert set(office.email.calls) == {row["delivery"]}

    def test_without_keys_it_is_not_sent_again(self, office: Office) -> None:
        office.use_channel("email", FakeChannel(honours_keys=False, answer=Unknown(reason="timed out")))
        office.request()
        office.deliver_for(timedelta(days=2))
        [row] = office.rows()
        assert (row["status"], row["attempts"], row["reason"]) == ("unknown", 1, "timed out")

    def test_a_type_that_may_repeat_is_sent_once_more(self, office: Office) -> None:
        office.types = Types({"news": NotificationType(on_unknown="repeat")})
        office.use_channel("email", FakeChannel(honours_keys=False, answer=Unknown(reason="timed out")))
        office.start_anew()
        office.request()
        office.deliver_for(timedelta(days=2))
        [row] = office.rows()
        assert (row["status"], row["attempts"]) == ("unknown", 2)

    def test_a_channel_that_breaks_leaves_a_doubt_too(self, office: Office) -> None:
        def breaks() -> None:
            raise RuntimeError("mia@example.org")

        office.use_channel("email", FakeChannel(honours_keys=False, before=breaks))
        office.request()
        office.settle()
        [row] = office.rows()
        assert (row["status"], row["reason"]) == ("unknown", "the call broke off: RuntimeError")


class TestTooLate:
    """What is of no use any more is not sent, however long it lay in its queue (trials H1, H2, H4)."""

    @pytest.mark.parametrize(("late", "status"), [(timedelta(milliseconds=-1), "sent"), (timedelta(), "expired")])
    def test_h1_h2_h4_exactly_then_it_is_too_late(self, office: Office, late: timedelta, status: str) -> None:
        office.types = Types({"news": NotificationType(useful_for=timedelta(minutes=15))})
        office.start_anew()
        office.request()
        office.clock.advance(timedelta(minutes=15) + late)
        office.settle()
        assert office.statuses() == {status: 1}
        assert len(office.email.calls) == (status == "sent")

    def test_what_waits_for_a_retry_expires_when_it_becomes_useless(self, office: Office) -> None:
        office.types = Types({"news": NotificationType(useful_for=timedelta(minutes=10))})
        office.email.answer = TryLater(reason="busy")
        office.start_anew()
        office.request()
        office.deliver_for(timedelta(minutes=10))
        [row] = office.rows()
        assert (row["status"], row["at"] - row["requested_at"]) == ("expired", timedelta(minutes=10))


class TestWithoutSending:
    """What is not sent is a row with a reason."""

    def test_without_an_address(self, office: Office) -> None:
        office.request(channels=("sms",))
        office.settle()
        [row] = office.rows()
        assert (row["status"], row["reason"]) == ("skipped", "no address for sms")

    def test_on_a_channel_that_does_not_exist(self, office: Office) -> None:
        office.request(channels=("capture",))
        office.settle()
        [row] = office.rows()
        assert (row["status"], row["reason"]) == ("skipped", "there is no channel capture")

    def test_to_a_member_who_was_erased_meanwhile(self, office: Office) -> None:
        office.request()
        office.tell("member.erased", member_id="m1")
        office.settle()
        [row] = office.rows()
        assert (row["status"], row["reason"]) == ("cancelled", "member erased")
        assert office.email.calls == []


def test_a_corrected_address_is_used(office: Office) -> None:
    office.email.answer = TryLater(reason="busy")
    office.request()
    office.settle()
    office.tell("member.changed", member_id="m1", email="mia@example.net")
    office.email.answer = Done()
    office.deliver_for(timedelta(minutes=1))
    assert [message.address for message in office.email.sent] == ["mia@example.net"]


def test_a12_only_the_channel_that_failed_is_tried_again(office: Office) -> None:
    office.tell("member.changed", member_id="m1", phone="+34600111222")
    sms = office.channels["sms"]
    assert isinstance(sms, FakeChannel)
    sms.answer = TryLater(reason="busy")
    office.request(channels=("email", "sms"))
    office.deliver_for(timedelta(minutes=1))
    assert (len(office.email.calls), len(sms.calls)) == (1, 3)


def test_i1_one_bad_address_stops_nobody_else(office: Office) -> None:
    for number in range(10):
        email = {"email": f"m{number}@example.org"} if number else {}
        office.tell("member.registered", member_id=f"x{number}", name="X", **email)
        office.request(f"k{number}/0", to=f"member/x{number}")
    office.settle()
    assert office.statuses() == {"sent": 9, "skipped": 1}


class TestWording:
    """Templates of a type, by channel and language."""

    def test_the_template_in_the_members_language(self, office: Office) -> None:
        office.use_templates(
            {
                "news/email.en": "English",
                "news/email.es": "Subject: Hola {{ member.name }}\nSon las {{ payload.hour }}.\nAdiós",
                "news/sms.es": "Corto",
            }
        )
        office.tell("member.changed", member_id="m1", locale="es-MX")
        office.request(hour="12")
        office.settle()
        [message] = office.email.sent
        assert (message.subject, message.text, message.locale) == ("Hola Mia", "Son las 12.\nAdiós", "es")

    def test_a_value_cannot_break_the_subject(self, office: Office) -> None:
        office.use_templates({"news/email.en": "Subject: {{ member.name }}\n."})
        office.tell("member.changed", member_id="m1", name="Mia\nBcc: x@example.org")
        office.request()
        office.settle()
        assert office.email.sent[0].subject == "Mia Bcc: x@example.org"

    @pytest.mark.parametrize(
        "template", ["{{ member.company }}", "{{ payload.code }}", "  ", "{{ member.name | nope }}"]
    )
    def test_n3_one_that_does_not_come_out_fails_that_delivery_at_once(self, office: Office, template: str) -> None:
        office.use_templates({"news/email.en": template})
        office.request()
        office.request("k/1", type="other")
        office.settle()
        rows = {row["type"]: row for row in office.rows()}
        assert (rows["news"]["status"], rows["news"]["attempts"]) == ("failed", 0)
        assert rows["other"]["status"] == "sent"


class TestTwoWorkers:
    """Several workers share the work, and take over what one leaves behind."""

    def test_a2_two_workers_send_once(self, office: Office) -> None:
        office.request()
        other = office.delivery_worker("other")
        found: dict[str, bool] = {}
        office.email.before = lambda: found.update(other=other.work_once())
        office.delivering.work_once()
        assert found == {"other": False}
        assert len(office.email.calls) == 1

    def test_who_lost_the_lease_records_nothing(self, office: Office) -> None:
        office.use_channel("email", FakeChannel(honours_keys=False))
        office.request()
        other = office.delivery_worker("other")
        other.work_once()

        def freeze() -> None:
            office.email.before = lambda: None
            other.work_once()
            office.clock.advance(timedelta(minutes=2))
            other.work_once()

        office.email.before = freeze
        office.delivering.work_once()
        office.settle()
        [row] = office.rows()
        assert (row["status"], row["reason"]) == ("unknown", "the worker vanished during the call")
        assert len(office.email.calls) == 1


def test_events_hold_no_personal_value(office: Office) -> None:
    office.request(hour="half past twelve")
    office.settle()
    [sending] = [event for event in office.events() if isinstance(event, DeliverySending)]
    assert sending.message == f"{entity('delivery', office.email.calls[0])}/2/message"
    recorded = "".join(event.model_dump_json() for event in office.events("delivery."))
    assert "mia@example.org" not in recorded
    assert "half past" not in recorded


def test_the_table_is_the_same_after_a_rebuild(office: Office) -> None:
    office.email.answer = Refused(reason="no such mailbox")
    office.request("k/0")
    office.settle()
    office.email.answer = TryLater(reason="busy")
    office.request("k/1")
    office.settle()
    office.request("k/2", channels=("in_app", "sms"))
    office.settle()
    before = office.rows()
    Projector(office.app.log, projections("Europe/Madrid")).empty()
    assert office.rows() == before
