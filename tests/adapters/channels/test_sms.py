"""SMS through a service that speaks as Twilio does, made to give every answer."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs

import pytest

from adapters.channels.sms import Sms
from automations.notifications.callbacks import Receipt
from domain.endings import Done, Misconfigured, Refused, TryLater, Unknown
from tests.adapters.channels.http_service import CRAWL, DROP, EARLY_DROP, HANG, PATIENCE, HttpService, Received, Reply
from tests.adapters.channels.messages import AT, message

TAKEN = Reply(201, {"content-type": "application/json"}, b'{"sid": "SM1", "num_segments": "1"}')


@pytest.fixture
def sms(service: HttpService) -> Iterator[Sms]:
    service.answer = TAKEN
    sms = channel(service)
    yield sms
    sms.close()


def channel(service: HttpService, **settings: Any) -> Sms:
    given = {"account": "AC1", "token": "secret", "sender": "+34911234567", "timeout_seconds": 5, **settings}
    return Sms.model_validate({"base_url": service.url, **given})


def sent(sms: Sms, **values: Any) -> Any:
    return sms.send(message("sms", **{"address": "+34600111222", "text": "Hola", **values}), "d1")


def form_of(received: Received) -> dict[str, str]:
    return {name: value for name, [value] in parse_qs(received.body.decode(), strict_parsing=True).items()}


def error(code: int | None, status: int = 400, **headers: str) -> Reply:
    body = json.dumps({"code": code, "message": "a text that means nothing", "status": status})
    return Reply(status, headers, body.encode())


def test_a_message_is_handed_over_with_its_number_and_its_validity(service: HttpService, sms: Sms) -> None:
    ending = sent(sms, address="+34 600 11 12 22", text="Tür + 5 € & mehr", expires_at=AT + timedelta(minutes=15))
    assert ending == Done(result={"provider_message_id": "SM1", "parts": 1, "encoding": "GSM-7"})
    [received] = service.received
    assert received.path == "/2010-04-01/Accounts/AC1/Messages.json"
    assert received.headers["authorization"] == "Basic " + base64.b64encode(b"AC1:secret").decode()
    assert form_of(received) == {
        "To": "+34600111222",
        "From": "+34911234567",
        "Body": "Tür + 5 € & mehr",
        "ValidityPeriod": "900",
    }


@pytest.mark.parametrize(("left", "period"), [(timedelta(days=3), "36000"), (timedelta(milliseconds=1), "1")])
def test_h6_the_service_keeps_a_message_no_longer_than_it_is_of_use(
    service: HttpService, sms: Sms, left: timedelta, period: str
) -> None:
    sent(sms, expires_at=AT + left)
    assert form_of(service.received[0])["ValidityPeriod"] == period


def test_a_number_without_a_country_is_of_the_operators(service: HttpService, sms: Sms) -> None:
    local = channel(service, country="ES", messaging_service="MG1", status_url="https://example.org/s")
    sent(local, address="600 111 222")
    local.close()
    form = form_of(service.received[0])
    assert (form["To"], form["MessagingServiceSid"], form["StatusCallback"]) == (
        "+34600111222",
        "MG1",
        "https://example.org/s",
    )
    assert "From" not in form


@pytest.mark.parametrize(
    "address", ["", "mia@example.org", "600111222", "+34", "+34600111222\r\nX: y", "+1" * 40, "０"]
)
def test_what_is_no_number_is_never_dialled(service: HttpService, sms: Sms, address: str) -> None:
    ending = sent(sms, address=address)
    if isinstance(ending, Done):
        assert form_of(service.received[0])["To"] == "+34600111222"
    else:
        assert isinstance(ending, Refused)
        assert (ending.error_class, ending.suppresses, service.received) == ("bad_address", "address", [])


@pytest.mark.parametrize(
    ("code", "error_class", "suppresses"),
    [
        (21211, "bad_address", "address"),
        (21614, "bad_address", "address"),
        (21635, "bad_address", "address"),
        (30006, "bad_address", "address"),
        (21610, "opted_out", "address"),
        (30007, "content", ""),
        (21617, "too_big", ""),
        (None, "request", ""),
        (99999, "request", ""),
    ],
)
def test_j5_a_refusal_is_told_by_its_code(
    service: HttpService, sms: Sms, code: int | None, error_class: str, suppresses: str
) -> None:
    service.answer = error(code)
    ending = sent(sms)
    assert isinstance(ending, Refused)
    assert (ending.error_class, ending.suppresses) == (error_class, suppresses)
    assert "means nothing" not in ending.reason


@pytest.mark.parametrize(("code", "about"), [(20429, "service"), (30003, "address"), (30008, "address")])
def test_what_may_pass_is_tried_later(service: HttpService, sms: Sms, code: int, about: str) -> None:
    service.answer = error(code, 429 if code == 20429 else 400, **{"Retry-After": "60"})
    assert sent(sms) == TryLater(
        reason=f"the SMS service answered {429 if code == 20429 else 400}, code {code}",
        wait=timedelta(seconds=60),
        about=about,  # type: ignore[arg-type]
    )


@pytest.mark.parametrize("answer", [error(20003, 401), error(None, 401), error(None, 403), error(21606), Reply(402)])
def test_c6_our_account_is_at_fault(service: HttpService, sms: Sms, answer: Reply) -> None:
    service.answer = answer
    assert isinstance(sent(sms), Misconfigured)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (200, Done), (201, Done), (202, Done), (204, Done), (301, Refused), (302, Refused), (307, Refused),
        (400, Refused), (404, Refused), (405, Refused), (406, Refused), (408, Unknown), (409, Refused), (410, Refused),
        (413, Refused), (414, Refused), (415, Refused), (421, TryLater), (422, Refused), (423, TryLater),
        (424, TryLater), (425, TryLater), (429, TryLater), (451, Refused), (500, Unknown), (501, Refused),
        (502, Unknown), (503, TryLater), (504, Unknown), (505, Refused), (507, TryLater), (520, Unknown),
        (521, TryLater), (524, Unknown), (599, Unknown),
    ],
)  # fmt: skip
def test_n7_every_status_has_its_class(service: HttpService, sms: Sms, status: int, kind: type) -> None:
    service.answer = Reply(status, {"location": f"{service.url}/elsewhere"})
    assert isinstance(sent(sms), kind)
    assert len(service.received) == 1


@pytest.mark.parametrize(
    "answer",
    [
        Reply(201, {}, b"<html>"),
        Reply(201, {}, b""),
        Reply(201, {}, b"[]"),
        Reply(201, {}, b'{"sid": 5}'),
        Reply(201, {}, b"[" * 60_000),
        Reply(201, {}, b"x" * 200_000),
        Reply(201, {}, b'{"sid"', crawls=True),
        Reply(201, {}, b'{"sid"', cut_short=True),
        Reply(201, {"content-encoding": "gzip"}, b"no gzip"),
    ],
    ids=range(9),
)
def test_a_message_that_was_taken_is_done_whatever_the_body_says(service: HttpService, sms: Sms, answer: Reply) -> None:
    service.answer = answer
    hasty = channel(service, timeout_seconds=PATIENCE) if answer.crawls else sms
    assert sent(hasty) == Done(result={"parts": 1, "encoding": "GSM-7"})
    hasty.close()


@pytest.mark.parametrize("how", [HANG, DROP, CRAWL])
def test_a1_after_the_whole_message_silence_is_a_doubt(service: HttpService, how: str) -> None:
    sms = channel(service, timeout_seconds=PATIENCE)
    service.answer = how
    assert isinstance(sent(sms), Unknown)
    sms.close()
    assert len(service.received) == 1


def test_c5_what_never_got_through_is_tried_later(service: HttpService, sms: Sms) -> None:
    service.close()
    assert isinstance(sent(sms), TryLater)
    lost = Sms.model_validate({**sms.model_dump(), "base_url": "https://no-such-host.invalid", "timeout_seconds": 3})
    assert isinstance(sent(lost), TryLater)
    lost.close()


def test_a_connection_that_closes_unheard_is_not_sent_twice(service: HttpService, sms: Sms) -> None:
    service.answer = EARLY_DROP
    assert sent(sms).kind in ("unknown", "try_later")
    assert service.received == []


def test_connections_are_kept(service: HttpService, sms: Sms) -> None:
    for _ in range(10):
        assert isinstance(sent(sms), Done)
    assert service.connections == 1


class TestLength:
    """How many parts a text is (trials L), and that none is cut."""

    @pytest.mark.parametrize(
        ("text", "parts", "encoding"),
        [
            ("|" * 69 + "∞", 1, "UCS-2"),
            ("]" * 80, 1, "GSM-7"),
            ("]" * 81, 2, "GSM-7"),
            ("😎" * 35, 1, "UCS-2"),
            ("😎" * 36, 2, "UCS-2"),
        ],
    )
    def test_l1_l2_parts_as_the_service_counts_them(
        self, service: HttpService, sms: Sms, text: str, parts: int, encoding: str
    ) -> None:
        assert sent(sms, text=text).result == {"provider_message_id": "SM1", "parts": parts, "encoding": encoding}
        assert form_of(service.received[0])["Body"] == text

    def test_l4_the_text_is_measured_and_not_its_form_on_the_wire(self, service: HttpService, sms: Sms) -> None:
        assert sent(sms, text="%&+ " * 40).result["parts"] == 1

    def test_what_is_too_long_is_refused(self, service: HttpService, sms: Sms) -> None:
        ending = sent(sms, text="a" * (153 * 6 + 1))
        assert isinstance(ending, Refused)
        assert (ending.error_class, service.received) == ("too_big", [])

    def test_a_lone_surrogate_is_no_crash(self, service: HttpService, sms: Sms) -> None:
        assert isinstance(sent(sms, text="\ud800"), Done)


class TestLookingUp:
    """The service is asked what became of a message."""

    @pytest.mark.parametrize(
        ("status", "code", "kind", "bounce"),
        [
            ("delivered", None, "delivered", "soft"),
            ("sent", None, "sent", "soft"),
            ("undelivered", 30006, "bounced", "hard"),
            ("undelivered", 30003, "bounced", "soft"),
        ],
    )
    def test_its_state_and_code_are_read(
        self, service: HttpService, sms: Sms, status: str, code: int | None, kind: str, bounce: str
    ) -> None:
        told = {"sid": "SM1", "status": status, "error_code": code, "to": "+34600111222"}
        service.answer = Reply(200, {}, json.dumps(told).encode())
        found = sms.look_up("SM1")
        assert isinstance(found, Receipt)
        assert (found.kind, found.bounce, found.message_id, found.address) == (kind, bounce, "SM1", "+34600111222")
        assert service.received[-1].path == "/2010-04-01/Accounts/AC1/Messages/SM1.json"

    def test_a_message_that_it_does_not_know_has_no_state(self, service: HttpService, sms: Sms) -> None:
        service.answer = Reply(404)
        assert sms.look_up("SM1") is None
        assert sms.look_up("../../Accounts") is None
        assert len(service.received) == 1

    @pytest.mark.parametrize("answer", [Reply(500), Reply(429), Reply(401), EARLY_DROP])
    def test_a_service_that_cannot_say_is_asked_again(
        self, service: HttpService, sms: Sms, answer: Reply | str
    ) -> None:
        service.answer = answer
        assert isinstance(sms.look_up("SM1"), TryLater)
