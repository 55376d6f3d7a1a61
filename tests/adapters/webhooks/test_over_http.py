"""Administrators look after webhooks over HTTP; a secret is told once, to whoever made it, and never again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.adapters.channels.http_service import HttpService
from tests.adapters.web.site import START, Site, site_on
from tests.adapters.webhooks.place import verifies

FORM = {"id": "books", "topics": ["booking.*", "member.registered"]}
FACT = {"id": "1", "source": "t", "type": "member.registered", "time": START.isoformat(), "data": {"member_id": "m1"}}


@pytest.fixture
def site(database_url: str) -> Iterator[Site]:
    """A site whose webhooks may be on this machine."""
    with site_on(database_url, webhooks={"allow_private": True}) as found:
        yield found


def ask(site: Site, method: str, path: str = "", **more: Any) -> Any:
    return site.call(method, f"/v1/webhooks{path}", "admin", **more)


def add(site: Site, service: HttpService, **changes: Any) -> Any:
    return ask(site, "POST", json={**FORM, "url": f"{service.url}/hook", **changes})


def test_a_webhook_over_its_whole_life(site: Site, service: HttpService) -> None:
    made = add(site, service)
    assert (made.status_code, set(made.json())) == (201, {"webhook", "secret"})
    old = made.json()["secret"]
    fact = {**FACT, "data": {"member_id": "m1", "name": "Mia"}}
    assert site.call("POST", "/v1/events", "events:write", json=fact).status_code == 202
    site.settle()
    assert [verifies(each, old) for each in service.received] == [True]
    new = ask(site, "POST", "/books/rotate", json={"both_hours": 1}).json()["secret"]
    for act in ("pause", "resume", "test", "retry"):
        answer = ask(site, "POST", f"/books/{act}")
        assert (answer.status_code, answer.json()["refused"]) == (200, {})
    assert ask(site, "POST", "/books/replay", json={"since": START.isoformat()}).status_code == 202
    site.settle()
    assert [(verifies(each, old), verifies(each, new)) for each in service.received[1:]] == [(True, True)]
    changed = ask(site, "PATCH", "/books", json={"topics": ["invoice.*"]})
    assert changed.json()["topics"] == ["invoice.*"]
    shown = ask(site, "GET", "/books")
    assert (shown.json()["status"], shown.json()["deliveries"]) == ("enabled", {"sent": 2})
    assert [each["what"] for each in shown.json()["history"]] == [
        "added", "rotated", "paused", "resumed", "tested", "replayed", "changed",
    ]  # fmt: skip
    assert all(each["by"].startswith("token/") for each in shown.json()["history"])
    listed = ask(site, "GET").json()
    assert [each["webhook"] for each in listed["items"]] == ["books"]
    assert not any(secret in shown.text + changed.text + str(listed) for secret in (old, new))
    metrics = site.call("GET", "/metrics", "read").text
    assert 'semel_delivery_states_total{channel="webhook/books"' in metrics
    assert ask(site, "DELETE", "/books").status_code == 204
    assert ask(site, "GET", "/books").status_code == 404
    assert ask(site, "GET").json() == {"items": [], "next": None}


@pytest.mark.parametrize(
    ("changes", "pointer", "detail"),
    [
        ({"topics": ["booking.creted"]}, "#/topics/0", "did you mean booking.created?"),
        ({"topics": ["bookings.*"]}, "#/topics/0", "did you mean booking.*?"),
        ({"topics": ["token.created"]}, "#/topics/0", "there is no topic"),
        ({"topics": ["webhook.added"]}, "#/topics/0", "there is no topic"),
        ({"topics": ["x\u0000"]}, "#/topics/0", "there is no topic"),
        ({"url": "ftp://example.org/"}, "#/url", "is no URL"),
        ({"url": "http://user:pw@example.org/"}, "#/url", "is no URL"),
        ({"id": "Über"}, "#/id", "a-z"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(
    site: Site, service: HttpService, changes: dict[str, Any], pointer: str, detail: str
) -> None:
    answer = add(site, service, **changes)
    [fault] = answer.json()["errors"]
    assert (answer.status_code, fault["pointer"]) == (422, pointer)
    assert detail in fault["detail"]


def test_one_id_stands_for_one_webhook(site: Site, service: HttpService) -> None:
    assert add(site, service).status_code == 201
    again = add(site, service)
    assert (again.status_code, again.json()["errors"][0]["pointer"]) == (422, "#/id")


def test_what_is_paused_cannot_be_tested(site: Site, service: HttpService) -> None:
    add(site, service)
    ask(site, "POST", "/books/pause")
    assert ask(site, "POST", "/books/test").status_code == 422


def test_http_is_refused_where_nothing_private_may_be_called(sqlite_url: str, service: HttpService) -> None:
    with site_on(sqlite_url) as site:
        answer = add(site, service)
        assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "#/url")


def test_pages_of_webhooks_follow_one_another(site: Site, service: HttpService) -> None:
    for number in range(3):
        add(site, service, id=f"w{number}")
    first = ask(site, "GET", "?limit=2").json()
    second = ask(site, "GET", f"?limit=2&cursor={first['next']}").json()
    assert [each["webhook"] for each in first["items"] + second["items"]] == ["w0", "w1", "w2"]
    assert second["next"] is None
