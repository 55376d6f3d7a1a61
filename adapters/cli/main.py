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
    campaigning,
    deliveries,
    demonstrating,
    devices,
    doing,
    dossier_acts,
    dossiers,
    ingesting,
    looking,
    notifying,
    preferring,
    rehearsing,
    restoring,
    rules,
    rules_in_time,
    serving,
    setting_up,
    suppressing,
    testing,
    ticking,
    tokens,
    types,
    users,
    webhooks,
    working,
)
from adapters.cli.faults import SemelGroup
from adapters.cli.session import Session
from adapters.memory import collect_rarely

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
app.command("migrate")(setting_up.migrate)
app.command("ingest")(ingesting.ingest)
app.command("notify")(notifying.notify)
app.command("check")(authoring.check)
app.command("apply")(authoring.apply)
app.command("types")(types.types)
app.add_typer(rules.app, name="rules")
app.command("serve")(serving.serve)
app.command("work")(working.work)
app.command("tick")(ticking.tick)
app.command("sweep")(ticking.sweep)
app.command("resume")(ticking.resume)
app.command("restore")(restoring.restore)
app.command("runs")(looking.runs)
dossier_acts.register(dossiers.app)
app.add_typer(dossiers.app, name="dossiers")
app.add_typer(doing.app, name="do")
app.add_typer(deliveries.app, name="deliveries")
app.add_typer(campaigning.app, name="campaign")
app.command("preferences")(preferring.preferences)
app.add_typer(suppressing.app, name="suppressions")
app.command("devices")(devices.devices)
app.command("why")(looking.why)
app.command("test")(testing.run_scenarios)
app.command("rehearse")(rehearsing.rehearse)
app.add_typer(tokens.app, name="token")
app.add_typer(users.app, name="user")
app.add_typer(webhooks.app, name="webhooks")
app.command("rebuild")(setting_up.rebuild)


def run() -> None:
    """Run the command with the arguments of this process, and end the process with its exit code."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal that lacks a character gets a substitute, never an error.
        with contextlib.suppress(AttributeError):
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    collect_rarely()
    app(prog_name="semel")
