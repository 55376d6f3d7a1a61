"""`semel token`: what programs show to be let in."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from adapters.cli.authoring import AsJson, By, who
from adapters.cli.printing import as_json as json_text
from adapters.cli.printing import complain, print_array, say, show_table
from adapters.cli.session import opened

if TYPE_CHECKING:
    from adapters.application import Application
    from adapters.web.access.tokens import NewToken, TokenDesk

app = typer.Typer(rich_markup_mode=None, no_args_is_help=True)
"""The group of commands."""

SCOPES_HELP = (
    "What it may do: events:write, notifications:write, rules:write, dossiers:write, operations:write, read or"
    " admin, which includes all; may be repeated."
)


@app.callback()
def token() -> None:
    """Make, list, rotate and revoke the tokens that programs use."""


@app.command()
def create(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="What uses it; the log says this of its acts.")],
    scope: Annotated[list[str], typer.Option(metavar="SCOPE", help=SCOPES_HELP)],
    days: Annotated[
        float | None, typer.Option(metavar="NUMBER", min=0.001, max=36_500, help="For how long; for ever without it.")
    ] = None,
    by: By = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the token as an object.")] = False,
) -> None:
    """Make a token.

    It is shown this once; only a hash of it is kept. Give each program its own, with the scopes that it needs.
    """
    with opened(context, writes=True) as application:
        lasts = timedelta(days=days) if days is not None else None
        made = _desk(application).create(name, scope, who(by), lasts)
    _show_once(made, name, as_json)


@app.command()
def rotate(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name of the token.")],
    hours: Annotated[
        float, typer.Option(metavar="NUMBER", min=0, max=8_784, help="For how long the former one works on.")
    ] = 24,
    by: By = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the token as an object.")] = False,
) -> None:
    """Make another token of the same name and scopes.

    The former one works on for some time. What a program asked for under an idempotency key stays done: keys are
    the name's.
    """
    with opened(context) as application:
        made = _desk(application).rotate(name, who(by), timedelta(hours=hours))
    _show_once(made, name, as_json)


@app.command("list")
def list_tokens(context: typer.Context, as_json: AsJson = False) -> None:
    """List the tokens, without anything that could be used."""
    with opened(context) as application:
        at = application.clock.now()
        found = [each.to_json(at) for each in _desk(application).listed()]
    if as_json:
        print_array(found)
    elif found:
        show_table(list(found[0]), [[_cell(value) for value in each.values()] for each in found])
    else:
        say("there is no token yet: semel token create makes one")


@app.command()
def revoke(
    context: typer.Context,
    wanted: Annotated[str, typer.Argument(metavar="TOKEN", help="Its id, or its name.")],
    by: By = None,
) -> None:
    """Withdraw a token: from now on it is worth nothing."""
    with opened(context) as application:
        found = _desk(application).revoke(wanted, who(by))
    for revoked in found:
        was = "was revoked already" if revoked.revoked_at is not None else "is revoked"
        say(f"token {revoked.id}, {revoked.name}, {was}")


def _show_once(made: NewToken, name: str, as_json: bool) -> None:
    if as_json:
        say(json_text({"id": made.id, "name": name, "token": made.text}))
        return
    say(made.text)
    complain(f"this is token {made.id}: keep it now, it is not shown again")


def _cell(value: object) -> object:
    return ", ".join(map(str, value)) if isinstance(value, list) else value


def _desk(application: Application) -> TokenDesk:
    from adapters.web.access.tokens import TokenDesk

    return TokenDesk(application.log, application.clock)
