"""What comes back after a message went out: reports of providers, wishes of members, their devices, the way out."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from adapters.settings import read_settings
from automations.notifications.unsubscribing import Leaving, token_of
from domain.preferences import Subject
from tests.adapters.web.site import START, Site, site_on

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
BROWSER = {"endpoint": "https://push.example.org/1", "keys": {"auth": "a", "p256dh": "b"}}


@pytest.fixture
def site(database_url: str) -> Iterator[Site]:
    """A site with one member, and a provider that signs what it reports."""
    callbacks = {"standard": {"secrets": [SECRET], "channel": "email"}}
    with site_on(database_url, callbacks=callbacks, public_url="https://semel.example.org") as found:
        told = {"member_id": "m1", "name": "Mia", "email": "mia@example.org"}
        fact = {"id": "1", "source": "t", "type": "member.registered", "time": START.isoformat(), "data": told}
        assert found.call("POST", "/v1/events", "events:write", json=fact).status_code == 202
        found.settle()
        yield found


def signed(site: Site, body: str, *, id: str = "msg_1", ago: timedelta = timedelta()) -> dict[str, str]:
    from standardwebhooks.webhooks import Webhook

    at = site.clock.now() - ago
    signature = Webhook(SECRET).sign(id, at, body)
    return {"webhook-id": id, "webhook-timestamp": str(int(at.timestamp())), "webhook-signature": signature}


def report(site: Site, headers: dict[str, str], body: str, provider: str = "standard") -> Any:
    return site.client.request("POST", f"/v1/callbacks/{provider}", content=body, headers=headers)


BODY = '{"events": [{"id": "e1", "event": "delivered", "provider_message_id": "p1"}]}'


class TestCallbacks:
    """Nobody has a token here: a signature says who it is."""

    def test_a_signed_report_is_kept_and_a_repeat_is_known(self, site: Site) -> None:
        headers = signed(site, BODY)
        first, again = report(site, headers, BODY), report(site, headers, BODY)
        assert (first.status_code, again.status_code) == (200, 200)
        assert first.json()["new"] >= 1
        assert again.json()["new"] == 0

    @pytest.mark.parametrize("ago", [timedelta(minutes=10), -timedelta(minutes=10)], ids=["stale", "ahead"])
    def test_forged_stale_and_unsigned_reports_are_refused(self, site: Site, ago: timedelta) -> None:
        assert report(site, signed(site, BODY, ago=ago), BODY).status_code in (401, 403)
        assert report(site, signed(site, BODY), BODY.replace("p1", "p2")).status_code in (401, 403)
        assert report(site, {}, BODY).status_code in (401, 403)

    def test_a_provider_that_is_not_set_up_is_not_there(self, site: Site) -> None:
        assert report(site, signed(site, BODY), BODY, "twilio").status_code == 404


class TestPreferences:
    """What a member wants to be told."""

    def test_a_wish_is_noted_and_forgotten(self, site: Site) -> None:
        path = "/v1/members/m1/preferences"
        wish = {"type": "ready.reminders", "channel": "email", "enabled": False}
        assert site.call("POST", path, "notifications:write", json=wish).json() == {"preferences": [wish]}
        assert site.call("GET", path, "read").json() == {"preferences": [wish]}
        forgotten = site.call("POST", path, "notifications:write", json={**wish, "enabled": None})
        assert forgotten.json() == {"preferences": []}

    @pytest.mark.parametrize(
        ("member", "wish", "told"),
        [
            ("m1", {"type": "redy.reminders"}, "did you mean ready.reminders?"),
            ("m1", {"channel": "emial"}, "did you mean email?"),
            ("m404", {"type": "ready.reminders"}, "there is no member 'm404'"),
        ],
    )
    def test_a_wish_about_what_there_is_not_is_refused(
        self, site: Site, member: str, wish: dict[str, str], told: str
    ) -> None:
        answer = site.call(
            "POST", f"/v1/members/{member}/preferences", "notifications:write", json={**wish, "enabled": False}
        )
        assert answer.status_code == 422
        assert told in answer.text


class TestDevices:
    """Where a member gets pushes."""

    def test_a_device_is_registered_once_and_withdrawn(self, site: Site) -> None:
        path, form = "/v1/members/m1/devices", {"platform": "web", "subscription": BROWSER}
        first, again = (site.call("POST", path, "notifications:write", json=form) for _ in range(2))
        assert (first.status_code, first.json()["device"]) == (201, again.json()["device"])
        site.settle()
        [listed] = site.call("GET", path, "read").json()
        assert listed["device"] == first.json()["device"]
        assert "push.example.org" not in str(listed)
        withdrawn = site.call("DELETE", f"{path}/{listed['device']}", "notifications:write")
        assert withdrawn.json() == {"was_registered": True}

    @pytest.mark.parametrize("form", [{"platform": "web", "subscription": "x"}, {"platform": "fax"}])
    def test_what_is_no_device_is_refused(self, site: Site, form: dict[str, Any]) -> None:
        answer = site.call("POST", "/v1/members/m1/devices", "notifications:write", json=form)
        assert answer.status_code == 422

    @pytest.mark.parametrize("endpoint", ["http://push.example.org/1", "http://169.254.169.254/", "https://[fe80::1]/"])
    def test_what_must_not_be_called_is_not_registered(self, site: Site, endpoint: str) -> None:
        form = {"platform": "web", "subscription": {**BROWSER, "endpoint": endpoint}}
        answer = site.call("POST", "/v1/members/m1/devices", "notifications:write", json=form)
        assert (answer.status_code, "endpoint" in answer.text) == (422, True)

    def test_nobody_has_no_devices(self, site: Site) -> None:
        form = {"platform": "web", "subscription": BROWSER}
        assert site.call("POST", "/v1/members/m2/devices", "notifications:write", json=form).status_code == 422


class TestTheWayOut:
    """RFC 8058: programs follow links, so only a POST acts."""

    def test_a_get_shows_a_page_and_a_post_acts(self, site: Site) -> None:
        token = token_of(Leaving("m1", Subject("news", "email")), site.application.salt)
        page = site.client.request("GET", f"/unsubscribe/{token}")
        assert (page.status_code, "news" in page.text) == (200, True)
        assert site.call("GET", "/v1/members/m1/preferences", "read").json() == {"preferences": []}
        for _ in range(2):
            done = site.client.request("POST", f"/unsubscribe/{token}", content="List-Unsubscribe=One-Click")
            assert done.status_code == 200
        [wish] = site.call("GET", "/v1/members/m1/preferences", "read").json()["preferences"]
        assert wish == {"type": "news", "channel": "email", "enabled": False}

    def test_a_link_that_was_not_made_here_says_nothing(self, site: Site) -> None:
        token = token_of(Leaving("m1", Subject("news", "email")), b"another salt")
        for method in ("GET", "POST"):
            answer = site.client.request(method, f"/unsubscribe/{token}")
            assert answer.status_code == 422
            assert "m1" not in answer.text


def test_the_settings_of_a_provider_are_read() -> None:
    assert read_settings(callbacks={"standard": {"secrets": [SECRET], "channel": "email"}}).callbacks.standard
