"""The action `notify`."""

from __future__ import annotations

from datetime import datetime

from automations.actions import Action, actions
from automations.ports import FactSource
from automations.resolving import Resolver
from automations.setting_kinds import MEMBER, Recipient, Structure, TypeName
from domain.commands import RequestNotification
from domain.ids import kind_of


@actions.register("notify")
class Notify(Action):
    """Tells somebody something.

    `type` names the notification type, which decides channels and wording; a reminder that names channels of
    its own uses these. `to` is `member`, the entity's, where it is left out; `staff`; or another member, such
    as `member/m2`. `payload` has values of its own for the wording, in which each text is a template.

    The run is done when the request is written down. What becomes of it on each channel stands in its
    deliveries.

    Example: `notify: {type: door-code, to: member, payload: {room: "{{ resource.name }}"}}`
    """

    OPERATION = RequestNotification.OPERATION

    type: TypeName
    to: Recipient = MEMBER
    payload: Structure = {}

    def command(self, facts: FactSource, at: datetime) -> RequestNotification:
        """Return the request, with the payload in the recipient's language."""
        resolve = Resolver(facts, at)
        to = resolve.recipient("to", self.to)
        return RequestNotification(
            entity=resolve.entity,
            member_id=resolve.entity_member,
            to=to,
            type=self.type,
            channels=_channels_of_reminder(facts, resolve) if self.to == MEMBER else (),
            payload=resolve.structure("payload", self.payload, to),
        )


def _channels_of_reminder(facts: FactSource, resolve: Resolver) -> tuple[str, ...]:
    """Return the channels that a reminder names; of anything else the type decides."""
    named = facts.value("reminder.channels") if kind_of(resolve.entity) == "reminder" else None
    return tuple(dict.fromkeys(map(str, named))) if isinstance(named, tuple | list) else ()
