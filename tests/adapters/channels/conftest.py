"""Servers of each protocol on loopback."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.adapters.channels.http_service import HttpService
from tests.adapters.channels.scripted_mail_server import ScriptedMailServer


@pytest.fixture
def mail_server() -> Iterator[ScriptedMailServer]:
    """A mail server that does what it is told."""
    server = ScriptedMailServer()
    yield server
    server.close()


@pytest.fixture
def service() -> Iterator[HttpService]:
    """An HTTP service that does what it is told."""
    service = HttpService()
    yield service
    service.close()
