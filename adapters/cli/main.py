"""The entry point of `semel`: all commands under one root, with the options that hold for each of them."""

from __future__ import annotations

import contextlib
import sys
from importlib import metadata
from typing import Annotated

import typer

from adapters.cli import (  # noqa: F401 - adding and rules_in_time put their commands under those of rules
    adding,
    authoring,
    demonstrating,
    doing,
    dossier_acts,
    dossiers,
    ingesting,
    looking,
    rules,
    rules_in_time,
    setting_up,
    testing,
    ticking,
    working,
)
from adapters.cli.faults import SemelGroup
from adapters.cli.session import Session

app = typer.Typer(
    name="semel",
    cls=SemelGroup,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
"""The whole command line."""


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"semel {metadata.version('semel')}")
        raise typer.Exit


@app.callback()
def options(
    context: typer.Context,
    database: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="The database: sqlite:///… or postgresql+psycopg://…; without it SEMEL_DATABASE_URL, or ./semel.db.",
        ),
    ] = None,
    schema: Annotated[str | None, typer.Option(metavar="NAME", help="The operator's schema on PostgreSQL.")] = None,
    verbose: Annotated[
        int, typer.Option("--verbose", "-v", count=True, help="Log every change of state; -vv logs everything.")
    ] = 0,
    show_traceback: Annotated[
        bool, typer.Option("--traceback", help="Show where a fault of Semel itself happened.")
    ] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Semel runs the automations of a coworking operator: each rule acts once, and can explain itself.

    The options below may stand before or behind the command. Exit codes: 0 done; 1 found what was looked for,
    such as a failed expectation or an open dossier with --fail; 2 wrong usage or input; 70 a fault of Semel.
    """
    context.obj = Session(database, schema, verbose)


app.command("demo")(demonstrating.demo)
app.command("init")(setting_up.init)
app.command("ingest")(ingesting.ingest)
app.command("check")(authoring.check)
app.command("apply")(authoring.apply)
app.add_typer(rules.app, name="rules")
app.command("work")(working.work)
app.command("tick")(ticking.tick)
app.command("sweep")(ticking.sweep)
app.command("resume")(ticking.resume)
app.command("runs")(looking.runs)
dossier_acts.register(dossiers.app)
app.add_typer(dossiers.app, name="dossiers")
app.add_typer(doing.app, name="do")
app.command("why")(looking.why)
app.command("test")(testing.run_scenarios)
app.command("rebuild")(setting_up.rebuild)


def run() -> None:
    """Run the command with the arguments of this process, and end the process with its exit code."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal that lacks a character gets a substitute, never an error.
        with contextlib.suppress(AttributeError):
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    app(prog_name="semel")
