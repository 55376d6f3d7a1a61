"""`semel do` performs a manual operation: the same services, attempts, retries and dossiers as for rules."""

from __future__ import annotations

from datetime import date, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adapters.cli.authoring import By, who
from adapters.cli.faults import FOUND
from adapters.cli.printing import as_json as json_text
from adapters.cli.printing import cell_text, complain, say
from adapters.cli.session import opened
from domain.errors import InvalidInput

if TYPE_CHECKING:
    from adapters.database.stories import Story
    from domain.commands import Command

app = typer.Typer(rich_markup_mode=None, no_args_is_help=True)
"""The group of commands."""

Member = Annotated[str, typer.Option(metavar="ID", help="The member; that of the entity where it is left out.")]
Entity = Annotated[str, typer.Option(metavar="ENTITY", help="What it is about, such as booking/b1.")]
Key = Annotated[
    str, typer.Option(metavar="TEXT", help="An idempotency key: the same one again does nothing a second time.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the run as an object.")]


@app.callback()
def do() -> None:
    """Do by hand what a rule could do.

    It goes to the same service, is tried again like any run, and stands in a dossier if it fails.
    """


@app.command("issue-invoice")
def issue_invoice(
    context: typer.Context,
    total: Annotated[str, typer.Option(metavar="AMOUNT", help='How much, such as "50 EUR".')],
    due: Annotated[str, typer.Option(metavar="DATE", help="The last day to pay, such as 2026-08-01.")],
    space: Annotated[str, typer.Option(metavar="ID", help="The space that issues it.")],
    member: Member = "",
    text: Annotated[str | None, typer.Option(metavar="TEXT", help="What it is for.")] = None,
    entity: Entity = "",
    key: Key = "",
    by: By = None,
    as_json: AsJson = False,
) -> None:
    """Issue an invoice."""
    about = entity or _about(member=member, space=space)
    values = {"space_id": space, "total": total, "due_on": _date("--due", due), "text": text}
    _do(context, "billing.issue_invoice", about, member, values, key, by, as_json)


@app.command("charge-fee")
def charge_fee(
    context: typer.Context,
    amount: Annotated[str, typer.Option(metavar="AMOUNT", help='How much, such as "15 EUR".')],
    reason: Annotated[str, typer.Option(metavar="TEXT", help="What the member reads.")],
    member: Member = "",
    entity: Entity = "",
    key: Key = "",
    by: By = None,
    as_json: AsJson = False,
) -> None:
    """Put an item on a member's later invoice."""
    values = {"amount": amount, "reason": reason}
    _do(context, "billing.charge_fee", entity or _about(member=member), member, values, key, by, as_json)


@app.command("grant-access")
def grant_access(
    context: typer.Context,
    door: Annotated[str, typer.Option(metavar="ID", help="Which door.")],
    valid_from: Annotated[str, typer.Option("--from", metavar="INSTANT", help="2026-08-01T09:00:00+02:00")],
    until: Annotated[str, typer.Option(metavar="INSTANT", help="2026-08-01T17:00:00+02:00")],
    member: Member = "",
    entity: Entity = "",
    key: Key = "",
    by: By = None,
    as_json: AsJson = False,
) -> None:
    """Let a member open a door for some time."""
    start, end = _instant("--from", valid_from), _instant("--until", until)
    values = {"door": door, "valid_from": start, "valid_until": end}
    _do(context, "access.grant", entity or _about(member=member), member, values, key, by, as_json)


@app.command("revoke-access")
def revoke_access(
    context: typer.Context,
    door: Annotated[str, typer.Option(metavar="ID", help="Which door.")],
    member: Member = "",
    entity: Entity = "",
    key: Key = "",
    by: By = None,
    as_json: AsJson = False,
) -> None:
    """Withdraw what was granted on account of the same entity."""
    _do(context, "access.revoke", entity or _about(member=member), member, {"door": door}, key, by, as_json)


@app.command("create-task")
def create_task(
    context: typer.Context,
    title: Annotated[str, typer.Option(metavar="TEXT", help="What is to be done.")],
    due: Annotated[str | None, typer.Option(metavar="INSTANT", help="2026-08-01T17:00:00+02:00")] = None,
    assignee: Annotated[str | None, typer.Option(metavar="NAME", help="Whose task it is.")] = None,
    space: Annotated[str, typer.Option(metavar="ID", help="The space that it is about.")] = "",
    member: Member = "",
    entity: Entity = "",
    key: Key = "",
    by: By = None,
    as_json: AsJson = False,
) -> None:
    """Give staff something to do."""
    values = {"title": title, "due_at": _instant("--due", due) if due else None, "assignee": assignee}
    about = entity or _about(member=member, space=space)
    _do(context, "tasks.create", about, member, values, key, by, as_json)


@app.command("offer-renewal")
def offer_renewal(
    context: typer.Context,
    subscription: Annotated[str, typer.Option(metavar="ID", help="Which subscription ends.")],
    plan: Annotated[str | None, typer.Option(metavar="NAME", help="Another plan than it has.")] = None,
    text: Annotated[str | None, typer.Option(metavar="TEXT", help="What the member reads beside the offer.")] = None,
    member: Member = "",
    key: Key = "",
    by: By = None,
    as_json: AsJson = False,
) -> None:
    """Offer a member to go on with a subscription."""
    about, values = f"subscription/{subscription}", {"plan": plan, "text": text}
    _do(context, "memberships.offer_renewal", about, member, values, key, by, as_json)


@app.command("notify")
def notify(
    context: typer.Context,
    to: Annotated[str, typer.Option(metavar="WHO", help="staff, or a member such as member/m1.")],
    type_: Annotated[str, typer.Option("--type", metavar="NAME", help="The type of the notification.")],
    payload: Annotated[str, typer.Option(metavar="JSON", help="Values for its wording.")] = "{}",
    entity: Entity = "",
    key: Key = "",
    by: By = None,
    as_json: AsJson = False,
) -> None:
    """Tell somebody something."""
    values = {"to": to, "type": type_, "payload": _read_json(payload, "payload")}
    about = entity or (to if to.startswith("member/") else _about())
    member = about.removeprefix("member/") if about.startswith("member/") else ""
    _do(context, "notifications.request", about, member, values, key, by, as_json)


@app.command("call-webhook")
def call_webhook(
    context: typer.Context,
    url: Annotated[str, typer.Option(metavar="URL", help="Where to.")],
    entity: Annotated[str, typer.Option(metavar="ENTITY", help="What it is about, such as booking/b1.")],
    body: Annotated[str, typer.Option(metavar="JSON", help="What is posted.")] = "{}",
    key: Key = "",
    by: By = None,
    as_json: AsJson = False,
) -> None:
    """Post values to a web address."""
    values = {"url": url, "body": _read_json(body, "body")}
    _do(context, "webhook.call", entity, "", values, key, by, as_json)


def _about(*, member: str = "", space: str = "") -> str:
    """Return what an operation is about where no entity is named."""
    if member:
        return f"member/{member}"
    if space:
        return f"space/{space}"
    raise InvalidInput("say what it is about: --entity booking/b1, or --member m1")


def _date(option: str, text: str) -> date:
    from domain.time_texts import parse_date

    try:
        return parse_date(text)
    except ValueError as error:
        raise InvalidInput(f"{option}: {error}") from None


def _instant(option: str, text: str) -> datetime:
    from domain.civil_time import as_instant

    try:
        return as_instant(datetime.fromisoformat(text))
    except ValueError:
        told = f"{text!r} is not an instant: write it with its offset, like 2026-08-01T09:00:00+02:00"
        raise InvalidInput(f"{option}: {told}") from None


def _read_json(text: str, name: str) -> Any:
    from adapters.ingestion.cloud_events import read_json

    found = read_json(text)
    if not isinstance(found, dict):
        raise InvalidInput(f"--{name} is a JSON object, such as {{}}")
    return found


def _do(
    context: typer.Context,
    operation: str,
    entity: str,
    member: str,
    values: dict[str, Any],
    key: str,
    by: str | None,
    as_json: bool,
) -> None:
    """Perform an operation and say what came of it; exits 1 where it failed, or nobody knows."""
    from adapters.database.engine import reading
    from adapters.database.stories import Storyteller
    from adapters.wording.known_names import require_operation
    from automations.manual_operations import ManualOperation

    command = _command(operation, {"entity": entity, "member_id": member, **values})
    with opened(context, writes=True) as application:
        require_operation(application, command)
        operation_key = key or application.new_key()
        performed = application.performer().perform(ManualOperation(command, who(by), operation_key))
        with reading(application.engine) as connection:
            story = Storyteller(connection, application.log.mapper).stories([performed.execution.key])[0]
    if as_json:
        from adapters.cli.story_pages import story_object

        say(json_text({**story_object(story), "idempotency_key": operation_key, "repeat": performed.is_repeat}))
    else:
        _tell(story, is_repeat=performed.is_repeat)
    if story.execution.status in ("failed", "unknown"):
        raise typer.Exit(FOUND)


def _command(operation: str, values: dict[str, Any]) -> Command:
    from pydantic import ValidationError

    from domain.catalogue import mistakes_of
    from domain.commands import command_of

    try:
        return command_of(operation, {name: value for name, value in values.items() if value is not None})
    except ValidationError as error:
        raise InvalidInput(mistakes_of(error)) from None


def _tell(story: Story, *, is_repeat: bool) -> None:
    execution = story.execution
    if is_repeat:
        say("this was asked for before; nothing was done a second time")
    answer = story.attempts[-1].answer if story.attempts else execution.reason
    say(f"{story.name}: {execution.status}{f', {answer}' if answer else ''}")
    if execution.again_at is not None:
        say(f"it is tried again at {cell_text(execution.again_at)}, as long as anybody works: semel work")
    if execution.status in ("failed", "unknown"):
        complain("semel dossiers shows it beside other failures of the same cause")
