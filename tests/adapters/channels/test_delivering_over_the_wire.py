"""Deliveries through real channels to real servers: what becomes of them by what the servers answer."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from adapters.channels.email import Email
from adapters.channels.sms import Sms
from adapters.channels.webhook import Webhook
from automations.notifications.types import NotificationType, Types
from domain.delivery_events import DeliveryFailed, DeliveryRetrying
from domain.ids import id_of
from tests.adapters.channels.http_service import HttpService, Reply
from tests.adapters.channels.scripted_mail_server import DROP, ScriptedMailServer
from tests.adapters.delivering.conftest import opened
from tests.adapters.delivering.office import Office
from tests.databases import Databases


@pytest.fixture
def office(databases: Databases, mail_server: ScriptedMailServer, service: HttpService) -> Iterator[Office]:
    """An office whose channels speak to servers of their protocols."""
    email = Email(host="127.0.0.1", port=mail_server.port, tls="none", from_address="desk@example.org")
    sms = Sms.model_validate({"base_url": service.url, "account": "AC1", "token": "x", "sender": "Desk"})
    secret = "whsec_c2VtZWwsIGFuIGV4YW1wbGUgb2YgYSBzZWNyZXQ="
    webhook = Webhook.model_validate({"url": service.url, "secret": secret, "allow_private": True})
    with databases.fresh() as url, opened(url) as office:
        office.channels |= {"email": email, "sms": sms, "webhook": webhook}
        office.tell("member.changed", member_id="m1", phone="+34600111222")
        office.start_anew()
        yield office
    for channel in (email, sms, webhook):
        channel.close()


def row(office: Office) -> Any:
    """Return the one delivery to the member."""
    [found] = [each for each in office.rows() if each["to"] == "member/m1"]
    return found


def define(office: Office, **settings: Any) -> None:
    office.types = Types({"news": NotificationType(**settings)})
    office.start_anew()


def test_a_mail_is_sent_and_named(office: Office, mail_server: ScriptedMailServer) -> None:
    office.request()
    office.settle()
    delivery = row(office)["delivery"]
    assert row(office)["status"] == "sent"
    assert f"Message-ID: <{delivery}@example.org>\r\n".encode() in mail_server.mails[0]


@pytest.mark.parametrize(("on_unknown", "sent"), [("hold", 1), ("repeat", 2)])
def test_a1_a3_a_doubt_is_repeated_once_and_only_where_the_type_allows_it(
    office: Office, mail_server: ScriptedMailServer, on_unknown: Any, sent: int
) -> None:
    mail_server.answers["content"] = DROP
    define(office, on_unknown=on_unknown)
    office.request()
    office.deliver_for(timedelta(days=2))
    assert (row(office)["status"], len(mail_server.mails)) == ("unknown", sent)
    ids = {line for mail in mail_server.mails for line in mail.split(b"\r\n") if line.startswith(b"Message-ID")}
    assert len(ids) == 1


@pytest.mark.parametrize(
    ("phase", "reply", "error_class"),
    [("recipient", "550 5.1.1 nobody", "bad_address"), ("content", "554 5.7.1 policy", "policy")],
)
def test_c3_a_refusal_is_tried_once_and_its_class_recorded(
    office: Office, mail_server: ScriptedMailServer, phase: str, reply: str, error_class: str
) -> None:
    mail_server.answers[phase] = reply
    office.request()
    office.settle()
    office.start_anew()
    office.deliver_for(timedelta(days=2))
    assert (row(office)["status"], row(office)["attempts"]) == ("failed", 1)
    [failed] = [event for event in office.events("delivery.failed") if isinstance(event, DeliveryFailed)]
    assert failed.error_class == error_class
    assert id_of(failed.stream) == row(office)["delivery"]


def test_c1_too_many_is_no_refusal_and_waits_as_long_as_asked(office: Office, service: HttpService) -> None:
    service.answer = Reply(429, {"Retry-After": "60"})
    office.request(channels=("sms",))
    office.settle()
    assert row(office)["next_attempt_at"] >= office.clock.now() + timedelta(seconds=60)
    service.answer = Reply(202, {}, b'{"sid": "SM1"}')
    office.deliver_for(timedelta(seconds=59))
    assert len(service.received) == 1
    office.deliver_for(timedelta(seconds=61))
    assert (row(office)["status"], len(service.received)) == ("sent", 2)


@pytest.mark.parametrize("value", ["1e18", "86400", "Fri, 31 Dec 9999 23:59:59 GMT"])
def test_c7_what_comes_too_late_when_it_may_is_expired_at_once(
    office: Office, service: HttpService, value: str
) -> None:
    service.answer = Reply(429, {"Retry-After": value})
    define(office, channels=("sms",), useful_for=timedelta(hours=1))
    office.request()
    office.settle()
    assert (row(office)["status"], row(office)["attempts"]) == ("expired", 1)


def test_c6_wrong_credentials_use_up_nothing(office: Office, mail_server: ScriptedMailServer) -> None:
    mail_server.answers["sender"] = "535 5.7.8 who are you"
    for number in range(20):
        office.request(f"k{number}/0")
    office.deliver_for(timedelta(minutes=10))
    assert len([command for command in mail_server.commands if command.startswith(b"MAIL")]) < 40
    mail_server.answers.clear()
    office.deliver_for(timedelta(minutes=5))
    assert {each["status"] for each in office.rows() if each["to"] == "member/m1"} == {"sent"}
    assert len(mail_server.mails) == 20


def test_greylisting_of_one_address_keeps_no_other_back(office: Office, mail_server: ScriptedMailServer) -> None:
    mail_server.answers["recipient"] = lambda count: "450 4.7.1 greylisted" if count == 0 else "250 fine"
    office.request("k1/0")
    office.settle()
    office.request("k2/0")
    office.settle()
    [waiting] = [event for event in office.events() if isinstance(event, DeliveryRetrying)]
    assert waiting.again_at - waiting.at >= timedelta(minutes=5)
    assert len(mail_server.mails) == 1
    office.deliver_for(timedelta(minutes=6))
    assert len(mail_server.mails) == 2


def test_a1_a_repeated_webhook_has_the_same_id(office: Office, service: HttpService) -> None:
    service.answer = Reply(500)
    office.request(channels=("webhook",))
    office.settle()
    service.answer = Reply(200)
    office.deliver_for(timedelta(minutes=1))
    assert (row(office)["status"], row(office)["attempts"]) == ("sent", 2)
    assert {received.headers["webhook-id"] for received in service.received} == {row(office)["delivery"]}
