"""Notices to staff, recorded in the transaction of what they are about."""

from __future__ import annotations

from datetime import datetime

from adapters.database import log_queries
from adapters.database.requests import write_down
from adapters.database.unit_of_work import UnitOfWork
from domain.notices import Notice, requested


def tell_staff(work: UnitOfWork, notice: Notice, at: datetime) -> bool:
    """Ask for staff to be told, once for each notice; say whether this was the first time."""
    request = requested(notice, at)
    if log_queries.existing_streams(work.connection, [request.event.stream]):
        return False
    write_down(work, request)
    return True
