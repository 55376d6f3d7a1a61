"""The embedded access service: `access.grant` and `access.revoke`."""

from __future__ import annotations

from adapters.services.deciding import DecidingService
from domain.decisions import access


class Access(DecidingService):
    """Keeps who may open which door, from when until when."""

    name = "access"
    operations = access.OPERATIONS
