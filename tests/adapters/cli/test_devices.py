"""`semel devices`: where a member gets push notifications."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from adapters.aftercare import device_desk
from adapters.application import Application
from adapters.settings import read_settings
from tests.adapters.cli.conftest import Semel, objects
from tests.adapters.cli.samples import WORLD, write_lines

SUBSCRIPTION = {"endpoint": "https://push.example/1", "keys": {"p256dh": "p", "auth": "a"}}


@pytest.fixture
def device(semel: Semel, folder: Path) -> str:
    """The id of a device of the member m1."""
    semel("init")
    write_lines(folder / "e.jsonl", *WORLD)
    semel("ingest", "e.jsonl")
    settings = read_settings(database_url=f"sqlite:///{folder / 'semel.db'}")
    with closing(Application(settings)) as application:
        found = device_desk(application).register("m1", "web", SUBSCRIPTION)
    semel("work", "--until-idle")
    return found.id


def test_devices_are_listed_without_what_only_a_push_service_should_see(semel: Semel, device: str) -> None:
    (row,) = objects(semel("devices", "member/m1", "--json"))
    assert (row["device"], row["platform"], row["withdrawn_at"], row["invalidated_at"]) == (device, "web", None, None)
    assert device in semel("devices", "m1").output
    assert "push.example" not in semel("devices", "m1", "--json").output


def test_one_can_be_withdrawn_and_stays_listed(semel: Semel, device: str) -> None:
    assert semel("devices", "m1", "--withdraw", device, "--by", "ana").output == f"{device}: withdrawn\n"
    assert "before either" in semel("devices", "m1", "--withdraw", device).output
    semel("work", "--until-idle")
    (row,) = objects(semel("devices", "m1", "--json"))
    assert row["withdrawn_at"] is not None


def test_a_device_of_somebody_else_is_none(semel: Semel, device: str) -> None:
    assert "has no device" in semel("devices", "m2", "--withdraw", device, exits=2).output
    assert semel("devices", "m2").output == "m2 has no device\n"
