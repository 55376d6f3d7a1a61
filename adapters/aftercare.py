"""What an application offers for the time after a message went out: for the pages of HTTP, and for the command.

Reports of providers come in at `callback_door`, members leave by `unsubscribe`, and their devices come and go at
`device_desk`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapters.callbacks.receiving import CallbackDoor
from adapters.database.devices import DeviceDesk
from adapters.database.preferences import PreferenceDesk
from adapters.providers import callbacks_of
from automations.notifications.unsubscribing import Leaving, leaving_of

if TYPE_CHECKING:
    from adapters.application import Application


def callback_door(application: Application) -> CallbackDoor:
    """Return where the posts of providers arrive: `receive(provider, headers, raw_body, url, at)`."""
    return CallbackDoor(application.log, callbacks_of(application.settings))


def device_desk(application: Application) -> DeviceDesk:
    """Return where devices are registered, withdrawn and listed."""
    push = application.settings.web_push
    allow_private = push is not None and push.allow_private
    return DeviceDesk(application.log, application.clock, application.salt, allow_private=allow_private)


def leaving(application: Application, token: str) -> Leaving:
    """Return what a link to unsubscribe stands for, and change nothing, as a GET must not.

    Raises InvalidInput for a link that was not made here; the answer to that says nothing about anybody.
    """
    return leaving_of(token, application.salt)


def unsubscribe(application: Application, token: str) -> Leaving:
    """Do what a link to unsubscribe stands for, as a POST does; the same again changes nothing.

    Raises InvalidInput for a link that was not made here.
    """
    found = leaving(application, token)
    PreferenceDesk(application.log, application.clock).unsubscribe(found.member, found.subject)
    return found
