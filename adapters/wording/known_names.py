"""Names that people type are looked up first: nobody would notice that a misspelt one does nothing, or too much."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapters.database.engine import reading
from adapters.database.rules import StoredRules
from automations.actions.notify import Notify
from automations.notifications.type_reading import CHANNELS, no_channel
from automations.notifications.types import NotificationType
from domain.commands import Command, RequestNotification
from domain.errors import InvalidInput
from domain.preferences import Subject

if TYPE_CHECKING:
    from adapters.application import Application


def require_operation(application: Application, command: Command) -> None:
    """Refuse to ask by hand for a notification of a type that is nowhere defined."""
    if isinstance(command, RequestNotification):
        application.types().require(command.type)


def require_subject(application: Application, subject: Subject) -> None:
    """Refuse a preference about what there is not: a type that is neither defined nor told by a rule, or a channel."""
    if subject.channel and subject.channel not in CHANNELS:
        raise InvalidInput(no_channel(subject.channel))
    types = application.types()
    if subject.type and subject.type not in types.names and subject.type not in _told_by_rules(application):
        types.require(subject.type)


def require_worded(application: Application, type_name: str) -> NotificationType:
    """Return a type that can be told to many; raises InvalidInput where it is unknown, or says nothing but its name."""
    found = application.types().require(type_name)
    worded = application.wordings().channels_of(type_name)
    channels = dict.fromkeys(channel for way in found.ways for channel in way)
    if without := [channel for channel in channels if channel not in worded]:
        settings = application.settings
        place = settings.templates / type_name / f"{without[0]}.{settings.default_locale}.liquid"
        told = f"{type_name} has no template for {', '.join(without)}, so that everybody would read only its name"
        raise InvalidInput(f"{told}: write {place}")
    return found


def _told_by_rules(application: Application) -> set[str]:
    with reading(application.engine) as connection:
        rules = StoredRules(application.log.mapper).at_head(connection)
    steps = (step for state in rules for step in state.rule.do if step.action == Notify.NAME)
    return {str(step.settings["type"]) for step in steps if "type" in step.settings}
