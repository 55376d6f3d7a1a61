"""How fast mails go out, in one process: over pooled connections alone, and from the request to what is recorded.

`python -m tests.benchmarks.delivery` prints mails a second to a mail server of its own, which takes everything. The
target is 500 a second. Of the whole way it prints the time from the moment at which all are expanded.
"""

from __future__ import annotations

import argparse
import logging
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import structlog

from adapters.application import Application
from adapters.channels.email import Email
from adapters.database.engine import reading
from adapters.settings import read_settings
from domain.endings import Done
from projections.deliveries import counted
from tests.adapters.channels.messages import message
from tests.benchmarks.mail_sink import mail_sink
from tests.benchmarks.notifications import members, requests
from tests.benchmarks.spine import databases

MAILS = 5_000
TARGET = 500
CONNECTIONS = (1, 8, 16)
KINDS = ("postgresql", "sqlite")
TEXT = "Your booking starts at 10:00.\n" * 20


class Rate(NamedTuple):
    """What was done each second, and each second of this process's own work, which other processes do not slow down."""

    by_clock: float
    by_work: float

    def __str__(self) -> str:
        return f"{self.by_clock:>7,.0f} mails/s   ({self.by_work:,.0f} a second of processor time)"


class Stopwatch:
    """Runs from when it is made."""

    def __init__(self) -> None:
        self._begun, self._worked = time.perf_counter(), time.process_time()

    def rate(self, count: int) -> Rate:
        return Rate(count / (time.perf_counter() - self._begun), count / (time.process_time() - self._worked))


def channel(port: int, connections: int) -> Email:
    return Email(host="127.0.0.1", port=port, tls="none", from_address="desk@example.org", connections=connections)


def handed_in(port: int, connections: int, count: int) -> Rate:
    """Return how many mails the channel alone hands in each second."""
    email = channel(port, connections)
    mails = [message(delivery=f"d{number}", text=TEXT, html=f"<p>{TEXT}</p>") for number in range(count)]
    with ThreadPoolExecutor(connections) as pool:
        begun = Stopwatch()
        endings = list(pool.map(lambda mail: email.send(mail, mail.delivery), mails))
        rate = begun.rate(count)
    email.close()
    assert all(isinstance(ending, Done) for ending in endings), endings[0]
    return rate


def delivered(kind: str, port: int, connections: int, count: int, folder: Path) -> Rate:
    """Return how many mails a worker sends each second, with all that it checks and records."""
    with databases(kind) as made, made.fresh() as url:
        (folder / "notifications.yaml").write_text("news: {channels: [email]}\n")
        app = Application(
            read_settings(
                database_url=url,
                default_zone="Europe/Berlin",
                notifications=folder / "notifications.yaml",
                email=channel(port, connections),
            )
        )
        app.install()
        members(app)
        door, worker = app.notification_door(), app.worker()
        wanted = [{**each, "type": "news", "entity": each["recipient"]} for each in requests(count)]
        for start in range(0, count, 500):
            outcomes = door.request_many("benchmark", wanted[start : start + 500])
            assert {outcome.status for outcome in outcomes} == {"accepted"}, outcomes[0]
        worker.work_until_idle()
        deliverer = app.deliverer()
        begun = Stopwatch()
        while deliverer.work_once():
            pass
        rate = begun.rate(count)
        worker.work_until_idle()
        with reading(app.engine) as connection:
            statuses = counted(connection)
        app.close()
    assert statuses == {"sent": count}, statuses
    return rate


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mails", type=int, default=MAILS)
    parser.add_argument("--connections", type=int, action="append")
    parser.add_argument("--on", choices=KINDS, action="append")
    given = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    with mail_sink() as port, tempfile.TemporaryDirectory() as folder:
        for connections in given.connections or CONNECTIONS:
            print(f"\n{connections} connections (target {TARGET}/s in one process)")
            print(f"  the channel alone {handed_in(port, connections, given.mails)}")
            for kind in given.on or KINDS:
                rate = delivered(kind, port, connections, given.mails, Path(folder))
                print(f"  {kind:<17} {rate}")


if __name__ == "__main__":
    main()
