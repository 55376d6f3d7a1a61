"""Ingestion in batches: one transaction each, an answer for each item, and no item that takes others with it."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from adapters.application import Application
from adapters.clock import SimulatedClock
from adapters.database import log_queries
from adapters.database.engine import reading
from adapters.database.failures import Unreachable, Unstorable
from adapters.ingestion.batches import Answer, counted, ingest, ingesting, items_of
from adapters.ingestion.checking import checking
from adapters.ingestion.incoming import Incoming, Outcome
from adapters.ingestion.recording import FactRecorder
from adapters.settings import read_settings
from domain.errors import Unavailable

AT = dt.datetime(2026, 5, 1, tzinfo=dt.UTC)


@pytest.fixture
def application(database_url: str) -> Iterator[Application]:
    """An application on an empty database."""
    application = Application(read_settings(database_url=database_url), clock=SimulatedClock(AT))
    application.install()
    yield application
    application.close()


def event(identifier: str, kind: str = "member.registered", **more: Any) -> dict[str, Any]:
    data = {"member_id": f"m{identifier}", "name": "Mia"}
    return {
        "id": identifier,
        "source": "test",
        "type": kind,
        "time": "2026-05-01T10:00:00+02:00",
        "data": data,
        **more,
    }


def statuses(answers: Sequence[Answer]) -> list[str]:
    return [answer.status for answer in answers]


def head(application: Application) -> int:
    with reading(application.engine) as connection:
        return log_queries.head_position(connection)


def test_each_event_gets_its_answer_in_order(application: Application) -> None:
    answers = ingest(
        application,
        [
            event("1"),
            json.dumps(event("2")),
            json.dumps(event("1")).encode(),
            event("2", data={"member_id": "m2", "name": "Max"}),
            event("3", time="2026-05-01T10:00:00"),
            event("4", "something.else"),
            event("5"),
        ],
    )
    assert statuses(answers) == [
        "accepted",
        "accepted",
        "duplicate",
        "conflict",
        "refused",
        "accepted",
        "accepted",
    ]
    assert [answer.number for answer in answers] == [1, 2, 3, 4, 5, 6, 7]
    assert [answer.is_good for answer in answers] == [True, True, True, False, False, True, True]
    assert [answer.is_unknown_type for answer in answers] == [False, False, False, False, False, True, False]
    assert "used this id before" in str(answers[3].mistakes[0])
    assert head(application) == 4
    assert counted(answers) == {"accepted": 4, "duplicate": 1, "conflict": 1, "refused": 1}


def test_everything_again_is_free(application: Application) -> None:
    events = [event(str(number)) for number in range(7)]
    assert statuses(ingest(application, events)) == ["accepted"] * 7
    before = head(application)
    assert statuses(ingest(application, reversed(events))) == ["duplicate"] * 7
    assert head(application) == before


def test_an_answer_comes_after_its_commit_and_later_batches_wait(application: Application) -> None:
    answers = ingesting(application, items_of(event(str(number)) for number in range(5)), batch=2)
    heads = [(next(answers).number, head(application)) for _ in range(5)]
    assert heads == [(1, 2), (2, 2), (3, 4), (4, 4), (5, 5)]


def test_a_key_order_or_a_number_written_otherwise_is_the_same_event(application: Application) -> None:
    first = event("1", "outside.thing", data={"a": 1, "b": [1.0, "x"]})
    again = event("1", "outside.thing", data={"b": [1, "x"], "a": 1})
    assert statuses(ingest(application, [first, again])) == ["accepted", "duplicate"]


@pytest.mark.parametrize(
    "wrong",
    [
        event("x", "outside.thing", data={"n": 2**60}),
        event("x", "outside.thing", data={"n": float("inf")}),
        event("x", "outside.thing", data={"n": "\ud800"}),
        event("x", "outside.thing", data={"n": {1, 2}}),
        event("x", time="9999-12-31T23:59:59-12:00"),
        event("x", time="0001-01-01T00:00:00+12:00"),
        event("\ud800"),
        event("a\0b"),
        {1: 2},
        None,
    ],
    ids=[
        "a number that JSON cannot carry",
        "no number",
        "half a character",
        "no JSON",
        "after the last year",
        "before the first",
        "half an id",
        "NUL",
        "no names",
        "nothing",
    ],
)
def test_a_bad_event_is_refused_and_takes_no_other_with_it(application: Application, wrong: object) -> None:
    answers = ingest(application, [event("1"), wrong, event("2")])
    assert statuses(answers) == ["accepted", "refused", "accepted"]
    assert answers[1].mistakes
    assert head(application) == 2


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "Pacific/Niue"])
def test_a_local_date_at_the_edge_of_the_calendar_stops_nothing(application: Application, zone: str) -> None:
    space = {"space_id": "s", "name": "Edge", "time_zone": zone, "currency": "EUR"}
    room = {"resource_id": "r", "space_id": "s", "kind": "desk", "name": "Desk"}
    stay = {"booking_id": "b", "resource_id": "r", "member_id": "m"}
    times = {"starts_at": "9999-12-31T20:00:00+00:00", "ends_at": "9999-12-31T23:59:59+00:00"}
    answers = ingest(
        application,
        [
            event("1", "space.opened", data=space),
            event("2", "resource.added", data=room),
            event("3", "booking.created", data={**stay, **times}, time="9999-12-31T12:00:00+00:00"),
            event("4", "booking.created", data={**stay, **times}, time="0001-01-01T00:00:00+00:00"),
            event("5"),
        ],
    )
    assert statuses(answers)[:2] == ["accepted", "accepted"]
    assert statuses(answers)[4] == "accepted"


class Refusing:
    """A recording that refuses a whole batch if something in it is spoiled, as a database may."""

    def __init__(self, error: Exception) -> None:
        self._error = error
        self.batches: list[int] = []

    def recorder(self) -> FactRecorder:
        return None  # type: ignore[return-value]

    def record(self, recorder: FactRecorder, incoming: Sequence[Incoming]) -> list[Outcome]:
        self.batches.append(len(incoming))
        if any(one.id.startswith("spoiled") for one in incoming):
            raise self._error
        return [Outcome("accepted", one.source, one.id) for one in incoming]


def test_a_batch_that_the_database_refuses_is_halved_down_to_the_one_at_fault() -> None:
    recording = Refusing(Unstorable("the database cannot hold it"))
    events = [event(str(number)) for number in range(9)]
    events[5] = event("spoiled")
    answers = ingest(recording, events)
    assert statuses(answers) == ["accepted"] * 5 + ["refused"] + ["accepted"] * 3
    assert str(answers[5].mistakes[0]) == "the database cannot hold it"
    assert max(recording.batches) == 9
    assert min(recording.batches) == 1


def test_a_lost_database_is_no_fault_of_the_events() -> None:
    with pytest.raises(Unavailable):
        ingest(Refusing(Unreachable("gone")), [event("1"), event("spoiled")])


def test_checking_gives_the_same_answers_and_records_nothing(application: Application) -> None:
    ingest(application, [event("1"), event("2")])
    before = head(application)
    events = [event("1"), event("2", sequence="9"), event("3"), event("3"), event("3", sequence="1"), {}]
    seen: dict[tuple[str, str], bytes] = {}
    answers = list(checking(application, items_of(events), seen))
    assert statuses(answers) == ["duplicate", "conflict", "accepted", "duplicate", "conflict", "refused"]
    assert head(application) == before
    assert statuses(list(checking(application, items_of([event("3")]), seen))) == ["duplicate"]
    assert statuses(ingest(application, events)) == statuses(answers)


def test_a_number_that_json_cannot_carry_is_refused_by_the_check_too(application: Application) -> None:
    (answer,) = checking(application, items_of([event("1", "outside.thing", data=[2**60])]), {})
    assert answer.status == "refused"


def test_the_answer_as_json_names_every_mistake() -> None:
    answer = ingest(Refusing(Unreachable("")), [event("1", time="now", source="")])[0]
    told = answer.to_json()
    assert told["line"] == 1
    assert told["status"] == "refused"
    assert {mistake["path"] for mistake in told["mistakes"]} == {"time", "source"}
