"""`POST /v1/events`: every mode, every answer, and nothing but what stands in the log is acknowledged."""

from __future__ import annotations

import gzip
import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from httpx import Response

from adapters.database import log_queries
from adapters.database.engine import reading
from adapters.points import Point
from tests.adapters.web.site import Site, event

BOOKING = {
    "booking_id": "b1",
    "resource_id": "r1",
    "member_id": "m1",
    "starts_at": "2026-05-12T10:00:00+02:00",
    "ends_at": "2026-05-12T12:00:00+02:00",
}


def post(site: Site, body: Any, **more: Any) -> Response:
    if isinstance(body, bytes):
        return site.call("POST", "/v1/events", "events:write", content=body, **more)
    return site.call("POST", "/v1/events", "events:write", json=body, **more)


def head(site: Site) -> int:
    with reading(site.application.engine) as connection:
        topics = (row.topic for row in log_queries.events_after(connection, 0, 10_000))
        return sum(not topic.startswith("token.") for topic in topics)


def test_an_event_is_accepted_once_and_then_a_duplicate(site: Site) -> None:
    answers = [post(site, event(1, "booking.created", **BOOKING)) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [202, 202]
    assert [answer.json()["status"] for answer in answers] == ["accepted", "duplicate"]
    assert answers[0].json() == {
        "status": "accepted",
        "source": "tests",
        "id": "e1",
        "event_type": "booking.created",
    }
    assert head(site) == 1


def test_another_content_under_the_same_id_is_a_conflict(site: Site) -> None:
    post(site, event(1, cups=1))
    answer = post(site, event(1, cups=2))
    assert answer.status_code == 409
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["type"] == "urn:semel:problem:conflict"
    assert head(site) == 1


def test_a_wrong_event_is_refused_with_every_fault_and_its_pointer(site: Site) -> None:
    answer = post(site, event(1, "booking.created", **{**BOOKING, "starts_at": "soon", "member_id": None}))
    assert answer.status_code == 422
    assert {fault["pointer"] for fault in answer.json()["errors"]} == {"#/data/starts_at", "#/data/member_id"}
    assert head(site) == 0


def test_a_batch_is_answered_for_each_of_its_events(site: Site) -> None:
    post(site, event(1))
    batch = [event(1), event(1, other=True), {"id": "x"}, event(2)]
    answer = post(site, batch)
    assert answer.status_code == 207
    items = answer.json()["items"]
    assert [item["status"] for item in items] == ["duplicate", "conflict", "refused", "accepted"]
    assert [item["index"] for item in items] == [0, 1, 2, 3]
    assert items[1]["problem"]["status"] == 409
    assert "#/source" in {fault["pointer"] for fault in items[2]["problem"]["errors"]}
    assert head(site) == 2


def test_a_good_batch_is_202_also_an_empty_one(small_site: Site) -> None:
    batched = {"content-type": "application/cloudevents-batch+json"}
    assert post(small_site, json.dumps([event(1), event(2)]).encode(), headers=batched).status_code == 202
    empty = post(small_site, [])
    assert (empty.status_code, empty.json()) == (202, {"items": []})


def test_binary_mode_takes_attributes_from_headers(small_site: Site) -> None:
    headers = {"ce-specversion": "1.0", "ce-id": "e%201", "ce-source": "kitchen", "ce-type": "coffee.made"}
    answer = post(small_site, {"cups": 1}, headers={**headers, "ce-time": "2026-05-01T10:00:00Z"})
    assert answer.status_code == 202
    assert answer.json()["id"] == "e 1"
    timeless = post(small_site, {"cups": 1}, headers=headers)
    assert timeless.status_code == 422
    assert [fault["pointer"] for fault in timeless.json()["errors"]] == ["#/time"]


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (b"{", {"content-type": "application/json"}, 400),
        (b'{"id": "a", "id": "b"}', {"content-type": "application/json"}, 400),
        (b"\xff\xfe", {"content-type": "application/json"}, 400),
        (b"[]", {"content-type": "application/cloudevents+json"}, 422),
        (b"{}", {"content-type": "application/cloudevents-batch+json"}, 400),
        (b"<event/>", {"content-type": "text/xml"}, 415),
        (b"<event/>", {"content-type": "text/xml", "ce-id": "1"}, 415),
        (b"3", {"content-type": "application/json"}, 422),
        (b"", {"content-type": "application/json"}, 400),
    ],
)
def test_what_cannot_be_read_is_refused(small_site: Site, body: bytes, headers: dict[str, str], status: int) -> None:
    answer = post(small_site, body, headers=headers)
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert head(small_site) == 0


def test_packed_bodies_are_unpacked(small_site: Site) -> None:
    packed = gzip.compress(json.dumps(event(1)).encode())
    answer = post(small_site, packed, headers={"content-type": "application/json", "content-encoding": "gzip"})
    assert answer.status_code == 202


def test_many_who_come_at_once_are_committed_together(site: Site) -> None:
    commits: list[Point] = []
    site.application.log.points = commits.append
    token = site.token("events:write")
    headers = {"authorization": f"Bearer {token}"}

    def send(number: int) -> str:
        answer = site.client.post("/v1/events", json=event(number % 30), headers=headers)
        return str(answer.json()["status"])

    with ThreadPoolExecutor(12) as senders:
        statuses = list(senders.map(send, range(60)))
    assert sorted(statuses) == ["accepted"] * 30 + ["duplicate"] * 30
    assert head(site) == 30
    assert len([point for point in commits if point.when == "after commit" and point.of == "ingest"]) < 60


def test_a_token_that_is_revoked_records_nothing_more_at_once(site: Site) -> None:
    token = site.token("events:write", name="bridge")
    headers = {"authorization": f"Bearer {token}"}
    assert site.client.post("/v1/events", json=event(1), headers=headers).status_code == 202
    site.reception.tokens.revoke("bridge", "tests")
    assert site.client.post("/v1/events", json=event(2), headers=headers).status_code == 401
    assert head(site) == 1


def test_only_posts_are_taken(small_site: Site) -> None:
    answer = small_site.call("GET", "/v1/events", "events:write", "read")
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")


def test_a_database_that_is_away_is_told_without_its_name(small_site: Site) -> None:
    token = small_site.token("events:write")
    headers = {"authorization": f"Bearer {token}"}
    small_site.client.post("/v1/events", json=event(1), headers=headers)

    def break_down(_point: Point) -> None:
        from adapters.database.failures import Unreachable

        raise Unreachable("postgresql+psycopg://user@host/secret: no connection")

    small_site.application.log.points = break_down
    answer = small_site.client.post("/v1/events", json=event(2), headers=headers)
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
    assert "secret" not in answer.text
