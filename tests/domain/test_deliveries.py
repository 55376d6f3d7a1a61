"""A delivery moves along its arrows and nowhere else."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.deliveries import (
    ARROWS,
    CRASHED,
    Delivery,
    DeliveryCancelled,
    DeliveryExpired,
    DeliveryFailed,
    DeliveryHeld,
    DeliveryPending,
    DeliveryRead,
    DeliveryReleased,
    DeliveryRetrying,
    DeliverySending,
    DeliverySent,
    DeliverySkipped,
    DeliveryStep,
    DeliveryUnknown,
    delivery_of,
    delivery_stream,
)
from domain.endings import Misconfigured, TryLater
from domain.spaces import QuietHours

AT = datetime(2026, 8, 8, 12, tzinfo=UTC)
STREAM = delivery_stream("n1", "email", "member/m1")

DETAILS: dict[type[DeliveryStep], dict[str, Any]] = {
    DeliverySending: {"attempt": 1},
    DeliverySent: {"attempt": 1, "provider_message_id": "p1"},
    DeliveryRetrying: {"attempt": 1, "again_at": AT, "ending": TryLater(reason="busy")},
    DeliveryUnknown: {"attempt": 1},
    DeliveryFailed: {"attempt": 1, "error_class": "refused"},
    DeliverySkipped: {},
    DeliveryHeld: {
        "until": AT,
        "quiet_until": AT,
        "hours": QuietHours(start="22:00", end="08:00"),
        "hours_of": "space",
        "zone": "Europe/Berlin",
        "zone_of": "space",
    },
    DeliveryReleased: {},
    DeliveryExpired: {},
    DeliveryCancelled: {},
}
STEPS = st.sampled_from(list(DETAILS))


def begun() -> DeliveryPending:
    return DeliveryPending(
        stream=STREAM,
        version=1,
        at=AT,
        notification="n1",
        producer="tests",
        type="news",
        to="member/m1",
        channel="email",
        address="member/m1",
        requested_at=AT,
        expires_at=AT + timedelta(days=1),
    )


def step(kind: type[DeliveryStep], version: int, **more: Any) -> DeliveryStep:
    return kind(stream=STREAM, version=version, at=AT, **{**DETAILS[kind], **more})


def after(*kinds: type[DeliveryStep]) -> Delivery:
    delivery = delivery_of([begun(), *(step(kind, version) for version, kind in enumerate(kinds, start=2))])
    assert delivery is not None
    return delivery


@given(st.lists(STEPS, max_size=8))
def test_no_event_leads_where_no_arrow_does(kinds: list[type[DeliveryStep]]) -> None:
    delivery = after()
    for kind in kinds:
        event = step(kind, delivery.version + 1)
        if kind.STATE in ARROWS.get(delivery.state, ()):
            delivery = delivery.after(event)
            assert (delivery.state, delivery.version) == (kind.STATE, event.version)
        else:
            with pytest.raises(ValueError, match="cannot become"):
                delivery.after(event)


def test_the_same_notification_channel_and_address_are_one_delivery() -> None:
    assert delivery_stream("n1", "email", "member/m1") == STREAM
    others = {
        delivery_stream("n2", "email", "member/m1"),
        delivery_stream("n1", "sms", "member/m1"),
        delivery_stream("n1", "email", "member/m2"),
    }
    assert len(others | {STREAM}) == 4


def test_attempts_are_counted_when_they_begin() -> None:
    delivery = after(DeliverySending)
    assert (delivery.attempts, delivery.tries, delivery.first_attempt_at) == (1, 1, AT)


def test_our_own_set_up_burns_no_attempt() -> None:
    delivery = after(DeliverySending)
    held = delivery.after(step(DeliveryRetrying, 3, ending=Misconfigured(reason="bad password")))
    assert (held.attempts, held.tries) == (1, 0)


def test_doubts_and_crashes_are_counted() -> None:
    delivery = after(DeliverySending).after(step(DeliveryUnknown, 3, error_class=CRASHED))
    assert (delivery.doubts, delivery.crashes) == (1, 1)


def test_what_was_sent_stays_sent_and_can_be_read_once() -> None:
    delivery = after(DeliverySending, DeliverySent)
    read = delivery.after(DeliveryRead(stream=STREAM, version=4, at=AT))
    again = read.after(DeliveryRead(stream=STREAM, version=5, at=AT + timedelta(hours=1)))
    assert (again.state, again.read_at, again.version) == ("sent", AT, 5)


def test_a_stream_that_begins_otherwise_is_no_delivery() -> None:
    with pytest.raises(TypeError, match=r"not with delivery\.pending"):
        delivery_of([step(DeliverySkipped, 1)])
    assert delivery_of([]) is None
