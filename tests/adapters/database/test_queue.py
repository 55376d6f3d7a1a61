"""Work waits in a table, is done by one owner at a time, and is lost by nobody's death."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa

from adapters.database.engine import reading, writing
from adapters.database.lease_observer import LeaseObserver
from adapters.database.queue import (
    AT_ONCE,
    Lease,
    Waiting,
    complete,
    enqueue,
    heartbeat,
    lease,
    next_due,
    release,
)
from domain.errors import Conflict

NOW = datetime(2026, 5, 12, 10, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def put(engine: sa.Engine, *rows: Waiting, leased_by: str | None = None) -> None:
    with writing(engine) as connection:
        enqueue(connection, rows, leased_by)


def take(engine: sa.Engine, owner: str = "me", limit: int = 10, now: datetime = NOW, queue: str = "q") -> list[Lease]:
    with writing(engine) as connection:
        return lease(connection, queue, owner, limit, now)


def items(leases: Sequence[Lease]) -> list[str]:
    return [held.item for held in leases]


def due(engine: sa.Engine, queue: str = "q") -> datetime | None:
    with reading(engine) as connection:
        return next_due(connection, queue)


def test_items_are_leased_when_they_are_due_in_their_order(engine: sa.Engine) -> None:
    put(
        engine,
        Waiting("q", "later", NOW + MINUTE),
        Waiting("q", "now", NOW),
        Waiting("q", "b", NOW - MINUTE, rank=1),
        Waiting("q", "c", NOW - MINUTE, rank=1),
        Waiting("q", "a", NOW - MINUTE, rank=2),
        Waiting("q", "at-once"),
        Waiting("other", "x"),
    )
    assert items(take(engine, limit=3)) == ["at-once", "b", "c"]
    assert items(take(engine)) == ["a", "now"]
    assert take(engine) == []
    assert items(take(engine, now=NOW + MINUTE)) == ["later"]


def test_a_lease_holds_what_was_put_into_the_queue(engine: sa.Engine) -> None:
    put(engine, Waiting("q", "i", NOW, 7, {"to": ["Zoë\x00", 1, None]}), Waiting("q", "j"))
    assert take(engine) == [
        Lease("q", "j", "me", 1),
        Lease("q", "i", "me", 1, NOW, 7, {"to": ["Zoë\x00", 1, None]}),
    ]


def test_what_has_no_due_time_is_due_however_far_the_clock_is_set_back(engine: sa.Engine) -> None:
    put(engine, Waiting("q", "i"))
    assert items(take(engine, now=datetime(1970, 1, 2, tzinfo=UTC))) == ["i"]


def test_an_item_stands_in_a_queue_once(engine: sa.Engine) -> None:
    put(engine, Waiting("q", "i"))
    with pytest.raises(Conflict):
        put(engine, Waiting("q", "j"), Waiting("q", "i"))
    put(engine, Waiting("other", "i"))
    assert items(take(engine)) == ["i"]


def test_nothing_can_be_put_into_a_queue(engine: sa.Engine) -> None:
    put(engine)
    assert due(engine) is None


def test_what_is_put_in_leased_is_its_owners_first_attempt(engine: sa.Engine) -> None:
    put(engine, Waiting("q", "i"), leased_by="me")
    assert take(engine, "other") == []
    with writing(engine) as connection:
        assert complete(connection, [Lease("q", "i", "me", 1)]) == []


def test_the_next_due_time_is_that_of_the_first_free_item(engine: sa.Engine) -> None:
    assert due(engine) is None
    put(engine, Waiting("q", "b", NOW + MINUTE), Waiting("q", "a", NOW), Waiting("other", "x"))
    assert due(engine) == NOW
    take(engine)
    assert due(engine) == NOW + MINUTE
    assert due(engine, "other") == AT_ONCE < NOW


def test_a_completed_item_is_gone(engine: sa.Engine) -> None:
    put(engine, Waiting("q", "i"))
    with writing(engine) as connection:
        assert complete(connection, lease(connection, "q", "me", 1, NOW)) == []
    assert take(engine, now=NOW + MINUTE) == []


def test_a_released_item_comes_back_when_it_is_due_as_another_attempt(engine: sa.Engine) -> None:
    put(engine, Waiting("q", "i"), Waiting("q", "j"))
    held = take(engine)
    with writing(engine) as connection:
        assert release(connection, {held[0]: NOW + MINUTE, held[1]: None}) == []
    assert take(engine) == [Lease("q", "j", "me", 2)]
    assert take(engine, now=NOW + MINUTE) == [Lease("q", "i", "me", 2, NOW + MINUTE)]


def test_who_lost_a_lease_changes_nothing_any_more(engine: sa.Engine) -> None:
    put(engine, Waiting("q", "i"), Waiting("q", "j"))
    [first, second] = take(engine, "slow")
    with writing(engine) as connection:
        release(connection, {first: None})
    [again] = take(engine, "quick")
    assert again == first._replace(owner="quick", attempt=2)
    with writing(engine) as connection:
        assert heartbeat(connection, [first, second]) == [first]
        assert release(connection, {first: None, second: None}) == [first]
        assert complete(connection, [first, second]) == [first, second]
        assert complete(connection, [again]) == []


def test_an_earlier_attempt_of_the_same_owner_is_lost_too(engine: sa.Engine) -> None:
    put(engine, Waiting("q", "i"))
    [first] = take(engine)
    with writing(engine) as connection:
        release(connection, {first: None})
    [second] = take(engine)
    with writing(engine) as connection:
        assert complete(connection, [first]) == [first]
        assert complete(connection, [second]) == []


def test_racing_workers_lease_each_item_once(engine: sa.Engine) -> None:
    put(engine, *[Waiting("q", f"i{number:03}", NOW, number) for number in range(300)])
    taken: list[Lease] = []
    together = threading.Barrier(4)

    def work(owner: str) -> None:
        together.wait(20)
        while got := take(engine, owner, 20):
            assert len(got) <= 20
            with writing(engine) as connection:
                assert complete(connection, got[:10]) == []
            taken.extend(got)

    workers = [threading.Thread(target=work, args=(f"w{number}",)) for number in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert sorted(items(taken)) == [f"i{number:03}" for number in range(300)]


@pytest.mark.postgresql
def test_a_worker_passes_over_what_another_is_leasing(postgresql_log: object) -> None:
    engine: sa.Engine = postgresql_log.engine  # type: ignore[attr-defined]
    put(engine, *[Waiting("q", f"i{number}", NOW, number) for number in range(4)])
    with writing(engine) as connection:
        assert items(lease(connection, "q", "slow", 2, NOW)) == ["i0", "i1"]
        assert items(take(engine, "quick")) == ["i2", "i3"]


class Stopwatch:
    """A monotonic clock that a test moves."""

    def __init__(self) -> None:
        self.seconds = 1_000.0

    def __call__(self) -> float:
        return self.seconds


class Observer:
    """An observer on an engine, with the clock that only it sees."""

    def __init__(self, engine: sa.Engine, owner: str) -> None:
        self.engine, self.owner, self.clock = engine, owner, Stopwatch()
        self.observer = LeaseObserver(self.clock)

    def after(self, seconds: float) -> list[str]:
        """Return the items taken over when it looks again so much later."""
        self.clock.seconds += seconds
        with writing(self.engine) as connection:
            return items(self.observer.take_over(connection, self.owner))


def test_a_lease_without_heartbeats_is_taken_over_after_the_lease_time(engine: sa.Engine) -> None:
    put(engine, Waiting("q", "i", NOW, 3, {"a": 1}))
    [dead] = take(engine, "dead")
    observer = Observer(engine, "alive")
    assert observer.after(0) == []
    assert observer.after(59.9) == []
    assert observer.after(0.1) == ["i"]
    with writing(engine) as connection:
        assert complete(connection, [dead]) == [dead]
        assert complete(connection, [dead._replace(owner="alive", attempt=2)]) == []


def test_the_first_look_never_takes_over(engine: sa.Engine) -> None:
    put(engine, Waiting("q", "i"))
    take(engine, "dead", now=NOW - timedelta(days=400))
    assert Observer(engine, "alive").after(1_000_000) == []


def test_heartbeats_keep_a_lease_however_long(engine: sa.Engine) -> None:
    put(engine, Waiting("q", "i"), Waiting("q", "j"))
    [kept, left] = take(engine, "slow")
    observer = Observer(engine, "alive")
    observer.after(0)
    with writing(engine) as connection:
        assert heartbeat(connection, [kept]) == []
    assert observer.after(59) == []
    with writing(engine) as connection:
        assert heartbeat(connection, [kept]) == []
    assert observer.after(1) == [left.item]
    assert observer.after(58) == []


def test_a_new_lease_of_the_same_item_starts_anew(engine: sa.Engine) -> None:
    put(engine, Waiting("q", "i"))
    [first] = take(engine, "slow")
    observer = Observer(engine, "alive")
    observer.after(0)
    with writing(engine) as connection:
        release(connection, {first: None})
    take(engine, "slow")
    assert observer.after(60) == []
    assert observer.after(60) == ["i"]


def test_of_two_observers_one_takes_over(engine: sa.Engine) -> None:
    put(engine, Waiting("q", "i"))
    take(engine, "dead")
    observers = [Observer(engine, f"o{number}") for number in range(2)]
    for observer in observers:
        observer.after(0)
        observer.clock.seconds += 60
    with reading(engine) as connection:
        stale = observers[1].observer.look(connection)
    assert observers[0].after(0) == ["i"]
    # The second one saw the same sign; its conditional update finds another.
    observers[1].observer.look = lambda connection: stale  # type: ignore[method-assign]
    assert observers[1].after(0) == []


def test_an_observer_takes_over_no_more_than_it_can_do(engine: sa.Engine) -> None:
    put(engine, *[Waiting("q", f"i{number}") for number in range(5)])
    take(engine, "dead")
    observer = Observer(engine, "alive")
    observer.after(0)
    observer.clock.seconds += 60
    with writing(engine) as connection:
        assert len(observer.observer.take_over(connection, "alive", limit=2)) == 2
    assert len(observer.after(0)) == 3
