"""The operator's own services over HTTP: what is sent, how each answer ends, and what never comes twice."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from adapters.services.http import AskedHttpService, HttpService
from adapters.services.outside import outside_services
from adapters.services.outside_settings import OutsideService, ServiceSettings
from automations.ports import Call
from domain.commands import Command
from domain.endings import Done, Ending, Misconfigured, Refused, TryLater, Unknown
from domain.events import Cause
from tests.adapters.channels.http_service import CRAWL, DROP, EARLY_DROP, HANG, PATIENCE, Reply
from tests.adapters.services.commands import PAIRS, fee, notification
from tests.adapters.services.reference_service import TOKEN, ReferenceService, once, problem

AT = datetime(2026, 5, 4, 12, tzinfo=UTC)
KEY = "abc/0"


@pytest.fixture
def outside() -> Iterator[ReferenceService]:
    service = ReferenceService()
    yield service
    service.http.close()


def client(outside: ReferenceService, name: str = "billing", **settings: Any) -> HttpService:
    made = outside_services(ServiceSettings.model_validate({name: {**outside.settings, **settings}}))[name]
    assert isinstance(made, HttpService)
    return made


def called(outside: ReferenceService, command: Command | None = None, attempt: int = 1, **settings: Any) -> Ending:
    command = command or fee()
    service = client(outside, command.service, **settings)
    try:
        return service.perform(command, Call(KEY, Cause(execution="abc"), AT, attempt=attempt))
    finally:
        service.close()


@pytest.mark.parametrize("command", [first for first, _ in PAIRS[:-1]], ids=lambda command: command.OPERATION)
def test_what_is_sent_is_as_described_and_comes_back_with_ids(outside: ReferenceService, command: Command) -> None:
    ending = called(outside, command)
    assert outside.faults == []
    assert isinstance(ending, Done)
    assert ending.result
    (sent,) = outside.posts
    assert (sent.headers["idempotency-key"], sent.headers["semel-attempt"]) == (KEY, "1")


def test_a_repeated_key_gets_the_first_answer(outside: ReferenceService) -> None:
    assert called(outside) == called(outside, attempt=2)
    assert len(outside.effects) == 1
    assert [each.headers["semel-attempt"] for each in outside.posts] == ["1", "2"]


STATUSES: list[tuple[int, type]] = [
    *((status, Done) for status in (200, 201, 202, 204)),
    *((status, Misconfigured) for status in (301, 302, 307, 308, 401, 402, 403, 407)),
    *((status, TryLater) for status in (408, 425, 429, 503, 507, 521)),
    *((status, Refused) for status in (400, 404, 405, 409, 410, 413, 415, 422, 451, 501)),
    *((status, Unknown) for status in (303, 500, 502, 504, 520, 599)),
]


@pytest.mark.parametrize(("status", "kind"), STATUSES)
def test_every_status_has_its_class(outside: ReferenceService, status: int, kind: type) -> None:
    outside.before = lambda received: Reply(status, {"location": "/elsewhere"})
    assert type(called(outside)) is kind
    assert len(outside.posts) == 1


@pytest.mark.parametrize("status", [409, 425, 429, 503])
def test_n18_a_wait_that_is_asked_for_is_kept(outside: ReferenceService, status: int) -> None:
    """Delivery trial N18: a conflict with a wait means that the first attempt is still at work, and is no refusal."""
    outside.before = lambda received: Reply(status, {"retry-after": "7"})
    ending = called(outside)
    assert isinstance(ending, TryLater)
    assert ending.wait == timedelta(seconds=7)


def test_a_request_that_took_too_long_is_in_doubt_where_keys_are_not_honoured(outside: ReferenceService) -> None:
    outside.before = lambda received: Reply(408)
    assert isinstance(called(outside, honours_keys=False), Unknown)


@pytest.mark.parametrize("how", [HANG, CRAWL, DROP])
def test_no_answer_after_everything_was_sent_is_unknown(outside: ReferenceService, how: str) -> None:
    outside.before = lambda received: how
    assert isinstance(called(outside, timeout_seconds=PATIENCE), Unknown)


def test_what_never_arrives_is_tried_later(outside: ReferenceService) -> None:
    with_nobody: dict[str, Any] = {"base_url": "http://127.0.0.1:9"}
    with_no_name: dict[str, Any] = {"base_url": "http://no-such-name.invalid"}
    without_tls: dict[str, Any] = {"base_url": outside.http.url.replace("http:", "https:")}
    for settings in (with_nobody, with_no_name, without_tls):
        assert isinstance(called(outside, **settings), TryLater), settings
    assert outside.posts == []


def test_a_connection_that_breaks_early_leaves_no_certainty(outside: ReferenceService) -> None:
    outside.http.answer = EARLY_DROP
    assert isinstance(called(outside), TryLater | Unknown)


@pytest.mark.parametrize(
    "reply",
    [
        Reply(200, {}, b"<html>"),
        Reply(200, {}, b"[" * 50_000),
        Reply(200, {}, b"\xff\x00"),
        Reply(200, {}, b'{"fee_id": {"a": 1}, "other": "x"}'),
        Reply(200, {}, b'{"fee_id": ' + b"9" * 5000 + b"}"),
        Reply(200, {}, b'{"fee_id": "a\\nb"}'),
        Reply(200, {}, b'{"fee', cut_short=True),
        Reply(200, {}, b" " * 200_000),
    ],
)
def test_garbage_in_an_answer_is_done_without_ids(outside: ReferenceService, reply: Reply) -> None:
    outside.before = lambda received: reply
    assert called(outside) == Done()


def test_only_ids_are_kept_and_as_texts(outside: ReferenceService) -> None:
    outside.before = lambda received: Reply(200, {}, json.dumps({"fee_id": 42, "name": "Mia"}).encode())
    assert called(outside) == Done(result={"fee_id": "42"})


def test_a_no_is_told_by_its_title_and_grouped_by_its_type(outside: ReferenceService) -> None:
    about = {"type": "https://example.org/problems/credit-limit", "title": "Over the limit", "detail": "Mia owes 9"}
    outside.before = lambda received: problem(422, **about)
    assert called(outside) == Refused(reason="Over the limit", error_class="credit-limit")


@pytest.mark.parametrize("members", [{"title": 7, "type": []}, {"title": "a\nb"}, {"type": "about:blank"}, {}])
def test_a_no_without_words_is_told_by_its_status(outside: ReferenceService, members: dict[str, Any]) -> None:
    outside.before = lambda received: problem(409, **members)
    assert called(outside) == Refused(reason="the service answered 409")


def test_no_ending_says_the_token(outside: ReferenceService) -> None:
    service = client(outside)
    assert TOKEN not in repr(vars(service)["_settings"])
    for reply in (problem(422, title=f"not with {TOKEN}"), Reply(200, {}, json.dumps({"fee_id": TOKEN}).encode())):
        outside.before = lambda received, reply=reply: reply  # type: ignore[misc]
        assert TOKEN not in called(outside).model_dump_json()


def test_a_wrong_token_is_a_matter_of_set_up(outside: ReferenceService) -> None:
    assert isinstance(called(outside, token="another"), Misconfigured)
    assert isinstance(called(outside, token=""), Misconfigured)


def test_another_service_s_operation_is_refused(outside: ReferenceService) -> None:
    service = client(outside)
    assert isinstance(service.perform(notification(), Call(KEY, Cause(execution="abc"), AT)), Refused)


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (Reply(200, {}, b'{"fee_id": "f1"}'), Done),
        (problem(404, known=False), type(None)),
        (problem(404), Unknown),
        (Reply(404, {}, b"<html>"), Unknown),
        (problem(422, title="no"), Refused),
        (Reply(202), TryLater),
        (Reply(503), TryLater),
        (Reply(500), TryLater),
        (Reply(401), Misconfigured),
        (Reply(302), Unknown),
        (Reply(400), Unknown),
        (DROP, TryLater),
    ],
)
def test_what_became_of_a_key_is_asked(outside: ReferenceService, reply: Reply | str, kind: type) -> None:
    service = client(outside, honours_keys=False, look_up=True, timeout_seconds=PATIENCE)
    assert isinstance(service, AskedHttpService)
    outside.http.answer = reply
    assert isinstance(service.look_up(fee(), Call(KEY, Cause(execution="abc"), AT)), kind)
    assert outside.http.received[0].path == "/requests/abc%2F0"
    service.close()


def test_who_honours_keys_is_not_asked(outside: ReferenceService) -> None:
    assert not isinstance(client(outside, look_up=True), AskedHttpService)
    assert not isinstance(client(outside, honours_keys=False), AskedHttpService)


@pytest.mark.parametrize(
    "wrong",
    [
        {"base_url": "ftp://x"},
        {"base_url": "https://user:pass@x"},
        {"base_url": "https://x/?a"},
        {"token": "a b"},
        {"token": "a\nb"},
        {"timeout_seconds": 0},
        {"other": 1},
    ],
)
def test_wrong_settings_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="validation error"):
        OutsideService.model_validate({"base_url": "https://example.org", **wrong})


def test_bad_once_is_done_in_the_end(outside: ReferenceService) -> None:
    outside.behind = once(DROP)
    assert isinstance(called(outside), Unknown)
    assert called(outside, attempt=2) == Done(result={"fee_id": "fee_id-1"})
    assert len(outside.effects) == 1
