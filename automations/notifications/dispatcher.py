"""Deliveries that are due are sent: re-check, wording, attempt, ending.

The start of an attempt is recorded before its call and the ending after it; no transaction is open during a
call. Where a repeat would be a second message, no more calls have begun and not been recorded as ended than may be
under way at a time. What a vanished worker left behind is doubtful if its call had begun, and simply done anew if not.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any, Generic, Protocol, TypeVar

import structlog

from automations.notifications.calls import Calls, InTurn, Round
from automations.notifications.channels import CallEnding, Channel, Message
from automations.notifications.decisions import Halt, Hold, Spread, released_steps, steps_of, without_spread
from automations.notifications.letters import Letter
from automations.notifications.outcomes import NOT_CALLED, Attempted, steps_after, steps_after_crash
from automations.ports import Clock
from automations.retries import Jitter
from automations.telling import told_error
from domain.deliveries import (
    Delivery,
    DeliveryFailed,
    DeliverySending,
    DeliveryStep,
)
from domain.endings import Unknown
from domain.errors import InvalidInput, Unavailable
from domain.facts import PersonalRef
from domain.ids import id_of

logger = structlog.get_logger(__name__)

V = TypeVar("V")
V_co = TypeVar("V_co", covariant=True)
V_contra = TypeVar("V_contra", contravariant=True)


@dataclass(frozen=True, slots=True)
class Change:
    """What happens to one delivery in one commit: its events, with the personal values that they refer to.

    `address` is what the channel speaks to in an attempt, and `registration` that of the device, where it is one;
    `expires_at` is until when the message is of use, as it was looked at right before.
    """

    before: Delivery
    steps: Sequence[DeliveryStep]
    personal: Mapping[PersonalRef, object] = field(default_factory=dict)
    address: str = ""
    registration: int = 0
    expires_at: datetime | None = None

    @property
    def after(self) -> Delivery:
        """Return the delivery as the events leave it."""
        delivery = self.before
        for step in self.steps:
            delivery = delivery.after(step)
        return delivery


Prepared = tuple[Change, Message | None]
"""The start of an attempt with what is to be sent, or the end of a delivery without a call."""


class Watch(Protocol):
    """Notices what is recorded after deliveries were checked together; may be asked from any thread."""

    def has_changed(self, delivery: Delivery, address: str) -> bool:
        """Say whether anything that decides about a delivery to an address was recorded since."""
        ...


class DeliveryJournal(Protocol[V_co]):
    """Where deliveries are read from and recorded; implemented over the log."""

    def watch(self, monotonic: Callable[[], float]) -> Watch:
        """Return what notices what is recorded from now on."""
        ...

    def at_head(self, deliveries: Sequence[Delivery]) -> AbstractContextManager[V_co]:
        """Hold what a re-check sees now; reading only."""
        ...

    def record(self, changes: Sequence[Change]) -> list[Delivery]:
        """Append what happened and settle each delivery's place in the queue, at once.

        Returns the deliveries as they are now, without those that another worker has taken over meanwhile.
        """
        ...


class Writer(Protocol[V_contra]):
    """What checks a delivery right before its call, and writes what is sent."""

    def written(self, view: V_contra, delivery: Delivery, at: datetime) -> Halt | Hold | Letter:
        """Return what is sent, or why nothing is sent now; raises InvalidInput where the wording does not come out."""
        ...


class Dispatcher(Generic[V]):
    """Sends deliveries on the channels of one operator; the writer sees what the journal holds for it."""

    def __init__(
        self,
        journal: DeliveryJournal[V],
        channels: Mapping[str, Channel],
        writer: Writer[V],
        clock: Clock,
        *,
        jitter: Jitter,
        spread: Spread = without_spread,
        calls: Calls | None = None,
    ) -> None:
        self._journal = journal
        self._channels = channels
        self._writer = writer
        self._clock = clock
        self._jitter = jitter
        self._spread = spread
        self._calls: Calls = calls or InTurn()

    def watch(self) -> Watch:
        """Return what notices what is recorded from now on."""
        return self._journal.watch(self._clock.monotonic)

    def dispatch(
        self, deliveries: Sequence[Delivery], begun: Sequence[Prepared] = (), watch: Watch | None = None
    ) -> list[Delivery]:
        """Take deliveries of one channel whose time has come as far as they go now, and return them as they are then.

        As calls end others begin; the endings of the ones are recorded with the starts of the others. `begun` are
        attempts whose start is recorded already, and whose call is not made yet: since `watch` they are checked.
        """
        known = [*deliveries, *(change.before for change, _ in begun)]
        channel = known[0].asked.channel if known else ""
        together = self.honours_keys(channel)
        room = len(known) if together else self._calls.width(channel)
        watch = watch or (self.watch() if together and len(known) > 1 else None)
        waiting, ended, over = deque(deliveries), list[Change](), list[Delivery]()
        calls, starts = self._calls.open(channel), {change.before.id: change for change, _ in begun}
        under_way = self._begun(calls, [change.after for change, _ in begun], begun, watch)
        while waiting or under_way or ended:
            starting = [waiting.popleft() for _ in range(min(room - len(under_way), len(waiting)))]
            prepared = self._prepared(starting)
            recorded = self._journal.record([*ended, *(change for change, _ in prepared)])
            over += [delivery for delivery in recorded if delivery.state != "sending"]
            starts |= {change.before.id: change for change, _ in prepared}
            under_way |= self._begun(calls, recorded, prepared, watch)
            endings = calls.ended(every=together) if under_way else {}
            ended = [self._ended(under_way.pop(item), ending, starts.pop(item)) for item, ending in endings.items()]
        return self._told(over)

    def _begun(
        self, calls: Round, recorded: Sequence[Delivery], prepared: Sequence[Prepared], watch: Watch | None
    ) -> dict[str, Delivery]:
        """Begin the calls of attempts whose start is recorded, and return their deliveries."""
        messages = {change.before.id: message for change, message in prepared if message is not None}
        begun = {delivery.id: delivery for delivery in recorded if delivery.state == "sending"}
        for delivery in begun.values():
            calls.begin(delivery.id, self._call(delivery, messages[delivery.id], watch))
        return begun

    def recover(self, deliveries: Sequence[Delivery]) -> list[Delivery]:
        """Take over deliveries whose worker vanished: if a call had begun, it may have had its effect."""
        doubtful = [delivery for delivery in deliveries if delivery.state == "sending"]
        changes = [Change(each, steps_after_crash(self._attempted(each))) for each in doubtful]
        others = [delivery for delivery in deliveries if delivery.state != "sending"]
        return [*self._told(self._journal.record(changes)), *self.dispatch(others)]

    def honours_keys(self, channel: str) -> bool:
        """Say whether a channel answers a repeated key with the first result."""
        known = self._channels.get(channel)
        return known is not None and known.honours_keys

    def _prepared(self, deliveries: Sequence[Delivery]) -> list[Prepared]:
        if not deliveries:
            return []
        at = self._clock.now()
        with self._journal.at_head(deliveries) as view:
            write = partial(self._writer.written, view)
            return [self.prepare(delivery, at, partial(write, delivery, at)) for delivery in deliveries]

    def prepare(self, delivery: Delivery, at: datetime, write: Callable[[], Halt | Hold | Letter]) -> Prepared:
        """Return the start of an attempt with what is to be sent, or the end of the delivery."""
        try:
            written = write()
            if not isinstance(written, Letter):
                return Change(delivery, steps_of(written, delivery, at, self._spread)), None
        except Unavailable:
            raise
        except InvalidInput as error:
            return self._failed(delivery, "template_error", str(error)), None
        except Exception as error:
            logger.exception("delivery.unprepared", delivery=delivery.id)
            return self._failed(delivery, "facts", f"could not be checked: {told_error(error)}"), None
        return self._start(delivery, written), written.message

    def _start(self, delivery: Delivery, letter: Letter) -> Change:
        message, released = letter.message, released_steps(delivery, self._clock.now())
        version = delivery.version + 1 + len(released)
        whose = PersonalRef(id_of(delivery.asked.to), f"{delivery.stream}/{version}/message")
        content = {"subject": message.subject, "text": message.text, "locale": message.locale}
        kept = {whose: content} if letter.is_kept else {}
        step = DeliverySending(
            **self._next(delivery, released),
            attempt=delivery.attempts + 1,
            message=whose.ref if kept else "",
            member=whose.member if kept else "",
            override=letter.override,
        )
        steps = [*released, step]
        return Change(delivery, steps, kept, message.address, letter.registration, message.expires_at)

    def _failed(self, delivery: Delivery, error_class: str, reason: str) -> Change:
        released = released_steps(delivery, self._clock.now())
        ends = DeliveryFailed(
            **self._next(delivery, released), attempt=delivery.attempts, reason=reason, error_class=error_class
        )
        return Change(delivery, [*released, ends])

    def _next(self, delivery: Delivery, before: Sequence[DeliveryStep] = ()) -> dict[str, Any]:
        return {
            "stream": delivery.stream,
            "version": delivery.version + 1 + len(before),
            "at": self._clock.now(),
            "cause": delivery.asked.cause,
        }

    def _call(self, delivery: Delivery, message: Message, watch: Watch | None) -> Callable[[], CallEnding]:
        def call() -> CallEnding:
            try:
                if watch is not None and watch.has_changed(delivery, message.address):
                    return NOT_CALLED
                return self._channels[message.channel].send(message, delivery.id)
            except Exception as error:
                logger.exception("delivery.broke-off", delivery=delivery.id, channel=message.channel)
                return Unknown(reason=f"the call broke off: {told_error(error)}")

        return call

    def _ended(self, delivery: Delivery, ending: CallEnding, start: Change) -> Change:
        steps = steps_after(self._attempted(delivery, start.expires_at), ending)
        return Change(delivery, steps, address=start.address, registration=start.registration)

    def _attempted(self, delivery: Delivery, expires_at: datetime | None = None) -> Attempted:
        honours = self.honours_keys(delivery.asked.channel)
        useful_until = expires_at or delivery.asked.expires_at
        return Attempted(delivery, self._clock.now(), honours, useful_until, self._jitter())

    @staticmethod
    def _told(deliveries: list[Delivery]) -> list[Delivery]:
        for delivery in deliveries:
            asked = delivery.asked
            logger.info(f"delivery.{delivery.state}", delivery=delivery.id, channel=asked.channel)
        return deliveries
