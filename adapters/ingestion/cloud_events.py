"""CloudEvents 1.0 in JSON form become incoming events, or a list of everything that is wrong with them.

https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/formats/json-format.md; the extensions `sequence` and
`idempotencykey` are understood, other attributes are passed over.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError
from pydantic_core import from_json

from adapters.ingestion.incoming import Incoming
from domain.catalogue import known, mistakes_of, read_data
from domain.errors import InvalidInput, Mistake
from domain.fields import Moment, Text
from domain.ids import Id
from domain.text_values import shown

TypeName = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"^[A-Za-z0-9._/-]+$")]


class CloudEvent(BaseModel):
    """The attributes of one event; `data` is read by its type."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    specversion: Literal["1.0"] = "1.0"
    id: Id
    source: Id
    type: TypeName
    time: Moment
    sequence: Annotated[str, StringConstraints(max_length=200)] = ""
    idempotencykey: Text | None = None
    data: Any = None


def read_json(text: bytes | str) -> Any:
    """Return the JSON value of a text, or raise InvalidInput saying where it breaks off.

    Not-a-number, infinities and lone surrogates are no JSON (RFC 8259, RFC 7493) and are refused.
    """
    try:
        return from_json(text, allow_inf_nan=False)
    except ValueError as error:
        raise InvalidInput(f"this is not JSON: {error}") from None


def read_event(value: Any) -> Incoming:
    """Return the incoming event of one CloudEvent, or raise InvalidInput with every fault named."""
    if not isinstance(value, Mapping):
        raise InvalidInput(f"an event must be a JSON object, not {shown(value)}")
    mistakes: list[Mistake] = []
    event: CloudEvent | None = None
    try:
        event = CloudEvent.model_validate(value)
    except ValidationError as error:
        mistakes += mistakes_of(error)
    data = value.get("data")
    if known(str(value.get("type"))):
        data, faults = _read_known(str(value["type"]), data)
        mistakes += faults
    if mistakes or event is None:
        raise InvalidInput(mistakes)
    return Incoming(
        event.source,
        event.id,
        event.type,
        event.time,
        data,
        event.sequence,
        idempotency_key=event.idempotencykey,
        # As it was sent, so that a repeat stays one when a later Semel reads it otherwise.
        fingerprint=[event.type, event.time.isoformat(), event.sequence, value.get("data")],
    )


def _read_known(fact_type: str, data: Any) -> tuple[Any, list[Mistake]]:
    try:
        return read_data(fact_type, data).model_dump(mode="json", exclude_unset=True), []
    except InvalidInput as error:
        return None, list(error.mistakes)
