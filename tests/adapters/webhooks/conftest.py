"""A place with a receiver, on a fresh database of each kind."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.adapters.channels.http_service import HttpService
from tests.adapters.webhooks.place import Place, place_on


@pytest.fixture
def service() -> Iterator[HttpService]:
    """A receiver that does what it is told."""
    service = HttpService()
    yield service
    service.close()


@pytest.fixture
def place(database_url: str, service: HttpService) -> Iterator[Place]:
    """A place with a receiver."""
    with place_on(database_url, service) as place:
        yield place
