"""What follows from a provider's report about a message: the same in any order and number of reports."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Literal

from domain.deliveries import WAITING, Delivery, DeliverySent, DeliveryStep
from domain.delivery_receipts import (
    REPORTED,
    Bounce,
    DeliveryBounced,
    DeliveryComplained,
    DeliveryDelivered,
    DeliveryNoReceipt,
    DeliveryReceipt,
)
from domain.suppressions import REFUSABLE, Scope, Why

Kind = Literal["sent", "delivered", "bounced", "complained", "delayed", "opened", "opt_out"]
"""What a report can say. Only some of it changes a delivery: nobody is told anew because they opened a message."""

NO_RECEIPT_AFTER = timedelta(hours=72)
"""How long after a message was taken its report may still come."""

LOOKS_AGAIN_AFTER: tuple[timedelta, ...] = (
    timedelta(seconds=1),
    timedelta(seconds=5),
    timedelta(seconds=30),
    timedelta(minutes=2),
    timedelta(minutes=10),
    timedelta(hours=1),
    timedelta(hours=6),
    timedelta(days=1),
)
"""How long a report waits between two looks for the message that it is about; the last one is repeated for ever."""

LONGEST = 320
"""Characters of any text of a report that is kept beside it."""

_CODE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}")


@dataclass(frozen=True, slots=True)
class Receipt:
    """What a provider reports about one message, whichever words it has for it.

    The message is named by our own delivery id, by the provider's id, or both; a report without either is about an
    address alone. `told_at` is its time as it was written. `sender` is who the message was from, where that counts.
    """

    kind: Kind
    message_id: str = ""
    delivery: str = ""
    address: str = ""
    sender: str = ""
    bounce: Bounce = "soft"
    detail: str = ""
    told_at: str = ""

    @property
    def zone_assumed(self) -> bool:
        """Say whether its time names no zone, so that it may be shown, but orders nothing."""
        return bool(self.told_at) and not names_an_instant(self.told_at)

    def cleaned(self) -> Receipt:
        """Return the same without texts that no database, log or index can carry."""
        texts = ("message_id", "delivery", "address", "sender", "detail", "told_at")
        wrong: dict[str, Any] = {name: "" for name in texts if not _is_storable(getattr(self, name))}
        return replace(self, **wrong) if wrong else self

    @property
    def is_about_a_message(self) -> bool:
        """Say whether it names a message."""
        return bool(self.message_id or self.delivery)


@dataclass(frozen=True, slots=True)
class Objection:
    """Why an address must not be written to, and about what."""

    why: Why
    scope: Scope
    detail: str = ""


def _is_storable(text: str) -> bool:
    return text.isprintable() and len(text) <= LONGEST


def names_an_instant(text: str) -> bool:
    """Say whether a time is written with an offset, as RFC 3339 wants it."""
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False


def code_of(text: object) -> str:
    """Return a provider's code such as `5.1.1`, or an empty text for anything that may hold more than a code."""
    found = str(text or "").strip()
    return found if _CODE.fullmatch(found) else ""


def has_to_wait(delivery: Delivery) -> bool:
    """Say whether a report came before the end of the call that it is about was recorded."""
    return delivery.state in WAITING or delivery.state == "sending"


def wait_before_look(attempt: int) -> timedelta:
    """Return how long a report waits after so many looks in vain, counted from 1."""
    return LOOKS_AGAIN_AFTER[min(max(attempt, 1), len(LOOKS_AGAIN_AFTER)) - 1]


def steps_after_receipt(delivery: Delivery, receipt: Receipt, *, source: str, at: datetime) -> list[DeliveryStep]:
    """Return the events that follow from a report; none where a report that weighs more was there before.

    Whatever is reported about a message of which nobody knew whether it was sent says that it was.
    """
    steps: list[DeliveryStep] = []
    if delivery.state == "unknown":
        named = receipt.message_id or delivery.provider_message_id
        reason = "its provider has reported about it"
        steps.append(
            DeliverySent(**_next(delivery, at, 1), attempt=delivery.attempts, provider_message_id=named, reason=reason)
        )
    state = "sent" if steps else delivery.state
    if state == "sent" or state in REPORTED:
        rank = REPORTED.index(state) if state in REPORTED else -1
        if receipt.kind in REPORTED and REPORTED.index(receipt.kind) > rank:
            steps.append(_receipt_step(delivery, receipt, source, at, len(steps) + 1))
    return steps


def steps_after_silence(delivery: Delivery, at: datetime) -> list[DeliveryStep]:
    """Return the event that ends the wait for a report; none where there was one."""
    if delivery.state != "sent":
        return []
    hours = int(NO_RECEIPT_AFTER / timedelta(hours=1))
    return [DeliveryNoReceipt(**_next(delivery, at, 1), reason=f"no report in {hours} hours")]


def objections_to(
    receipt: Receipt, delivery: Delivery | None, bulk_types: Iterable[str] = (), *, channel: str = "email"
) -> list[Objection]:
    """Return what follows for the address that a report on a channel is about.

    A complaint about bulk ends all that is bulk, one about any other message everything. An opt-out is about one
    sender, or else about the type of the message; by SMS it is about the number. Where nobody knows which message
    was meant, both end what can be refused. A bounce is about everything, and only a hard one counts.
    """
    match receipt.kind:
        case "bounced" if receipt.bounce == "hard":
            return [Objection("hard_bounce", Scope(), receipt.detail)]
        case "complained":
            return [Objection("complaint", scope, receipt.detail) for scope in _unwanted(delivery, bulk_types)]
        case "opt_out":
            return [Objection("opt_out", scope, receipt.detail) for scope in _left(receipt, delivery, channel)]
        case _:
            return []


def is_proof_of_life(steps: Iterable[DeliveryStep]) -> bool:
    """Say whether a message has reached its address, as far as is known now."""
    return any(isinstance(step, DeliveryDelivered) for step in steps)


def _left(receipt: Receipt, delivery: Delivery | None, channel: str) -> list[Scope]:
    """Return what somebody opts out of; nobody can refuse a mandatory type."""
    if receipt.sender or channel == "sms":
        return [Scope(sender=receipt.sender)]
    if delivery is None:
        return [Scope(type=REFUSABLE)]
    return [] if delivery.asked.mandatory else [Scope(type=delivery.asked.type)]


def _unwanted(delivery: Delivery | None, bulk_types: Iterable[str]) -> list[Scope]:
    if delivery is None:
        return [Scope(type=REFUSABLE)]
    if delivery.asked.lane != "bulk":
        return [Scope()]
    return [Scope(type=name) for name in sorted({delivery.asked.type, *bulk_types})]


def _receipt_step(delivery: Delivery, receipt: Receipt, source: str, at: datetime, offset: int) -> DeliveryReceipt:
    told: dict[str, Any] = {"source": source, "told_at": receipt.told_at, "zone_assumed": receipt.zone_assumed}
    named = {**_next(delivery, at, offset), **told}
    match receipt.kind:
        case "bounced":
            reason = f"{receipt.bounce} bounce" + (f" ({receipt.detail})" if receipt.detail else "")
            return DeliveryBounced(**named, bounce=receipt.bounce, detail=receipt.detail, reason=reason)
        case "complained":
            return DeliveryComplained(**named, reason="called unwanted")
        case _:
            return DeliveryDelivered(**named)


def _next(delivery: Delivery, at: datetime, offset: int) -> dict[str, Any]:
    cause = delivery.asked.cause
    return {"stream": delivery.stream, "version": delivery.version + offset, "at": at, "cause": cause}
