"""Logging keeps personal data out, whatever is logged, and nothing stays silenced."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
import structlog

from adapters import logs


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    """What was configured before."""
    before, handlers, level = structlog.get_config(), logging.getLogger().handlers[:], logging.getLogger().level
    yield
    structlog.configure(**before)
    logging.getLogger().handlers[:] = handlers
    logging.getLogger().setLevel(level)


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().err.splitlines()]


def test_fields_that_may_be_personal_are_withheld(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure(1)
    structlog.get_logger().info(
        "member.registered", entity="member/m1", name="Mia", data={"email": "mia@example.org"}, n=3
    )
    (line,) = lines(capsys)
    assert line["entity"] == "member/m1"
    assert line["n"] == 3
    assert line["name"] == line["data"] == logs.WITHHELD
    assert "Mia" not in json.dumps(line)


def test_an_exception_tells_its_type_and_its_place_and_not_its_text(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure()
    try:
        raise ValueError("Mia, mia@example.org")
    except ValueError:
        structlog.get_logger().exception("call.broke-off", key="k1")
    (line,) = lines(capsys)
    assert line["exception"] == "ValueError"
    assert line["place"].startswith("test_logs.py:")
    assert "Mia" not in json.dumps(line)


@pytest.mark.parametrize(
    ("verbose", "levels"), [(0, ["warning"]), (1, ["info", "warning"]), (9, ["debug", "info", "warning"])]
)
def test_changes_of_state_are_logged_if_asked_for(
    verbose: int, levels: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    logs.configure(verbose)
    logger = structlog.get_logger()
    logger.debug("a.thing-looked-at")
    logger.info("a.thing-happened")
    logger.warning("a.thing-failed")
    assert [line["level"] for line in lines(capsys)] == levels


def test_libraries_are_heard_and_none_is_silenced(capsys: pytest.CaptureFixture[str]) -> None:
    for name in logs.SILENCED:
        logging.getLogger(name).setLevel(logging.ERROR)
    logs.configure()
    logs.configure()
    logging.getLogger("psycopg.pool").warning("the pool is %s", "empty")
    (line,) = lines(capsys)
    assert (line["event"], line["logger"], line["level"]) == ("the pool is empty", "psycopg.pool", "warning")
