"""A browser with a subscription, and what its push service checks and hands on."""

from __future__ import annotations

import base64
import json
import os
from dataclasses import dataclass, field
from typing import Any

import http_ece  # type: ignore[import-untyped]
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from py_vapid import Vapid02  # type: ignore[import-untyped]

from tests.adapters.channels.http_service import Received


def in_base64url(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()


@dataclass
class Browser:
    """Holds the keys that only it can read with."""

    endpoint: str
    key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))
    auth: bytes = field(default_factory=lambda: os.urandom(16))

    @property
    def subscription(self) -> str:
        form = (serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)
        keys = {"p256dh": in_base64url(self.key.public_key().public_bytes(*form)), "auth": in_base64url(self.auth)}
        return json.dumps({"endpoint": self.endpoint, "expirationTime": None, "keys": keys})

    def read(self, received: Received) -> dict[str, Any]:
        assert received.headers["content-encoding"] == "aes128gcm"
        plain = http_ece.decrypt(received.body, private_key=self.key, auth_secret=self.auth, version="aes128gcm")
        told = json.loads(plain)
        assert isinstance(told, dict)
        return told


def verified_claims(received: Received) -> dict[str, Any]:
    """Return the claims of a request, if its signature is that of its key."""
    authorization = received.headers["authorization"]
    assert Vapid02.verify(authorization)
    token = authorization.partition(" t=")[2].partition(",")[0]
    body = token.split(".")[1]
    claims = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
    assert isinstance(claims, dict)
    return claims


def private_key() -> str:
    key = ec.generate_private_key(ec.SECP256R1())
    return in_base64url(key.private_numbers().private_value.to_bytes(32, "big"))
