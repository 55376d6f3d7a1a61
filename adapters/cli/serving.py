"""`semel serve`: the API over HTTP and the workers, in one process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from adapters.cli.printing import complain, say
from adapters.cli.session import opened
from adapters.cli.working import stopping

if TYPE_CHECKING:
    from adapters.application import Application


def serve(
    context: typer.Context,
    host: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Where to listen; this machine alone without it.")
    ] = None,
    port: Annotated[
        int | None, typer.Option(metavar="NUMBER", min=0, max=65_535, help="The port; 8080 without it, 0 for any.")
    ] = None,
    no_workers: Annotated[
        bool, typer.Option("--no-workers", help="Serve only; rules run where semel work does.")
    ] = False,
) -> None:
    """Serve the API, and run the rules.

    Other programs send events and read what became of them; /docs describes how. Rules run in the same process,
    as in semel work. A first Ctrl-C or SIGTERM stops accepting, and lets what is under way finish for some
    seconds; what takes longer is given back to whoever works next.
    """
    from adapters.web.server import serve as serve_until

    with opened(context, writes=True, http=_changed(host=host, port=port)) as application, stopping() as stop:
        _hint(application)
        serve_until(application, stop, lambda address: say(f"listening at {address}"), with_workers=not no_workers)


def _changed(**given: object) -> dict[str, object] | None:
    return {name: value for name, value in given.items() if value is not None} or None


def _hint(application: Application) -> None:
    """Say how to get in where nobody can yet."""
    from adapters.web.reception import Reception

    reception = Reception(application)
    if not reception.tokens.listed() and not reception.users.listed():
        complain("nobody can use it yet: semel token create makes a token for a program, semel user add lets one in")
