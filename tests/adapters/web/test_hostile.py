"""Hostile requests are refused, cheaply, and nothing of ours gets out with the refusal."""

from __future__ import annotations

import asyncio
import gzip
import json
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog
from starlette.types import Message, Receive, Scope, Send

from adapters.web.api.bodies import BoundedBodies, Limits, is_too_deep
from adapters.web.api.gate import HEADERS
from tests.adapters.web.site import Site, event

JSON = {"content-type": "application/json"}
PATHS = ("/v1/events", "/v1/rules/check")
"""One that is read by hand, and one that the framework reads."""


def post(site: Site, path: str, content: bytes, **headers: str) -> int:
    answer = site.call("POST", path, "events:write", "read", content=content, headers={**JSON, **headers})
    assert answer.headers["content-type"] == "application/problem+json"
    return answer.status_code


@pytest.mark.parametrize("path", PATHS)
class TestBodies:
    """Bodies that would take memory or time."""

    def test_too_many_bytes(self, small_site: Site, path: str) -> None:
        largest = small_site.application.settings.http.largest_body
        assert post(small_site, path, b'"' + b"x" * largest) == 413

    def test_a_length_that_lies(self, small_site: Site, path: str) -> None:
        assert post(small_site, path, b"{}", **{"content-length": "99999999999"}) == 413
        assert post(small_site, path, b"{}", **{"content-length": "-1"}) == 413

    def test_a_packed_body_that_grows(self, small_site: Site, path: str) -> None:
        bomb = gzip.compress(b"[" + b"0," * 50_000_000 + b"0]", compresslevel=1)
        assert len(bomb) < small_site.application.settings.http.largest_body
        assert post(small_site, path, bomb, **{"content-encoding": "gzip"}) == 413

    def test_a_bomb_within_a_bomb_stays_packed(self, small_site: Site, path: str) -> None:
        bomb = gzip.compress(gzip.compress(b"0" * 10_000_000))
        assert post(small_site, path, bomb, **{"content-encoding": "gzip"}) == 400

    def test_what_is_not_packed_as_it_says(self, small_site: Site, path: str) -> None:
        good = gzip.compress(b"{}")
        for content in (b"{}", good[:-5], good + b"more", zlib.compress(b"{}")):
            assert post(small_site, path, content, **{"content-encoding": "gzip"}) == 400

    @pytest.mark.parametrize("encoding", ["br", "deflate", "gzip, gzip", "zstd"])
    def test_other_ways_of_packing(self, small_site: Site, path: str, encoding: str) -> None:
        assert post(small_site, path, b"{}", **{"content-encoding": encoding}) == 415

    @pytest.mark.parametrize("opening", [b"[", b'{"a":', b'[{"a":'])
    def test_deep_nesting(self, small_site: Site, path: str, opening: bytes) -> None:
        assert post(small_site, path, opening * 100_000) == 400

    def test_numbers_without_an_end(self, small_site: Site, path: str) -> None:
        assert post(small_site, path, b"9" * 1_000_000) in (400, 422)
        assert post(small_site, path, b"1e999999999") in (400, 422)
        assert post(small_site, path, b"NaN") == 400 or path != "/v1/events"

    def test_half_characters_and_nul(self, small_site: Site, path: str) -> None:
        assert post(small_site, path, rb'{"id": "\ud800"}') in (400, 422)
        assert post(small_site, path, rb'{"rules": [{"id": "a\u0000"}], "id": "\u0000"}') == 422


class TestBrackets:
    """How deep JSON is nested is counted without reading it."""

    @pytest.mark.parametrize(
        ("body", "deep"),
        [
            (b"[[[]]]", False),
            (b"[[[[]]]]", True),
            (b'["[[[[[["]', False),
            (rb'["\"[[[[[["]', False),
            (rb'["\\",[[[]]]]', True),
            (b"[],[],[],[]", False),
            (b'{"a":{"b":{"c":{}}}}', True),
            (b'"[[[[', False),
            (b"]]]][[[", False),
        ],
    )
    def test_only_real_ones_count(self, body: bytes, deep: bool) -> None:
        assert is_too_deep(body, 3) is deep

    def test_a_large_text_takes_no_time(self) -> None:
        assert not is_too_deep(b'"' + b"\\[" * 2_000_000, 50)
        assert not is_too_deep(b"[" + b'"[",' * 500_000 + b"1]", 50)


class TestAddresses:
    """Addresses that mean something else to a file system or a log."""

    @pytest.mark.parametrize(
        "path",
        [
            "/v1/entities/booking/../../../../etc/passwd",
            "/v1/entities/booking/..%2f..%2fetc%2fpasswd",
            "/v1/members/..%2f..%2f/inbox",
            "/docs/../../etc/passwd",
            "/docs%2f..%2fetc",
            "//v1/runs/../rules",
            "/v1/rules/%00",
            "/v1/runs/%0d%0aset-cookie:%20a=b",
            "/v1/entities/%ff/%fe",
        ],
    )
    def test_they_lead_nowhere(self, small_site: Site, path: str) -> None:
        answer = small_site.call("GET", path, "read")
        assert answer.status_code in (200, 404, 422), answer.text
        assert "root:" not in answer.text
        assert "set-cookie" not in answer.headers

    def test_a_header_cannot_be_smuggled_in(self, small_site: Site) -> None:
        headers = {
            "ce-id": "a%0d%0aset-cookie:b=c",
            "ce-source": "s",
            "ce-type": "t",
            "ce-time": "2026-05-01T10:00:00Z",
        }
        answer = small_site.call("POST", "/v1/events", "events:write", headers=headers)
        assert answer.status_code == 422
        assert "set-cookie" not in answer.headers


class TestWhatGetsOut:
    """Answers and logs."""

    def test_every_answer_is_safe_for_browsers(self, small_site: Site) -> None:
        for path in ("/healthz", "/v1/runs", "/nothing", "/docs", "/openapi.json"):
            answer = small_site.client.get(path)
            for name, value in HEADERS:
                assert name.decode() in answer.headers, path
                if name != b"content-security-policy":
                    assert answer.headers[name.decode()] == value.decode()
            assert "default-src 'none'" in answer.headers["content-security-policy"]
            assert "script" not in answer.headers["content-security-policy"]

    def test_a_fault_of_ours_says_nothing_of_itself(self, small_site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
        def broken(_self: object) -> None:
            raise ZeroDivisionError("the secret is 42")

        monkeypatch.setattr("adapters.application.Application.rules", broken)
        with structlog.testing.capture_logs() as logged:
            answer = small_site.call("GET", "/v1/rules", "read")
        assert answer.status_code == 500
        assert answer.json()["type"] == "urn:semel:problem:fault"
        assert "42" not in answer.text
        assert "http.fault" in [entry["event"] for entry in logged]

    def test_a_token_in_the_wrong_place_is_not_repeated(self, small_site: Site) -> None:
        token = small_site.token("read")
        for path in (f"/v1/runs?rule={token}x", f"/v1/rules/{token}", f"/v1/{token}"):
            answer = small_site.client.get(path, headers={"authorization": f"Bearer {token}"})
            assert token not in answer.text

    def test_a_repeated_wrong_value_is_cut(self, small_site: Site) -> None:
        body = json.dumps({**event(1), "time": "x" * 100_000}).encode()
        answer = small_site.call("POST", "/v1/events", "events:write", content=body, headers=JSON)
        assert answer.status_code == 422
        assert len(answer.text) < 5_000

    def test_no_file_of_the_machine_is_served(self, small_site: Site, tmp_path: Path) -> None:
        assert small_site.call("GET", f"/{tmp_path}", "admin").status_code == 404


def test_who_sends_too_slowly_is_sent_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adapters.web.api.bodies.LONGEST_SECONDS", 0.05)
    sent: list[Message] = []

    async def never(_scope: Scope, _receive: Receive, _send: Send) -> None:
        raise AssertionError("nobody is handed half a body")

    async def keep(message: Message) -> None:
        sent.append(message)

    async def slowly() -> Message:
        await asyncio.sleep(0.02)
        return {"type": "http.request", "body": b"x", "more_body": True}

    scope = {"type": "http", "method": "POST", "headers": []}
    asyncio.run(BoundedBodies(never, Limits(1_000, 50))(scope, slowly, keep))
    assert sent[0]["status"] == 408


def test_who_leaves_half_way_is_forgotten() -> None:
    async def never(*_: object) -> None:
        raise AssertionError("nobody is handed half a body")

    messages: Iterator[Message] = iter(
        [{"type": "http.request", "body": b"x", "more_body": True}, {"type": "http.disconnect"}]
    )

    async def leave() -> Message:
        return next(messages)

    scope = {"type": "http", "method": "POST", "headers": []}
    asyncio.run(BoundedBodies(never, Limits(1_000, 50))(scope, leave, never))
