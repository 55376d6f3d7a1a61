"""Events go out to webhooks: one thread for each that has something due, so that none waits for another.

The threads live for as long as there is something to send. Whoever runs a round never waits for them.
"""

from __future__ import annotations

import threading
from datetime import datetime
from uuid import uuid4

import sqlalchemy as sa
import structlog

from adapters.channels.wire.http_lines import HttpLine
from adapters.database.delivery_queue import is_to_webhook, place_of
from adapters.database.engine import reading
from adapters.database.event_log import EventLog
from adapters.database.failures import Contended
from adapters.database.lanes import lane as stored_lane
from adapters.database.lease_observer import LEASE_TIME, LeaseObserver
from adapters.database.queue import release
from adapters.database.queue_dues import next_dues
from adapters.database.unit_of_work import unit_of_work
from adapters.database.webhook_deliveries import WebhookFollower
from adapters.database.webhooks import webhooks_now
from adapters.settings import WebhookSettings
from adapters.webhooks.sending import WebhookSender
from automations.ports import Clock
from automations.retries import Jitter
from domain.errors import Conflict, Unavailable
from domain.lanes import channel_lane

logger = structlog.get_logger(__name__)


class EventsOut:
    """All that one process does for the webhooks of an operator; several processes may work side by side."""

    def __init__(
        self,
        log: EventLog,
        clock: Clock,
        line: HttpLine,
        jitter: Jitter,
        settings: WebhookSettings,
        lease_seconds: float = LEASE_TIME,
    ) -> None:
        self._log = log
        self._clock = clock
        self._line = line
        self._jitter = jitter
        self._settings = settings
        self._owner = uuid4().hex
        self._follower = WebhookFollower(log, clock)
        self._observer = LeaseObserver(clock.monotonic, lease_seconds, watches=is_to_webhook)
        self._senders: dict[str, WebhookSender] = {}
        self._threads: dict[str, threading.Thread] = {}
        self._ending = threading.Event()
        self._went_on = threading.Event()
        self._broken: Exception | None = None

    def work_once(self) -> bool:
        """Make deliveries of what was recorded, and see that what is due is sent; say whether anything went on.

        Raises whatever a thread broke on.
        """
        if self._broken is not None:
            broken, self._broken = self._broken, None
            raise broken
        went_on = self._went_on.is_set()
        self._went_on.clear()
        with reading(self._log.engine) as connection:
            behind = self._follower.is_behind(connection)
            abandoned = self._observer.look(connection)
            ready = self._ready(connection, self._clock.now())
        self._start(ready)
        try:
            went_on |= behind and self._follower.follow()
        except (Conflict, Contended):  # another process is at the same page: the next round looks again
            went_on = True
        return went_on | (bool(abandoned) and self._recover())

    def wait(self, seconds: float) -> bool:
        """Wait until some thread is done, for a while at most; say whether any was at work."""
        busy = self._alive()
        for thread in busy[:1]:
            thread.join(seconds)
        return bool(busy) or self._went_on.is_set()

    def finish(self) -> None:
        """Let the threads finish the calls under way, and wait for that."""
        self._ending.set()
        for thread in self._alive():
            thread.join()

    def beat(self) -> None:
        """Show that this process is alive and still at all that it holds; safe to call from another thread."""
        for sender in list(self._senders.values()):
            sender.beat()

    def let_go(self) -> None:
        """Give back at once all that this process holds, for others to take up; safe to call from another thread."""
        self._ending.set()
        for sender in list(self._senders.values()):
            sender.let_go()

    def _alive(self) -> list[threading.Thread]:
        return [thread for thread in self._threads.values() if thread.is_alive()]

    def _ready(self, connection: sa.Connection, now: datetime) -> list[str]:
        """Return the channels of webhooks to which something can be sent now."""
        dues = next_dues(connection)
        due = [place_of(name).channel for name, at in dues.items() if is_to_webhook(name) and at <= now]
        if not due:
            return []
        paused = {each.stream for each in webhooks_now(connection, self._log.mapper) if each.paused_at}
        return [each for each in due if each not in paused and _permits(connection, each, now)]

    def _start(self, ready: list[str]) -> None:
        self._threads = {channel: thread for channel, thread in self._threads.items() if thread.is_alive()}
        room = self._settings.at_once - len(self._threads)
        for channel in [each for each in ready if each not in self._threads][:room]:
            sender = self._sender(channel)
            thread = threading.Thread(target=self._send, args=(sender,), name=f"semel-{channel}", daemon=True)
            self._threads[channel] = thread
            thread.start()

    def _sender(self, channel: str) -> WebhookSender:
        if channel not in self._senders:
            settings = self._settings
            self._senders[channel] = WebhookSender(self._log, self._clock, channel, self._line, self._jitter, settings)
        return self._senders[channel]

    def _send(self, sender: WebhookSender) -> None:
        try:
            while not self._ending.is_set() and sender.work_once():
                self._went_on.set()
        except (Conflict, Unavailable) as error:  # the next round starts anew
            logger.warning("webhook.interrupted", remedy=str(error))
        except Exception as error:  # the boundary of the thread: raised where the rounds are run
            logger.exception("webhook.broken")
            self._broken = error

    def _recover(self) -> bool:
        """Give back what other processes left behind; whoever takes it up finds out how far it came."""
        with unit_of_work(self._log, "take over") as work:
            taken = self._observer.take_over(work.connection, self._owner)
            release(work.connection, dict.fromkeys(taken))
        return bool(taken)


def _permits(connection: sa.Connection, channel: str, now: datetime) -> bool:
    return stored_lane(connection, channel_lane(channel)).permits(now)
