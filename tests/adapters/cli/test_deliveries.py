"""`semel deliveries`: what went out, what did not, and why."""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_args

import pytest

from adapters.cli.deliveries import DeliveryStatus
from domain.delivery_events import State
from projections.deliveries import LISTED
from tests.adapters.cli.conftest import Semel, objects
from tests.adapters.cli.samples import WORLD, write_lines


@pytest.fixture(autouse=True)
def sent(semel: Semel, folder: Path) -> None:
    """A database in which one message went out, and one had nowhere to go."""
    semel("init")
    write_lines(folder / "e.jsonl", *WORLD)
    semel("ingest", "e.jsonl")
    (folder / "notifications.yaml").write_text("hello: {}\nother: {}\n")
    semel("do", "notify", "--to", "member/m1", "--type", "hello")
    semel("do", "notify", "--to", "member/m1", "--type", "other")
    semel("work", "--until-idle")


def test_every_state_can_be_asked_for() -> None:
    assert tuple(map(str, DeliveryStatus)) == get_args(State)


def test_they_are_listed_with_what_the_contract_names(semel: Semel) -> None:
    found = objects(semel("deliveries", "--json"))
    assert len(found) == 2
    assert set(LISTED) <= found[0].keys()
    assert [row["type"] for row in found] == ["hello", "other"]


def test_they_can_be_narrowed_down(semel: Semel) -> None:
    assert [row["type"] for row in objects(semel("deliveries", "--type", "other", "--json"))] == ["other"]
    assert objects(semel("deliveries", "--channel", "sms", "--json")) == []
    assert semel("deliveries", "--to", "member/m2").stdout == "no delivery\n"
    assert len(objects(semel("deliveries", "--to", "m1", "--json"))) == 2
    assert "is no entity" in semel("deliveries", "--entity", "b1", exits=2).output
    semel("deliveries", "--status", "lost", exits=2)


def test_one_is_told_whole(semel: Semel) -> None:
    [first, _] = objects(semel("deliveries", "--json"))
    told = json.loads(semel("deliveries", "show", first["delivery"], "--json").stdout)
    assert told["delivery"] == first["delivery"]
    assert next(step["what"] for step in told["steps"]) == "sending"
    assert first["delivery"] in semel("deliveries", "show", first["delivery"][:16]).stdout
    assert "no delivery is called" in semel("deliveries", "show", "delivery-x", exits=2).output
    assert "more than one" in semel("deliveries", "show", "delivery-", exits=2).output
