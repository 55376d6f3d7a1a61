"""Instants as settings name them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from pydantic import BaseModel, ValidationError

from domain.civil_time import zone
from domain.offsets import Offset
from domain.relative_instants import Direction, RelativeInstant
from domain.time_texts import parse_date, parse_wall

BERLIN = zone("Europe/Berlin")


def local(text: str) -> datetime:
    return parse_wall(text).replace(tzinfo=BERLIN)


class Granted(BaseModel):
    until: RelativeInstant


def test_the_parts_of_a_named_instant() -> None:
    assert RelativeInstant.parse("booking.starts_at") == RelativeInstant("booking.starts_at")
    assert RelativeInstant.parse("2 days after invoice.due_on at 09:00") == RelativeInstant(
        "invoice.due_on", Direction.AFTER, Offset.parse("2 days at 09:00")
    )


@pytest.mark.parametrize(
    "text",
    [
        "booking.starts_at",
        "15 minutes before booking.starts_at",
        "2 days after invoice.due_on at 09:00",
        "1 month before subscription.ends_on",
        "booking.extra.doors-open",
    ],
)
def test_a_named_instant_is_written_as_it_was_read(text: str) -> None:
    granted = Granted.model_validate({"until": text})
    assert granted.model_dump_json() == f'{{"until":"{text}"}}'
    assert Granted.model_validate_json(granted.model_dump_json()) == granted


@pytest.mark.parametrize(
    ("value", "because"),
    [
        ("", "does not name an instant"),
        ("soon", "does not name an instant"),
        ("15 minutes booking.starts_at", "does not name an instant"),
        ("15 minutes before", "does not name an instant"),
        ("before booking.starts_at", "does not name an instant"),
        ("15 minuets before booking.starts_at", "did you mean minutes"),
        ("2 hours after invoice.due_on at 09:00", "goes with days"),
        ("booking.starts_at at 09:00", "does not name an instant"),
        ("1 day before booking.starts_at at 9", "clock time"),
        pytest.param(" before " * 20_000, "does not name an instant", id="very long"),
        (15, "does not name an instant"),
    ],
)
def test_what_names_no_instant_is_refused_with_the_reason(value: object, because: str) -> None:
    with pytest.raises(ValidationError, match=because):
        Granted.model_validate({"until": value})


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("booking.starts_at", "2026-03-29 08:00"),
        ("15 minutes before booking.starts_at", "2026-03-29 07:45"),
        ("24 hours before booking.starts_at", "2026-03-28 08:00"),
        ("1 day before booking.starts_at", "2026-03-28 09:00"),
        ("1 day after booking.starts_at at 18:00", "2026-03-30 16:00"),
    ],
)
def test_an_instant_is_resolved_in_its_zone(text: str, instant: str) -> None:
    resolved = RelativeInstant.parse(text).resolve(local("2026-03-29 10:00"), BERLIN)
    assert resolved == parse_wall(instant).replace(tzinfo=UTC)
    assert resolved.tzinfo is UTC


def test_a_date_stands_for_its_first_instant_and_as_a_limit_for_its_end() -> None:
    due, due_on = RelativeInstant.parse("invoice.due_on"), parse_date("2026-04-01")
    assert due.resolve(due_on, BERLIN) == local("2026-04-01 00:00")
    assert due.resolve(due_on, BERLIN, as_limit=True) == local("2026-04-02 00:00")
    late = RelativeInstant.parse("2 days after invoice.due_on at 09:00")
    assert late.resolve(due_on, BERLIN) == local("2026-04-03 09:00")
    early = RelativeInstant.parse("2 days before invoice.due_on")
    assert early.resolve(due_on, BERLIN) == local("2026-03-30 00:00")


@pytest.mark.parametrize("value", ["2026-04-01", 5, None])
def test_a_fact_of_another_kind_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="neither an instant nor a date"):
        RelativeInstant.parse("invoice.number").resolve(value, BERLIN)
