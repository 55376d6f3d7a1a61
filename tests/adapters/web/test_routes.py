"""The routes of the contract over a small history: what is read, what staff do, what is asked for by hand."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import httpx
import pytest

from adapters.database.deliveries import read_deliveries
from adapters.database.engine import reading
from adapters.ingestion.batches import ingest
from tests.adapters.cli.samples import WORLD, booking
from tests.adapters.web.running import served
from tests.adapters.web.site import Site, event

RULES = [
    {"id": "chairs", "when": "booking.created", "do": [{"create_task": {"title": "{{ booking.attendees }} chairs"}}]},
    {
        "id": "large",
        "when": "booking.created",
        "where": ["booking.attendees at least 3"],
        "do": [{"call_webhook": {"url": "https://example.org/x", "body": {}}}],
    },
]


TYPE = "ready.access-instructions"
METRICS = Path(__file__).parents[3] / "docs/reference/metrics.md"
"""What members are told here: its wording needs no more than a booking."""


class Desk:
    """Somebody who may do everything, at a site with a history."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self._headers = {"authorization": f"Bearer {site.token('admin', name='desk')}"}
        self.post("/v1/rules", {"rules": RULES})
        ingest(site.application, [*WORLD, *map(booking, range(1, 6))])
        site.settle()

    def get(self, path: str, expected: int = 200, /, **query: Any) -> Any:
        answer = self.site.client.get(path, headers=self._headers, params=query)
        assert answer.status_code == expected, answer.text
        return answer.json()

    def post(self, path: str, body: Any, status: int = 200) -> Any:
        answer = self.site.client.post(path, headers=self._headers, json=body)
        assert answer.status_code == status, answer.text
        return answer.json() if answer.content else None


@pytest.fixture
def desk(small_site: Site) -> Desk:
    return Desk(small_site)


def pages(desk: Desk, path: str, **query: Any) -> Iterator[list[dict[str, Any]]]:
    page = desk.get(path, **query)
    yield page["items"]
    while page["next"]:
        page = desk.get(path, cursor=page["next"], **query)
        yield page["items"]


@pytest.mark.parametrize("order", ["newest", "oldest"])
def test_pages_of_runs_miss_nothing_and_repeat_nothing_while_more_runs(desk: Desk, order: str) -> None:
    everything = [run["key"] for run in desk.get("/v1/runs", order=order)["items"]]
    turning = pages(desk, "/v1/runs", limit=3, order=order)
    found = [run["key"] for page in islice(turning, 2) for run in page]
    ingest(desk.site.application, [booking(77)])
    desk.site.settle()
    rest = [run["key"] for page in turning for run in page]
    assert (found + rest)[: len(everything)] == everything
    assert len({*found, *rest}) == len(found + rest)


def test_runs_are_found_by_what_they_are(desk: Desk) -> None:
    assert len(desk.get("/v1/runs", rule="chairs")["items"]) == 5
    assert {run["entity"] for run in desk.get("/v1/runs", entity="booking/b4")["items"]} == {"booking/b4"}
    failed = desk.get("/v1/runs", status=["failed", "unknown"])["items"]
    assert {(run["rule"], run["status"]) for run in failed} == {("large", "failed")}
    assert len(failed) == 3
    assert desk.get("/v1/runs", 422, status="finished")["errors"]
    assert desk.get("/v1/runs", 422, cursor="nonsense")["errors"]


def test_a_run_tells_its_whole_story(desk: Desk) -> None:
    key = desk.get("/v1/runs", rule="large", entity="booking/b3")["items"][0]["key"]
    story = desk.get(f"/v1/runs/{key}")
    assert story["wording"]["id"] == "large"
    assert story["conditions"][0]["verdict"] == "true"
    assert story["event"]["type"] == "booking.created"
    assert desk.get("/v1/runs/nothing", 404)["status"] == 404


def test_a_failure_is_a_dossier_on_which_staff_act_under_their_name(desk: Desk) -> None:
    [dossier] = desk.get("/v1/dossiers")["items"]
    assert (dossier["runs"], dossier["operation"]) == (3, "webhook.call")
    place = f"/v1/dossiers/{dossier['dossier']}"
    desk.post(f"{place}/assign", {"to": "ana"}, 204)
    desk.post(f"{place}/notes", {"text": "their server is down"}, 204)
    assert desk.post(f"{place}/dismiss", {}, 422)["errors"]
    dismissed = desk.post(f"{place}/dismiss", {"reason": "not needed"})
    assert (dismissed["done"], len(dismissed["runs"])) == (3, 3)
    desk.site.settle()
    assert desk.get("/v1/dossiers")["items"] == []
    assert [one["dossier"] for one in desk.get("/v1/dossiers", state="closed")["items"]] == [dossier["dossier"]]
    told = desk.get(place)
    assert {each["by"] for each in told["history"] if each["what"] in ("assigned", "noted")} == {"token/desk"}
    acts = [act for run in told["runs"] for act in run["acts"] if act["what"] == "dismissed"]
    assert {act["by"] for act in acts} == {"token/desk"}
    assert desk.get("/v1/dossiers/nothing", 404)


def test_one_run_is_acted_on_alone(desk: Desk) -> None:
    key = desk.get("/v1/runs", rule="large")["items"][0]["key"]
    done = desk.get("/v1/runs", rule="chairs")["items"][0]["key"]
    assert desk.post(f"/v1/runs/{key}/mark-done", {})["done"] == 1
    assert desk.post(f"/v1/runs/{done}/retry", {}, 409)["detail"].startswith("it is done")
    assert desk.post(f"/v1/runs/{done}/run-again", {"reason": "the chairs are gone", "action": 1})["done"] == 1
    assert desk.post("/v1/runs/nothing/retry", {}, 404)
    assert desk.post(f"/v1/runs/{key}/explode", {}, 422)


def test_rules_are_checked_published_and_switched(desk: Desk) -> None:
    wrong = {"id": "wrong", "when": "booking.createt", "do": [{"create_task": {}}]}
    refused = desk.post("/v1/rules/check", {"rules": [RULES[0], wrong]}, 422)
    assert all(fault["pointer"].startswith("#/rules/1/") for fault in refused["errors"])
    assert desk.post("/v1/rules", {"rules": [wrong]}, 422)["errors"]
    good = {"id": "good", "when": "booking.cancelled", "do": [{"create_task": {"title": "x"}}], "enabled": False}
    assert desk.post("/v1/rules/check", {"rules": [good]})["rules"] == ["good"]
    assert desk.post("/v1/rules", {"rules": [good]})["rules"] == [{"rule": "good", "done": "drafted", "version": 1}]
    assert desk.post("/v1/rules", {"rules": [good]})["rules"][0]["done"] == "unchanged"
    assert desk.post("/v1/rules/good/enable", None)["status"] == "enabled"
    assert desk.post("/v1/rules/good/disable", None)["status"] == "disabled"
    assert desk.post("/v1/rules/good/archive", None)["status"] == "archived"
    assert [one["what"] for one in desk.get("/v1/rules/good")["history"]] == [
        "drafted",
        "enabled",
        "disabled",
        "archived",
    ]
    assert desk.post("/v1/rules/nothing/enable", None, 404)
    assert [rule["rule"] for page in pages(desk, "/v1/rules", limit=2) for rule in page] == ["chairs", "good", "large"]


def test_rules_are_rehearsed_without_any_effect(desk: Desk) -> None:
    before = desk.get("/v1/runs")
    answer = desk.post("/v1/rehearsals", {"rules": [{**RULES[1], "id": "new"}], "matching": True})
    assert (answer["complete"], answer["counts"]) == (True, {"would run": 3, "would not run": 2})
    assert {item["entity"] for item in answer["items"]} == {"booking/b3", "booking/b4", "booking/b5"}
    assert desk.post("/v1/rehearsals", {"rule": "chairs"})["counts"] == {"would run": 5}
    assert desk.post("/v1/rehearsals", {"rule": "nothing"}, 404)
    assert desk.post("/v1/rehearsals", {}, 422)
    assert desk.get("/v1/runs") == before


def test_an_operation_is_performed_once_for_its_key(desk: Desk) -> None:
    form = {
        "operation": "tasks.create",
        "idempotency_key": "k1",
        "entity": "booking/b1",
        "values": {"title": "Call Mia"},
    }
    first, again = desk.post("/v1/operations", form), desk.post("/v1/operations", form)
    assert (first["status"], first["repeat"], again["repeat"]) == ("done", False, True)
    assert first["key"] == again["key"]
    other = desk.post("/v1/operations", {**form, "values": {"title": "Call Ben"}}, 422)
    assert "k1" in other["errors"][0]["detail"]
    missing = desk.post("/v1/operations", {**form, "idempotency_key": "k2", "values": {}}, 422)
    assert [fault["pointer"] for fault in missing["errors"]] == ["#/values/title"]
    assert desk.post("/v1/operations", {**form, "operation": "doors.open"}, 422)


def test_an_entity_is_shown_with_what_ran_what_did_not_and_why(desk: Desk) -> None:
    page = desk.get("/v1/entities/booking/b1")
    assert page["facts"]["attendees"] == 1
    assert [run["rule"] for run in page["runs"]] == ["chairs"]
    assert [(one["rule"], one["status"]) for one in page["not_run"]] == [("large", "not run")]
    assert desk.get("/v1/entities/member/m1")["facts"]["name"] == "Mia"
    ingest(desk.site.application, [event(9, "member.erased", member_id="m1")])
    assert desk.get("/v1/entities/member/m1")["facts"]["name"] == "erased"
    assert desk.get("/v1/entities/booking/nothing", 404)
    assert desk.get("/v1/entities/ship/s1", 404)


def test_somebody_is_told_once_for_each_key(desk: Desk) -> None:
    form = {"idempotency_key": "n1", "recipient": "member/m1", "type": "ready.reminders", "channels": ["in_app"]}
    first = desk.post("/v1/notifications", form, 202)
    again = desk.post("/v1/notifications", form, 200)
    assert (first["status"], again["status"]) == ("accepted", "replayed")
    assert desk.post("/v1/notifications", {**form, "recipient": "staff"}, 422)["errors"]
    assert desk.post("/v1/notifications", {**form, "idempotency_key": "n2", "type": "NO SUCH"}, 422)["errors"]
    desk.site.settle()
    page = desk.get(f"/v1/notifications/{first['notification']}")
    assert [delivery["channel"] for delivery in page["deliveries"]] == ["in_app"]
    listed = desk.get("/v1/deliveries", notification=first["notification"])["items"]
    assert listed == page["deliveries"]
    assert desk.get("/v1/notifications/nothing", 404)


def told(desk: Desk, *keys: str) -> None:
    """Tell Mia something in the app."""
    for key in keys:
        form = {"idempotency_key": key, "recipient": "member/m1", "type": TYPE, "channels": ["in_app"]}
        desk.post("/v1/notifications", {**form, "entity": "booking/b1"}, 202)
    desk.site.settle()


def test_an_inbox_is_read_page_by_page_and_message_by_message(desk: Desk) -> None:
    told(desk, "a", "b", "c")
    found = [message for page in pages(desk, "/v1/members/m1/inbox", limit=2) for message in page]
    first = found[0]["message"]
    assert len({message["message"] for message in found}) == 3
    assert desk.post(f"/v1/members/m1/inbox/{first}/read", None) == {"was_unread": True}
    assert desk.post(f"/v1/members/m1/inbox/{first}/read", None) == {"was_unread": False}
    assert desk.post(f"/v1/members/m2/inbox/{first}/read", None, 404)
    desk.site.settle()
    unread = desk.get("/v1/members/m1/inbox", unread="true")["items"]
    assert first not in [message["message"] for message in unread]
    with reading(desk.site.application.engine) as connection:
        stored = read_deliveries(connection, desk.site.application.log.mapper, [first])[first]
    assert stored.read_at is not None


def test_a_stream_sends_what_comes(desk: Desk) -> None:
    told(desk, "before")
    token = desk.site.token("read")
    with (
        served(desk.site.application) as address,
        httpx.Client(base_url=address, headers={"authorization": f"Bearer {token}"}, timeout=30) as client,
        client.stream("GET", "/v1/members/m1/inbox/stream") as answer,
    ):
        assert answer.headers["content-type"].startswith("text/event-stream")
        told(desk, "after")
        assert len(desk.get("/v1/members/m1/inbox")["items"]) == 2
        data = next(line for line in answer.iter_lines() if line.startswith("data:"))
    message = json.loads(data.removeprefix("data:"))
    assert message["type"] == TYPE
    assert message["read_at"] is None


@pytest.mark.parametrize("position", [10**30, -1, True, "7", None, 1.5])
def test_a_made_up_place_in_an_inbox_is_no_cursor(desk: Desk, position: object) -> None:
    place = json.dumps(["2026-01-01T00:00:00+00:00", position]).encode()
    cursor = base64.urlsafe_b64encode(place).decode().rstrip("=")
    assert desk.get("/v1/members/m1/inbox", 422, cursor=cursor)["detail"] is not None


def test_health_and_metrics_say_how_far_behind_the_workers_are(desk: Desk) -> None:
    ingest(desk.site.application, [booking(50)])
    assert desk.site.client.get("/healthz").json() == {"status": "ok"}
    ready = desk.site.client.get("/readyz").json()
    assert (ready["status"], ready["events_behind"]) == ("ready", 1)
    text = desk.site.call("GET", "/metrics", "read").text
    assert 'semel_follower_lag_events{follower="projections"} 2.0' in text
    assert 'semel_runs{status="failed"} 3.0' in text
    assert "semel_watermark_age_seconds" in text


def test_every_metric_is_described_and_nothing_else(desk: Desk) -> None:
    told = set(
        re.findall(r"^# TYPE (\w+?)(?:_created)? ", desk.site.call("GET", "/metrics", "read").text, re.MULTILINE)
    )
    described = set(re.findall(r"^\| `(\w+)`", METRICS.read_text(), re.MULTILINE))
    assert {name.removesuffix("_total") for name in described} == {name.removesuffix("_total") for name in told}


def test_metrics_count_what_came_in_by_what_came_of_it(desk: Desk) -> None:
    def counted(kind: str, outcome: str) -> float:
        found = re.search(
            rf'semel_intake_total{{kind="{kind}",outcome="{outcome}"}} (.+)',
            desk.site.call("GET", "/metrics", "read").text,
        )
        return float(found.group(1)) if found else 0.0

    cases = [
        ("event", "accepted"),
        ("event", "duplicate"),
        ("notification", "accepted"),
        ("notification", "replayed"),
        ("notification", "conflict"),
    ]
    before = {case: counted(*case) for case in cases}
    for _ in range(2):
        desk.site.call("POST", "/v1/events", "events:write", json=booking(51))
    asked = {"idempotency_key": "counted", "recipient": "member/m1", "type": TYPE}
    one = {"authorization": f"Bearer {desk.site.token('notifications:write')}"}  # keys are those of one producer
    for request in (asked, asked, {**asked, "recipient": "staff"}):
        desk.site.call("POST", "/v1/notifications", headers=one, json=request)
    assert {case: counted(*case) - before[case] for case in cases} == dict.fromkeys(cases, 1.0)


def test_a_database_that_is_not_set_up_is_not_ready(small_site: Site) -> None:
    from adapters.database import meta
    from adapters.database.engine import writing

    with writing(small_site.application.engine) as connection:
        meta.remember(connection, meta.SCHEMA_VERSION, "0")
    answer = small_site.client.get("/readyz")
    assert (answer.status_code, answer.headers["content-type"]) == (503, "application/problem+json")


def test_the_reference_page_needs_nothing_from_elsewhere(small_site: Site) -> None:
    page = small_site.client.get("/docs")
    assert "<script" not in page.text
    loaded = re.findall(r"""(?:src|href|url)\s*[=(]\s*["']?(https?:[^"'\s)>]+)""", page.text)
    assert [each for each in loaded if not each.startswith("https://www.rfc-editor.org")] == []
    for path in small_site.client.get("/openapi.json").json()["paths"]:
        assert path in page.text
