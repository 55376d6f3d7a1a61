"""An office on a fresh database of each kind."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.adapters.dossiers.office import Office, office_on


@pytest.fixture
def office(database_url: str) -> Iterator[Office]:
    """An operator whose services can be made to fail."""
    with office_on(database_url) as lent:
        yield lent
