"""How a call to a service can end. Expected endings are values; each says what may be done next."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class _Ending(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Done(_Ending):
    """The service did it, now or on an earlier attempt with the same key; `result` holds the ids it gave."""

    kind: Literal["done"] = "done"
    result: dict[str, Any] = {}


class Refused(_Ending):
    """The service said no, or the rule asks for what cannot be: repeating it as it is changes nothing."""

    kind: Literal["refused"] = "refused"
    reason: str
    at_fault: Literal["service", "rule"] = "service"


class TryLater(_Ending):
    """The service cannot do it now and has done nothing; `wait` is what it asked for (Retry-After)."""

    kind: Literal["try_later"] = "try_later"
    reason: str
    wait: timedelta | None = None


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
