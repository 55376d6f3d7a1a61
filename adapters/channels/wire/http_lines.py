"""The way from any thread to an HTTP service: connections are opened with the first call, and kept for the next."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from adapters.channels.replies.http import Answer
from adapters.channels.wire.background import background
from automations.notifications.channels import CallEnding

if TYPE_CHECKING:
    from adapters.channels.wire.http_calls import HttpCaller


@dataclass(frozen=True, slots=True)
class Post:
    """A request of a channel; `auth` is a name and a password. One that only asks is a GET, with no content."""

    url: str
    content: bytes
    headers: Mapping[str, str]
    auth: tuple[str, str] | None = None
    method: str = "POST"


class HttpLine:
    """What one channel or service calls with; every call ends within `seconds`.

    With `checks_addresses` a URL comes from somebody else, and only public addresses are called unless private
    ones are allowed too.
    """

    def __init__(
        self, seconds: float, *, connections: int, checks_addresses: bool = False, allow_private: bool = False
    ) -> None:
        self._seconds = seconds
        self._connections = connections
        self._checks_addresses = checks_addresses
        self._allow_private = allow_private
        self._caller: HttpCaller | None = None
        self._lock = threading.Lock()

    def call(self, post: Post) -> Answer | CallEnding:
        """Return the answer to a request, or how the call ends where there was none."""
        return background().run(self._opened().post(post))

    def close(self) -> None:
        """Let go of all connections."""
        with self._lock:
            caller, self._caller = self._caller, None
        if caller is not None:
            background().run(caller.close())

    def _opened(self) -> HttpCaller:
        # Imported here, since it takes long: most commands call nobody.
        from adapters.channels.wire.http_calls import HttpCaller

        with self._lock:
            if self._caller is None:
                self._caller = HttpCaller(
                    self._seconds,
                    checks_addresses=self._checks_addresses,
                    allow_private=self._allow_private,
                    connections=self._connections,
                )
            return self._caller
