"""Guessing passwords is made slow: who fails too often has to wait, twice as long each time.

Failures count for a name from one address, for the address alone, and for the name alone. The first of these
limits is low; the last is high, so that a stranger cannot easily lock somebody out.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from adapters.database.account_tables import sign_in_failures as failures
from adapters.database.engine import reading, writing
from adapters.database.event_log import EventLog
from adapters.web.access.proofs import proof_of
from automations.ports import Clock
from domain.ids import digest

FREE_OF_PAIR, FREE_OF_ADDRESS, FREE_OF_NAME = 5, 30, 100
"""Failures that cost nothing yet."""

FIRST_WAIT, LONGEST_WAIT = timedelta(seconds=5), timedelta(minutes=15)

FORGOTTEN_AFTER = timedelta(days=1)


class Throttle:
    """Counts failures to sign in, for all processes of one operator; serves any thread."""

    def __init__(self, log: EventLog, clock: Clock) -> None:
        self._log = log
        self._clock = clock

    def wait(self, name: str, address: str) -> timedelta:
        """Return for how long nobody may try this name from this address."""
        limits, at = dict(_counted(name, address)), self._clock.now()
        query = sa.select(failures.c.of, failures.c.failures, failures.c.at).where(failures.c.of.in_(list(limits)))
        with reading(self._log.engine) as connection:
            rows = connection.execute(query).all()
        waits = (_until(count - limits[bytes(of)], last) - at for of, count, last in rows)
        return max(waits, default=timedelta())

    def failed(self, name: str, address: str) -> None:
        """Count one failure."""
        at = self._clock.now()
        rows = [{"of": of, "failures": 1, "at": at} for of, _ in sorted(_counted(name, address))]
        with writing(self._log.engine) as connection:
            connection.execute(sa.delete(failures).where(failures.c.at <= at - FORGOTTEN_AFTER))
            dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
            insert = dialect.insert(failures)
            more = {"failures": failures.c.failures + 1, "at": at}
            connection.execute(insert.on_conflict_do_update(index_elements=["of"], set_=more), rows)

    def succeeded(self, name: str, address: str) -> None:
        """Forget the failures of this name from this address."""
        pair, _ = next(_counted(name, address))
        with writing(self._log.engine) as connection:
            connection.execute(sa.delete(failures).where(failures.c.of == pair))


def _counted(name: str, address: str) -> Iterator[tuple[bytes, int]]:
    """Yield what failures are counted for, each with how many cost nothing."""
    yield proof_of(digest("pair", name, address)), FREE_OF_PAIR
    yield proof_of(digest("address", address)), FREE_OF_ADDRESS
    yield proof_of(digest("name", name)), FREE_OF_NAME


def _until(too_many: int, last: datetime) -> datetime:
    """Return until when one has to wait after so many failures too many."""
    if too_many < 0:
        return last
    wait: timedelta = min(LONGEST_WAIT, FIRST_WAIT * 2 ** min(too_many, 20))
    return last + wait
