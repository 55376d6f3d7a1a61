"""`semel init` sets a database up, `semel migrate` upgrades it; `semel rebuild` fills its projections anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from adapters.cli.printing import say
from adapters.cli.progress import bar, watching
from adapters.cli.session import application_on, opened, session_of
from adapters.cli.working import look_at
from domain.errors import Conflict, InvalidInput

if TYPE_CHECKING:
    from adapters.application import Application
    from adapters.database.projecting import Projector


def init(context: typer.Context) -> None:
    """Set up the database.

    One of an older version is brought up to date; a ready one is left as it is.
    """
    from adapters.database.engine import place_of
    from adapters.database.migrations import schema_version

    session = session_of(context)
    with application_on(session.settings(), session, create=True) as application:
        before = schema_version(application.engine)
        application.install()
        after = schema_version(application.engine)
        place = place_of(application.engine.url)
    if before == 0:
        say(f"{place} is set up")
        say("next: semel apply rules.yaml, semel ingest events.jsonl, semel work")
    elif before < after:
        say(f"{place}: the schema was brought from version {before} to {after}")
    else:
        say(f"{place} was set up already")


def migrate(context: typer.Context) -> None:
    """Bring the database of an older version up to date.

    Stop everything that works on it, and make a backup first. Tables that follow from the log are filled again.
    """
    from adapters.database.engine import place_of
    from adapters.database.migrations import schema_version

    session = session_of(context)
    with application_on(session.settings(), session) as application:
        before = schema_version(application.engine)
        place = place_of(application.engine.url)
        if before == 0:
            raise InvalidInput(f"{place}: Semel is not set up here; `semel init` does it")
        application.install()
        after = schema_version(application.engine)
        if before == after:
            say(f"{place} is up to date: version {after}")
            return
        total = _rebuild(application)
    say(f"{place}: the schema was brought from version {before} to {after}, {total:,} events were read again")


def rebuild(context: typer.Context) -> None:
    """Fill the projections again from the log.

    They are emptied first. Nothing is run, and nothing gets lost. What reads them, such as `semel runs`,
    sees only a part until it is done. If it is stopped half way, whoever works next goes on with it.
    """
    with opened(context) as application:
        total = _rebuild(application)
    say(f"the projections were filled again from {total:,} events")


def _rebuild(application: Application) -> int:
    from adapters.database.projecting import Projector
    from adapters.database.readers import projections

    projector = Projector(application.log, projections(application.settings.default_zone))
    total = 0
    with bar("filling") as shown, watching(look_at(application, shown)):
        projector.empty()
        while count := _followed(projector):
            total += count
    return total


def _followed(projector: Projector) -> int:
    """Take the next batch over; where another worker did so, go on behind it."""
    try:
        return projector.follow()
    except Conflict:
        return _followed(projector)
