"""Events are stored once and read for years."""

from __future__ import annotations

import json

import pytest
from eventsourcing.persistence import StoredEvent
from hypothesis import given
from hypothesis import strategies as st

from adapters.database.event_mapper import EventMapper
from adapters.database.log_queries import StoredRow
from domain.errors import CorruptEvent
from domain.events import Cause, DomainEvent
from tests.adapters.database.samples import AT, Foreign, Noted, Priced, Reported, noted

MAPPER = EventMapper()


def stored(event: DomainEvent) -> StoredRow:
    kept = MAPPER.to_stored_event(event)
    return StoredRow(7, str(kept.originator_id), kept.originator_version, kept.topic, kept.state)


def row(topic: str, state: object) -> StoredRow:
    written = state if isinstance(state, bytes) else json.dumps(state).encode()
    return StoredRow(7, "sample/1", 2, topic, written)


@pytest.mark.parametrize(
    "event",
    [
        noted("booking/b1", 3, 'Zoë \U0001f511 "quoted" \\ \x00'),
        Noted(stream='odd/"\\ü', version=1, at=AT, cause=Cause(execution="k", rules=("a", "b"))),
        Priced(stream="sample/1", version=1, at=AT, amount="18.50", currency="EUR", note=""),
        Reported(stream="sample/1", version=1, at=AT, type="sample.closed", data={"a": [1, None, {"b": "c"}]}),
        Foreign(stream="sample/1", version=1, at=AT, type="com.example.anything"),
    ],
    ids=lambda event: type(event).__name__,
)
def test_an_event_is_read_as_it_was_written(event: DomainEvent) -> None:
    assert MAPPER.read(stored(event)) == event
    assert MAPPER.to_domain_event(MAPPER.to_stored_event(event)) == event


@given(st.text(st.characters(codec="utf-8")), st.integers(1, 2**31 - 1), st.text(st.characters(codec="utf-8")))
def test_any_text_survives(stream: str, version: int, text: str) -> None:
    event = noted(stream, version, text)
    assert MAPPER.read(stored(event)) == event


def test_what_has_a_column_is_not_stored_again() -> None:
    state = json.loads(stored(noted("booking/b1", 3)).state)
    assert state == {"at": "2026-05-12T10:00:00Z", "cause": None, "text": ""}


def test_a_type_that_is_the_topic_is_stored_once() -> None:
    kept = stored(Reported(stream="sample/1", version=1, at=AT, type="sample.opened"))
    assert kept.topic == "sample.opened"
    assert "type" not in json.loads(kept.state)


def test_a_type_that_is_not_the_topic_is_stored() -> None:
    kept = stored(Foreign(stream="sample/1", version=1, at=AT, type="com.example.anything"))
    assert kept.topic == "sample.foreign"
    assert json.loads(kept.state)["type"] == "com.example.anything"


@pytest.mark.parametrize(
    "state",
    [
        {"at": AT.isoformat(), "amount": "18.50", "remark": "late"},
        {"class_version": 2, "at": AT.isoformat(), "amount": "18.50", "currency": "EUR", "remark": "late"},
        {"at": AT.isoformat(), "class_version": 3, "amount": "18.50", "currency": "EUR", "note": "late"},
    ],
)
def test_an_old_shape_is_brought_up_to_date_step_by_step(state: object) -> None:
    event = MAPPER.read(row("sample.priced", state))
    assert event == Priced(stream="sample/1", version=2, at=AT, amount="18.50", currency="EUR", note="late")


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        (b"", "not a JSON object"),
        (b"[]", "not a JSON object"),
        (b"{}", "JSON"),
        (b"\xff\xfe", "not a JSON object"),
        (b'{"at":"2026-05-12T10:00:00Z"', "JSON"),
        ({"at": "yesterday"}, "at: "),
        ({"at": "2026-05-12T10:00:00"}, "no offset"),
        ({"at": AT.isoformat(), "colour": "red"}, "colour: Extra inputs"),
        ({"class_version": 2, "at": AT.isoformat()}, "shape 2"),
    ],
)
def test_a_broken_state_is_corrupt(state: object, reason: str) -> None:
    with pytest.raises(CorruptEvent, match=reason) as caught:
        MAPPER.read(row("sample.noted", state))
    assert (caught.value.stream, caught.value.version, caught.value.topic) == ("sample/1", 2, "sample.noted")


@pytest.mark.parametrize("state", [b'{"class_version":"x"}', b'{"class_version":1}', b"[1]", b"{"])
def test_a_broken_state_that_would_have_to_be_upcast_is_corrupt(state: bytes) -> None:
    with pytest.raises(CorruptEvent):
        MAPPER.read(row("sample.priced", state))


def test_the_reason_repeats_no_value() -> None:
    with pytest.raises(CorruptEvent) as caught:
        MAPPER.read(row("sample.noted", {"at": "secret@example.org", "text": ["secret"]}))
    assert "secret" not in str(caught.value)


def test_an_unknown_topic_is_corrupt() -> None:
    with pytest.raises(CorruptEvent, match=r"sample\.forgotten .* no event class"):
        MAPPER.read(row("sample.forgotten", {}))
    with pytest.raises(CorruptEvent):
        MAPPER.to_domain_event(StoredEvent("sample/1", 1, "sample.forgotten", b"{}"))


def test_what_nothing_could_read_is_not_written() -> None:
    stray = Reported(stream="sample/1", version=1, at=AT, type="sample.never-registered")
    with pytest.raises(TypeError, match="never-registered"):
        MAPPER.to_stored_event(stray)
