"""What every channel keeps to, whoever wrote it: found in the registry, none is named here."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import SecretStr, ValidationError

from adapters.channels import ChannelPlugin, channels
from automations.notifications.channels import CallEnding
from domain.endings import Done, Refused
from tests.adapters.channels.messages import message

PLUGINS = list(channels.values())

HOSTILE = (
    "",
    "x" * 20_000,
    "\0",
    "\ud800",
    "a\r\nBcc: x@evil.example",
    "\u202eabc",
    "\u2028",
    "{",
    "[" * 5_000,
    "=?utf-8?q?=0D=0A?=",
    "https://127.0.0.1/",
    "+34600111222",
    "mia@example.org",
    "ü@example.com",
    "../../etc/x",
)


@pytest.fixture
def made(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ChannelPlugin]:
    """A channel with the settings of its example, whose providers cannot be reached."""
    monkeypatch.chdir(tmp_path)
    unreachable = {"host": "127.0.0.1", "port": 9, "base_url": "http://127.0.0.1:9", "timeout_seconds": 1}
    plugin: type[ChannelPlugin] = request.param
    given = {name: value for name, value in unreachable.items() if name in plugin.model_fields}
    channel = plugin.model_validate({**plugin.EXAMPLE, **given})
    yield channel
    channel.close()


every = pytest.mark.parametrize("plugin", PLUGINS, ids=lambda plugin: plugin.NAME)
each_made = pytest.mark.parametrize("made", PLUGINS, ids=lambda plugin: plugin.NAME, indirect=True)


@every
def test_a_channel_is_one_documented_frozen_model_in_a_file_of_its_own(plugin: type[ChannelPlugin]) -> None:
    assert channels[plugin.NAME] is plugin
    first = (inspect.getdoc(plugin) or "").partition("\n")[0]
    assert first.rstrip().endswith((".", ",", ")")) or first
    assert plugin.model_config["frozen"]
    assert plugin.model_config["extra"] == "forbid"
    assert Path(inspect.getfile(plugin)).stem == plugin.NAME
    with pytest.raises(ValidationError):
        plugin.model_validate({**plugin.EXAMPLE, "no_such_setting": 1})


@every
def test_every_setting_is_explained(plugin: type[ChannelPlugin]) -> None:
    assert [name for name, field in plugin.model_fields.items() if not field.description] == []


@every
def test_its_example_is_enough_and_survives_being_written_down(plugin: type[ChannelPlugin]) -> None:
    channel = plugin.model_validate(plugin.EXAMPLE)
    assert plugin.model_validate(channel.model_dump()) == channel
    assert plugin.model_validate(json.loads(json.dumps(shown(channel)))) == channel
    assert 1 <= channel.concurrency <= 100


@every
def test_no_secret_is_shown(plugin: type[ChannelPlugin]) -> None:
    channel = plugin.model_validate(plugin.EXAMPLE)
    secrets = [value.get_secret_value() for value in dict(channel).values() if isinstance(value, SecretStr)]
    for told in (repr(channel), str(channel), channel.model_dump_json()):
        assert not [secret for secret in secrets if secret and secret in told]


@each_made
@pytest.mark.parametrize("value", HOSTILE, ids=range(len(HOSTILE)))
def test_whatever_a_message_holds_is_an_ending(made: ChannelPlugin, value: str) -> None:
    texts = dict.fromkeys(("address", "subject", "text", "html", "link", "unsubscribe_url", "locale"), value)
    for given in (texts, {"address": value}, {"subject": value, "text": value}):
        ending = made.send(message(made.NAME, **given), "d1")
        assert isinstance(ending, get_args(CallEnding))
        if len(value) > 3 and not isinstance(ending, Done):
            assert value not in ending.reason


@each_made
def test_where_nobody_can_be_reached_nothing_was_done(made: ChannelPlugin) -> None:
    ending = made.send(message(made.NAME), "d1")
    assert ending.kind != "unknown"
    if isinstance(ending, Refused):
        assert ending.error_class != ""


def shown(channel: ChannelPlugin) -> dict[str, Any]:
    """Return settings as their file holds them: secrets in the clear, paths as texts."""
    values = dict(channel)
    plain = {name: value.get_secret_value() for name, value in values.items() if isinstance(value, SecretStr)}
    paths = {name: str(value) for name, value in values.items() if isinstance(value, Path)}
    return {**values, **plain, **paths}
