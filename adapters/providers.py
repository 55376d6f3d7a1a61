"""Which channels there are: those that a provider is set up for, and the outbox in place of the others.

And who reports what became of the messages that went out on them.
"""

from __future__ import annotations

from adapters.callbacks import CallbackProvider
from adapters.callbacks.twilio import Twilio
from adapters.channels import ChannelPlugin
from adapters.channels.in_app import InApp
from adapters.channels.outbox import Outbox
from adapters.channels.sms import Sms
from adapters.parallel_calls import ParallelCalls
from adapters.settings import Settings

CALLBACKS = "/v1/callbacks/"
"""Where providers report to, below the public URL; the name of the provider follows."""


def channels_of(settings: Settings) -> dict[str, ChannelPlugin]:
    """Return the channels by name; what no provider is set up for goes to files of the outbox."""
    outbox = Outbox(folder=settings.outbox)
    return {
        "in_app": InApp(),
        "email": settings.email or outbox,
        "sms": _sms_of(settings) or outbox,
        "web_push": settings.web_push or outbox,
        "webhook": settings.webhook or outbox,
        "capture": outbox,
    }


def calls_of(channels: dict[str, ChannelPlugin]) -> ParallelCalls:
    """Return what calls the channels in one process, each as often at a time as it bears."""
    return ParallelCalls({name: channel.concurrency for name, channel in channels.items()})


def callbacks_of(settings: Settings) -> dict[str, CallbackProvider]:
    """Return who reports about messages, by name."""
    known = settings.callbacks
    found: dict[str, CallbackProvider | None] = {
        "standard": known.standard,
        "twilio": known.twilio or _twilio_of(settings),
        "amazon": known.amazon,
        "mail": known.mail,
        "generic": known.generic,
    }
    return {name: provider for name, provider in found.items() if provider is not None}


def _sms_of(settings: Settings) -> Sms | None:
    """Return the SMS service; it reports to us, where the world reaches us and nothing else is said."""
    sms = settings.sms
    if sms is None or sms.status_url or not settings.public_url:
        return sms
    return sms.model_copy(update={"status_url": f"{settings.public_url.rstrip('/')}{CALLBACKS}twilio"})


def _twilio_of(settings: Settings) -> Twilio | None:
    """Return who signs with the token of the SMS service, where that reports to us."""
    sms = _sms_of(settings)
    if sms is None or not sms.status_url.endswith(f"{CALLBACKS}twilio"):
        return None
    return Twilio(token=sms.token, url=sms.status_url)


def reported_channels(settings: Settings) -> frozenset[str]:
    """Return the channels of which each message is reported about sooner or later."""
    return frozenset(each.channel for each in callbacks_of(settings).values() if each.TELLS_OF_DELIVERY)
