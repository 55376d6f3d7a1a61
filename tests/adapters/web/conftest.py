"""A site on each kind of database."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.adapters.web.site import Site, site_on


@pytest.fixture
def site(database_url: str) -> Iterator[Site]:
    """A site over a fresh database."""
    with site_on(database_url) as found:
        yield found


@pytest.fixture
def small_site(sqlite_url: str) -> Iterator[Site]:
    """A site over a fresh file, for what has nothing to do with databases."""
    with site_on(sqlite_url) as found:
        yield found
