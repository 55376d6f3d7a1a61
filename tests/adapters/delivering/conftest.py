"""An office that delivers, on a fresh database of each kind."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from adapters.application import Application
from adapters.channels.in_app import InApp
from adapters.clock import SimulatedClock
from adapters.settings import Settings
from tests.adapters.delivering.office import REMINDERS, START, FakeChannel, Office


@contextmanager
def opened(url: str) -> Iterator[Office]:
    """Open an office on a database, with a member and the rule that reminds."""
    clock = SimulatedClock(START)
    settings = Settings.model_validate({"database_url": url, "default_zone": "Europe/Madrid"})
    app = Application(settings, clock=clock, jitter=lambda: 1.0)
    app.install()
    office = Office(app, clock, {"email": FakeChannel(), "sms": FakeChannel(), "in_app": InApp()})
    office.tell("space.opened", space_id="mitte", name="Mitte", time_zone="Europe/Madrid", currency="EUR", locale="de")
    office.tell("member.registered", member_id="m1", name="Mia", email="mia@example.org")
    office.save_rule(**REMINDERS)
    yield office
    app.close()


@pytest.fixture
def office(database_url: str) -> Iterator[Office]:
    """An office with a member and the rule that reminds."""
    with opened(database_url) as office:
        yield office
