"""How the operator's own services are reached: tables like `[services.billing]`."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationInfo, field_validator

from adapters.channels.wire.webhook_signatures import checked_secret

_TOKEN = re.compile(r"[A-Za-z0-9._~+/=-]*")
"""What a bearer token is made of (RFC 6750)."""


class OutsideService(BaseModel):
    """One service of the operator over HTTP, in the place of the one that comes with Semel."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    base_url: Annotated[str, Field(pattern=r"^https?://[^\s@/?#]+(/[^\s?#]*)?$", max_length=2000)]
    """Where it is; operations are posted below it, such as `/billing/issue_invoice`."""

    token: SecretStr = SecretStr("")
    """What it knows us by, sent as a bearer token; nothing is sent where it is empty."""

    timeout_seconds: Annotated[float, Field(gt=0, le=120)] = 15.0
    """The longest wait for an answer."""

    honours_keys: bool = True
    """Whether a repeated `Idempotency-Key` gets the first answer and does nothing twice."""

    look_up: bool = False
    """Whether it can be asked with `GET /requests/<key>` what became of a request; only without `honours_keys`."""

    connections: Annotated[int, Field(ge=1, le=100)] = 8
    """How many connections each process has open at most."""

    @field_validator("token")
    @classmethod
    def _fits_a_header(cls, token: SecretStr) -> SecretStr:
        if not _TOKEN.fullmatch(token.get_secret_value()):
            raise ValueError("has to be of letters, digits and -._~+/=")
        return token


class WebhookService(BaseModel):
    """How the action `call_webhook` calls addresses of the operator."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    secret: SecretStr
    """What calls are signed with by Standard Webhooks: `whsec_` and at least 24 bytes in base64."""

    former_secret: SecretStr = SecretStr("")
    """The secret before, as long as receivers may still use it: then each call has both signatures."""

    allow_private: bool = False
    """Whether addresses inside a private network may be called, and http."""

    largest_body: Annotated[int, Field(ge=100, le=10_000_000)] = 256_000
    """Bytes of one call; larger ones are refused."""

    timeout_seconds: Annotated[float, Field(gt=0, le=120)] = 15.0
    """The longest wait for an answer."""

    connections: Annotated[int, Field(ge=1, le=100)] = 8
    """How many connections each process has open at most."""

    @field_validator("secret", "former_secret")
    @classmethod
    def _is_long_enough(cls, secret: SecretStr, field: ValidationInfo) -> SecretStr:
        return checked_secret(secret, is_optional=field.field_name == "former_secret")


class ServiceSettings(BaseModel):
    """The services of the operator; each that has no table is the one that comes with Semel."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    billing: OutsideService | None = None
    """Invoices and fees."""

    access: OutsideService | None = None
    """Doors."""

    tasks: OutsideService | None = None
    """What staff have to do."""

    memberships: OutsideService | None = None
    """Subscriptions."""

    webhook: WebhookService | None = None
    """Signed calls of any address; without it the action `call_webhook` is refused."""
