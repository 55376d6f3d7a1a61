"""Histories of facts for properties: few entities and few instants, so that ties and contradictions abound.

The oracle says what a history comes to, by the rule of semantics 8 alone: field by field the latest stamp wins.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any, NamedTuple

from hypothesis import strategies as st

from domain.money import Money
from tests.operators import NOON, Event

KINDS = {
    "space": ("opened", "changed"),
    "resource": ("added", "changed"),
    "member": ("registered", "changed"),
    "booking": ("created", "changed", "cancelled", "checked_in", "checked_out", "no_show"),
    "invoice": ("issued", "changed", "voided"),
    "payment": ("received", "failed"),
    "subscription": ("started", "changed", "renewed", "cancelled"),
}

NEEDED: Mapping[str, tuple[str, ...]] = {
    "space.opened": ("name", "time_zone", "currency"),
    "resource.added": ("space_id", "kind", "name"),
    "member.registered": ("name",),
    "booking.created": ("resource_id", "member_id", "starts_at", "ends_at"),
    "invoice.issued": ("space_id", "member_id", "total", "due_on"),
    "payment.received": ("invoice_id", "amount"),
    "payment.failed": ("invoice_id", "amount"),
    "subscription.started": ("space_id", "member_id", "plan", "starts_on", "ends_on"),
    "subscription.renewed": ("ends_on",),
}

IMPLIED: Mapping[str, Mapping[str, Any]] = {
    "booking.cancelled": {"status": "cancelled"},
    "booking.no_show": {"status": "no_show"},
    "booking.checked_in": {"status": "confirmed"},
    "invoice.voided": {"status": "voided"},
    "subscription.renewed": {"status": "active"},
    "subscription.cancelled": {"status": "cancelled"},
}
"""What a type says whatever its data say."""

SILENT: Mapping[str, Mapping[str, Any]] = {
    "booking.created": {"status": "confirmed", "first_in_series": True},
    "invoice.issued": {"status": "issued"},
    "subscription.started": {"status": "active"},
}
"""What a type says where its data are silent."""

identifiers = st.sampled_from(["1", "2"])
amounts = st.sampled_from(["10.00 EUR", "25.50 EUR", "3.00 EUR"])
dates = st.sampled_from(["2026-05-20", "2026-06-30", "2026-12-31"])
words = st.sampled_from(["one", "two", "three"])


def _spans() -> st.SearchStrategy[Event]:
    hours = st.integers(6, 12)
    return st.builds(
        lambda start, length: {
            "starts_at": f"2026-05-12T{start:02}:00:00+02:00",
            "ends_at": f"2026-05-12T{start + length:02}:30:00+02:00",
        },
        hours,
        st.integers(1, 3),
    )


FIELDS: Mapping[str, Mapping[str, st.SearchStrategy[Any]]] = {
    "space": {
        "name": words,
        "time_zone": st.just("Europe/Berlin"),
        "currency": st.just("EUR"),
        "locale": st.none() | st.sampled_from(["de", "en"]),
        "address": st.none() | words,
    },
    "resource": {
        "space_id": identifiers,
        "kind": st.sampled_from(["desk", "office"]),
        "name": words,
        "capacity": st.none() | st.integers(0, 3),
    },
    "member": {
        "name": words,
        "company": st.none() | words,
        "tags": st.none() | st.lists(words, max_size=2),
        "staff": st.booleans(),
        "shoe_size": st.none() | st.integers(30, 40),
    },
    "booking": {
        "resource_id": identifiers,
        "member_id": identifiers,
        "attendees": st.none() | st.integers(0, 3),
        "price": st.none() | amounts,
        "status": st.sampled_from(["pending", "confirmed"]),
        "reason": words,
    },
    "invoice": {
        "space_id": identifiers,
        "member_id": identifiers,
        "total": amounts,
        "due_on": dates,
        "booking_id": st.none() | identifiers,
    },
    "payment": {"invoice_id": identifiers, "amount": amounts},
    "subscription": {
        "space_id": identifiers,
        "member_id": identifiers,
        "plan": words,
        "starts_on": dates,
        "ends_on": dates,
        "auto_renew": st.none() | st.booleans(),
    },
}


@st.composite
def facts(draw: st.DrawFn, number: int) -> Event:
    """Return one event that the catalogue takes."""
    kind = draw(st.sampled_from(sorted(KINDS)))
    event_type = f"{kind}.{draw(st.sampled_from(KINDS[kind]))}"
    return {
        "id": f"{number:03}",
        "source": draw(st.sampled_from(["a", "b"])),
        "sequence": draw(st.sampled_from(["", "", "1", "2"])),
        "type": event_type,
        "time": (NOON + timedelta(hours=draw(st.integers(0, 3)))).isoformat(),
        "data": {f"{kind}_id": draw(identifiers), **draw(_data(kind, event_type))},
    }


@st.composite
def _data(draw: st.DrawFn, kind: str, event_type: str) -> Event:
    needed = set(NEEDED.get(event_type, ()))
    told = {
        name: draw(values.filter(lambda value: value is not None) if name in needed else values)
        for name, values in FIELDS[kind].items()
        if name in needed or draw(st.booleans())
    }
    if kind == "booking" and (event_type == "booking.created" or draw(st.booleans())):
        told |= draw(_spans())
    return told


@st.composite
def histories(draw: st.DrawFn, most: int = 14) -> list[Event]:
    """Return a history in some order."""
    return [draw(facts(number)) for number in range(draw(st.integers(1, most)))]


def arrivals(history: list[Event]) -> st.SearchStrategy[list[Event]]:
    """Return orders in which a history may arrive, with repeats."""
    repeated = st.lists(st.sampled_from(history), max_size=4).map(lambda again: [*history, *again])
    return repeated.flatmap(st.permutations)


class Stamp(NamedTuple):
    """The order of two facts about one field, written down a second time."""

    time: str
    sequence: str
    source: str
    id: str


def stamp(event: Event) -> Stamp:
    return Stamp(event["time"], event["sequence"], event["source"], event["id"])


def oracle(history: Iterable[Event]) -> dict[str, Event]:
    """Return what a history comes to: entity by entity the fields that are not null, payments by their id."""
    states: dict[str, Event] = {}
    for event in sorted(history, key=stamp):
        kind, data = event["type"].partition(".")[0], event["data"]
        if kind == "payment":
            payments = states.setdefault(f"invoice/{data['invoice_id']}", {}).setdefault("payments", {})
            payments[data["payment_id"]] = (event["type"], Money.parse(data["amount"]))
            continue
        states.setdefault(f"{kind}/{data[f'{kind}_id']}", {}).update(told(event))
    return {
        stream: {name: value for name, value in state.items() if value is not None} for stream, state in states.items()
    }


def told(event: Event) -> Event:
    """Return every field that an event gives a value, or null."""
    data = {("extra.shoe_size" if name == "shoe_size" else name): value for name, value in event["data"].items()}
    silent = {name: v for name, v in SILENT.get(event["type"], {}).items() if data.get(name) is None}
    timed = {"booking.checked_in": "checked_in_at", "booking.checked_out": "checked_out_at"}.get(event["type"])
    return {**data, **silent, **({timed: event["time"]} if timed else {}), **IMPLIED.get(event["type"], {})}
