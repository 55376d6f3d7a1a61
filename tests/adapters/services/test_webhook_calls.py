"""The action `call_webhook`: signed calls that stay out of our own network, each address for itself."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from standardwebhooks.webhooks import Webhook as Receiver

from adapters.application import Application, embedded_services
from adapters.services.outside import outside_services
from adapters.services.outside_settings import ServiceSettings
from adapters.services.webhook import Webhooks
from automations.ports import Call
from domain.commands import CallWebhook
from domain.endings import Done, Ending, Refused, TryLater, Unknown
from domain.events import Cause
from tests.adapters.channels.http_service import DROP, HANG, PATIENCE, HttpService, Reply
from tests.adapters.services.commands import fee
from tests.operators import BOOKING, event, operator_on, rule, scene

SECRET = "whsec_" + "c2VjcmV0IG9uZSBzZWNyZXQgb25lIHNlY3JldA=="
FORMER = "whsec_" + "c2VjcmV0IHR3byBzZWNyZXQgdHdvIHNlY3JldA=="


@pytest.fixture
def receiver() -> Iterator[HttpService]:
    receiver = HttpService()
    yield receiver
    receiver.close()


def webhooks(**settings: Any) -> Webhooks:
    given = {"secret": SECRET, "allow_private": True, "timeout_seconds": 5, **settings}
    made = outside_services(ServiceSettings.model_validate({"webhook": given}))["webhook"]
    assert isinstance(made, Webhooks)
    return made


def called(url: str, body: dict[str, Any] | None = None, **settings: Any) -> Ending:
    service = webhooks(**settings)
    command = CallWebhook(entity="booking/b1", url=url, body=body or {})
    try:
        return service.perform(command, Call("abc/0", Cause(execution="abc"), datetime.now(UTC)))
    finally:
        service.close()


def test_a_receiver_verifies_the_values_of_the_rule(receiver: HttpService) -> None:
    assert called(f"{receiver.url}/hook?a=1", {"name": "Zoë"}, former_secret=FORMER) == Done()
    [received] = receiver.received
    assert (received.path, received.headers["webhook-id"]) == ("/hook?a=1", "abc/0")
    for secret in (SECRET, FORMER):
        assert Receiver(secret).verify(received.body, dict(received.headers)) == {"name": "Zoë"}


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (200, Done), (204, Done), (302, Refused), (307, Refused), (400, Refused), (401, Refused), (403, Refused),
        (404, Refused), (408, TryLater), (409, TryLater), (410, Refused), (422, Refused), (429, TryLater),
        (500, TryLater), (502, TryLater), (503, TryLater),
    ],
)  # fmt: skip
def test_every_status_has_its_class(receiver: HttpService, status: int, kind: type) -> None:
    receiver.answer = Reply(status, {"location": "/elsewhere", "retry-after": "7"})
    ending = called(receiver.url)
    assert type(ending) is kind
    assert len(receiver.received) == 1
    if isinstance(ending, TryLater):
        assert (ending.about, ending.wait) == ("address", timedelta(seconds=7))


@pytest.mark.parametrize("how", [HANG, DROP])
def test_no_answer_is_unknown(receiver: HttpService, how: str) -> None:
    receiver.answer = how
    assert isinstance(called(receiver.url, timeout_seconds=PATIENCE), Unknown)


@pytest.mark.parametrize(
    "url",
    ["https://127.0.0.1/x", "https://[::1]/", "https://10.0.0.1", "https://169.254.169.254/", "https://localhost"],
)
def test_our_own_network_is_not_called(url: str) -> None:
    ending = called(url, allow_private=False)
    assert ending == Refused(reason="the URL leads into a private network", error_class="forbidden_url")


@pytest.mark.parametrize(("url", "body"), [("http://example.org", {}), ("https://example.org", {"a": "x" * 2_000})])
def test_what_is_open_to_all_or_too_big_is_not_sent(url: str, body: dict[str, Any]) -> None:
    ending = called(url, body, allow_private=False, largest_body=1_000)
    assert isinstance(ending, Refused)
    assert ending.at_fault == "rule"


def test_another_operation_is_refused() -> None:
    call = Call("abc/0", Cause(execution="abc"), datetime.now(UTC))
    assert isinstance(webhooks().perform(fee(), call), Refused)


def test_a_rule_calls_its_address_once(database_url: str, receiver: HttpService) -> None:
    receiver.answer = lambda received: Reply(503 if len(receiver.received) == 1 else 200)
    service = webhooks()

    def services(app: Application) -> dict[str, Any]:
        return {**embedded_services(app), "webhook": service}

    step = {"call_webhook": {"url": f"{receiver.url}/hook", "body": {"booking": "{{ booking.booking_id }}"}}}
    with operator_on(database_url, services=services) as operator:
        operator.record(*scene())
        operator.save(rule("tell", "booking.created", do=[step]))
        operator.record(event("booking.created", BOOKING))
        operator.work()
        operator.clock.advance(timedelta(seconds=11))
        operator.work()
        assert operator.statuses() == [("tell", "done")]
    service.close()
    first, second = receiver.received
    assert (first.headers["webhook-id"], first.body) == (second.headers["webhook-id"], second.body)
    assert first.body == b'{"booking": "b1"}'
