"""A backup of a SQLite database is put in the place of the database, so that a crash leaves the one or the other.

The copy is checked and marked before it takes the place. What was there before is kept beside it.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from adapters.database import migrations, restored
from adapters.database.engine import connect
from domain.errors import InvalidInput, Unavailable

BESIDE = ("-wal", "-shm")
"""What the names of the files end in that SQLite keeps beside a database in use."""


@dataclass(frozen=True, slots=True)
class Restored:
    """What was done: where the former database was kept, if there was one, and why the new one is paused."""

    reason: str
    kept: Path | None = None


def restore(backup: Path, target: Path, at: datetime, *, force: bool = False) -> Restored:
    """Put a copy of a backup in the place of a database, paused until staff resume it.

    Raises InvalidInput where the backup is no sound database of Semel's, or where a database is there and not
    `force`; Unavailable where that is in use. The backup itself is not changed.
    """
    if not backup.is_file():
        raise InvalidInput(f"{backup}: there is no such file")
    if target.exists() and target.samefile(backup):
        raise InvalidInput(f"{backup} is the database itself: semel restore --mark says that it was restored")
    if target.exists() and not force:
        raise InvalidInput(f"{target} is there already: --force keeps it under another name, and restores")
    fresh = target.with_name(f"{target.name}.restoring")
    try:
        _copy(backup, fresh)
        reason = _marked(fresh, backup)
        kept = _take_place(fresh, target, at)
    finally:
        for name in _files(fresh):
            name.unlink(missing_ok=True)
    return Restored(reason, kept)


def _copy(backup: Path, fresh: Path) -> None:
    """Copy a database as of one instant, with what its write-ahead log holds, and check every page of the copy."""
    for name in _files(fresh):
        name.unlink(missing_ok=True)
    # Without a log of its own nobody writes to it, and SQLite need put none beside it to read it.
    how = "mode=ro" if backup.with_name(f"{backup.name}-wal").exists() else "mode=ro&immutable=1"
    from_where = f"{backup.absolute().as_uri()}?{how}"
    try:
        with closing(sqlite3.connect(from_where, uri=True)) as source, closing(sqlite3.connect(fresh)) as copy:
            source.backup(copy)
            (told,) = copy.execute("PRAGMA integrity_check(1)").fetchone()
    except sqlite3.Error as error:
        raise InvalidInput(f"{backup} is no sound database: {error}") from None
    if told != "ok":
        raise InvalidInput(f"{backup} is no sound database: {told}")


def _marked(fresh: Path, backup: Path) -> str:
    """Mark a copy as restored, and have all of it on the disk."""
    engine = connect(f"sqlite:///{fresh}", create=False)
    try:
        version, newest = migrations.schema_version(engine), migrations.newest_version()
        if version == 0:
            raise InvalidInput(f"{backup} is no database of Semel's")
        if version > newest:
            raise InvalidInput(f"{backup}: the schema has version {version}, but this Semel works on {newest}")
        reason = restored.mark(engine)
    finally:
        engine.dispose()
    _settle(fresh)
    return reason


def _take_place(fresh: Path, target: Path, at: datetime) -> Path | None:
    """Put a copy in the place of a database, which gets another name; return that."""
    kept = None
    if target.exists():
        kept = _free_name(target, at)
        try:
            _settle(target)
        except sqlite3.OperationalError:
            raise Unavailable(f"{target} is in use: stop what works on it first") from None
        except sqlite3.DatabaseError:  # damaged, which may be why it is replaced: kept as it is
            pass
        for ending in BESIDE:
            beside = target.with_name(target.name + ending)
            if beside.exists():
                beside.replace(kept.with_name(kept.name + ending))
        _keep(target, kept)
    else:
        for name in _files(target)[1:]:
            name.unlink(missing_ok=True)  # a log without its database would be taken for that of the new one
    fresh.replace(target)
    _sync_folder(target.parent)
    return kept


def _settle(path: Path) -> None:
    """Have a database whole in its one file, on the disk; raises OperationalError where anybody else uses it."""
    with closing(sqlite3.connect(path, isolation_level=None, timeout=1)) as connection:
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA locking_mode=EXCLUSIVE")
        connection.execute("BEGIN EXCLUSIVE")
        connection.execute("COMMIT")
        (busy, _, _) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if busy:
            raise sqlite3.OperationalError("the database is in use")


def _keep(target: Path, kept: Path) -> None:
    try:
        os.link(target, kept)  # so that there is a database at its place all the while
    except OSError:  # not every file system has hard links
        target.replace(kept)


def _free_name(target: Path, at: datetime) -> Path:
    stem = f"{target.name}.before-restore-{at:%Y%m%d-%H%M%S}"
    names = [stem, *(f"{stem}-{number}" for number in range(2, 100))]
    return next(free for name in names if not (free := target.with_name(name)).exists())


def _files(path: Path) -> list[Path]:
    return [path, *(path.with_name(path.name + ending) for ending in BESIDE)]


def _sync_folder(folder: Path) -> None:
    if os.name != "posix":
        return
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
