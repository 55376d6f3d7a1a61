"""Notices: what Semel itself tells staff, such as that it paused, or what an outage has left behind.

They are notifications like any other, of types that begin with `semel.`, made once for each key.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from domain.notifications import STAFF, DeliveryRequested, Requested, notification_of

ENGINE = "semel/engine"
"""The producer of notices."""

PREFIX = "semel."
"""How the types of notices begin."""

OUTAGE = "semel.outage"
"""What an outage has left behind: how much was missed, and how much came late."""

CALLBACKS_SILENT = "semel.callbacks-silent"
"""Nothing is heard of what becomes of the messages on a channel."""

TOO_LATE = "semel.messages-too-late"
"""Messages expired that could have been sent in time."""

PAUSED = "semel.paused"
"""Clock triggers pause until staff resume them."""


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that staff are told once; `key` says for what, `payload` holds the values of the wording."""

    type: str
    key: str
    payload: Mapping[str, Any]


def is_notice(type_name: str) -> bool:
    """Say whether a notification type is one of Semel's own notices to staff."""
    return type_name.startswith(PREFIX)


def requested(notice: Notice, at: datetime) -> Requested:
    """Return the request for a notice, and the payload that goes with it."""
    stream = notification_of(ENGINE, f"{notice.type}/{notice.key}")
    event = DeliveryRequested(
        stream=stream,
        version=1,
        at=at,
        producer=ENGINE,
        idempotency_key=f"{notice.type}/{notice.key}",
        type=notice.type,
        to=STAFF,
        payload=f"{stream}/1/payload",
    )
    return Requested(event, notice.payload)
