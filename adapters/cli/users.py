"""`semel user`: people who sign in, and what they may do."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from adapters.cli.authoring import AsJson, By, who
from adapters.cli.printing import print_array, say, show_table
from adapters.cli.session import opened
from domain.errors import InvalidInput

if TYPE_CHECKING:
    from adapters.application import Application
    from adapters.web.access.users import UserDesk

app = typer.Typer(rich_markup_mode=None, no_args_is_help=True)
"""The group of commands."""

ROLES_HELP = (
    "viewer looks, staff also acts on dossiers and operations, author also writes rules, admin may do everything."
)

Name = Annotated[str, typer.Argument(metavar="NAME", help="The user's name; the log says it of their acts.")]
RoleArgument = Annotated[str, typer.Argument(metavar="ROLE", help=ROLES_HELP)]
FromPipe = Annotated[
    bool, typer.Option("--password-stdin", help="Read the password from the standard input instead of asking.")
]


@app.callback()
def user() -> None:
    """Add and change the people who may sign in.

    Passwords are asked for, or read from the standard input, and never given as arguments, which others see.
    """


@app.command()
def add(
    context: typer.Context,
    name: Name,
    role: Annotated[str, typer.Option(metavar="ROLE", help=ROLES_HELP)] = "viewer",
    password_stdin: FromPipe = False,
    by: By = None,
) -> None:
    """Let somebody sign in."""
    with opened(context, writes=True) as application:
        _desk(application).add(name, role, _password(password_stdin), who(by))
    say(f"{name} may sign in as {role}")


@app.command("list")
def list_users(context: typer.Context, as_json: AsJson = False) -> None:
    """List the users."""
    with opened(context) as application:
        found = [each.to_json() for each in _desk(application).listed()]
    if as_json:
        print_array(found)
    elif found:
        show_table(list(found[0]), [list(each.values()) for each in found])
    else:
        say("there is no user yet: semel user add lets somebody sign in")


@app.command()
def role(context: typer.Context, name: Name, new_role: RoleArgument, by: By = None) -> None:
    """Give a user another role. They have to sign in again."""
    with opened(context) as application:
        _desk(application).give_role(name, new_role, who(by))
    say(f"{name} is {new_role} now")


@app.command()
def disable(context: typer.Context, name: Name, by: By = None) -> None:
    """Let a user sign in no more. Their sessions end at once; what they did keeps their name."""
    with opened(context) as application:
        _desk(application).disable(name, who(by))
    say(f"{name} can no longer sign in")


@app.command()
def enable(context: typer.Context, name: Name, by: By = None) -> None:
    """Let a user who was disabled sign in again."""
    with opened(context) as application:
        _desk(application).enable(name, who(by))
    say(f"{name} may sign in again")


@app.command()
def password(context: typer.Context, name: Name, password_stdin: FromPipe = False, by: By = None) -> None:
    """Give a user another password. They have to sign in again."""
    with opened(context) as application:
        _desk(application).set_password(name, _password(password_stdin), who(by))
    say(f"{name} has another password")


def _password(from_pipe: bool) -> str:
    if from_pipe:
        return typer.get_text_stream("stdin").readline().rstrip("\r\n")
    if not sys.stdin.isatty():
        raise InvalidInput("a password is asked for at a terminal: with a pipe, say --password-stdin")
    text: str = typer.prompt("password", hide_input=True, confirmation_prompt=True)
    return text


def _desk(application: Application) -> UserDesk:
    from adapters.web.access.users import UserDesk

    return UserDesk(application.log, application.clock)
