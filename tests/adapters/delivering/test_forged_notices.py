"""Anybody can mail the sender's address: a notice counts for the mail that it returns, and for no other address."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from pydantic import SecretStr

from adapters.callbacks.generic import Generic
from adapters.callbacks.mail import Mail
from adapters.database import callbacks
from adapters.database.reports_at_work import NAMES_ANOTHER
from automations.notifications.types import NotificationType, Types
from domain.endings import Done
from tests.adapters.delivering.office import FakeChannel, Office
from tests.adapters.delivering.test_callbacks import SECRET, Desk

MIA, EVE = "mia@example.org", "eve@example.org"
RETURNED = "--b\nContent-Type: text/rfc822-headers\n\nFrom: desk@example.org\nMessage-ID: <{}@example.org>\n\n"
NOTICE = """\
From: MAILER-DAEMON@mx.example.net
Message-ID: <notice-{number}@mx.example.net>
MIME-Version: 1.0
Content-Type: multipart/report; boundary="b"

--b
Content-Type: message/{kind}

{fields}
{returned}--b--
"""


@pytest.fixture
def desk(office: Office) -> Desk:
    """An office that hears of mails from its mail server, and of anything from whoever knows the secret."""
    secret = SecretStr(SECRET)
    office.callbacks = {"generic": Generic(secret=secret), "mail": Mail(secret=secret)}
    codes = NotificationType(urgency="urgent")
    office.types = Types(
        {"offers": NotificationType(lane="bulk"), "terms": NotificationType(mandatory=True), "codes": codes}
    )
    office.tell("member.registered", member_id="m2", name="Eve", email=EVE)
    office.start_anew()
    return Desk(office)


def post_notice(desk: Desk, fields: str, delivery: str = "", kind: str = "delivery-status") -> None:
    number = len(desk.rows())
    returned = RETURNED.format(delivery) if delivery else ""
    text = NOTICE.format(number=number, kind=kind, fields=fields, returned=returned)
    headers = {"Authorization": f"Bearer {SECRET}"}
    answer = desk.door.receive("mail", headers, text.encode(), "https://semel.example.org", desk.office.clock.now())
    assert (answer.status, answer.new) == (200, 1)
    desk.office.settle()


def bounce(address: str) -> str:
    return f"Reporting-MTA: dns; mx.example.net\n\nFinal-Recipient: rfc822;{address}\nAction: failed\nStatus: 5.1.1\n"


def abuse(address: str) -> str:
    return f"Feedback-Type: abuse\nOriginal-Rcpt-To: <{address}>\n"


def sent_to(desk: Desk, member: str, key: str, **more: Any) -> dict[str, Any]:
    """Ask for a mail to a member, and return its delivery as it is then."""
    notification = desk.office.request(key, to=f"member/{member}", **more)
    desk.office.settle()
    [row] = [row for row in desk.office.rows() if row["notification"] == notification]
    return dict(row)


@pytest.mark.parametrize(("fields", "kind"), [(abuse(MIA), "feedback-report"), (bounce(MIA), "delivery-status")])
def test_a_notice_that_returns_no_mail_settles_nothing(desk: Desk, fields: str, kind: str) -> None:
    post_notice(desk, fields, kind=kind)
    assert desk.suppressions() == []
    assert [(row.state, row.note) for row in desk.rows()] == [
        ("failed", "this notice returns no mail of ours, so that nothing follows from it")
    ]
    assert sent_to(desk, "m1", "k/1")["status"] == "sent"


@pytest.mark.parametrize(("fields", "kind"), [(abuse(MIA), "feedback-report"), (bounce(MIA), "delivery-status")])
def test_a_notice_about_a_mail_that_nobody_knows_waits(desk: Desk, fields: str, kind: str) -> None:
    post_notice(desk, fields, delivery="none-of-ours", kind=kind)
    desk.office.deliver_for(timedelta(days=3))
    assert (desk.states(), desk.suppressions()) == (["unmatched"], [])
    assert sent_to(desk, "m1", "k/1")["status"] == "sent"


@pytest.mark.parametrize(
    ("fields", "kind", "why"),
    [(abuse(MIA), "feedback-report", "complaint"), (bounce(MIA), "delivery-status", "hard bounce (5.1.1)")],
)
def test_a_notice_is_about_the_address_that_its_mail_went_to_whatever_it_names(
    desk: Desk, fields: str, kind: str, why: str
) -> None:
    delivery = sent_to(desk, "m2", "k/1")["delivery"]
    post_notice(desk, fields, delivery=delivery, kind=kind)
    assert [(row.state, row.note, row.delivery) for row in desk.rows()] == [("done", NAMES_ANOTHER, delivery)]
    assert sent_to(desk, "m1", "k/2")["status"] == "sent"
    assert sent_to(desk, "m2", "k/3")["reason"] == f"suppressed: {why}"
    assert not any(address in str(row) for row in desk.rows() for address in (MIA, EVE))


def test_a_notice_that_arrived_lifts_no_bounce_of_the_address_that_it_names(desk: Desk) -> None:
    desk.suppress().suppress("email", MIA, "hard_bounce")
    delivery = sent_to(desk, "m2", "k/1")["delivery"]
    arrived = bounce(MIA).replace("failed", "delivered").replace("5.1.1", "2.0.0")
    post_notice(desk, arrived, delivery=delivery)
    assert sent_to(desk, "m1", "k/2")["status"] == "skipped"


def test_a_bounce_is_about_the_address_of_then_and_not_the_one_of_now(desk: Desk) -> None:
    delivery = sent_to(desk, "m1", "k/1")["delivery"]
    desk.office.tell("member.changed", member_id="m1", email="mia@new.example")
    post_notice(desk, bounce(MIA), delivery=delivery)
    assert [row.note for row in desk.rows()] == [""]
    assert len(desk.suppressions()) == 1
    assert sent_to(desk, "m1", "k/2")["status"] == "sent"
    desk.office.tell("member.changed", member_id="m1", email=MIA)
    assert sent_to(desk, "m1", "k/3")["reason"] == "suppressed: hard bounce (5.1.1)"


def test_a_notice_about_a_member_who_was_erased_suppresses_nobody(desk: Desk) -> None:
    delivery = sent_to(desk, "m2", "k/1")["delivery"]
    desk.office.tell("member.erased", member_id="m2")
    post_notice(desk, bounce(MIA), delivery=delivery)
    assert (desk.suppressions(), desk.texts()) == ([], [])


@pytest.mark.parametrize("kind", ["unsubscribe", "complained"])
def test_f5_who_wants_no_more_of_nobody_knows_what_still_gets_what_cannot_be_refused(desk: Desk, kind: str) -> None:
    desk.post({"id": "u", "type": kind, "address": MIA})
    desk.office.settle()
    found = {
        name: sent_to(desk, "m1", f"k/{name}", type=name)["status"] for name in ("news", "offers", "terms", "codes")
    }
    assert found == {"news": "skipped", "offers": "skipped", "terms": "sent", "codes": "sent"}


def test_f5_an_opt_out_of_a_mandatory_mail_ends_nothing_and_of_another_its_type(desk: Desk) -> None:
    for name in ("terms", "offers"):
        delivery = sent_to(desk, "m1", f"k/{name}", type=name)["delivery"]
        desk.post({"id": name, "type": "unsubscribe", "delivery": delivery})
        desk.office.settle()
    found = {name: sent_to(desk, "m1", f"again/{name}", type=name)["status"] for name in ("news", "offers", "terms")}
    assert found == {"news": "sent", "offers": "skipped", "terms": "sent"}


def test_f5_a_stop_by_sms_is_for_its_number_and_channel(desk: Desk) -> None:
    desk.office.callbacks["generic"] = Generic(secret=SecretStr(SECRET), channel="sms")
    desk.office.use_channel("sms", FakeChannel(answer=Done(result={"provider_message_id": "SM1"})))
    desk.office.tell("member.changed", member_id="m1", phone="+34600000001")
    stopping = Desk(desk.office)
    stopping.post({"id": "s", "type": "opt_out", "address": "+34600000001"})
    desk.office.settle()
    assert sent_to(desk, "m1", "k/1", type="terms", channels=("sms",))["status"] == "skipped"
    assert sent_to(desk, "m1", "k/2", type="terms", channels=("email",))["status"] == "sent"


def test_the_text_of_a_report_about_nobody_known_is_forgotten_although_it_was_acted_upon(desk: Desk) -> None:
    desk.post({"id": "u", "type": "unsubscribe", "address": MIA})
    desk.office.settle()
    assert desk.states() == ["done"]
    with desk.office.app.engine.begin() as connection:
        assert callbacks.forget_strangers(connection, desk.office.clock.now() + timedelta(days=31)) == 1
    assert desk.texts() == []
