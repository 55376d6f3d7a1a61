"""Deliveries that are due are sent: re-check, wording, attempt, ending.

The start of an attempt is recorded before its call and the ending after it; no transaction is open during a
call. What a vanished worker left behind is doubtful if its call had begun, and simply done anew if not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

import structlog

from automations.notifications.channels import CallEnding, Channel, Message
from automations.notifications.outcomes import Attempted, steps_after, steps_after_crash
from automations.notifications.policy import Case, Halt, halted
from automations.notifications.templates import Wordings, compose
from automations.ports import Clock
from automations.retries import Jitter
from automations.telling import told_error
from domain.deliveries import (
    Delivery,
    DeliveryCancelled,
    DeliveryExpired,
    DeliveryFailed,
    DeliverySending,
    DeliverySkipped,
    DeliveryStep,
)
from domain.endings import Unknown
from domain.errors import InvalidInput, Unavailable
from domain.facts import PersonalRef
from domain.ids import id_of

logger = structlog.get_logger(__name__)

_STEPS: Mapping[str, type[DeliveryStep]] = {
    "cancelled": DeliveryCancelled,
    "skipped": DeliverySkipped,
    "expired": DeliveryExpired,
}


@dataclass(frozen=True, slots=True)
class Change:
    """What happens to one delivery in one commit: its events, with the personal values that they refer to."""

    before: Delivery
    steps: Sequence[DeliveryStep]
    personal: Mapping[PersonalRef, object] = field(default_factory=dict)

    @property
    def after(self) -> Delivery:
        """Return the delivery as the events leave it."""
        delivery = self.before
        for step in self.steps:
            delivery = delivery.after(step)
        return delivery


class View(Protocol):
    """What a re-check sees of several deliveries, no older than the head of the log."""

    def case(self, delivery: Delivery, at: datetime) -> Case:
        """Return everything that decides about one delivery."""
        ...


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
    ) -> None:
        self._journal = journal
        self._channels = channels
        self._wordings = wordings
        self._clock = clock
        self._jitter = jitter

    def dispatch(self, deliveries: Sequence[Delivery]) -> list[Delivery]:
        """Take deliveries whose time has come as far as they go now, and return them as they are then."""
        prepared = self._prepared(deliveries)
        messages = {change.before.id: message for change, message in prepared if message is not None}
        recorded = self._journal.record([change for change, _ in prepared])
        started = [delivery for delivery in recorded if delivery.state == "sending"]
        ended = [self._ended(delivery, self._call(delivery, messages[delivery.id])) for delivery in started]
        over = [delivery for delivery in recorded if delivery.state != "sending"]
        return self._told([*over, *self._journal.record(ended)])

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
            halt = halted(case) or self._unknown_channel(delivery)
            if halt is not None:
                return self._stopped(delivery, _STEPS[halt.state], reason=halt.reason), None
            message = compose(case, self._wordings)
        except Unavailable:
            raise
        except InvalidInput as error:
            return self._failed(delivery, "template_error", str(error)), None
        except Exception as error:
            logger.exception("delivery.unprepared", delivery=delivery.id)
            return self._failed(delivery, "facts", f"could not be checked: {told_error(error)}"), None
        return self._start(delivery, message), message

    def _unknown_channel(self, delivery: Delivery) -> Halt | None:
        channel = delivery.asked.channel
        return None if channel in self._channels else Halt("skipped", f"there is no channel {channel}")

    def _start(self, delivery: Delivery, message: Message) -> Change:
        version, to = delivery.version + 1, delivery.asked.to
        whose = PersonalRef(id_of(to), f"{delivery.stream}/{version}/message")
        step = DeliverySending(
            **self._next(delivery), attempt=delivery.attempts + 1, message=whose.ref, member=whose.member
        )
        content = {"subject": message.subject, "text": message.text, "locale": message.locale}
        return Change(delivery, [step], {whose: content})

    def _failed(self, delivery: Delivery, error_class: str, reason: str) -> Change:
        attempt = delivery.attempts
        return self._stopped(delivery, DeliveryFailed, reason=reason, error_class=error_class, attempt=attempt)

    def _stopped(self, delivery: Delivery, kind: type[DeliveryStep], **values: Any) -> Change:
        return Change(delivery, [kind(**self._next(delivery), **values)])

    def _next(self, delivery: Delivery) -> dict[str, Any]:
        return {
            "stream": delivery.stream,
            "version": delivery.version + 1,
            "at": self._clock.now(),
            "cause": delivery.asked.cause,
        }

    def _call(self, delivery: Delivery, message: Message) -> CallEnding:
        try:
            return self._channels[message.channel].send(message, delivery.id)
        except Exception as error:
            logger.exception("delivery.broke-off", delivery=delivery.id, channel=message.channel)
            return Unknown(reason=f"the call broke off: {told_error(error)}")

    def _ended(self, delivery: Delivery, ending: CallEnding) -> Change:
        return Change(delivery, steps_after(self._attempted(delivery), ending))

    def _attempted(self, delivery: Delivery) -> Attempted:
        honours = self.honours_keys(delivery.asked.channel)
        return Attempted(delivery, self._clock.now(), honours, self._jitter())

    @staticmethod
    def _told(deliveries: list[Delivery]) -> list[Delivery]:
        for delivery in deliveries:
            asked = delivery.asked
            logger.info(f"delivery.{delivery.state}", delivery=delivery.id, channel=asked.channel)
        return deliveries
