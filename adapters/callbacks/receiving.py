"""Takes the posts of providers: checks who sends, keeps what is new, and answers; everything else comes later.

The answer to an authentic post says that it was kept, whatever it holds: a provider that is refused an event throws
it away, or sends the whole post again.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

import structlog

from adapters.callbacks import CallbackProvider, NotAuthentic, Post
from adapters.database.callbacks import Report, keep
from adapters.database.event_log import EventLog
from adapters.database.unit_of_work import retrying, unit_of_work

logger = structlog.get_logger(__name__)

MOST_ITEMS = 10_000
"""Reports in one post; what is behind them is refused with it."""


@dataclass(frozen=True, slots=True)
class CallbackAnswer:
    """What a provider is answered: a status of HTTP, and how many of its reports are new, or were heard before."""

    status: int
    new: int = 0
    known: int = 0
    reason: str = ""


class CallbackDoor:
    """Where the posts of providers arrive; it serves any thread."""

    def __init__(self, log: EventLog, providers: Mapping[str, CallbackProvider]) -> None:
        self._log = log
        self._providers = providers

    def receive(
        self, provider: str, headers: Mapping[str, str], raw_body: bytes, url: str, at: datetime
    ) -> CallbackAnswer:
        """Take a post to a provider's URL, which came at an instant.

        200 once its reports are kept; 404 for a provider that is not set up, 401 and 403 where it is not authentic,
        and 413 for too many reports at once, none of which is kept then. Raises Unavailable where it cannot be kept
        or checked now, which asks for a 503: the provider sends it again.
        """
        known = self._providers.get(provider)
        if known is None:
            return CallbackAnswer(404, reason="no such provider is set up")
        post = Post.of(headers, raw_body, url, at)
        try:
            known.authenticate(post)
        except NotAuthentic as error:
            logger.warning("callback.refused", provider=provider, reason=str(error))
            return CallbackAnswer(error.status, reason=str(error))
        items = known.items(post)
        if len(items) > MOST_ITEMS:
            return CallbackAnswer(413, reason=f"more than {MOST_ITEMS} reports")
        new = self._kept([Report(provider, item.id, known.channel, item.content) for item in items], at)
        known.welcome(post)
        return CallbackAnswer(200, new, len(items) - new)

    def _kept(self, reports: list[Report], at: datetime) -> int:
        def attempt() -> int:
            with unit_of_work(self._log, "callbacks") as work:
                new = keep(work.connection, reports, at)
                if new:
                    work.wake()
                return new

        return retrying(attempt, sleep=time.sleep)
