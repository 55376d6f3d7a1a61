"""What a browser gave us to reach it with, and the key by which push services know us."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from py_vapid import Vapid02  # type: ignore[import-untyped]
from pywebpush import WebPusher  # type: ignore[import-untyped]

from domain.errors import InvalidInput

_KEYS = ("p256dh", "auth")
_LONGEST = 4096


@dataclass(frozen=True, slots=True)
class Subscription:
    """A browser's subscription: the URL to post to, and the keys that only the browser can read with."""

    endpoint: str
    p256dh: str
    auth: str

    @property
    def origin(self) -> str:
        """Return scheme, host and port of the push service."""
        parts = urlsplit(self.endpoint)
        return f"{parts.scheme}://{parts.netloc}"

    def encrypted(self, payload: bytes) -> bytes:
        """Return a payload as only this browser reads it, with a key of its own (aes128gcm, without padding).

        Raises InvalidInput where the subscription's keys are none.
        """
        told = {"endpoint": self.endpoint, "keys": {"p256dh": self.p256dh, "auth": self.auth}}
        try:
            return bytes(WebPusher(told).encode(payload)["body"])
        except Exception as error:  # the libraries raise what the bytes make them: many kinds
            raise InvalidInput("has keys that are none") from error


def read_subscription(text: str, *, allow_http: bool = False) -> Subscription:
    """Return the subscription that a JSON text holds; raises InvalidInput where it holds none."""
    try:
        told: Any = json.loads(text) if len(text) <= _LONGEST else None
        keys = told["keys"]
        found = Subscription(str(told["endpoint"]), *(str(keys[name]) for name in _KEYS))
        scheme, host = urlsplit(found.endpoint).scheme, urlsplit(found.endpoint).hostname
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise InvalidInput("cannot be read") from error
    if not host or scheme not in (("https", "http") if allow_http else ("https",)) or "@" in found.origin:
        raise InvalidInput("has no URL that may be called")
    return found


class Vapid:
    """The operator's key and contact, by which push services know who sends."""

    def __init__(self, private_key: str, contact: str) -> None:
        self._contact = contact
        try:
            is_pem = "-----BEGIN" in private_key
            self._key = Vapid02.from_pem(private_key.encode()) if is_pem else Vapid02.from_string(private_key)
        except Exception as error:  # the libraries raise what the bytes make them: many kinds
            raise InvalidInput("is none") from error

    def headers(self, origin: str, at: datetime) -> dict[str, str]:
        """Return the header that a push service at an origin knows us by, good for half a day."""
        claims = {"aud": origin, "sub": self._contact, "exp": int((at + timedelta(hours=12)).timestamp())}
        return {name.lower(): str(value) for name, value in self._key.sign(claims).items()}
