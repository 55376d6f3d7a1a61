"""Each event becomes one delivery to each webhook that wants it, whoever dies when, and however many work at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from threading import Thread

import pytest
import sqlalchemy as sa

from adapters.database.engine import writing
from adapters.database.schema import events
from adapters.database.webhook_deliveries import PASSED_OVER, WebhookFollower
from adapters.points import Point
from adapters.webhooks.events_out import EventsOut
from adapters.webhooks.opening import line_to_webhooks
from adapters.webhooks.sending import WebhookSender
from domain.errors import Conflict
from tests.adapters.channels.http_service import HttpService, Reply
from tests.adapters.delivering.office import Killed
from tests.adapters.delivering.test_kill_points import LEASE_OVER, Bomb
from tests.adapters.webhooks.place import Place, place_on
from tests.databases import Databases

EVENTS = 6
OURS = ("tell webhooks", "replay to webhooks", "lease", "deliver", "take over")


class InOneThread(EventsOut):
    """Events go out in the thread that runs the rounds, so that a death there is the death of all."""

    def _start(self, ready: Sequence[str]) -> None:
        for channel in ready:
            while self._sender(channel).work_once():
                self._went_on.set()


def process(place: Place) -> InOneThread:
    """Return what one process does for webhooks, as if it had just been started."""
    settings = place.app.settings.webhooks
    return InOneThread(place.app.log, place.clock, line_to_webhooks(settings), lambda: 1.0, settings)


def work_dying(place: Place) -> int:
    """Work until all is done, each death followed by a new process; return how often it died."""
    deaths = 0
    for _ in range(20):
        out = process(place)
        try:
            for _ in range(3):  # what a dead process holds is taken over once it was seen for long enough
                while out.work_once():
                    pass
                place.clock.advance(LEASE_OVER)
        except Killed:
            deaths += 1
        else:
            return deaths
        finally:
            out._line.close()
    raise AssertionError("it never ended")


def played(url: str, service: HttpService, at_step: int) -> tuple[int, int]:
    """Send events to two webhooks, with a death at a step; return how many steps and deaths there were."""
    with place_on(url, service) as place:
        bomb = Bomb()
        service.received.clear()
        place.book("past1", "past2")
        place.add("books", "booking.created")
        place.add("more", "booking.*", path="/more")
        place.book(*(f"b{number}" for number in range(EVENTS)))
        place.desk.replay("books", place.clock.now() - timedelta(hours=1), "ana")

        def at(point: Point) -> None:
            if point.of in OURS:
                bomb.step()

        place.app.log.points = at
        bomb.left = at_step
        deaths = work_dying(place)
        place.app.log.points = lambda point: None
        place.work()
        assert (place.statuses(), place.statuses("more")) == ({"sent": EVENTS + 2}, {"sent": EVENTS})
        for path, number in (("/hook", EVENTS + 2), ("/more", EVENTS)):
            ids = [each.headers["webhook-id"] for each in service.received if each.path == path]
            assert len(set(ids)) == number
        return bomb.passed, deaths


@pytest.mark.slow
def test_a_death_at_any_point_neither_loses_nor_doubles_a_delivery(databases: Databases, service: HttpService) -> None:
    with databases.fresh() as url:
        steps, deaths = played(url, service, -1)
    assert (steps > 20, deaths) == (True, 0)
    for number in range(1, steps + 1):
        with databases.fresh() as url:
            assert played(url, service, number)[1] == 1


def test_two_followers_at_once_make_one_delivery_of_each_event(place: Place) -> None:
    place.add("books", "booking.created")
    place.book(*(f"b{number}" for number in range(20)))
    broken: list[Exception] = []

    def follow() -> None:
        follower = WebhookFollower(place.app.log, place.clock)
        try:
            for _ in range(50):
                try:
                    if not follower.follow():
                        return
                except Conflict:
                    continue
        except Exception as error:  # noqa: BLE001 - shown where the threads are joined
            broken.append(error)

    threads = [Thread(target=follow) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert broken == []
    place.work()
    assert place.statuses() == {"sent": 20}
    assert len(place.service.received) == 20


def test_two_senders_at_once_call_once_for_each_event(place: Place) -> None:
    place.add("books", "booking.created")
    place.book(*(f"b{number}" for number in range(20)))
    follower = WebhookFollower(place.app.log, place.clock)
    while follower.follow():
        pass
    settings = place.app.settings.webhooks
    line = line_to_webhooks(settings)

    def send() -> None:
        sender = WebhookSender(place.app.log, place.clock, "webhook/books", line, lambda: 1.0, settings)
        while sender.work_once():
            pass

    threads = [Thread(target=send) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    line.close()
    place.work()
    assert place.statuses() == {"sent": 20}
    assert set(Counter(each.headers["webhook-id"] for each in place.service.received).values()) == {1}


def test_the_past_is_sent_only_if_asked_for_and_nothing_of_it_twice(place: Place) -> None:
    place.book("b0")
    place.clock.advance(timedelta(hours=2))
    place.book("b1", "b2")
    place.add("books", "booking.created")
    place.book("b3")
    place.work()
    assert place.got() == [("booking.created", "booking/b3")]
    for _ in range(2):
        place.desk.replay("books", place.clock.now() - timedelta(hours=1), "ana")
        place.work()
    assert sorted(entity for _, entity in place.got()) == ["booking/b1", "booking/b2", "booking/b3"]
    assert [event.topic for event in place.events("webhook.")] == ["webhook.added", *["webhook.replayed"] * 2]


def test_what_was_sent_is_not_sent_again_to_one_that_is_added_anew(place: Place) -> None:
    place.add("books", "booking.created")
    place.book("b1")
    place.work()
    place.desk.remove("books", "ana")
    place.add("books", "booking.created")
    place.desk.replay("books", place.clock.now(), "ana")
    place.book("b2")
    place.work()
    assert [entity for _, entity in place.got()] == ["booking/b1", "booking/b2"]


def test_other_topics_count_from_their_change_on(place: Place) -> None:
    place.add("books", "booking.created")
    place.book("b1")
    place.desk.change("books", "ana", topics=["booking.cancelled"])
    place.book("b2")
    place.tell("booking.cancelled", booking_id="b1")
    place.work()
    assert place.got() == [("booking.created", "booking/b1"), ("booking.cancelled", "booking/b1")]


def test_without_webhooks_nothing_is_followed_and_without_matches_nothing_is_committed(place: Place) -> None:
    committed: list[Point] = []
    place.app.log.points = committed.append
    place.book("b1")
    follower = WebhookFollower(place.app.log, place.clock)
    assert not follower.follow()
    place.add("books", "invoice.issued")
    place.book("b2", "b3")
    while follower.follow():
        pass
    assert len(place.events()) < PASSED_OVER
    assert not [point for point in committed if point.of == "tell webhooks"]


def test_a_lane_that_is_held_is_probed_and_lets_the_rest_through(place: Place) -> None:
    place.add("books", "booking.created")
    place.service.answer = Reply(503)
    place.book(*(f"b{number}" for number in range(12)))
    place.work()
    assert len(place.events("lane.held")) == 1
    assert len(place.service.received) <= 8
    place.service.answer = Reply(200)
    place.work(after=timedelta(minutes=2))
    place.work(after=timedelta(minutes=5))
    assert place.statuses() == {"sent": 12}
    assert len(place.events("lane.recovered")) == 1


def test_removing_a_webhook_ends_what_is_known_against_it(place: Place) -> None:
    place.add("books", "booking.created")
    place.service.answer = Reply(503)
    place.book(*(f"b{number}" for number in range(12)))
    place.work()
    place.desk.remove("books", "ana")
    place.work(after=timedelta(days=1))
    assert place.statuses() == {"cancelled": 12}
    assert len(place.events("dossier.opened")) == len(place.events("dossier.closed")) == 1


def test_a_webhook_whose_record_cannot_be_read_stops_no_other(place: Place) -> None:
    place.add("books", "booking.created")
    place.add("bad", "booking.created", path="/bad")
    with writing(place.app.engine) as connection:
        connection.execute(sa.update(events).where(events.c.stream == "webhook/bad").values(state=b"[]"))
    place.book("b1")
    place.work()
    assert (len(place.got()), place.got("/bad")) == (1, [])
