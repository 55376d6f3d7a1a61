"""Who gets in: a table of every route, every scope, every role, and every way of not being let in."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute

from adapters.web.access.callers import Caller
from adapters.web.api.building import ROUTERS
from adapters.web.api.doors import scopes_of, unguarded
from adapters.web.api.events import PATH
from adapters.web.api.gate import is_open
from domain.accounts import ROLES, SCOPES, SCOPES_OF
from tests.adapters.web.site import PASSWORD, Site, event, site_on
from tests.databases import SQLiteDatabases

OPEN = {
    ("GET", "/healthz"),
    ("GET", "/readyz"),
    ("GET", "/docs"),
    ("GET", "/openapi.json"),
    ("POST", "/v1/session"),
    ("POST", "/v1/callbacks/{provider}"),
    ("GET", "/unsubscribe/{token}"),
    ("POST", "/unsubscribe/{token}"),
}
"""All that anybody may ask for; a line here is a decision."""

NEEDED = {
    ("POST", "/v1/events"): "events:write",
    ("POST", "/v1/notifications"): "notifications:write",
    ("GET", "/v1/notifications/{notification}"): "read",
    ("POST", "/v1/operations"): "operations:write",
    ("GET", "/v1/rules"): "read",
    ("GET", "/v1/rules/{rule}"): "read",
    ("POST", "/v1/rules/check"): "read",
    ("POST", "/v1/rules"): "rules:write",
    ("POST", "/v1/rules/{rule}/enable"): "rules:write",
    ("POST", "/v1/rules/{rule}/disable"): "rules:write",
    ("POST", "/v1/rules/{rule}/archive"): "rules:write",
    ("POST", "/v1/rehearsals"): "read",
    ("GET", "/v1/runs"): "read",
    ("GET", "/v1/runs/{key}"): "read",
    ("POST", "/v1/runs/{key}/{act}"): "dossiers:write",
    ("GET", "/v1/dossiers"): "read",
    ("GET", "/v1/dossiers/{dossier}"): "read",
    ("POST", "/v1/dossiers/{dossier}/assign"): "dossiers:write",
    ("POST", "/v1/dossiers/{dossier}/notes"): "dossiers:write",
    ("POST", "/v1/dossiers/{dossier}/{act}"): "dossiers:write",
    ("GET", "/v1/deliveries"): "read",
    ("GET", "/v1/entities/{kind}/{id:path}"): "read",
    ("GET", "/v1/members/{id:path}/inbox"): "read",
    ("POST", "/v1/members/{id:path}/inbox/{message}/read"): "notifications:write",
    ("GET", "/v1/members/{id:path}/inbox/stream"): "read",
    ("GET", "/v1/members/{id:path}/preferences"): "read",
    ("POST", "/v1/members/{id:path}/preferences"): "notifications:write",
    ("GET", "/v1/members/{id:path}/devices"): "read",
    ("POST", "/v1/members/{id:path}/devices"): "notifications:write",
    ("DELETE", "/v1/members/{id:path}/devices/{device}"): "notifications:write",
    ("GET", "/v1/webhooks"): "admin",
    ("POST", "/v1/webhooks"): "admin",
    ("GET", "/v1/webhooks/{webhook}"): "admin",
    ("PATCH", "/v1/webhooks/{webhook}"): "admin",
    ("DELETE", "/v1/webhooks/{webhook}"): "admin",
    ("POST", "/v1/webhooks/{webhook}/rotate"): "admin",
    ("POST", "/v1/webhooks/{webhook}/replay"): "admin",
    ("POST", "/v1/webhooks/{webhook}/{act}"): "admin",
    ("GET", "/v1/session"): "",
    ("DELETE", "/v1/session"): "",
    ("GET", "/metrics"): "read",
}
"""What each route needs; the empty text is for any known caller."""

STREAMS = ("GET", "/v1/members/{id:path}/inbox/stream")
"""What never ends once it has begun: it is asked for with a real server elsewhere."""

VALUES = {
    "{rule}": "check",
    "{key}": "a" * 64,
    "{act}": "retry",
    "{dossier}": "d1",
    "{kind}": "booking",
    "{id:path}": "m1",
    "{message}": "x1",
    "{notification}": "n1",
    "{device}": "d1",
    "{provider}": "standard",
    "{token}": "none",
    "{webhook}": "w1",
}

Route = tuple[str, str]


def routes() -> Iterator[tuple[Route, APIRoute]]:
    """Give every route of the application."""
    for router in ROUTERS:
        for route in router.routes:
            assert isinstance(route, APIRoute)
            for method in route.methods or ():
                yield (method, route.path), route


@pytest.fixture(scope="module")
def shared_site(sqlite_databases: SQLiteDatabases) -> Iterator[Site]:
    """One site for the tables, whose lines do not get in each other's way."""
    with sqlite_databases.fresh() as url, site_on(url) as found:
        yield found


def filled(path: str) -> str:
    for name, value in VALUES.items():
        path = path.replace(name, value)
    return path


def asked(site: Site, route: Route, **more: Any) -> int:
    """Return the status that a route answers with."""
    method, path = route
    body: dict[str, Any] = {"json": {}} if method == "POST" else {}
    return site.client.request(method, filled(path), **body, **more).status_code


def let_in(status: int) -> bool:
    return status not in (401, 403)


def test_every_route_stands_in_the_table() -> None:
    found = {place: scopes_of(route) for place, route in routes()} | {("POST", PATH): ["events:write"]}
    assert {place: scopes[0] for place, scopes in found.items() if scopes} == NEEDED
    assert {place for place, scopes in found.items() if not scopes} | {("GET", "/openapi.json")} == OPEN


def test_a_route_that_nobody_guards_is_found() -> None:
    router = APIRouter()
    router.add_api_route("/v1/secrets", lambda: "all of them", methods=["GET"])
    assert list(unguarded(router.routes)) == ["GET /v1/secrets"]
    app = FastAPI()
    app.include_router(router)  # whatever kind of route that makes, it does not pass unseen
    assert list(unguarded(app.routes))


@pytest.mark.parametrize("route", [*NEEDED, ("GET", "/v1/nothing"), ("PUT", "/"), ("DELETE", "/docs")])
def test_nobody_unknown_gets_in(shared_site: Site, route: Route) -> None:
    for headers in (
        {},
        {"authorization": "Bearer nonsense"},
        {"authorization": "Bearer " + "x" * 10_000},
        {"authorization": "Basic YTpi"},
        {"authorization": "Bearer"},
        {"cookie": "semel_session=nonsense"},
        {"cookie": "semel_session="},
    ):
        assert asked(shared_site, route, headers=headers) == 401, headers


@pytest.mark.parametrize("route", [route for route in NEEDED if route != STREAMS])
def test_a_token_gets_in_with_the_scope_that_is_needed_and_with_no_other(shared_site: Site, route: Route) -> None:
    for scope in SCOPES:
        headers = {"authorization": f"Bearer {shared_site.token(scope)}"}
        may = scope in (NEEDED[route], "admin") or not NEEDED[route]
        assert let_in(asked(shared_site, route, headers=headers)) is may, scope


@pytest.mark.parametrize("role", ROLES)
def test_a_user_gets_in_where_their_role_does(shared_site: Site, role: str) -> None:
    shared_site.user(role, role)
    browser = shared_site.browser(role)
    for (method, path), scope in NEEDED.items():
        if (method, path) == STREAMS or path == "/v1/session":
            continue
        body: dict[str, Any] = {"json": {}} if method == "POST" else {}
        status = browser.call(method, filled(path), **body).status_code
        assert let_in(status) is (scope in SCOPES_OF[role]), (method, path, status)  # type: ignore[index]


def test_what_is_open_is_open(small_site: Site) -> None:
    for method, path in OPEN:
        assert is_open(method, path)
        assert small_site.client.request(method, path).status_code in (200, 404, 422)


class TestTokens:
    """What a token is worth, and when."""

    def test_only_its_hash_is_kept(self, site: Site) -> None:
        import sqlalchemy as sa

        from adapters.database.account_tables import tokens
        from adapters.database.engine import reading

        text = site.token("read")
        with reading(site.application.engine) as connection:
            row = str(connection.execute(sa.select(tokens)).one())
            log = str(connection.execute(sa.text("SELECT state FROM events")).all())
        assert text not in row
        assert text not in log
        assert "token" in log or "name" in log

    def test_it_ends(self, site: Site) -> None:
        text = site.reception.tokens.create("bridge", ["read"], "tests", timedelta(days=1)).text
        headers = {"authorization": f"Bearer {text}"}
        assert site.client.get("/v1/runs", headers=headers).status_code == 200
        site.clock.advance(timedelta(days=1))
        assert site.client.get("/v1/runs", headers=headers).status_code == 401

    def test_its_use_is_written_down_once_a_minute(self, site: Site) -> None:
        headers = {"authorization": f"Bearer {site.token('read')}"}
        seen = []
        for seconds in (0, 30, 40):
            site.clock.advance(timedelta(seconds=seconds))
            site.client.get("/v1/runs", headers=headers)
            seen.append(site.reception.tokens.listed()[0].last_used_at)
        assert seen[0] == seen[1]
        assert seen[2] is not None
        assert seen[0] is not None
        assert seen[2] - seen[0] == timedelta(seconds=70)

    def test_its_acts_are_recorded_under_its_name(self, site: Site) -> None:
        rule = {"id": "r", "when": "booking.created", "do": [{"create_task": {"title": "x"}}]}
        text = site.token("rules:write", "read", name="publisher")
        headers = {"authorization": f"Bearer {text}"}
        assert site.client.post("/v1/rules", json={"rules": [rule]}, headers=headers).status_code == 200
        history = site.client.get("/v1/rules/r", headers=headers).json()["history"]
        assert {each["by"] for each in history} == {"token/publisher"}


def test_under_a_rotated_token_nothing_is_done_twice_and_the_former_one_ends(site: Site) -> None:
    former = site.token("notifications:write", name="crm")
    other = site.reception.tokens.rotate("crm", "tests").text
    form = {"idempotency_key": "k1", "recipient": "staff", "type": "ready.reminders"}

    def ask(token: str) -> int:
        headers = {"authorization": f"Bearer {token}"}
        return site.client.request("POST", "/v1/notifications", headers=headers, json=form).status_code

    assert [ask(former), ask(other), ask(former)] == [202, 200, 200]
    site.clock.advance(timedelta(hours=24))
    assert [ask(former), ask(other)] == [401, 200]


class TestSessions:
    """How somebody signs in, stays in, and gets out."""

    @pytest.mark.parametrize(
        "wrong", [{"password": ["hunter2"]}, {"password": "hunter2" * 1000}, {"pasword": "hunter2"}, {"user": 7}]
    )
    def test_no_answer_repeats_what_may_be_a_password(self, small_site: Site, wrong: dict[str, Any]) -> None:
        sign_in = {"user": "ana", "password": "hunter2 and more"} | wrong
        answer = small_site.client.post("/v1/session", json=sign_in)
        assert answer.status_code == 422
        assert answer.json()["errors"]
        assert "hunter2" not in answer.text

    def test_a_cookie_that_scripts_cannot_read_is_set_anew_at_each_sign_in(self, site: Site) -> None:
        site.user("ana", "viewer")
        sign_in = {"user": "ana", "password": PASSWORD}
        first = site.client.post("/v1/session", json=sign_in)
        cookie = first.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "samesite=strict" in cookie.lower()
        old = site.client.cookies["semel_session"]
        second = site.client.post("/v1/session", json=sign_in)
        assert site.client.cookies["semel_session"] != old
        assert first.json()["csrf_token"] != second.json()["csrf_token"]
        stale = site.client.another().get("/v1/session", headers={"cookie": f"semel_session={old}"})
        assert stale.status_code == 401

    def test_over_https_the_cookie_stays_there(self, small_site: Site) -> None:
        small_site.user("ana", "viewer")
        sign_in = {"user": "ana", "password": PASSWORD}
        answer = small_site.client.post("https://semel.test/v1/session", json=sign_in)
        assert "Secure" in answer.headers["set-cookie"]
        assert "strict-transport-security" in answer.headers

    def test_it_is_over_when_nobody_came_for_too_long_and_after_a_day_of_work(self, site: Site) -> None:
        site.user("ana", "viewer")
        browser = site.browser("ana")
        for _ in range(14):
            site.clock.advance(timedelta(minutes=50))
            assert browser.call("GET", "/v1/runs").status_code == 200
        site.clock.advance(timedelta(minutes=50))  # twelve hours have passed by now
        assert browser.call("GET", "/v1/runs").status_code == 401
        browser = site.browser("ana")
        site.clock.advance(timedelta(minutes=61))
        assert browser.call("GET", "/v1/runs").status_code == 401

    def test_signing_out_ends_it(self, site: Site) -> None:
        site.user("ana", "viewer")
        browser = site.browser("ana")
        secret = browser.client.cookies["semel_session"]
        assert browser.call("DELETE", "/v1/session").status_code == 204
        stolen = site.client.get("/v1/session", headers={"cookie": f"semel_session={secret}"})
        assert stolen.status_code == 401

    @pytest.mark.parametrize("change", ["role", "password", "disable"])
    def test_whatever_changes_about_a_user_ends_it(self, site: Site, change: str) -> None:
        site.user("ana", "admin")
        browser = site.browser("ana")
        users = site.reception.users
        {
            "role": lambda: users.give_role("ana", "viewer", "tests"),
            "password": lambda: users.set_password("ana", "another long sentence", "tests"),
            "disable": lambda: users.disable("ana", "tests"),
        }[change]()
        assert browser.call("GET", "/v1/runs").status_code == 401

    def test_a_disabled_user_cannot_sign_in(self, site: Site) -> None:
        site.user("ana", "admin")
        site.reception.users.disable("ana", "tests")
        assert site.client.post("/v1/session", json={"user": "ana", "password": PASSWORD}).status_code == 401


class TestForgery:
    """What other sites may make a browser ask for."""

    def test_a_change_needs_the_token_that_only_our_pages_know(self, site: Site) -> None:
        site.user("ana", "admin")
        site.user("ben", "admin")
        browser, other = site.browser("ana"), site.browser("ben")
        for csrf in ("", "wrong", other.csrf):
            answer = browser.client.post("/v1/rules", json={"rules": []}, headers={"x-csrf-token": csrf})
            assert answer.status_code == 403
        assert browser.call("POST", "/v1/rules", json={"rules": []}).status_code == 200

    @pytest.mark.parametrize(
        "headers",
        [{"origin": "https://evil.test"}, {"origin": "null"}, {"sec-fetch-site": "cross-site"}],
    )
    def test_what_another_site_sends_is_refused(self, small_site: Site, headers: dict[str, str]) -> None:
        small_site.user("ana", "admin")
        browser = small_site.browser("ana")
        assert browser.call("POST", "/v1/rules", json={"rules": []}, headers=headers).status_code == 403
        sign_in = {"user": "ana", "password": PASSWORD}
        assert small_site.client.post("/v1/session", json=sign_in, headers=headers).status_code == 403
        assert browser.call("GET", "/v1/runs", headers=headers).status_code == 200

    def test_our_own_pages_may(self, small_site: Site) -> None:
        small_site.user("ana", "admin")
        headers = {"origin": "http://semel.test", "sec-fetch-site": "same-origin"}
        assert small_site.browser("ana").call("POST", "/v1/rules", json={"rules": []}, headers=headers).is_success

    def test_a_form_of_another_site_cannot_sign_anybody_in(self, small_site: Site) -> None:
        small_site.user("ana", "admin")
        content = f'{{"user": "ana", "password": "{PASSWORD}"}}'
        answer = small_site.client.post("/v1/session", content=content, headers={"content-type": "text/plain"})
        assert answer.status_code in (415, 422)


class TestGuessing:
    """Passwords are not guessed."""

    def test_who_fails_too_often_waits_longer_each_time(self, site: Site) -> None:
        site.user("ana", "viewer")
        guess = {"user": "ana", "password": "not the right one"}
        assert [site.client.post("/v1/session", json=guess).status_code for _ in range(5)] == [401] * 5
        first = site.client.post("/v1/session", json={"user": "ana", "password": PASSWORD})
        assert (first.status_code, first.headers["retry-after"]) == (429, "5")
        site.clock.advance(timedelta(seconds=5))
        assert site.client.post("/v1/session", json=guess).status_code == 401
        second = site.client.post("/v1/session", json=guess)
        assert (second.status_code, second.headers["retry-after"]) == (429, "10")
        site.clock.advance(timedelta(seconds=10))
        assert site.client.post("/v1/session", json={"user": "ana", "password": PASSWORD}).status_code == 200
        assert site.client.post("/v1/session", json=guess).status_code == 401

    def test_a_name_that_nobody_has_looks_the_same(self, small_site: Site) -> None:
        small_site.user("ana", "viewer")
        answers = [
            small_site.client.post("/v1/session", json={"user": name, "password": "x"}).json()
            for name in ("ana", "bob")
        ]
        assert answers[0] == answers[1]

    def test_what_was_typed_stands_nowhere(self, small_site: Site, capsys: pytest.CaptureFixture[str]) -> None:
        guess = {"user": "hunter2hunter2", "password": "tr0ub4dor-and-3"}
        answer = small_site.client.post("/v1/session", json=guess)
        wrong = small_site.client.post("/v1/session", json={"user": ["tr0ub4dor-and-3"], "password": 7})
        told = answer.text + capsys.readouterr().err
        assert "tr0ub4dor" not in told
        assert "hunter2" not in told
        assert wrong.status_code == 422


def test_a_caller_may_what_its_scopes_say() -> None:
    reader = Caller("token", "t", "token/t", frozenset({"read"}), b"")
    admin = Caller("user", "a", "a", frozenset({"admin"}), b"")
    assert reader.may("read")
    assert not reader.may("events:write")
    assert all(admin.may(scope) for scope in SCOPES)


def test_events_of_a_signed_in_admin_are_taken(small_site: Site) -> None:
    small_site.user("ana", "admin")
    assert small_site.browser("ana").call("POST", "/v1/events", json=event(1)).status_code == 202
