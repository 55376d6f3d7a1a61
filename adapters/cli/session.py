"""The database that a command works on, opened for as long as the command runs."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import typer

from adapters.cli.printing import complain
from domain.errors import InvalidInput

if TYPE_CHECKING:
    from adapters.application import Application
    from adapters.settings import Settings
    from automations.ports import Service

    Services = Callable[[Application], Mapping[str, Service]]

HERE = "sqlite:///semel.db"
"""The database that is used where none is named; commands that write make it by themselves."""


@dataclass(frozen=True, slots=True)
class Session:
    """The global options of one call."""

    database: str | None = None
    schema: str | None = None
    verbose: int = 0

    def settings(self, **given: Any) -> Settings:
        """Return the settings, with those `given`; raises InvalidInput with every mistake."""
        from adapters.settings import FILE, misspelt_variables, read_settings

        for message in misspelt_variables(os.environ):
            complain(message)
        try:
            return read_settings(database_url=self.database, database_schema=self.schema, **given)
        except tomllib.TOMLDecodeError as error:
            raise InvalidInput(f"{FILE}: {error}") from None
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidInput(f"{FILE} cannot be read: {error}") from None


def session_of(context: typer.Context) -> Session:
    """Return the global options that the command was called with."""
    found = context.find_object(Session)
    assert found is not None
    return found


@contextmanager
def opened(context: typer.Context, *, writes: bool = False, **given: Any) -> Iterator[Application]:
    """Hold the application over a database that is ready.

    The default file is made where a command `writes` to it; any other database has to be set up before.
    `given` are further settings.
    """
    session = session_of(context)
    settings = session.settings(**given)
    makes = writes and settings.database_url.get_secret_value() == HERE
    with application_on(settings, session, create=makes) as application:
        if makes:
            application.install()
        else:
            application.require_ready()
        yield application


@contextmanager
def application_on(
    settings: Settings, session: Session, *, create: bool = False, **others: Any
) -> Iterator[Application]:
    """Hold the application; without `create` a SQLite file has to be there. `others` go to the application."""
    from adapters import logs
    from adapters.application import Application
    from adapters.database.engine import connect

    logs.configure(session.verbose)
    url = settings.database_url.get_secret_value()
    connect(url, schema=settings.database_schema, create=create).dispose()
    application = Application(settings, **others)
    try:
        yield application
    finally:
        application.close()
