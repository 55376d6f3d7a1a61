"""What a channel is: it takes one message to one address, and says how that ended.

Channels never raise what can be expected; they get the same key on every attempt at one delivery.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from automations.retries import RetrySchedule
from domain.deliveries import Lane
from domain.endings import Done, Misconfigured, Refused, TryLater, Unknown
from domain.webhooks import is_webhook_channel

CallEnding = Done | Refused | TryLater | Misconfigured | Unknown


@dataclass(frozen=True, slots=True)
class Message:
    """The rendered content of one delivery, and where it goes.

    `to` is who is told, `member/m1` or `staff`; `address` is what the channel speaks to: an email address, a
    phone number, the JSON of a push subscription, or who is told where a channel has no addresses. `html` is the
    same as `text` for those who can show it, `link` leads to the whole, and `unsubscribe_url` takes a request to be
    told no more. It is of use until `expires_at`, and this attempt is made at `at`. What goes to a program is all in
    `body`, as it is posted.
    """

    delivery: str
    to: str
    channel: str
    address: str
    type: str
    subject: str
    text: str
    locale: str
    lane: Lane
    urgent: bool
    requested_at: datetime
    expires_at: datetime
    at: datetime
    html: str = ""
    link: str = ""
    unsubscribe_url: str = ""
    body: str = ""

    @property
    def seconds_left(self) -> int:
        """Return for how many whole seconds after this attempt it is of use."""
        return max(0, int((self.expires_at - self.at).total_seconds()))


class Channel(Protocol):
    """The way to people that one provider offers."""

    @property
    def honours_keys(self) -> bool:
        """Say whether a repeated key is answered with the first result, which makes a repeat harmless."""
        ...

    def send(self, message: Message, key: str) -> CallEnding:
        """Send a message, once for each key; a `Done` may hold the provider's id as `provider_message_id`."""
        ...


ADDRESS_FIELDS: Mapping[str, str] = {"email": "email", "sms": "phone"}
"""The field of a member that holds the address for a channel."""

WITHOUT_ADDRESS = frozenset({"in_app", "capture", "webhook"})
"""Channels that need to know who is told, and nothing more."""


def _schedule(*delays: timedelta, age: timedelta) -> RetrySchedule:
    return RetrySchedule(delays, oldest=age)


def _seconds(*numbers: float) -> tuple[timedelta, ...]:
    return tuple(timedelta(seconds=number) for number in numbers)


def _minutes(*numbers: float) -> tuple[timedelta, ...]:
    return tuple(timedelta(minutes=number) for number in numbers)


def _hours(*numbers: float) -> tuple[timedelta, ...]:
    return tuple(timedelta(hours=number) for number in numbers)


_AS_LONG_AS_USEFUL = timedelta(days=366)

SCHEDULES: Mapping[str, RetrySchedule] = {
    "in_app": _schedule(*_seconds(1, 5, 30), age=_AS_LONG_AS_USEFUL),
    "web_push": _schedule(*_seconds(2, 10), *_minutes(1, 5, 15), age=timedelta(hours=1)),
    "sms": _schedule(*_seconds(5, 30), *_minutes(2, 10, 30), age=timedelta(hours=2)),
    "email": _schedule(*_minutes(1, 5, 15, 30), *_hours(1, 2, 4, 8), age=timedelta(hours=24)),
    "webhook": _schedule(*_seconds(5), *_minutes(5, 30), *_hours(2, 5, 10, 14, 20, 24), age=timedelta(hours=76)),
}
"""When each channel is tried again; in all cases only as long as the message is of use."""


def schedule_of(channel: str) -> RetrySchedule:
    """Return when a channel is tried again; one that is not known keeps to that of email."""
    return SCHEDULES.get("webhook" if is_webhook_channel(channel) else channel, SCHEDULES["email"])
