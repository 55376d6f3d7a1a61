"""`semel restore` puts a backup in the place of the database, or notes that one was restored: then it waits."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adapters.cli.printing import say
from adapters.cli.session import opened, session_of
from domain.errors import InvalidInput, Unavailable

if TYPE_CHECKING:
    from adapters.application import Application

Backup = Annotated[str | None, typer.Argument(metavar="FILE", help="A backup of a SQLite database.")]
Force = Annotated[
    bool, typer.Option("--force", help="Replace the database that is there; it is kept beside, under another name.")
]
Mark = Annotated[
    bool, typer.Option("--mark", help="Restore nothing: note that the database was restored by other means.")
]

NEXT = "semel resume shows what would run now, and asks"


def restore(context: typer.Context, backup: Backup = None, force: Force = False, mark: Mark = False) -> None:
    """Restore the database from a backup.

    The backup of a SQLite database is checked and copied into its place; stop what works on it before. On
    PostgreSQL use pg_restore, and then --mark; where that went to another server or database, Semel finds out by
    itself. A restored database waits: no clock trigger acts, no rule runs and nothing is sent until `semel
    resume`, since much of it may have been done after the backup was made. Events are recorded all the while.
    """
    if mark == (backup is not None):
        raise InvalidInput("name a backup, or say --mark of a database that was restored by other means")
    if backup is None:
        _mark(context)
    else:
        _restore(context, Path(backup), force)


def refuse_held(application: Application) -> None:
    """Raise Unavailable while everything waits since the database was restored."""
    from adapters.database import restored
    from adapters.database.engine import reading

    with reading(application.engine) as connection:
        if restored.is_held(connection):
            raise Unavailable(f"everything waits, since the database was restored from a backup: {NEXT}")


def _mark(context: typer.Context) -> None:
    from adapters.database import restored

    with opened(context) as application:
        reason = restored.mark(application.engine)
    _say_waits(reason)


def _restore(context: typer.Context, backup: Path, force: bool) -> None:
    import sqlalchemy as sa

    from adapters.clock import SystemClock
    from adapters.restoring import restore as put_in_place

    url = sa.make_url(session_of(context).settings().database_url.get_secret_value())
    if url.get_backend_name() != "sqlite" or url.database in {None, "", ":memory:"}:
        raise InvalidInput("a backup file is for SQLite: use pg_restore, and then semel restore --mark")
    done = put_in_place(backup, Path(str(url.database)), SystemClock().now(), force=force)
    say(f"{url.database} was restored from {backup}")
    if done.kept is not None:
        say(f"what was there before is kept as {done.kept}")
    _say_waits(done.reason)


def _say_waits(reason: str) -> None:
    say(f"it waits: {reason}")
    say(f"no rule runs and nothing is sent; {NEXT}")
