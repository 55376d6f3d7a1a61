"""What is posted to somebody's URL is signed by Standard Webhooks, so that they know who it is from."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from pydantic import SecretStr

PREFIX = "whsec_"


def checked_secret(secret: SecretStr, *, is_optional: bool) -> SecretStr:
    """Return a secret that is long enough to sign with; raises ValueError for another one."""
    text = secret.get_secret_value()
    try:
        digits = text.removeprefix(PREFIX).rstrip("=")
        key = base64.b64decode(digits + "=" * (-len(digits) % 4), validate=True)
    except binascii.Error:
        raise ValueError("is no base64 after `whsec_`") from None
    if not 24 <= len(key) <= 64 and (text or not is_optional):
        raise ValueError("has to have 24 to 64 bytes")
    return secret


def signed_headers(key: str, at: datetime, body: str, secrets: Sequence[SecretStr]) -> Mapping[str, str]:
    """Return the headers of a JSON text that is signed with each of the secrets that is not empty."""
    from standardwebhooks.webhooks import Webhook

    moment = at.astimezone(UTC)
    texts = (secret.get_secret_value() for secret in secrets)
    return {
        "content-type": "application/json",
        "webhook-id": key,
        "webhook-timestamp": str(int(moment.timestamp())),
        "webhook-signature": " ".join(Webhook(text).sign(key, moment, body) for text in texts if text),
    }
