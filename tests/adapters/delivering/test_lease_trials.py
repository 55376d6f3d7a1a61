"""Who holds a delivery is one worker at a time, whatever becomes of the others (delivery trials A, I and N)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from threading import Barrier, Thread

import pytest
import sqlalchemy as sa

from adapters.database.engine import reading
from adapters.database.schema import queue
from adapters.delivering import DeliveryWorker
from adapters.points import Point
from automations.notifications.types import NotificationType, Types
from domain.deliveries import DeliverySending, DeliverySent
from tests.adapters.delivering.office import FakeChannel, Killed, Office

LEASE_OVER = timedelta(seconds=61)


@pytest.fixture
def bulk(office: Office) -> Office:
    """An office whose news stand in line, on a channel that knows no keys."""
    office.types = Types({"news": NotificationType(lane="bulk")})
    office.use_channel("email", FakeChannel(honours_keys=False))
    return office


def expanded(office: Office) -> None:
    office.request()
    office.delivering._expander.expand()


def at_commit(office: Office, name: str, act: Callable[[], object]) -> None:
    """Do something right after the next commit of this name."""

    def look(point: Point) -> None:
        if (point.when, point.of) == ("after commit", name):
            office.app.log.points = lambda point: None
            act()

    office.app.log.points = look


def die() -> None:
    raise Killed


def taken_over_by_one_who_dies(office: Office, other: DeliveryWorker) -> None:
    """Let another worker take over what shows no sign of life, and die before it does anything about it."""
    other.work_once()
    office.clock.advance(LEASE_OVER)
    at_commit(office, "take over", die)
    with pytest.raises(Killed):
        other.work_once()


def taken_up_again(office: Office) -> None:
    """Let a third worker take over what is still left."""
    office.start_anew()
    office.deliver_for(3 * LEASE_OVER, step=LEASE_OVER)


def test_a2_two_workers_that_start_at_the_same_moment_make_one_call(bulk: Office) -> None:
    """Trial A2: the claim is one statement, not a look and then a call."""
    for number in range(20):
        bulk.request(f"k{number}/0", type=f"news{number}")
    bulk.delivering._expander.expand()
    together = Barrier(2)

    def work(worker: DeliveryWorker) -> None:
        together.wait(30)
        while worker.work_once():
            pass

    threads = [Thread(target=work, args=(bulk.delivery_worker(name),)) for name in ("one", "other")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    bulk.settle()
    assert bulk.statuses() == {"sent": 20}
    assert set(Counter(bulk.email.calls).values()) == {1}


def test_a2_n1_who_lost_its_lease_before_the_start_was_recorded_makes_no_call(bulk: Office) -> None:
    """Trials A2 and N1: the start of an attempt is fenced by its lease, also while its new owner has done nothing."""
    expanded(bulk)
    other = bulk.delivery_worker("other")
    at_commit(bulk, "lease", lambda: taken_over_by_one_who_dies(bulk, other))
    bulk.delivering.work_once()
    assert bulk.email.calls == []
    assert [event for event in bulk.events() if isinstance(event, DeliverySending)] == []
    taken_up_again(bulk)
    assert bulk.statuses() == {"sent": 1}
    assert len(bulk.email.calls) == 1


def test_a2_n1_an_answer_under_a_lost_lease_is_not_recorded(bulk: Office) -> None:
    """Trials A2 and N1: what became of the call is for the new owner to find out, who does not repeat it."""
    expanded(bulk)
    other = bulk.delivery_worker("other")
    bulk.email.before = lambda: taken_over_by_one_who_dies(bulk, other)
    bulk.delivering.work_once()
    assert len(bulk.email.calls) == 1
    assert [event for event in bulk.events() if isinstance(event, DeliverySent)] == []
    taken_up_again(bulk)
    [row] = bulk.rows()
    assert (row["status"], row["reason"]) == ("unknown", "the worker vanished during the call")
    assert len(bulk.email.calls) == 1


def test_n1_a_database_that_fails_after_a_good_call_repeats_no_message(bulk: Office) -> None:
    """Trial N1: the call was good, and its ending could not be written down."""
    expanded(bulk)

    def breaks(point: Point) -> None:
        if (point.when, point.of) == ("before commit", "deliver") and bulk.email.calls:
            bulk.app.log.points = lambda point: None
            raise RuntimeError("no space left on the disk")

    bulk.app.log.points = breaks
    with pytest.raises(RuntimeError):
        bulk.delivering.work_once()
    taken_up_again(bulk)
    assert bulk.statuses() == {"unknown": 1}
    assert len(bulk.email.calls) == 1


@pytest.mark.parametrize("honours_keys", [True, False])
def test_a6_n6_the_row_of_a_worker_that_was_killed_is_there_and_its_attempt_counts(
    office: Office, honours_keys: bool
) -> None:
    """Trials A6 and N6: whatever was acknowledged to whom, a stale lease is taken over and its row stays."""
    office.use_channel("email", FakeChannel(honours_keys=honours_keys))
    expanded(office)
    office.email.after = die
    with pytest.raises(Killed):
        office.delivering.work_once()
    office.email.after = lambda: None
    with reading(office.app.engine) as connection:
        left = connection.execute(sa.select(queue).where(queue.c.item == office.email.calls[0])).mappings().all()
    assert [(row["attempt"], row["owner"] is None) for row in left] == [(1, False)]
    taken_up_again(office)
    [row] = office.rows()
    assert (row["status"], row["attempts"]) == (("sent", 2) if honours_keys else ("unknown", 1))
    assert len(office.email.sent) == 1


def test_n12_signs_of_life_keep_a_call_that_takes_longer_than_a_lease(bulk: Office) -> None:
    """Trial N12: a lease does not end while its owner is at work."""
    expanded(bulk)
    other = bulk.delivery_worker("other")

    def take_long() -> None:
        for _ in range(20):
            bulk.clock.advance(LEASE_OVER / 4)
            bulk.delivering.beat()
            assert not other.work_once()

    bulk.email.before = take_long
    bulk.delivering.work_once()
    assert bulk.statuses() == {"sent": 1}
    assert len(bulk.email.calls) == 1
