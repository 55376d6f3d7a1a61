"""Push notifications go to each device of a member, and a dead one is told from any other fault (trials J1, J3, J5)."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from adapters.aftercare import device_desk
from adapters.channels.replies.http import Answer
from adapters.channels.replies.push import ending_of_push
from adapters.database.devices import DeviceDesk
from adapters.database.engine import reading
from adapters.database.personal import personal
from automations.notifications.channels import CallEnding, Message
from automations.notifications.types import NotificationType, Types
from domain.endings import Done, Refused, TryLater
from domain.errors import InvalidInput
from tests.adapters.delivering.office import FakeChannel, Office


class PushService(FakeChannel):
    """A push service that gives each endpoint the status that the test says."""

    def __init__(self, **statuses: int) -> None:
        super().__init__()
        self.statuses = statuses

    def send(self, message: Message, key: str) -> CallEnding:
        self.before()
        self.calls.append(key)
        name = json.loads(message.address)["endpoint"].rpartition("/")[2]
        return ending_of_push(Answer(self.statuses.get(name, 201), {}), message.at)


@pytest.fixture
def pushing(office: Office) -> Office:
    """An office in which news go to devices."""
    office.types = Types({"news": NotificationType(channels=("web_push",))})
    office.channels["web_push"] = PushService()
    office.start_anew()
    return office


def subscription(name: str, keys: str = "k") -> dict[str, Any]:
    return {"endpoint": f"https://push.example/{name}", "keys": {"p256dh": keys, "auth": keys}}


def register(office: Office, *names: str, member: str = "m1", keys: str = "k") -> list[str]:
    found = [device_desk(office.app).register(member, "web", subscription(name, keys)).id for name in names]
    office.worker.work_until_idle()
    return found


def use(office: Office, service: PushService) -> PushService:
    office.use_channel("web_push", service)
    return service


def states(office: Office) -> dict[str, str]:
    return {row["address"].removeprefix("device/"): row["status"] for row in office.rows(channel="web_push")}


def alive(office: Office) -> set[str]:
    office.worker.work_until_idle()
    return {row["device"] for row in device_desk(office.app).of("m1") if row["invalidated_at"] is None}


def test_each_device_gets_its_own_delivery_with_its_own_subscription(pushing: Office) -> None:
    devices = register(pushing, "phone", "laptop")
    pushing.request()
    pushing.settle()
    assert states(pushing) == dict.fromkeys(devices, "sent")
    rows = pushing.rows(channel="web_push")
    assert len({(row["notification"], row["channel"], row["address"]) for row in rows}) == 2


def test_without_a_device_the_delivery_is_skipped_and_says_so(pushing: Office) -> None:
    pushing.request()
    pushing.settle()
    [row] = pushing.rows(channel="web_push")
    assert (row["status"], row["reason"]) == ("skipped", "no address for web_push")


def test_a_device_that_was_withdrawn_meanwhile_gets_nothing(pushing: Office) -> None:
    [device] = register(pushing, "phone")
    service = use(pushing, PushService(phone=503))
    pushing.request()
    pushing.settle()
    assert device_desk(pushing.app).withdraw("m1", device, by="m1")
    assert not device_desk(pushing.app).withdraw("m1", device)
    pushing.deliver_for(timedelta(hours=1))
    assert (states(pushing), len(service.calls)) == ({device: "skipped"}, 1)


def test_j1_404_and_410_end_the_registration_with_the_delivery(pushing: Office) -> None:
    lost, gone, good, ill = register(pushing, "lost", "gone", "good", "ill")
    use(pushing, PushService(lost=404, gone=410, ill=500))
    pushing.request()
    pushing.settle()
    assert states(pushing) == {lost: "failed", gone: "failed", good: "sent", ill: "retrying"}
    assert alive(pushing) == {good, ill}
    dead = pushing.events("device.invalidated")
    failed = {event.stream: event for event in pushing.events("delivery.failed")}
    assert len(dead) == 2
    assert all(f"delivery/{event.delivery}" in failed for event in dead)  # type: ignore[attr-defined]


@pytest.mark.parametrize("status", [400, 401, 403, 413, 429, 503])
def test_j3_any_other_answer_keeps_the_registration(pushing: Office, status: int) -> None:
    [device] = register(pushing, "phone")
    use(pushing, PushService(phone=status))
    pushing.request()
    pushing.settle()
    assert alive(pushing) == {device}


def test_a_subscription_that_cannot_be_used_ends_its_registration(pushing: Office) -> None:
    [device] = register(pushing, "phone")
    pushing.use_channel("web_push", FakeChannel(answer=Refused(reason="unreadable", error_class="bad_token")))
    pushing.request("k/1")
    pushing.settle()
    assert (states(pushing), alive(pushing)) == ({device: "failed"}, set())
    register(pushing, "phone", keys="others")
    assert alive(pushing) == {device}


def test_a_subscription_that_cannot_be_used_does_not_end_a_newer_registration(pushing: Office) -> None:
    [device] = register(pushing, "phone")
    channel = FakeChannel(answer=Refused(reason="unreadable", error_class="bad_token"))
    channel.after = lambda: register(pushing, "phone", keys="others")
    pushing.use_channel("web_push", channel)
    pushing.request("k/1")
    pushing.settle()
    assert (states(pushing), alive(pushing)) == ({device: "failed"}, {device})


def test_j5_the_class_of_a_refusal_counts_and_never_its_words(pushing: Office) -> None:
    [device] = register(pushing, "phone")
    channel = FakeChannel(answer=Refused(reason="410 Gone: unsubscribed or expired", error_class="refused"))
    pushing.use_channel("web_push", channel)
    pushing.request()
    pushing.settle()
    assert alive(pushing) == {device}


def test_j1_a_subscription_that_came_anew_during_the_call_survives(pushing: Office) -> None:
    [device] = register(pushing, "phone")
    service = use(pushing, PushService(phone=410))

    def subscribes_anew() -> None:
        device_desk(pushing.app).register("m1", "web", subscription("phone", "other keys"))

    service.before = subscribes_anew
    pushing.request()
    pushing.settle()
    assert (states(pushing), alive(pushing)) == ({device: "failed"}, {device})


class TestFirstOf:
    """The next channel only where every device has failed."""

    @pytest.fixture
    def falling_back(self, pushing: Office) -> Office:
        pushing.types = Types({"news": NotificationType(first_of=("web_push", "email"))})
        pushing.start_anew()
        return pushing

    def emails(self, office: Office) -> list[str]:
        return [row["status"] for row in office.rows(channel="email") if row["type"] == "news"]

    def test_one_device_that_works_is_enough(self, falling_back: Office) -> None:
        register(falling_back, "gone", "good")
        use(falling_back, PushService(gone=410))
        falling_back.request()
        falling_back.settle()
        assert self.emails(falling_back) == []

    def test_where_all_fail_there_is_one_mail(self, falling_back: Office) -> None:
        register(falling_back, "gone", "lost", "bad")
        use(falling_back, PushService(gone=410, lost=404, bad=400))
        falling_back.request()
        falling_back.settle()
        assert self.emails(falling_back) == ["sent"]

    def test_where_there_is_no_device_there_is_a_mail_at_once(self, falling_back: Office) -> None:
        falling_back.request()
        falling_back.settle()
        assert self.emails(falling_back) == ["sent"]

    def test_a_channel_that_follows_reaches_every_device(self, pushing: Office) -> None:
        pushing.types = Types({"news": NotificationType(first_of=("sms", "web_push"))})
        pushing.start_anew()
        devices = register(pushing, "phone", "laptop")
        pushing.request()
        pushing.settle()
        assert states(pushing) == dict.fromkeys(devices, "sent")


class TestRegistering:
    """What can be registered, and by whom."""

    def test_the_same_subscription_twice_is_one_device_and_one_event(self, pushing: Office) -> None:
        desk = device_desk(pushing.app)
        first = desk.register("m1", "web", subscription("phone"))
        again = desk.register("m1", "web", json.dumps(subscription("phone")))
        assert first == again
        assert len(pushing.events("device.registered")) == 1

    def test_a_browser_that_somebody_else_signs_in_to_is_theirs_alone(self, pushing: Office) -> None:
        pushing.tell("member.registered", member_id="m2", name="Ana")
        register(pushing, "shared")
        [device] = register(pushing, "shared", member="m2")
        pushing.request()
        pushing.settle()
        assert states(pushing) == {"member/m1": "skipped"}
        with pytest.raises(InvalidInput, match="has no device"):
            device_desk(pushing.app).withdraw("m1", device)

    @pytest.mark.parametrize("platform", ["android", "ios"])
    def test_a_phone_has_a_token_and_no_channel_here_sends_to_it(self, pushing: Office, platform: Any) -> None:
        phone = device_desk(pushing.app).register("m1", platform, "a token")
        pushing.request("k/1")
        pushing.settle()
        assert states(pushing) == {"member/m1": "skipped"}
        [browser] = register(pushing, "laptop")
        service = use(pushing, PushService())
        pushing.request("k/2")
        pushing.settle()
        assert states(pushing) == {"member/m1": "skipped", browser: "sent"}
        assert (len(service.calls), alive(pushing)) == (1, {phone.id, browser})

    @pytest.mark.parametrize(
        "endpoint",
        [
            "http://push.example/1",
            "http://169.254.169.254/",
            "https://169.254.169.254/",
            "https://127.0.0.1:8443/",
            "https://2130706433/",
            "https://0x7f.1/",
            "https://[::1]/",
            "https://[::ffff:10.0.0.1]/",
            "https://localhost/",
            "https://localhost./",
            "https://intranet/",
            "https://push.internal/",
            "https://mia:secret@push.example/",
            "https://push.example:99999/",
            "https://push.example/a b",
            "https://",
            "//push.example/",
        ],
    )
    def test_an_endpoint_is_https_and_in_no_private_network(self, pushing: Office, endpoint: str) -> None:
        with pytest.raises(InvalidInput, match="the endpoint of a subscription"):
            device_desk(pushing.app).register("m1", "web", {**subscription("x"), "endpoint": endpoint})
        assert pushing.events("device.") == []

    def test_an_endpoint_may_be_anywhere_where_the_channel_allows_it(self, pushing: Office) -> None:
        desk = DeviceDesk(pushing.app.log, pushing.clock, pushing.app.salt, allow_private=True)
        told = {**subscription("x"), "endpoint": "http://127.0.0.1:8000/x"}
        assert desk.register("m1", "web", told).is_reachable

    @pytest.mark.parametrize("wrong", ["{}", "[]", "", "x" * 5000, {"endpoint": "ftp://x", "keys": {}}, {"keys": 1}])
    def test_what_is_no_subscription_is_refused(self, pushing: Office, wrong: Any) -> None:
        with pytest.raises(InvalidInput):
            device_desk(pushing.app).register("m1", "web", wrong)

    def test_nobody_is_registered_for_a_member_that_does_not_exist(self, pushing: Office) -> None:
        with pytest.raises(InvalidInput, match="no member"):
            device_desk(pushing.app).register("nobody", "web", subscription("phone"))

    def test_the_subscription_goes_with_the_member(self, pushing: Office) -> None:
        register(pushing, "phone")
        assert "push.example" not in repr(pushing.events("device."))
        query = sa.select(sa.func.count()).where(personal.c.ref.like("device/%"))
        with reading(pushing.app.engine) as connection:
            assert connection.scalar(query) == 1
        pushing.tell("member.erased", member_id="m1")
        with reading(pushing.app.engine) as connection:
            assert connection.scalar(query) == 0


def test_later_is_no_reason_to_forget_a_device(pushing: Office) -> None:
    [device] = register(pushing, "phone")
    pushing.use_channel("web_push", FakeChannel(answer=TryLater(reason="busy")))
    pushing.request()
    pushing.deliver_for(timedelta(hours=2))
    assert alive(pushing) == {device}
    pushing.use_channel("web_push", FakeChannel(answer=Done()))
    pushing.request("k/2")
    pushing.settle()
    assert pushing.rows(channel="web_push")[-1]["status"] == "sent"
