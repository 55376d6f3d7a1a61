"""Asks providers about messages that they did not report on, and gives up on those that stay silent.

It looks at all that was sent and not reported, however old, page by page: a row leaves the pages only by its own
event, or by the instant at which it is to be asked about again, so a break anywhere loses nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
import structlog

from adapters.database import callbacks
from adapters.database.callbacks import receipt_checks as checks
from adapters.database.deliveries import read_deliveries
from adapters.database.engine import reading, writing
from adapters.database.event_log import EventLog
from adapters.database.notices import tell_staff
from adapters.database.unit_of_work import unit_of_work
from automations.notifications.callbacks import NO_RECEIPT_AFTER, Receipt, steps_after_silence
from automations.notifications.channels import Channel
from automations.notifications.reconciliation import ASKED_AFTER, LooksUp, Silence, ask_again_at
from automations.ports import Clock
from automations.telling import told_error
from domain.endings import TryLater
from domain.errors import Conflict, Unavailable
from projections.deliveries import deliveries
from projections.many_rows import insert_or_replace

logger = structlog.get_logger(__name__)

PAGE = 100
"""Messages that are looked at together."""

ASKS_AT_ONCE = 20
"""Messages that are asked about in one round, so that nothing else waits long for it."""

RESTS_FOR = timedelta(minutes=5)
"""How long a provider is left alone that cannot say what became of a message."""

FORGETS_EVERY = timedelta(hours=6)
"""How often the texts of old reports are forgotten that are about nobody known."""


class Reconciler:
    """Looks after the messages of channels that are reported on; any number may work side by side."""

    def __init__(self, log: EventLog, clock: Clock, channels: Mapping[str, Channel], reported: frozenset[str]) -> None:
        self._log = log
        self._clock = clock
        self._reported = sorted(reported)
        self._resting: dict[str, datetime] = {}
        self._forgot_at: datetime | None = None
        self._asked = {name: each for name, each in channels.items() if isinstance(each, LooksUp)}

    def reconcile(self) -> int:
        """Do all that is due now; return how many deliveries were asked about or given up."""
        now = self._clock.now()
        done = self._ask(now) + self._give_up(now)
        self._tell_of_silence(now)
        if self._forgot_at is None or now - self._forgot_at >= FORGETS_EVERY:
            self._forgot_at = now
            with writing(self._log.engine) as connection:
                callbacks.forget_strangers(connection, now)
        return done

    def _ask(self, now: datetime) -> int:
        asked = 0
        for channel in self._reported:
            if channel in self._asked and self._resting.get(channel, now) <= now:
                asked += self._ask_on(channel, now)
        return asked

    def _ask_on(self, channel: str, now: datetime) -> int:
        """Ask the provider of a channel, and leave it alone for a while where it cannot say now."""
        asked = 0
        for row in self._due(channel, now):
            asked += 1
            if isinstance(self._ask_about(row, now), TryLater):
                self._resting[channel] = now + RESTS_FOR
                break
        return asked

    def _due(self, channel: str, now: datetime) -> list[Any]:
        """Return messages to be asked about, those first that have waited longest."""
        again_at = checks.c.again_at
        due = sa.or_(checks.c.delivery.is_(None), again_at <= now)
        named = (deliveries.c.delivery, deliveries.c.channel, deliveries.c.provider_message_id, deliveries.c.sent_at)
        query = (
            sa.select(*named)
            .outerjoin(checks, checks.c.delivery == deliveries.c.delivery)
            .where(*_silent([channel], now - ASKED_AFTER[0]), deliveries.c.provider_message_id != "", due)
            .order_by(deliveries.c.sent_at, deliveries.c.delivery)
            .limit(ASKS_AT_ONCE)
        )
        with reading(self._log.engine) as connection:
            return list(connection.execute(query))

    def _ask_about(self, row: Any, now: datetime) -> Receipt | TryLater | None:
        """Ask a provider, with no transaction open, and have its answer acted upon as if it had reported it."""
        answer = self._answer(row)
        again_at = now + RESTS_FOR if isinstance(answer, TryLater) else ask_again_at(row.sent_at, now)
        with unit_of_work(self._log, "callbacks") as work:
            if isinstance(answer, Receipt):
                event_id, content = f"{row.delivery}/{answer.kind}", _content(answer, row.delivery)
                report = callbacks.Report(callbacks.LOOKED_UP, event_id, row.channel, content)
                callbacks.keep(work.connection, [report], now)
                work.wake()
            insert_or_replace(work.connection, checks, [{"delivery": row.delivery, "again_at": again_at}])
        return answer

    def _answer(self, row: Any) -> Receipt | TryLater | None:
        try:
            return self._asked[row.channel].look_up(row.provider_message_id)
        except Exception as error:
            logger.exception("callback.not-asked", delivery=row.delivery, channel=row.channel)
            return TryLater(reason=f"could not be asked: {told_error(error)}")

    def _give_up(self, now: datetime) -> int:
        """End the wait for reports that did not come in three days."""
        ended = 0
        after = ""
        while page := self._silent_page(now, after):
            after = page[-1]
            for delivery in page:
                ended += self._end_wait(delivery, now)
        return ended

    def _silent_page(self, now: datetime, after: str) -> list[str]:
        query = (
            sa.select(deliveries.c.delivery)
            .where(*_silent(self._reported, now - NO_RECEIPT_AFTER), deliveries.c.delivery > after)
            .order_by(deliveries.c.delivery)
            .limit(PAGE)
        )
        with reading(self._log.engine) as connection:
            return list(connection.scalars(query)) if self._reported else []

    def _end_wait(self, delivery: str, now: datetime) -> bool:
        """Decide by the delivery as it is, since a report may have come after the page was read."""
        try:
            with unit_of_work(self._log, "reconcile") as work:
                found = read_deliveries(work.connection, self._log.mapper, [delivery]).get(delivery)
                steps = steps_after_silence(found, now) if found is not None else []
                work.append(steps)
                work.connection.execute(sa.delete(checks).where(checks.c.delivery == delivery))
                return bool(steps)
        except Conflict:  # a report has just come
            return False

    def _tell_of_silence(self, now: datetime) -> None:
        for channel in self._reported:
            silence = self._silence(channel)
            if silence is None or not silence.is_alarming(now):
                continue
            try:
                with unit_of_work(self._log, "reconcile") as work:
                    if tell_staff(work, silence.notice, now):
                        logger.error("callbacks.silent", channel=channel, messages=silence.waiting)
            except (Conflict, Unavailable):
                continue  # another process was faster, or the next round tells it

    def _silence(self, channel: str) -> Silence | None:
        with reading(self._log.engine) as connection:
            heard_at = callbacks.last_heard(connection, channel)
            unheard = [deliveries.c.channel == channel, deliveries.c.status.in_(("sent", "no_receipt"))]
            if heard_at is not None:
                unheard.append(deliveries.c.sent_at > heard_at)
            query = sa.select(sa.func.count(), sa.func.min(deliveries.c.sent_at)).where(*unheard)
            count, oldest = connection.execute(query).one()
        return Silence(channel, count, oldest, heard_at) if oldest is not None else None


def _silent(channels: Sequence[str], before: datetime) -> tuple[sa.ColumnElement[bool], ...]:
    """Return the conditions of messages that were taken by then, and not reported on."""
    return (
        deliveries.c.channel.in_(channels),
        deliveries.c.status == "sent",
        deliveries.c.sent_at <= before,
    )


def _content(receipt: Receipt, delivery: str) -> str:
    """Return an answer in our own form of reports; see `adapters.callbacks.plain_reports`."""
    told = {"type": receipt.kind, "delivery": delivery, "bounce": receipt.bounce, "detail": receipt.detail}
    return json.dumps({**told, "address": receipt.address, "message_id": receipt.message_id})
