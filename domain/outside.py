"""Events whose type the catalogue does not have: accepted, stored, counted and shown, and nothing more."""

from __future__ import annotations

from domain.civil_time import Instant
from domain.events import DomainEvent


class OutsideEvent(DomainEvent):
    """An event of an unknown type; its payload is personal for all we know, so it is kept by reference.

    The stream is `outside/<type>`, so its version counts them.
    """

    TOPIC = "outside.event"

    type: str
    source: str
    id: str
    time: Instant
    member: str = ""
    payload: str
