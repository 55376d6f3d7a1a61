"""Callbacks that are signed by Standard Webhooks."""

from __future__ import annotations

import base64
import hmac
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, ClassVar

from pydantic import Field, SecretStr, field_validator
from standardwebhooks import Webhook

from adapters.callbacks import CallbackProvider, Item, NotAuthentic, Post, callback_providers
from adapters.callbacks.plain_reports import items_of, receipts_of
from automations.notifications.callbacks import Receipt

_NEEDED = ("webhook-id", "webhook-timestamp", "webhook-signature")


@callback_providers.register("standard")
class Standard(CallbackProvider):
    """Takes reports that are signed as Standard Webhooks describes it.

    Several secrets may hold at a time, so that one can be replaced. A post is refused that is older than the
    tolerance, or further ahead; inside of it, its id tells repeats.
    """

    EXAMPLE: ClassVar[Mapping[str, Any]] = {"secrets": ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"]}

    secrets: Annotated[tuple[SecretStr, ...], Field(min_length=1)]
    """What posts are signed with: `whsec_…`."""

    tolerance_seconds: Annotated[float, Field(ge=0, le=86_400)] = 300.0
    """By how much the time of a post may lie before or after ours."""

    @field_validator("secrets")
    @classmethod
    def _are_secrets(cls, secrets: tuple[SecretStr, ...]) -> tuple[SecretStr, ...]:
        for secret in secrets:
            try:
                Webhook(secret.get_secret_value())
            except Exception:  # noqa: BLE001 - the library raises what the text makes it
                raise ValueError("a secret is `whsec_` and base64") from None
        return secrets

    def authenticate(self, post: Post) -> None:
        """Check age and signature of a post, over the very bytes that came."""
        named, stamp, signed = (post.headers.get(name, "") for name in _NEEDED)
        if not (named and stamp and signed):
            raise NotAuthentic("a header of Standard Webhooks is missing", 401)
        at = _time_of(stamp)
        if abs((post.at - at).total_seconds()) > self.tolerance_seconds:
            raise NotAuthentic("it is too old, or from the future")
        if not any(self._signs(secret, named, at, post.body, signed) for secret in self.secrets):
            raise NotAuthentic("the signature is another one")

    def items(self, post: Post) -> list[Item]:
        """Return the reports; the id of the post is theirs."""
        return items_of(post, post.headers["webhook-id"])

    def receipts(self, content: str) -> list[Receipt]:
        """Return what a report says."""
        return receipts_of(content)

    @staticmethod
    def _signs(secret: SecretStr, named: str, at: datetime, body: bytes, signed: str) -> bool:
        try:
            expected = Webhook(secret.get_secret_value()).sign(named, at, body.decode()).partition(",")[2]
        except UnicodeDecodeError:
            return False
        given = [each.partition(",") for each in signed.split(" ")]
        return any(
            version == "v1" and hmac.compare_digest(_decoded(each), _decoded(expected)) for version, _, each in given
        )


def _decoded(signature: str) -> bytes:
    try:
        return base64.b64decode(signature.encode("ascii"), validate=True)
    except ValueError:
        return b""


def _time_of(stamp: str) -> datetime:
    try:
        return datetime.fromtimestamp(int(stamp), tz=UTC)
    except (ValueError, OverflowError, OSError):
        raise NotAuthentic("its time is none") from None
