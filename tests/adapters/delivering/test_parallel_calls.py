"""Several messages on their way at a time: no more than the channel bears, and no more in doubt than those."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta

import pytest

from adapters.parallel_calls import ParallelCalls
from adapters.points import Point
from automations.notifications.channels import CallEnding
from domain.delivery_events import DeliverySending
from domain.endings import Done, TryLater, Unknown
from tests.adapters.delivering.conftest import opened
from tests.adapters.delivering.office import FakeChannel, Killed, Office
from tests.databases import Databases

WIDTH = 4
DELIVERIES = 10


class Crowd:
    """Counts who is there at a time, and lets nobody go before as many are there as can be."""

    def __init__(self, expected: int) -> None:
        self._expected = expected
        self._condition = threading.Condition()
        self.there = self.most = self.came = 0

    def enter(self) -> None:
        with self._condition:
            self.there += 1
            self.came += 1
            self.most = max(self.most, self.there)
            self._condition.notify_all()
            # Only of the first ones it is known that so many can be there.
            self._condition.wait_for(lambda: self.came >= self._expected, timeout=10)

    def leave(self) -> None:
        with self._condition:
            self.there -= 1


@pytest.fixture
def calls() -> Iterator[ParallelCalls]:
    calls = ParallelCalls({"email": WIDTH})
    yield calls
    calls.close()


def prepared(office: Office, calls: ParallelCalls, channel: FakeChannel) -> None:
    office.channels["email"] = channel
    office.calls = calls
    office.start_anew()
    for number in range(DELIVERIES):
        office.request(f"k{number}/0", type=f"news{number}")


def by_email(office: Office) -> Counter[str]:
    """Count the mails by their state, without what staff are told of them."""
    return Counter(str(row["status"]) for row in office.rows() if row["channel"] == "email")


@pytest.mark.parametrize("honours_keys", [True, False])
def test_as_many_are_on_their_way_as_the_channel_bears(
    office: Office, calls: ParallelCalls, honours_keys: bool
) -> None:
    crowd = Crowd(WIDTH)
    prepared(office, calls, FakeChannel(honours_keys=honours_keys, before=crowd.enter, after=crowd.leave))
    office.settle()
    assert (crowd.most, crowd.there) == (WIDTH, 0)
    assert office.statuses() == {"sent": DELIVERIES}
    assert set(Counter(office.email.calls).values()) == {1}


def test_no_more_have_begun_than_may_be_on_their_way(office: Office, calls: ParallelCalls) -> None:
    prepared(office, calls, FakeChannel(honours_keys=False))
    office.settle()
    under_way = most = 0
    for event in office.events("delivery."):
        under_way += {"delivery.sending": 1, "delivery.sent": -1}.get(event.topic, 0)
        most = max(most, under_way)
    assert (under_way, most) == (0, WIDTH)


def test_each_ends_as_its_own_call_did(office: Office, calls: ParallelCalls) -> None:
    answers: list[CallEnding] = [Done(), TryLater(reason="busy"), Unknown(reason="timed out")]
    channel = FakeChannel(honours_keys=False)
    lock = threading.Lock()

    def next_answer() -> None:
        with lock:
            channel.answer = answers[len(channel.calls) % 3]

    calls = ParallelCalls({"email": 1})
    channel.before = next_answer
    prepared(office, calls, channel)
    office.settle()
    assert by_email(office) == {"sent": 4, "retrying": 3, "unknown": 3}


def test_a_call_that_breaks_off_takes_no_other_with_it(office: Office, calls: ParallelCalls) -> None:
    channel = FakeChannel(honours_keys=False)

    def breaks() -> None:
        if len(channel.calls) % 5 == 0:
            raise RuntimeError("mia@example.org")

    channel.after = breaks
    prepared(office, calls, channel)
    office.settle()
    found = by_email(office)
    assert found["sent"] + found["unknown"] == DELIVERIES
    assert found["unknown"] >= 1


class Bomb:
    """Kills the process at its n-th commit of deliveries."""

    def __init__(self, left: int) -> None:
        self.left = left

    def at(self, point: Point) -> None:
        if point.of in ("lease", "deliver"):
            self.left -= 1
            if self.left == 0:
                raise Killed


@pytest.mark.slow
@pytest.mark.parametrize("left", range(1, 15))
def test_a10_a_death_leaves_no_more_in_doubt_than_were_on_their_way(databases: Databases, left: int) -> None:
    with databases.fresh() as url, opened(url) as office:
        calls = ParallelCalls({"email": WIDTH})
        prepared(office, calls, FakeChannel(honours_keys=False))
        office.app.log.points = Bomb(left).at
        for _ in range(2):
            try:
                office.start_anew()
                office.deliver_for(timedelta(seconds=122), step=timedelta(seconds=61))
            except Killed:
                continue
        calls.close()
        statuses = by_email(office)
        begun = Counter(event.stream for event in office.events() if isinstance(event, DeliverySending))
    assert statuses["sent"] + statuses["unknown"] == DELIVERIES
    assert statuses["unknown"] <= WIDTH
    assert max(Counter(office.email.calls).values()) == 1
    assert set(begun.values()) == {1}
