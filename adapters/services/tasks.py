"""The embedded task service: `tasks.create`."""

from __future__ import annotations

from adapters.services.deciding import DecidingService
from domain.decisions import tasks


class Tasks(DecidingService):
    """Keeps what staff have to do."""

    name = "tasks"
    operations = tasks.OPERATIONS
