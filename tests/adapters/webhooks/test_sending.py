"""Events arrive at webhooks: signed, once each, whatever the receiver answers, and never a secret with them."""

from __future__ import annotations

import json
import threading
from datetime import timedelta
from typing import Any

import pytest

from adapters.application import embedded_services
from adapters.database.engine import writing
from adapters.database.personal import erase
from adapters.settings import Settings
from adapters.webhooks.pages import retry_failed
from automations.ports import Call
from domain.commands import RequestNotification
from domain.dossiers import cause_of_delivery
from domain.endings import Done
from domain.events import Cause
from tests.adapters.channels.http_service import DROP, HANG, PATIENCE, HttpService, Received, Reply
from tests.adapters.webhooks.place import Place, place_on, verifies
from tests.architecture.tree import ROOT

MINUTE = timedelta(minutes=1)
DAY = timedelta(days=1)


def test_from_its_adding_on_a_webhook_gets_what_it_asked_for(place: Place) -> None:
    place.book("b0")
    secret = place.add("books", "booking.*", "payment.received")
    place.book("b1")
    place.tell("booking.cancelled", booking_id="b1")
    place.tell("member.registered", member_id="m2", name="Ana")
    place.work()
    assert place.got() == [("booking.created", "booking/b1"), ("booking.cancelled", "booking/b1")]
    assert all(verifies(each, secret) for each in place.service.received)
    assert not verifies(place.service.received[0], "whsec_" + "A" * 43 + "=")
    assert place.statuses() == {"sent": 2}


def test_the_envelope_is_what_the_manual_says(place: Place) -> None:
    place.add("books", "booking.created")
    place.book("b1")
    place.work()
    [told] = place.received()
    [received] = place.service.received
    assert set(told) == {"type", "timestamp", "data"}
    assert told["timestamp"] == place.clock.now().isoformat().replace("+00:00", "Z")
    assert {"entity": "booking/b1", "version": 1, "source": "tests", "execution": None}.items() <= told["data"].items()
    assert told["data"]["fields"]["member_id"] == "m1"
    assert received.headers["content-type"] == "application/json"
    assert received.headers["webhook-id"] == place.rows()[0]["delivery"]


def test_events_arrive_in_the_order_in_which_they_were_recorded(place: Place) -> None:
    place.add("books", "booking.created")
    wanted = [f"b{number}" for number in range(30)]
    place.book(*wanted)
    place.work()
    assert [entity for _, entity in place.got()] == [f"booking/{each}" for each in wanted]


def test_personal_values_are_looked_up_when_they_are_sent(place: Place) -> None:
    place.add("people", "member.registered", path="/people")
    place.service.answer = Reply(503)
    place.tell("member.registered", member_id="m2", name="Zoë", email="zoe@example.org")
    place.work()
    assert place.received("/people")[0]["data"]["fields"]["name"] == "Zoë"
    with writing(place.app.engine) as connection:
        erase(connection, "m2")
    place.service.answer = Reply(204)
    place.work(after=MINUTE)
    fields = place.received("/people")[-1]["data"]["fields"]
    assert (fields["member_id"], fields["name"], fields["email"]) == ("m2", None, None)
    with writing(place.app.engine) as connection:  # nothing of it was kept beside the deliveries
        assert "Zoë" not in str(connection.exec_driver_sql("SELECT value FROM personal").all())


def test_an_event_of_an_unknown_type_can_be_asked_for_once_there_was_one(place: Place) -> None:
    place.tell("door.opened", door="d1")
    place.add("doors", "door.opened", path="/doors")
    place.tell("door.opened", door="d2")
    place.work()
    assert [(each["type"], each["data"]["fields"]["door"]) for each in place.received("/doors")] == [
        ("door.opened", "d2")
    ]


@pytest.mark.parametrize("answer", [Reply(500), Reply(302), Reply(400), Reply(401), Reply(429), DROP])
def test_whatever_is_not_a_yes_is_tried_again_with_the_same_id(place: Place, answer: Reply | str) -> None:
    secret = place.add("books", "booking.created")
    place.service.answer = answer
    place.book("b1")
    place.work()
    assert place.statuses() == {"retrying": 1}
    place.service.answer = Reply(200)
    place.work(after=MINUTE)
    first, second = place.service.received
    assert (first.headers["webhook-id"], first.body) == (second.headers["webhook-id"], second.body)
    assert verifies(second, secret)
    assert place.statuses() == {"sent": 1}


def test_silence_is_tried_again_too(database_url: str, service: HttpService) -> None:
    with place_on(database_url, service, timeout_seconds=PATIENCE) as place:
        place.add("books", "booking.created")
        service.answer = HANG
        place.book("b1")
        place.work()
        assert (place.statuses(), place.rows()[0]["last_error"]) == ({"retrying": 1}, "no answer came in time")
        service.answer = Reply(200)
        place.work(after=MINUTE)
        assert place.statuses() == {"sent": 1}
        assert len({each.headers["webhook-id"] for each in service.received}) == 1


def test_a_receiver_that_takes_nothing_for_the_whole_schedule_is_paused(place: Place) -> None:
    place.add("books", "booking.created")
    place.service.answer = Reply(500)
    place.book("b1")
    began = place.clock.now()
    place.work()
    while place.statuses() == {"retrying": 1}:
        place.work(after=place.rows()[0]["next_attempt_at"] - place.clock.now())
    assert len(place.service.received) == 10
    assert timedelta(hours=75) < place.clock.now() - began <= timedelta(hours=76)
    webhook = place.desk.get("books")
    assert webhook is not None
    assert webhook.paused_at is not None
    assert "nothing arrived since" in webhook.pause_reason
    assert "semel.webhook-paused" in place.notices()
    assert place.statuses() == {"failed": 1}
    place.book("b2")
    place.work(after=DAY)
    assert place.statuses() == {"failed": 1, "pending": 1}
    place.service.answer = Reply(200)
    place.desk.resume("books", "ana")
    assert [each.refused for each in retry_failed(place.app, "books", "ana")] == [""]
    place.work()
    place.work(after=MINUTE)
    assert place.statuses() == {"sent": 2}


def test_one_event_that_a_receiver_never_takes_pauses_nothing(place: Place) -> None:
    place.add("books", "booking.created")
    place.service.answer = lambda received: Reply(400 if b"booking/bad" in received.body else 200)
    place.book("bad")
    for number in range(90):
        place.book(f"b{number}")
        place.work(after=timedelta(hours=1))
    assert place.statuses() == {"sent": 90, "failed": 1}
    webhook = place.desk.get("books")
    assert webhook is not None
    assert webhook.paused_at is None
    cause = cause_of_delivery("webhook/books", "gave_up")
    assert cause.dossier in {getattr(event, "dossier", "") for event in place.events("dossier.opened")}


def test_410_pauses_at_once(place: Place) -> None:
    place.add("books", "booking.created")
    place.service.answer = Reply(410)
    place.book(*(f"b{number}" for number in range(20)))
    place.work()
    assert 1 <= len(place.service.received) <= 4
    assert [event.topic for event in place.events("webhook.")] == ["webhook.added", "webhook.paused"]
    assert place.notices().count("semel.webhook-paused") == 1
    place.service.answer = Reply(200)
    place.desk.resume("books", "ana")
    retry_failed(place.app, "books", "ana")
    place.work()
    assert place.statuses() == {"sent": 20}


def test_a_receiver_that_hangs_holds_back_neither_others_nor_members(database_url: str, service: HttpService) -> None:
    let_go = threading.Event()

    def answer(received: Received) -> Reply:
        if received.path == "/slow":
            let_go.wait(60)
        return Reply(200)

    with place_on(database_url, service, timeout_seconds=60) as place:
        place.add("slow", "booking.created", path="/slow")
        place.add("books", "booking.created")
        service.answer = answer
        place.book(*(f"b{number}" for number in range(8)))
        command = RequestNotification(entity="member/m1", to="member/m1", type="news", channels=("in_app",))
        call = Call(key="k/0", cause=Cause(execution="nobody's"), at=place.clock.now())
        assert isinstance(embedded_services(place.app)["notifications"].perform(command, call), Done)
        while place.statuses() != {"sent": 8} or place.told() != {"sent": 1}:
            place.crew.work_once()
        assert len([each for each in service.received if each.path == "/slow"]) == 1
        assert "sent" not in place.statuses("slow")
        let_go.set()
        place.work()
        assert place.statuses("slow") == {"sent": 8}


def test_what_is_paused_waits_and_what_is_removed_is_cancelled(place: Place) -> None:
    place.add("books", "booking.created")
    place.desk.pause("books", "ana")
    place.book("b1", "b2")
    place.work()
    assert (place.service.received, place.statuses()) == ([], {"pending": 2})
    place.desk.resume("books", "ana")
    place.work()
    assert place.statuses() == {"sent": 2}
    place.desk.pause("books", "ana")
    place.book("b3")
    place.work()
    place.desk.remove("books", "ana")
    place.book("b4")
    place.work()
    place.work()
    assert place.statuses() == {"sent": 2, "cancelled": 1}
    assert [getattr(event, "by", "") for event in place.events("webhook.")] == ["ana"] * 5


def test_both_secrets_sign_for_a_while(place: Place) -> None:
    old = place.add("books", "booking.created")
    new = place.desk.rotate("books", "ana").secret
    place.book("b1")
    place.work()
    place.book("b2")
    place.work(after=DAY)
    both, one = place.service.received
    assert [verifies(both, old), verifies(both, new)] == [True, True]
    assert [verifies(one, old), verifies(one, new)] == [False, True]


def test_secrets_stand_neither_in_the_log_nor_in_anything_that_is_sent(place: Place) -> None:
    secrets = [place.add("books", "booking.created", "delivery.*", "dossier.*", "execution.*")]
    secrets.append(place.desk.rotate("books", "ana").secret)
    place.book("b1")
    place.desk.test("books", "ana")
    place.work()
    logged = " ".join(event.model_dump_json() for event in place.events())
    sent = b" ".join(each.body for each in place.service.received).decode()
    assert not any(secret.removeprefix("whsec_") in logged + sent for secret in secrets)
    place.desk.remove("books", "ana")
    with writing(place.app.engine) as connection:
        assert "whsec_" not in str(connection.exec_driver_sql("SELECT value FROM personal").all())


def test_deliveries_to_webhooks_do_not_feed_themselves(place: Place) -> None:
    place.add("books", "booking.created", "delivery.*")
    place.book("b1")
    for _ in range(3):
        place.work(after=MINUTE)
    assert place.got() == [("booking.created", "booking/b1")]


def test_a_test_arrives_whatever_was_asked_for(place: Place) -> None:
    place.add("books", "invoice.*")
    place.desk.test("books", "ana")
    place.work()
    assert place.got() == [("webhook.tested", "webhook/books")]


@pytest.mark.parametrize("url", ["https://127.0.0.1:{port}/hook", "https://localhost:{port}/", "https://[::1]:{port}/"])
def test_nothing_is_called_inside_our_own_network(database_url: str, service: HttpService, url: str) -> None:
    with place_on(database_url, service, allow_private=False) as place:
        place.desk.add("books", url.format(port=service.port), ["booking.created"], "ana")
        place.book("b1")
        place.work()
        assert (service.connections, place.statuses()) == (0, {"failed": 1})
        assert "private network" in place.rows()[0]["reason"]


def test_by_default_nothing_private_is_called() -> None:
    assert Settings.model_validate({"database_url": "sqlite:///x.db"}).webhooks.allow_private is False


def test_a_body_is_ascii_so_that_everybody_signs_the_same_bytes(place: Place) -> None:
    place.add("people", "member.registered", path="/people")
    place.tell("member.registered", member_id="m2", name="Zoë 👋")
    place.work()
    [received] = place.service.received
    assert received.body.isascii()
    assert json.loads(received.body)["data"]["fields"]["name"] == "Zoë 👋"


def test_the_code_of_the_manual_verifies_what_arrives(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    manual = (ROOT / "docs" / "how-to" / "send-events-out.md").read_text(encoding="utf-8")
    code: dict[str, Any] = {}
    exec(manual.partition("```python\n")[2].partition("```")[0], code)
    secret = place.add("books", "booking.*")
    place.desk.rotate("books", "ana")
    place.book("b1")
    place.tell("booking.cancelled", booking_id="b1", reason="ill")
    place.work()
    told = json.loads(manual.partition("```json\n")[2].partition("```")[0])
    assert [told.keys(), told["data"].keys()] == [place.received()[-1].keys(), place.received()[-1]["data"].keys()]
    monkeypatch.setattr("time.time", lambda: place.clock.now().timestamp() + 60)
    received = place.service.received[0]
    assert code["verified"](secret, received.headers, received.body)
    assert not code["verified"](secret, received.headers, received.body + b" ")
    monkeypatch.setattr("time.time", lambda: place.clock.now().timestamp() + 600)
    assert not code["verified"](secret, received.headers, received.body)
