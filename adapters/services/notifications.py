"""The embedded notification service: `notifications.request`."""

from __future__ import annotations

from adapters.database import log_queries
from adapters.database.facts import EntityCache
from adapters.database.personal import StoredPersonalValues
from adapters.database.requests import write_down
from adapters.database.unit_of_work import UnitOfWork
from adapters.services.embedded import KEY_REUSED, EmbeddedService, Ending
from automations.ports import Call
from domain.commands import Command, RequestNotification
from domain.endings import Done, Refused
from domain.facts import PersonalRef
from domain.ids import id_of
from domain.notifications import (
    EXECUTIONS,
    DeliveryRequested,
    is_repeat,
    notification_of,
    request,
)


class Notifications(EmbeddedService):
    """Writes down that somebody is to be told; the delivery is another process's work."""

    name = "notifications"

    def _do(self, work: UnitOfWork, command: Command, call: Call) -> Ending:
        if not isinstance(command, RequestNotification):
            return Refused(reason=f"the service {self.name} has no operation {command.OPERATION}")
        stream = notification_of(EXECUTIONS, call.key)
        known = self._requested(work, stream)
        if known is not None:
            payload = StoredPersonalValues(work.connection).read(PersonalRef(known.member, known.payload))
            if not is_repeat(known, payload, command):
                return KEY_REUSED
        else:
            refused = self._request(work, command, call)
            if refused is not None:
                return refused
        return Done(result={"notification_id": id_of(stream)})

    def _requested(self, work: UnitOfWork, stream: str) -> DeliveryRequested | None:
        for row in log_queries.streams(work.connection, [stream]):
            event = self._foundation.log.mapper.read(row)
            if isinstance(event, DeliveryRequested):
                return event
        return None

    def _request(self, work: UnitOfWork, command: RequestNotification, call: Call) -> Refused | None:
        entities = EntityCache(self._foundation.log.mapper).at_head(work.connection)
        requested = request(command, entities.get, idempotency_key=call.key, at=call.at, cause=call.cause)
        if isinstance(requested, Refused):
            return requested
        write_down(work, requested)
        return None
