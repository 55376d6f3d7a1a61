"""How fast messages go out, in one process, from the request to what is recorded.

`python -m tests.benchmarks.delivery` prints messages a second to the channel `capture`, from `delivery.requested` to
`delivery.sent` (the target is 3,000 on PostgreSQL), and mails a second to a mail server of its own, which takes
everything: over pooled connections alone, and the whole way from when all are expanded (the target is 500).
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
from adapters.channels import ChannelPlugin
from adapters.channels.capture import Capture
from adapters.channels.email import Email
from adapters.database.engine import reading
from adapters.memory import collect_rarely
from adapters.settings import Settings, read_settings
from domain.endings import Done
from projections.deliveries import counted
from tests.adapters.channels.messages import message
from tests.benchmarks.mail_sink import mail_sink
from tests.benchmarks.notifications import members, requests
from tests.benchmarks.spine import databases

MESSAGES = 10_000
TARGET_CAPTURED = 3_000
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
        return f"{self.by_clock:>7,.0f}/s   ({self.by_work:,.0f} a second of processor time)"


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


class Capturing(Application):
    """An application that keeps what is sent on the channel `capture`, as rehearsals do."""

    def channels(self) -> dict[str, ChannelPlugin]:
        """Return the channels of this process by name."""
        found = super().channels()
        if not isinstance(found["capture"], Capture):
            found["capture"] = Capture()
        return found


def asked(app: Application, count: int) -> None:
    """Set up, and ask for so many messages to members."""
    app.install()
    members(app)
    app.worker().work_until_idle()
    door = app.notification_door()
    wanted = [{**each, "type": "news", "entity": each["recipient"]} for each in requests(count)]
    for start in range(0, count, 500):
        outcomes = door.request_many("benchmark", wanted[start : start + 500])
        assert {outcome.status for outcome in outcomes} == {"accepted"}, outcomes[0]


def sent(app: Application, count: int) -> Rate:
    """Return how many messages a worker sends each second; all must end sent."""
    deliverer = app.deliverer()
    begun = Stopwatch()
    while deliverer.work_once():
        pass
    rate = begun.rate(count)
    app.worker().work_until_idle()
    with reading(app.engine) as connection:
        statuses = counted(connection)
    app.close()
    assert statuses == {"sent": count}, statuses
    return rate


def captured(kind: str, count: int, folder: Path) -> Rate:
    """Return how many messages a worker takes from the request to the end of their delivery each second."""
    with databases(kind) as made, made.fresh() as url:
        app = Capturing(_settings(url, folder, "capture"))
        asked(app, count)
        return sent(app, count)


def delivered(kind: str, port: int, connections: int, count: int, folder: Path) -> Rate:
    """Return how many mails a worker sends each second, with all that it checks and records."""
    with databases(kind) as made, made.fresh() as url:
        app = Application(_settings(url, folder, "email", email=channel(port, connections)))
        asked(app, count)
        expander = app.deliverer()._expander
        while expander.expand().notifications:
            pass
        return sent(app, count)


def _settings(url: str, folder: Path, told_on: str, **channels: ChannelPlugin) -> Settings:
    (folder / "notifications.yaml").write_text(f"news: {{channels: [{told_on}]}}\n")
    return read_settings(
        database_url=url, default_zone="Europe/Berlin", notifications=folder / "notifications.yaml", **channels
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=MESSAGES, help="sent on the channel capture; 0 for none")
    parser.add_argument("--mails", type=int, default=MAILS, help="0 for none")
    parser.add_argument("--connections", type=int, action="append")
    parser.add_argument("--on", choices=KINDS, action="append")
    given = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    collect_rarely()  # as the command does
    with mail_sink() as port, tempfile.TemporaryDirectory() as folder:
        kinds = given.on or KINDS
        if given.messages:
            print(f"\nthe channel capture, from requested to sent (target {TARGET_CAPTURED:,}/s on PostgreSQL)")
            for kind in kinds:
                print(f"  {kind:<17} {captured(kind, given.messages, Path(folder))}")
        for connections in (given.connections or CONNECTIONS) if given.mails else ():
            print(f"\n{connections} connections (target {TARGET}/s in one process)")
            print(f"  the channel alone {handed_in(port, connections, given.mails)}")
            for kind in kinds:
                print(f"  {kind:<17} {delivered(kind, port, connections, given.mails, Path(folder))}")


if __name__ == "__main__":
    main()
