"""Deliveries that are due are sent: re-check, wording, attempt, ending.

The start of an attempt is recorded before its call and the ending after it; no transaction is open during a
call. Where a repeat would be a second message, no more calls have begun and not been recorded as ended than may be
under way at a time. What a vanished worker left behind is doubtful if its call had begun, and simply done anew if not.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal, Protocol

import structlog

from automations.notifications.calls import Calls, InTurn, Round
from automations.notifications.channels import CallEnding, Channel, Message
from automations.notifications.decisions import Spread, released_steps, steps_of, without_spread
from automations.notifications.outcomes import Attempted, steps_after, steps_after_crash
from automations.notifications.policy import View, decided
from automations.notifications.templates import compose
from automations.notifications.unsubscribing import WayOut, without_a_way_out
from automations.notifications.wordings import Wordings
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


@dataclass(frozen=True, slots=True)
class Change:
    """What happens to one delivery in one commit: its events, with the personal values that they refer to.

    `address` is what the channel speaks to in an attempt, and `registration` that of the device, where it is one.
    """

    before: Delivery
    steps: Sequence[DeliveryStep]
    personal: Mapping[PersonalRef, object] = field(default_factory=dict)
    address: str = ""
    registration: int = 0

    @property
    def after(self) -> Delivery:
        """Return the delivery as the events leave it."""
        delivery = self.before
        for step in self.steps:
            delivery = delivery.after(step)
        return delivery


class DeliveryJournal(Protocol):
    """Where deliveries are read from and recorded; implemented over the log."""

    def at_head(self, deliveries: Sequence[Delivery]) -> AbstractContextManager[View]:
        """Hold what a re-check sees now; reading only."""
        ...

    def record(self, changes: Sequence[Change]) -> list[Delivery]:
        """Append what happened and settle each delivery's place in the queue, at once.

        Returns the deliveries as they are now, without those that another worker has taken over meanwhile.
        """
        ...


class Dispatcher:
    """Sends deliveries on the channels of one operator."""

    def __init__(
        self,
        journal: DeliveryJournal,
        channels: Mapping[str, Channel],
        wordings: Wordings,
        clock: Clock,
        *,
        jitter: Jitter,
        spread: Spread = without_spread,
        calls: Calls | None = None,
        way_out: WayOut = without_a_way_out,
    ) -> None:
        self._journal = journal
        self._channels = channels
        self._wordings = wordings
        self._clock = clock
        self._jitter = jitter
        self._spread = spread
        self._calls: Calls = calls or InTurn()
        self._way_out = way_out

    def dispatch(self, deliveries: Sequence[Delivery]) -> list[Delivery]:
        """Take deliveries of one channel whose time has come as far as they go now, and return them as they are then.

        As calls end others begin; the endings of the ones are recorded with the starts of the others.
        """
        channel = deliveries[0].asked.channel if deliveries else ""
        together = self.honours_keys(channel)
        room = len(deliveries) if together else self._calls.width(channel)
        waiting, under_way, ended = deque(deliveries), dict[str, Delivery](), list[Change]()
        calls, over, starts = self._calls.open(channel), list[Delivery](), dict[str, Change]()
        while waiting or under_way or ended:
            starting = [waiting.popleft() for _ in range(min(room - len(under_way), len(waiting)))]
            prepared = self._prepared(starting)
            recorded = self._journal.record([*ended, *(change for change, _ in prepared)])
            over += [delivery for delivery in recorded if delivery.state != "sending"]
            starts |= {change.before.id: change for change, _ in prepared}
            under_way |= self._begun(calls, recorded, prepared)
            endings = calls.ended(every=together) if under_way else {}
            ended = [self._ended(under_way.pop(item), ending, starts.pop(item)) for item, ending in endings.items()]
        return self._told(over)

    def _begun(
        self, calls: Round, recorded: Sequence[Delivery], prepared: Sequence[tuple[Change, Message | None]]
    ) -> dict[str, Delivery]:
        """Begin the calls of attempts whose start is recorded, and return their deliveries."""
        messages = {change.before.id: message for change, message in prepared if message is not None}
        begun = {delivery.id: delivery for delivery in recorded if delivery.state == "sending"}
        for delivery in begun.values():
            calls.begin(delivery.id, self._call(delivery, messages[delivery.id]))
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

    def _prepared(self, deliveries: Sequence[Delivery]) -> list[tuple[Change, Message | None]]:
        if not deliveries:
            return []
        at = self._clock.now()
        with self._journal.at_head(deliveries) as view:
            return [self._prepare(delivery, view, at) for delivery in deliveries]

    def _prepare(self, delivery: Delivery, view: View, at: datetime) -> tuple[Change, Message | None]:
        """Return the start of an attempt with what is to be sent, or the end of the delivery."""
        try:
            case = view.case(delivery, at)
            decision = decided(case)
            if decision is not None:
                return Change(delivery, steps_of(decision, delivery, at, self._spread)), None
            composed, way_out = compose(case, self._wordings), self._way_out(delivery.asked)
            message = replace(composed, expires_at=case.expires_at, unsubscribe_url=way_out)
        except Unavailable:
            raise
        except InvalidInput as error:
            return self._failed(delivery, "template_error", str(error)), None
        except Exception as error:
            logger.exception("delivery.unprepared", delivery=delivery.id)
            return self._failed(delivery, "facts", f"could not be checked: {told_error(error)}"), None
        override: Literal["", "urgent"] = "urgent" if case.quiet_until != at else ""
        start = self._start(delivery, message, override)
        registration = case.device.registration if case.device is not None else 0
        return replace(start, address=message.address, registration=registration), message

    def _start(self, delivery: Delivery, message: Message, override: Literal["", "urgent"]) -> Change:
        released = released_steps(delivery, self._clock.now())
        version = delivery.version + 1 + len(released)
        whose = PersonalRef(id_of(delivery.asked.to), f"{delivery.stream}/{version}/message")
        step = DeliverySending(
            **self._next(delivery, released),
            attempt=delivery.attempts + 1,
            message=whose.ref,
            member=whose.member,
            override=override,
        )
        content = {"subject": message.subject, "text": message.text, "locale": message.locale}
        return Change(delivery, [*released, step], {whose: content})

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

    def _call(self, delivery: Delivery, message: Message) -> Callable[[], CallEnding]:
        def call() -> CallEnding:
            try:
                return self._channels[message.channel].send(message, delivery.id)
            except Exception as error:
                logger.exception("delivery.broke-off", delivery=delivery.id, channel=message.channel)
                return Unknown(reason=f"the call broke off: {told_error(error)}")

        return call

    def _ended(self, delivery: Delivery, ending: CallEnding, start: Change) -> Change:
        steps = steps_after(self._attempted(delivery), ending)
        return Change(delivery, steps, address=start.address, registration=start.registration)

    def _attempted(self, delivery: Delivery) -> Attempted:
        honours = self.honours_keys(delivery.asked.channel)
        return Attempted(delivery, self._clock.now(), honours, self._jitter())

    @staticmethod
    def _told(deliveries: list[Delivery]) -> list[Delivery]:
        for delivery in deliveries:
            asked = delivery.asked
            logger.info(f"delivery.{delivery.state}", delivery=delivery.id, channel=asked.channel)
        return deliveries
