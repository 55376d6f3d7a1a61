"""The reference page of the channels, made from their docstrings and settings."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from typing import Any, get_args

from pydantic import SecretStr
from pydantic.fields import FieldInfo

from adapters.channels import ChannelPlugin, channels
from adapters.settings import Settings


def channels_page() -> Iterator[str]:
    """Yield the lines of the page."""
    yield from ("# Channels", "")
    yield "Where no provider is set up, messages become files in the outbox."
    yield "A setting stands in `semel.toml` in the table of its channel, or in the variable beside it."
    yield ""
    for name, channel in channels.items():
        yield from (f"## {name}", "", inspect.getdoc(channel) or "", "")
        yield from _keys(channel)
        if _has_a_table(name, channel):
            yield from _example(name, channel)
            yield from _settings(name, channel)


def _has_a_table(name: str, channel: type[ChannelPlugin]) -> bool:
    return name in Settings.model_fields and channel in get_args(Settings.model_fields[name].annotation)


def _keys(channel: type[ChannelPlugin]) -> Iterator[str]:
    if channel.HONOURS_KEYS:
        yield from ("A repeat with the same key does nothing twice.", "")


def _example(name: str, channel: type[ChannelPlugin]) -> Iterator[str]:
    yield from ("```toml", f"[{name}]")
    yield from (f"{setting} = {json.dumps(value)}" for setting, value in channel.EXAMPLE.items())
    yield from ("```", "")


def _settings(name: str, channel: type[ChannelPlugin]) -> Iterator[str]:
    yield from ("| setting | variable | default | |", "|---|---|---|---|")
    for setting, field in channel.model_fields.items():
        variable = f"SEMEL_{name}__{setting}".upper()
        yield f"| `{setting}` | `{variable}` | {_default(field)} | {_told(field)} |"
    yield ""


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "needed"
    value: Any = field.default.get_secret_value() if isinstance(field.default, SecretStr) else field.default
    return "" if value in (None, "") else f"`{json.dumps(value)}`"


def _told(field: FieldInfo) -> str:
    choices = [choice for choice in get_args(field.annotation) if isinstance(choice, str)]
    text = " ".join((field.description or "").split())
    return f"{text} One of {', '.join(f'`{choice}`' for choice in choices)}." if choices else text
