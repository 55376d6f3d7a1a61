"""What providers tell us afterwards: one module for each way of telling.

A provider is a frozen model of its settings that knows three things: whether a post is authentic, which reports it
holds, and what each of them means. It never sees a database; `receiving` stores, and the worker acts.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict

from automations.notifications.callbacks import Receipt
from automations.registry import Registry
from domain.ids import digest

CallbackChannel = Literal["email", "sms", "web_push", "webhook"]
"""The channels whose providers report something."""


@dataclass(frozen=True, slots=True)
class Post:
    """A request as it came in: names of headers in small letters, the body byte for byte, the URL that was called."""

    headers: Mapping[str, str]
    body: bytes
    url: str
    at: datetime

    @classmethod
    def of(cls, headers: Mapping[str, str], body: bytes, url: str, at: datetime) -> Post:
        """Return a request whose headers are written in any way."""
        return cls({name.lower(): value for name, value in headers.items()}, body, url, at)

    @property
    def text(self) -> str:
        """Return the body as text; what is no UTF-8 is replaced, for storing."""
        return self.body.decode("utf-8", "replace")


class Item(NamedTuple):
    """One report of a post: what makes it unique for its provider, and its content."""

    id: str
    content: str


class NotAuthentic(Exception):
    """A post does not prove who it is from; `status` is 401 where it did not try, and 403 where it failed."""

    def __init__(self, reason: str, status: Literal[401, 403] = 403) -> None:
        super().__init__(reason)
        self.status = status


class CallbackProvider(BaseModel):
    """The base of every provider; `TELLS_OF_DELIVERY` says whether silence about a message means something.

    `EXAMPLE` holds settings that are enough to set it up.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    NAME: ClassVar[str]
    TELLS_OF_DELIVERY: ClassVar[bool] = True
    EXAMPLE: ClassVar[Mapping[str, Any]] = {}

    channel: CallbackChannel = "email"
    """The channel whose messages it reports about."""

    def authenticate(self, post: Post) -> None:
        """Do nothing for a post that is from the provider; raises NotAuthentic for any other."""
        raise NotImplementedError

    def items(self, post: Post) -> list[Item]:
        """Return the reports of an authentic post; what cannot be taken apart is one report."""
        return [Item(digest(post.text), post.text)]

    def welcome(self, post: Post) -> None:
        """Do what the provider asks for before it reports; raises Unavailable where that has to be tried again."""

    def receipts(self, content: str) -> list[Receipt]:
        """Return what a report says; raises InvalidInput where it cannot be read."""
        raise NotImplementedError


def json_of(content: str) -> dict[str, Any]:
    """Return the object that a JSON text holds, or an empty one."""
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def require_bearer(post: Post, secret: str, header: str = "authorization") -> None:
    """Do nothing for a post that shows a secret, as `Bearer …` or plainly; raises NotAuthentic for any other."""
    shown = post.headers.get(header, "")
    if not shown:
        raise NotAuthentic(f"the header {header} is missing", 401)
    kind, _, token = shown.partition(" ")
    given = token if kind.lower() == "bearer" else shown
    if not hmac.compare_digest(given.strip().encode(), secret.encode()):
        raise NotAuthentic(f"the header {header} holds another secret")


callback_providers: Registry[CallbackProvider] = Registry("callback provider", __name__)
"""Every provider by its name."""
