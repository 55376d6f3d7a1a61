"""Starts a PostgreSQL server that lives no longer than the process it was started for.

A keeper process starts the server, tells its address in a file, and waits: when the owner has gone,
killed or not, or asks with SIGTERM, the keeper stops the server and deletes its folder. It listens on
a socket in a folder that is closed to other users, so that it needs neither a port nor a password.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import json
import os
import secrets
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.postgres_binaries import Account, Installation, NoPostgres, find, unprivileged

PREFIX = "semel-pg-"
LONGEST_FOLDER = 80  # characters; a socket's path may have 103, its own name included
START_LIMIT = 120.0  # seconds
FORGETFUL = ("fsync=off", "synchronous_commit=off", "full_page_writes=off", "checkpoint_timeout=1h")


@dataclass(frozen=True, slots=True)
class Server:
    """A running server: the URL of its first database, its version, and the keeper's process id."""

    url: str
    version: str
    keeper: int


def new_home() -> Path:
    """Return the name of a folder for a server; it does not exist yet."""
    base = Path(tempfile.gettempdir())
    if len(str(base)) + 30 > LONGEST_FOLDER:
        base = Path("/tmp")
    return base / f"{PREFIX}{os.getpid()}-{secrets.token_hex(4)}"


@contextlib.contextmanager
def running(*, durable: bool = False, major: str = "") -> Iterator[Server]:
    """Run a server of one's own; a durable one syncs to the disk as in real life."""
    home = new_home()
    try:
        yield start(home, os.getpid(), durable=durable, major=major)
    finally:
        stop(home)


def start(home: Path, owner: int, *, durable: bool = False, major: str = "") -> Server:
    """Return the server of a folder, started at the first call whichever process makes it.

    Raises NoPostgres, at every call alike, where no server can be started.
    """
    home.mkdir(mode=0o700, exist_ok=True)
    with locked(home / "lock"):
        told = home / "server.json"
        if not told.exists():
            clear_stale_homes(home.parent)
            command = [
                sys.executable,
                "-m",
                __name__,
                str(home),
                str(owner),
                major,
                "durable" if durable else "",
            ]
            subprocess.run(command, cwd=Path(__file__).parents[1], stdin=subprocess.DEVNULL, check=True)
        return _read(told)


def stop(home: Path) -> None:
    """Stop the server of a folder, if there is one, and return when the folder has gone."""
    with contextlib.suppress(NoPostgres, FileNotFoundError, ProcessLookupError):
        os.kill(_read(home / "server.json", limit=0).keeper, signal.SIGTERM)
        deadline = time.monotonic() + START_LIMIT
        while home.exists() and time.monotonic() < deadline:
            time.sleep(0.01)
    shutil.rmtree(home, ignore_errors=True)


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock that processes share by the name of a file."""
    with path.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def clear_stale_homes(base: Path) -> None:
    """Delete the folders of keepers that were killed; a server without its folder ends by itself."""
    for alive in base.glob(f"{PREFIX}*/alive"):
        with contextlib.suppress(OSError), alive.open("w") as handle:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(alive.parent, ignore_errors=True)


def _read(told: Path, limit: float = START_LIMIT) -> Server:
    deadline = time.monotonic() + limit
    while not told.exists():
        if time.monotonic() >= deadline:
            raise NoPostgres(f"the server was not ready after {limit:.0f} seconds")
        time.sleep(0.01)
    answer = json.loads(told.read_text())
    if "failure" in answer:
        raise NoPostgres(answer["failure"])
    return Server(**answer)


def _tell(home: Path, **answer: object) -> None:
    written = home / "server.new"
    written.write_text(json.dumps(answer))
    written.rename(home / "server.json")


def _keep(home: Path, owner: int, major: str, *, durable: bool) -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    with _marked_alive(home), contextlib.ExitStack() as ending:
        account = unprivileged()
        account.own(home)
        installation = find(account, home, major)
        _initialise(home, account, installation)
        server = _launch(home, account, installation, durable=durable)
        ending.callback(_end, server)
        _await_ready(home, server)
        url = f"postgresql+psycopg://postgres@/postgres?host={home}"
        _tell(home, url=url, version=installation.version, keeper=os.getpid())
        ending.callback(shutil.rmtree, home, ignore_errors=True)
        _await_end(owner, server)


@contextlib.contextmanager
def _marked_alive(home: Path) -> Iterator[None]:
    with (home / "alive.new").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        # The name appears after the lock, so that nobody ever sees a living keeper without it.
        (home / "alive.new").rename(home / "alive")
        yield


def _initialise(home: Path, account: Account, installation: Installation) -> None:
    options = ["-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync", "--no-instructions"]
    made = subprocess.run(
        [installation.programs / "initdb", "-D", home / "data", *options],
        capture_output=True,
        text=True,
        check=False,
        **account.options,
    )
    if made.returncode:
        raise NoPostgres(f"initdb of PostgreSQL {installation.version} failed: {made.stderr.strip()}")


def _launch(home: Path, account: Account, installation: Installation, *, durable: bool) -> subprocess.Popen[bytes]:
    settings = ["listen_addresses=", f"unix_socket_directories={home}", "shared_buffers=128MB"]
    settings += () if durable else FORGETFUL
    chosen = [part for setting in settings for part in ("-c", setting)]
    with (home / "log").open("wb") as log:
        return subprocess.Popen(
            [installation.programs / "postgres", "-D", home / "data", *chosen],
            stdout=log,
            stderr=log,
            preexec_fn=_end_with_parent,  # noqa: PLW1509 - the keeper has one thread
            **account.options,
        )


def _end_with_parent() -> None:
    """Ask Linux to stop the server should the keeper itself be killed."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGQUIT)


def _await_ready(home: Path, server: subprocess.Popen[bytes]) -> None:
    status = home / "data" / "postmaster.pid"
    deadline = time.monotonic() + START_LIMIT
    while server.poll() is None and home.exists() and time.monotonic() < deadline:
        with contextlib.suppress(OSError, IndexError):
            if status.read_text().splitlines()[7].strip() == "ready":
                return
        time.sleep(0.01)
    raise NoPostgres(f"the server did not start: {(home / 'log').read_text()[-2000:]}")


def _await_end(owner: int, server: subprocess.Popen[bytes]) -> None:
    """Return when the owner or the server has ended.

    A handle sees the end of a process that nobody has collected yet; a signal would still find it.
    """
    try:
        handle = os.pidfd_open(owner)
    except (AttributeError, OSError):
        handle = None
    while server.poll() is None:
        if handle is None and not _exists(owner):
            return
        if select.select([handle] if handle is not None else [], [], [], 0.2)[0]:
            return


def _exists(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _end(server: subprocess.Popen[bytes]) -> None:
    server.send_signal(signal.SIGINT)
    try:
        server.wait(10)
    except subprocess.TimeoutExpired:
        server.send_signal(signal.SIGQUIT)
        server.wait()


def _main(home: Path, owner: int, major: str, *, durable: bool) -> None:
    """Leave the caller's session, so that what ends the caller does not end the keeper, and keep."""
    if os.fork():
        return
    os.setsid()
    silence = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(silence, stream)
    try:
        _keep(home, owner, major, durable=durable)
    except NoPostgres as error:
        _tell(home, failure=str(error))
    except Exception:  # noqa: BLE001 - nobody else would ever see it
        _tell(home, failure=traceback.format_exc())


if __name__ == "__main__":
    _main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3], durable=sys.argv[4] == "durable")
