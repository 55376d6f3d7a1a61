"""Which services of the operator take the place of those that come with Semel."""

from __future__ import annotations

from collections.abc import Mapping

from adapters.services.http import AskedHttpService, HttpService
from adapters.services.outside_settings import OutsideService, ServiceSettings
from adapters.services.webhook import Webhooks


def outside_services(settings: ServiceSettings) -> Mapping[str, HttpService | Webhooks]:
    """Return the services that are set up outside, by name."""
    named = {
        "billing": settings.billing,
        "access": settings.access,
        "tasks": settings.tasks,
        "memberships": settings.memberships,
    }
    found: dict[str, HttpService | Webhooks] = {
        name: _over_http(name, service) for name, service in named.items() if service is not None
    }
    return found if settings.webhook is None else {**found, Webhooks.name: Webhooks(settings.webhook)}


def _over_http(name: str, settings: OutsideService) -> HttpService:
    asked = settings.look_up and not settings.honours_keys
    return AskedHttpService(name, settings) if asked else HttpService(name, settings)
