"""The events of one request, in any of the modes of the CloudEvents HTTP binding.

Structured (one event as JSON), batched (a list of them) and binary (attributes in headers, data in the body);
https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/bindings/http-protocol-binding.md
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import unquote

from adapters.ingestion.json_lines import Item, read_strictly, read_value
from adapters.web.api.problems import Problem
from domain.errors import InvalidInput

SINGLE = "application/cloudevents+json"
BATCHED = "application/cloudevents-batch+json"
JSON = "application/json"

_BINARY = b"ce-"
_BLANK = b" \t\r\n"


class Sent(NamedTuple):
    """The events of a request, each read or still to be read; `is_batch` says whether each is answered for itself."""

    items: Sequence[Item | Callable[[], Item]]
    is_batch: bool


def read_request(headers: Iterable[tuple[bytes, bytes]], body: bytes, largest_batch: int) -> Sent:
    """Return what a request sends; raises Problem, here or where an event is read, for what cannot be read at all."""
    attributes: dict[str, str] = {}
    media_type = ""
    for name, value in headers:
        if name == b"content-type":
            media_type = value.decode("latin-1").partition(";")[0].strip().lower()
        elif name.startswith(_BINARY):
            attributes[name[len(_BINARY) :].decode("latin-1")] = _unquoted(value)
    if media_type not in (SINGLE, BATCHED) and "id" in attributes:
        return Sent([lambda: read_value(1, _binary(attributes, media_type, body))], is_batch=False)
    if media_type not in (SINGLE, BATCHED, JSON, ""):
        raise Problem(415, f"events come as {SINGLE}, {BATCHED} or {JSON}, or in binary mode with JSON as data")
    if media_type == BATCHED or (media_type != SINGLE and body.lstrip(_BLANK).startswith(b"[")):
        return _batch(_read(body), largest_batch)
    return Sent([lambda: read_value(1, _read(body))], is_batch=False)


def _batch(value: Any, largest: int) -> Sent:
    if not isinstance(value, list):
        raise Problem(400, "a batch is a list of events")
    if len(value) > largest:
        raise Problem(413, f"a batch has at most {largest:,} events, this one has {len(value):,}")
    return Sent([read_value(number, each) for number, each in enumerate(value, 1)], is_batch=True)


def _binary(attributes: Mapping[str, str], media_type: str, body: bytes) -> dict[str, Any]:
    if body and not (media_type in (JSON, "") or media_type.endswith("+json")):
        raise Problem(415, "in binary mode the data is JSON")
    return {**attributes, "data": _read(body)} if body else dict(attributes)


def _read(body: bytes) -> Any:
    try:
        return read_strictly(body)
    except InvalidInput as error:
        raise Problem(400, str(error)) from None
    except RecursionError:
        raise Problem(400, "lists and objects are nested too deep") from None


def _unquoted(value: bytes) -> str:
    """Return the value of an attribute; what is not UTF-8 stays visible as such, and is refused later."""
    return unquote(value.decode("latin-1"), errors="replace") if value.isascii() else value.decode(errors="replace")
