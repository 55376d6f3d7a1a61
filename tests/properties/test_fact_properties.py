"""Any permutation and repetition of a history comes to the same state: in the domain, and on both databases."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime
from itertools import count
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.database.engine import reading
from adapters.database.personal import StoredPersonalValues
from domain.facts import Entity, PersonalRef
from domain.ids import id_of
from domain.money import Money
from projections.bookings import bookings
from tests.databases import Databases
from tests.operators import Event, Operator, operator_on
from tests.properties.histories import arrivals, histories, oracle

_names = count(1)


@pytest.fixture(scope="module")
def operator(databases: Databases) -> Iterator[Operator]:
    with databases.fresh() as url, operator_on(url) as operator:
        yield operator


def in_a_world_of_its_own(history: list[Event], name: str) -> list[Event]:
    """Return the history with ids that no other one has, so that one database serves them all."""
    return [
        {
            **event,
            "source": f"{name}{event['source']}",
            "data": {
                field: f"{name}{value}" if field.endswith("_id") and value is not None else value
                for field, value in event["data"].items()
            },
        }
        for event in history
    ]


def recorded(operator: Operator, arriving: list[Event], size: int) -> dict[str, Event]:
    """Record events as they arrive, in batches of this size, and return what they came to."""
    name = f"w{next(_names)}-"
    arriving = in_a_world_of_its_own(arriving, name)
    for batch in chunks(arriving, size):
        assert {outcome.status for outcome in operator.record(*batch)} <= {"accepted", "duplicate"}
    return {stream.replace(name, ""): seen(operator, stream, name) for stream in oracle(arriving)}


def chunks(events: list[Event], size: int) -> Iterator[list[Event]]:
    for start in range(0, len(events), size):
        yield events[start : start + size]


def seen(operator: Operator, stream: str, name: str) -> Event:
    """Return an entity's fields as they are written in events, without the name of its world."""
    entity = operator.state(stream)
    with reading(operator.app.engine) as connection:
        personal = StoredPersonalValues(connection)
        fields = {
            field: personal.read(value) if isinstance(value, PersonalRef) else value
            for field, value in entity.values.items()
        }
    fields = {field: as_written(value, name) for field, value in fields.items() if value is not None}
    return {**fields, **payments(entity, name)}


def payments(entity: Entity, name: str) -> dict[str, Any]:
    made = {
        identifier.replace(name, ""): (part.values["type"], part.values["amount"])
        for identifier, part in entity.parts.items()
    }
    return {"payments": made} if made else {}


def as_written(value: Any, name: str) -> Any:
    match value:
        case str():
            return value.replace(name, "")
        case datetime() | date():
            return value.isoformat()
        case tuple():
            return list(value)
        case _:
            return value


def readable(states: dict[str, Event]) -> dict[str, Event]:
    """Return what the oracle says in the form of what is seen."""
    return {stream: {field: _read(field, value) for field, value in state.items()} for stream, state in states.items()}


def _read(field: str, value: Any) -> Any:
    if field in ("starts_at", "ends_at", "checked_in_at", "checked_out_at"):
        return str(datetime.fromisoformat(value).astimezone(datetime.fromisoformat(UTC_NOW).tzinfo).isoformat())
    return Money.parse(value) if field in ("price", "total") else value


UTC_NOW = "2026-05-04T12:00:00+00:00"


@settings(max_examples=60)
@given(data=st.data())
def test_any_order_and_repetition_comes_to_the_same_state(operator: Operator, data: st.DataObject) -> None:
    history = data.draw(histories())
    arriving = data.draw(arrivals(history))
    size = data.draw(st.integers(1, len(arriving)))
    assert recorded(operator, arriving, size) == readable(oracle(history))


@settings(max_examples=15)
@given(data=st.data())
def test_any_order_comes_to_the_same_rows_of_the_bookings_projection(operator: Operator, data: st.DataObject) -> None:
    history = data.draw(histories())
    outcomes = [rows_after(operator, data.draw(arrivals(history))) for _ in range(2)]
    assert outcomes[0] == outcomes[1]


def rows_after(operator: Operator, arriving: list[Event]) -> list[tuple[Any, ...]]:
    name = f"w{next(_names)}-"
    arriving = in_a_world_of_its_own(arriving, name)
    for batch in chunks(arriving, 3):
        operator.record(*batch)
        operator.follow()
    mine = {id_of(stream) for stream in oracle(arriving) if stream.startswith("booking/")}
    rows = [row for row in operator.rows(bookings) if row["booking"] in mine]
    return sorted(tuple(str(value).replace(name, "") for value in row.values()) for row in rows)
