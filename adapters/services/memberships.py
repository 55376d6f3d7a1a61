"""The embedded membership service: `memberships.offer_renewal`."""

from __future__ import annotations

from adapters.services.deciding import DecidingService
from domain.decisions import memberships


class Memberships(DecidingService):
    """Offers members to go on with their subscriptions."""

    name = "memberships"
    operations = memberships.OPERATIONS
