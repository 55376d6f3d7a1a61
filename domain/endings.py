"""How a call to a service can end. Expected endings are values; each says what may be done next."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class _Ending(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Done(_Ending):
    """The service did it, now or on an earlier attempt with the same key; `result` holds the ids it gave."""

    kind: Literal["done"] = "done"
    result: dict[str, Any] = {}


SUPPRESSES: Mapping[str, Literal["address", "token"]] = {
    "bad_address": "address",
    "mailbox_disabled": "address",
    "opted_out": "address",
    "token_gone": "token",
    "bad_token": "token",
}
"""What must not be used again after a refusal, by its class; after one of any other class everything may be."""


class Refused(_Ending):
    """The service said no, or the rule asks for what cannot be: repeating it as it is changes nothing.

    `error_class` groups refusals of one cause, whichever words the service has for it.
    """

    kind: Literal["refused"] = "refused"
    reason: str
    at_fault: Literal["service", "rule"] = "service"
    error_class: str = "refused"

    @property
    def suppresses(self) -> Literal["", "address", "token"]:
        """Return what must not be used again: the address, the token of the device, or nothing."""
        return SUPPRESSES.get(self.error_class, "")


class TryLater(_Ending):
    """The service cannot do it now and has done nothing; `wait` is what it asked for (Retry-After).

    `about` says whether all of its calls are meant, or only those to this address: a busy mailbox is no fault of
    the service that tells of it.
    """

    kind: Literal["try_later"] = "try_later"
    reason: str
    wait: timedelta | None = None
    about: Literal["service", "address"] = "service"


class Misconfigured(_Ending):
    """Our credentials or set-up are wrong: every call of this service would end so, none had an effect."""

    kind: Literal["misconfigured"] = "misconfigured"
    reason: str


class Unknown(_Ending):
    """The service may have accepted the call; only its honouring of keys makes a repeat harmless."""

    kind: Literal["unknown"] = "unknown"
    reason: str


Ending = Annotated[Done | Refused | TryLater | Misconfigured | Unknown, Field(discriminator="kind")]


def is_answer(ending: Ending) -> bool:
    """Say whether a service answered for good, so that what its earlier calls under that key did is known too."""
    return ending.kind in ("done", "refused")


def may_have_acted(ending: Ending) -> bool:
    """Say whether a call that ended so may have had an effect (semantics 1)."""
    return ending.kind in ("done", "refused", "unknown")
