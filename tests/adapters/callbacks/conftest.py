"""The office that delivers, for tests that need a database."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.adapters.delivering.conftest import opened
from tests.adapters.delivering.office import Office


@pytest.fixture
def office(database_url: str) -> Iterator[Office]:
    """An office with a member and the rule that reminds."""
    with opened(database_url) as office:
        yield office
