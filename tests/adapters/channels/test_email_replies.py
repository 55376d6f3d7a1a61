"""Every reply of a mail server, in every phase, and every way in which it can fall silent."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from adapters.channels.email import Email
from domain.endings import Done, Misconfigured, Refused, TryLater, Unknown
from tests.adapters.channels.http_service import PATIENCE
from tests.adapters.channels.messages import message
from tests.adapters.channels.scripted_mail_server import CRAWL, DROP, HANG, ScriptedMailServer

REFUSALS = [
    ("recipient", "550 5.1.1 nobody of that name", "bad_address"),
    ("recipient", "550 5.1.2 no such domain", "bad_address"),
    ("recipient", "553 5.1.3 bad syntax", "bad_address"),
    ("recipient", "551 5.1.6 moved", "bad_address"),
    ("recipient", "556 5.1.10 takes no mail", "bad_address"),
    ("recipient", "550 no enhanced code", "bad_address"),
    ("recipient", "550-5.1.1 in\n550 5.1.1 two lines", "bad_address"),
    ("recipient", "550 5.2.1 disabled", "mailbox_disabled"),
    ("recipient", "552 5.2.2 full", "mailbox_full"),
    ("recipient", "550 5.7.1 not from you", "policy"),
    ("recipient", "550 5.7.26 unauthenticated sender", "policy"),
    ("recipient", "554 5.4.6 loop", "loop"),
    ("recipient", "550 5.4.4 no route", "unroutable"),
    ("recipient", "501 5.5.4 syntax", "protocol"),
    ("recipient", "503 bad sequence", "protocol"),
    ("sender", "552 5.3.4 too big", "too_big"),
    ("data", "554 5.7.1 no", "policy"),
    ("data", "503 5.5.1 no", "protocol"),
    ("content", "552 5.3.4 too big", "too_big"),
    ("content", "552 5.2.3 too big", "too_big"),
    ("content", "554 5.6.0 content", "content"),
    ("content", "554 5.7.1 policy", "policy"),
    ("content", "554 something", "policy"),
    ("content", "550 spam", "refused"),
    ("content", "550 5.1.1 nobody after all", "bad_address"),
]
LATER = [
    ("connect", "421 4.3.2 closing", "service"),
    ("hello", "421 4.4.2 no", "service"),
    ("sender", "451 4.3.0 local error", "service"),
    ("sender", "421 4.7.0 too many", "service"),
    ("recipient", "421 4.7.0 too many", "service"),
    ("recipient", "450 4.2.1 busy", "address"),
    ("recipient", "451 4.7.1 greylisted", "address"),
    ("recipient", "452 4.2.2 full", "address"),
    ("recipient", "452 4.5.3 too many recipients", "service"),
    ("recipient", "452 4.3.1 no space", "service"),
    ("recipient", "552 too many recipients", "service"),
    ("recipient", "450 5.1.1 the first digit counts", "address"),
    ("data", "451 4.3.0 not now", "service"),
    ("data", "250 not the answer", "service"),
    ("content", "451 4.3.0 not now", "service"),
    ("content", "452 4.3.1 no space", "service"),
]
OUR_FAULT = [
    ("connect", "554 no service for you"),
    ("sender", "530 5.7.0 log in first"),
    ("sender", "553 5.1.8 no such sender"),
    ("sender", "550 sender refused"),
    ("recipient", "550 5.7.8 credentials"),
    ("recipient", "535 5.7.8 credentials"),
]
BREAKS: list[tuple[str, type]] = [
    *((phase, TryLater) for phase in ("connect", "hello", "sender", "recipient", "data")),
    ("content", Unknown),
]


@pytest.fixture
def email(mail_server: ScriptedMailServer) -> Iterator[Email]:
    email = channel(mail_server)
    yield email
    email.close()


def channel(server: ScriptedMailServer, **settings: Any) -> Email:
    given = {"tls": "none", "from_address": "desk@example.org", "timeout_seconds": 5, **settings}
    return Email(host="127.0.0.1", port=server.port, **given)


@pytest.mark.parametrize(("phase", "reply", "error_class"), REFUSALS, ids=str)
def test_c3_a_refusal_is_final_and_only_the_address_may_be_condemned(
    mail_server: ScriptedMailServer, email: Email, phase: str, reply: str, error_class: str
) -> None:
    mail_server.answers[phase] = reply
    ending = email.send(message(), "d1")
    assert isinstance(ending, Refused)
    assert ending.error_class == error_class
    assert ending.suppresses == ("address" if error_class in ("bad_address", "mailbox_disabled") else "")
    assert len(mail_server.mails) == (phase == "content")


@pytest.mark.parametrize(("phase", "reply", "about"), LATER, ids=str)
def test_c5_what_is_wrong_for_now_is_tried_later(
    mail_server: ScriptedMailServer, email: Email, phase: str, reply: str, about: str
) -> None:
    mail_server.answers[phase] = reply
    ending = email.send(message(), "d1")
    assert isinstance(ending, TryLater), ending
    assert ending.about == about


@pytest.mark.parametrize(("phase", "reply"), OUR_FAULT)
def test_c6_what_is_wrong_with_us_condemns_no_mail(
    mail_server: ScriptedMailServer, email: Email, phase: str, reply: str
) -> None:
    mail_server.answers[phase] = reply
    assert isinstance(email.send(message(), "d1"), Misconfigured)


@pytest.mark.parametrize("how", [DROP, "garbage"])
@pytest.mark.parametrize(("phase", "kind"), BREAKS)
def test_a3_only_after_the_mail_itself_is_a_break_a_doubt(
    mail_server: ScriptedMailServer, email: Email, phase: str, kind: type, how: str
) -> None:
    mail_server.answers[phase] = how
    assert isinstance(email.send(message(), "d1"), kind)


@pytest.mark.parametrize(
    ("phase", "kind", "how"),
    [
        *((phase, kind, HANG) for phase, kind in BREAKS),
        ("connect", TryLater, CRAWL),
        ("content", Unknown, CRAWL),
        ("content", Unknown, "2"),
        ("content", Unknown, "250-half\n"),
    ],
)
def test_a3_only_after_the_mail_itself_is_silence_a_doubt(
    mail_server: ScriptedMailServer, phase: str, kind: type, how: str
) -> None:
    email = channel(mail_server, timeout_seconds=PATIENCE)
    mail_server.answers[phase] = how
    assert isinstance(email.send(message(), "d1"), kind)
    email.close()


def test_a3_a_repeat_after_a_doubt_has_the_same_message_id(mail_server: ScriptedMailServer, email: Email) -> None:
    mail_server.answers["content"] = lambda count: "250 taken" if count else DROP
    assert isinstance(email.send(message(), "d1"), Unknown)
    assert email.send(message(), "d1") == Done(result={"provider_message_id": "d1@example.org"})
    assert [mail.count(b"\r\nMessage-ID: <d1@example.org>\r\n") for mail in mail_server.mails] == [1, 1]


def test_c5_a_name_that_cannot_be_looked_up_is_our_fault_and_passes() -> None:
    email = Email(host="no-such-host.invalid", from_address="desk@example.org", timeout_seconds=3)
    ending = email.send(message(), "d1")
    assert isinstance(ending, TryLater)
    assert ending.about == "service"


def test_a_port_where_nobody_listens_is_tried_later(mail_server: ScriptedMailServer) -> None:
    email = channel(mail_server)
    mail_server.close()
    assert isinstance(email.send(message(), "d1"), TryLater)


@pytest.mark.parametrize(
    ("reply", "wait"),
    [
        ("450 4.7.1 greylisted", timedelta(minutes=5)),
        ("450 4.7.1 try again in 300 seconds", timedelta(seconds=300)),
        ("451 4.7.1 retry in 7 minutes", timedelta(minutes=7)),
    ],
)
def test_what_is_greylisted_waits(mail_server: ScriptedMailServer, email: Email, reply: str, wait: timedelta) -> None:
    mail_server.answers["recipient"] = reply
    ending = email.send(message(), "d1")
    assert isinstance(ending, TryLater)
    assert ending.wait == wait


def test_no_reason_holds_what_the_server_says(mail_server: ScriptedMailServer, email: Email) -> None:
    mail_server.answers["recipient"] = "550 5.1.1 <mia@example.org> is unknown here"
    ending = email.send(message(), "d1")
    assert isinstance(ending, Refused)
    assert ending.reason == "the mail server answered 550 5.1.1 to the recipient"


class TestPool:
    """Connections stay open for many mails."""

    def test_one_connection_carries_many_mails(self, mail_server: ScriptedMailServer, email: Email) -> None:
        for number in range(20):
            assert isinstance(email.send(message(delivery=f"d{number}"), f"d{number}"), Done)
        assert (mail_server.connections, len(mail_server.mails)) == (1, 20)

    def test_i1_a_refused_address_leaves_the_connection_to_the_next(
        self, mail_server: ScriptedMailServer, email: Email
    ) -> None:
        mail_server.answers["recipient"] = lambda count: "250 fine" if count else "550 5.1.1 nobody"
        assert isinstance(email.send(message(), "d1"), Refused)
        assert isinstance(email.send(message(), "d2"), Done)
        assert mail_server.connections == 1
        assert b"RSET" in mail_server.commands

    def test_a_connection_that_went_meanwhile_is_replaced_unnoticed(
        self, mail_server: ScriptedMailServer, email: Email
    ) -> None:
        mail_server.answers["sender"] = lambda count: DROP if count == 1 else "250 fine"
        assert [email.send(message(), f"d{number}").kind for number in range(3)] == ["done"] * 3
        assert mail_server.connections == 2

    def test_a_connection_that_the_server_closes_is_replaced_unnoticed(
        self, mail_server: ScriptedMailServer, email: Email
    ) -> None:
        mail_server.answers["sender"] = lambda count: "421 4.4.2 idle" if count == 1 else "250 fine"
        assert [email.send(message(), f"d{number}").kind for number in range(3)] == ["done"] * 3

    def test_after_so_many_mails_a_connection_is_replaced(self, mail_server: ScriptedMailServer) -> None:
        email = channel(mail_server, mails_each=2)
        for number in range(5):
            email.send(message(), f"d{number}")
        email.close()
        assert mail_server.connections == 3

    def test_a_doubt_ends_the_connection(self, mail_server: ScriptedMailServer, email: Email) -> None:
        mail_server.answers["content"] = lambda count: "250 fine" if count else DROP
        email.send(message(), "d1")
        email.send(message(), "d2")
        assert mail_server.connections == 2
