"""The way out of bulk mails: a link that unsubscribes one member from one type on one channel (RFC 8058).

A link holds who and what, and a hash that only this operator can make; whoever has it can do nothing else with it.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Callable
from typing import NamedTuple

from domain.deliveries import DeliveryPending
from domain.errors import InvalidInput
from domain.ids import id_of, kind_of
from domain.preferences import Subject

PATH = "/unsubscribe/"
"""Where links lead to, below the operator's public URL; the token follows."""

WayOut = Callable[[DeliveryPending], str]
"""Returns the URL that ends mails like this one, or an empty text."""

_SIGNATURE = 16
_LONGEST = 1_000
_PURPOSE = b"unsubscribe\0"


class Leaving(NamedTuple):
    """Who wants no more of what: the id of a member, with a type and a channel."""

    member: str
    subject: Subject


def token_of(leaving: Leaving, salt: bytes) -> str:
    """Return the token of a link, which is the same each time."""
    told = json.dumps([leaving.member, *leaving.subject], separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(_signed(told, salt) + told).rstrip(b"=").decode()


def leaving_of(token: str, salt: bytes) -> Leaving:
    """Return what a token stands for; raises InvalidInput for one that was not made here, whatever is wrong with it."""
    try:
        found = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
        signature, told = found[:_SIGNATURE], found[_SIGNATURE:]
        if len(token) > _LONGEST or not hmac.compare_digest(signature, _signed(told, salt)):
            raise ValueError
        member, type_name, channel = json.loads(told)
    except ValueError:
        raise InvalidInput("this link is none of ours, or was cut off") from None
    return Leaving(member, Subject(type_name, channel))


def url_of(public_url: str, asked: DeliveryPending, salt: bytes) -> str:
    """Return the URL that ends mails like this one; there is none for what is mandatory, or not bulk, or no mail."""
    ours = asked.channel == "email" and asked.lane == "bulk" and not asked.mandatory and kind_of(asked.to) == "member"
    if not public_url or not ours:
        return ""
    leaving = Leaving(id_of(asked.to), Subject(asked.type, asked.channel))
    return f"{public_url.rstrip('/')}{PATH}{token_of(leaving, salt)}"


def way_out_of(public_url: str, salt: bytes) -> WayOut:
    """Return what makes the links of one operator."""
    return lambda asked: url_of(public_url, asked, salt)


def without_a_way_out(asked: DeliveryPending) -> str:
    """Return that there is no link."""
    return ""


def _signed(told: bytes, salt: bytes) -> bytes:
    return hmac.new(salt, _PURPOSE + told, hashlib.sha256).digest()[:_SIGNATURE]
