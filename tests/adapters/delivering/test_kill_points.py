"""The process dies at each point in turn: nothing is lost, nothing is sent twice that can be helped."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta

import pytest

from adapters.points import Point
from automations.notifications.types import NotificationType, Types
from domain.endings import Refused
from tests.adapters.delivering.conftest import opened
from tests.adapters.delivering.office import FakeChannel, Killed, Office
from tests.databases import Databases

DELIVERIES = 2
LEASE_OVER = timedelta(seconds=61)


class Bomb:
    """Kills the process at its n-th step."""

    def __init__(self) -> None:
        self.left = -1
        self.passed = 0

    def step(self) -> None:
        self.passed += 1
        self.left -= 1
        if self.left == 0:
            raise Killed

    def at(self, point: Point) -> None:
        if point.of in ("expand", "lease", "deliver", "take over"):
            self.step()


def prepared(office: Office, bomb: Bomb, *, honours_keys: bool) -> FakeChannel:
    channel = FakeChannel(honours_keys=honours_keys, before=bomb.step, after=bomb.step)
    office.channels["email"] = channel
    office.app.log.points = bomb.at
    for number in range(DELIVERIES):
        office.request(f"k{number}/0", type=f"news{number}")
    return channel


def work_dying(office: Office) -> int:
    """Work until all is done, each death followed by a new process; return how often it died."""
    deaths = 0
    for _ in range(20):
        try:
            office.start_anew()
            office.deliver_for(LEASE_OVER * 2, step=LEASE_OVER)
        except Killed:
            deaths += 1
        else:
            return deaths
    raise AssertionError("it never ended")


def steps_in_all(url: str, *, honours_keys: bool) -> int:
    with opened(url) as office:
        bomb = Bomb()
        prepared(office, bomb, honours_keys=honours_keys)
        work_dying(office)
        return bomb.passed


@pytest.mark.slow
@pytest.mark.parametrize("honours_keys", [True, False])
def test_a_death_at_any_point_loses_nothing(databases: Databases, honours_keys: bool) -> None:
    with databases.fresh() as url:
        count = steps_in_all(url, honours_keys=honours_keys)
    assert count > 2 * DELIVERIES
    for number in range(1, count + 1):
        with databases.fresh() as url, opened(url) as office:
            bomb = Bomb()
            channel = prepared(office, bomb, honours_keys=honours_keys)
            bomb.left = number
            assert work_dying(office) == 1
            check(office, channel, honours_keys=honours_keys)


def check(office: Office, channel: FakeChannel, *, honours_keys: bool) -> None:
    statuses = Counter(office.statuses())
    sent = Counter(message.delivery for message in channel.sent)
    assert sum(statuses.values()) == DELIVERIES
    assert max(sent.values()) == 1
    if honours_keys:
        assert statuses == {"sent": DELIVERIES}
        assert len(sent) == DELIVERIES
    else:
        assert statuses["sent"] + statuses["unknown"] == DELIVERIES
        assert statuses["unknown"] <= 1
        assert len(channel.calls) == len(set(channel.calls))


def test_what_takes_workers_with_it_runs_out_of_attempts(databases: Databases) -> None:
    """Trial I3: others go on meanwhile."""
    with databases.fresh() as url, opened(url) as office:
        bomb = Bomb()
        channel = prepared(office, bomb, honours_keys=True)

        def die() -> None:
            if channel.calls.count(channel.calls[-1]) and channel.calls[-1] == channel.calls[0]:
                raise Killed

        channel.before, channel.after = lambda: None, die
        deaths = work_dying(office)
        statuses = office.statuses()
    assert deaths == 3
    assert statuses == {"failed": 1, "sent": DELIVERIES - 1}


@pytest.mark.slow
def test_a_death_at_any_point_goes_on_with_the_next_channel_once(databases: Databases) -> None:
    """Of several channels the next one is begun with the end of the one before, or not at all."""

    def played(url: str, at_step: int) -> int:
        with opened(url) as office:
            bomb = Bomb()
            office.types = Types({"news": NotificationType(first_of=("sms", "email", "in_app"))})
            email = FakeChannel(before=bomb.step, after=bomb.step, answer=Refused(reason="no such mailbox"))
            office.channels["email"] = email
            office.app.log.points = bomb.at
            office.request()
            bomb.left = at_step
            work_dying(office)
            rows = sorted((row["channel"], row["status"]) for row in office.rows())
            assert rows == [("email", "failed"), ("in_app", "sent"), ("sms", "skipped")]
            return bomb.passed

    with databases.fresh() as url:
        count = played(url, -1)
    for number in range(1, count + 1):
        with databases.fresh() as url:
            played(url, number)
