"""Confirmations beside a campaign that fills its channel for hours, on the clock that everybody has.

By default the campaign is small; `SEMEL_FULL=1` makes it fifty thousand.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from pathlib import Path

import pytest

from adapters.application import Application
from adapters.delivering import DeliveryWorker
from adapters.ingestion.cloud_events import read_event
from adapters.settings import read_settings
from automations.notifications.channels import CallEnding, Message
from automations.notifications.pace import Rate
from domain.endings import Done

BULK = 50_000 if os.environ.get("SEMEL_FULL") else 500
URGENT = 20
PER_SECOND = 10
WITHIN = 3.0
TYPES = """
campaign: {channels: [email], lane: bulk}
news: {channels: [email]}
"""


class Provider:
    """Takes one message after the other, each in `seconds`, and keeps of what type they were, and when they came."""

    honours_keys = False

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.taken: list[tuple[str, float]] = []

    def send(self, message: Message, key: str) -> CallEnding:
        time.sleep(self._seconds)
        self.taken.append((message.type, time.monotonic()))
        return Done(result={"provider_message_id": key})

    def types(self) -> Counter[str]:
        return Counter(type_name for type_name, _ in self.taken)


def opened(url: str, folder: Path) -> Application:
    (folder / "notifications.yaml").write_text(TYPES)
    found = read_settings(database_url=url, default_zone="UTC", notifications=folder / "notifications.yaml")
    app = Application(found)
    app.install()
    member = {"member_id": "m1", "name": "Mia", "email": "mia@example.org"}
    told = {"id": "e1", "source": "tests", "type": "member.registered", "time": app.clock.now().isoformat()}
    app.record(app.recorder(), [read_event({**told, "data": member})])
    return app


def ask(app: Application, type_name: str, count: int) -> None:
    wanted = [
        {"idempotency_key": f"{type_name}{number}", "recipient": "member/m1", "type": type_name, "entity": "member/m1"}
        for number in range(count)
    ]
    door = app.notification_door()
    for start in range(0, count, 500):
        outcomes = door.request_many("tests", wanted[start : start + 500])
        assert {outcome.status for outcome in outcomes} == {"accepted"}


def deliverer(app: Application, provider: Provider, rates: dict[str, Rate]) -> DeliveryWorker:
    return DeliveryWorker(
        log=app.log,
        clock=app.clock,
        owner="tests",
        default_zone="UTC",
        channels={"email": provider},
        jitter=lambda: 1.0,
        types=app.types(),
        rates=rates,
    )


def work_for(worker: DeliveryWorker, seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if not worker.work_once():
            time.sleep(0.02)


@pytest.mark.slow
@pytest.mark.parametrize("slow", [False, True], ids=["allowed", "slow"])
def test_confirmations_overtake_a_campaign_which_still_moves(database_url: str, tmp_path: Path, slow: bool) -> None:
    """The provider takes ten messages a second: because it allows no more, or because each takes it so long."""
    app = opened(database_url, tmp_path)
    provider = Provider(0.8 / PER_SECOND if slow else 0)  # the rest goes to what is done around each call
    worker = deliverer(app, provider, {} if slow else {"email": Rate(PER_SECOND)})
    ask(app, "campaign", BULK)
    while worker._expander.expand().notifications:
        pass
    work_for(worker, 2)
    before = provider.types()["campaign"]
    asked_at = time.monotonic()
    ask(app, "news", URGENT)
    work_for(worker, WITHIN + 1)
    app.close()
    urgent = [at - asked_at for type_name, at in provider.taken if type_name == "news"]
    print(
        f"{BULK} of bulk: {URGENT} sent within {max(urgent):.2f} s, and {provider.types()['campaign'] - before} of bulk"
    )
    assert len(urgent) == URGENT
    assert max(urgent) <= WITHIN
    assert provider.types()["campaign"] > before
