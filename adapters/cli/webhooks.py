"""`semel webhooks`: programs of others that get events, each at a URL, signed."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adapters.cli.authoring import AsJson, By, who
from adapters.cli.printing import as_json as json_text
from adapters.cli.printing import cell_text, complain, print_array, say, show_table
from adapters.cli.session import opened
from adapters.cli.times import ZoneOption
from domain.errors import InvalidInput

if TYPE_CHECKING:
    from adapters.application import Application
    from adapters.database.webhooks import NewSecret, WebhookDesk

app = typer.Typer(rich_markup_mode=None, no_args_is_help=True)
"""The group of commands."""

Id = Annotated[str, typer.Argument(metavar="ID", help="The webhook's id.")]
Topics = Annotated[
    list[str], typer.Option("--topic", metavar="TOPIC", help="Such as booking.created, or booking.*; may be repeated.")
]
Shown = Annotated[bool, typer.Option("--json", help="Print the webhook as an object.")]


@app.callback()
def webhooks() -> None:
    """Send events to programs of others: add, list, pause and remove webhooks."""


@app.command()
def add(
    context: typer.Context,
    webhook: Annotated[str, typer.Argument(metavar="ID", help="Its id: letters a-z, digits and dashes.")],
    url: Annotated[str, typer.Argument(metavar="URL", help="Where events are posted to: https://…")],
    topic: Topics,
    by: By = None,
    as_json: Shown = False,
) -> None:
    """Send a program the events of some topics, from now on.

    The secret that signs them is shown this once: the receiver needs it to know that they come from here.
    """
    with opened(context, writes=True) as application:
        made = _desk(application).add(webhook, url, topic, who(by))
    _show_secret(made, as_json)


@app.command("list")
def list_webhooks(context: typer.Context, as_json: AsJson = False) -> None:
    """List the webhooks, with how many of their deliveries stand how."""
    with opened(context) as application:
        found = [_page(application, each.id) for each in _desk(application).all()]
    if as_json:
        print_array(found)
    elif found:
        columns = ("webhook", "status", "topics", "url", "last_sent_at", "deliveries")
        show_table(columns, [[_cell(each[name]) for name in columns] for each in found])
    else:
        say("there is no webhook yet: semel webhooks add makes one")


@app.command()
def show(context: typer.Context, webhook: Id, as_json: Shown = False) -> None:
    """Show one webhook: where it is, what it gets, how its deliveries stand, and who did what."""
    from adapters.webhooks.pages import life_of

    with opened(context) as application:
        found, life = _page(application, webhook), life_of(application, webhook)
    if as_json:
        say(json_text({**found, "history": life}))
        return
    for name, value in found.items():
        say(f"{name.replace('_', ' ')}: {_cell(value)}")
    for event in life:
        by = f" by {event['by']}" if event["by"] else ""
        say(f"    {cell_text(event['at'])} {event['what']}{by}")


@app.command()
def change(
    context: typer.Context,
    webhook: Id,
    url: Annotated[str | None, typer.Option(metavar="URL", help="Where events go from now on.")] = None,
    topic: Annotated[
        list[str] | None, typer.Option("--topic", metavar="TOPIC", help="All that it gets; may be repeated.")
    ] = None,
    by: By = None,
) -> None:
    """Send events elsewhere, or those of other topics, from now on."""
    with opened(context) as application:
        changed = _desk(application).change(webhook, who(by), url=url, topics=topic or None)
    say(f"{webhook}: {', '.join(changed.topics)} to {changed.url}")


@app.command()
def pause(context: typer.Context, webhook: Id, by: By = None) -> None:
    """Send nothing for now; what is recorded meanwhile waits, for 30 days at most."""
    with opened(context) as application:
        _desk(application).pause(webhook, who(by))
    say(f"{webhook}: paused")


@app.command()
def resume(context: typer.Context, webhook: Id, by: By = None) -> None:
    """Send what has waited, and go on."""
    with opened(context) as application:
        _desk(application).resume(webhook, who(by))
    say(f"{webhook}: goes on")


@app.command()
def rotate(
    context: typer.Context,
    webhook: Id,
    both_hours: Annotated[
        float, typer.Option(metavar="NUMBER", min=0, max=720, help="For how long the old secret signs as well.")
    ] = 24,
    by: By = None,
    as_json: Shown = False,
) -> None:
    """Make a new secret, shown this once; for a while the old one signs as well, so that nothing is refused."""
    with opened(context) as application:
        made = _desk(application).rotate(webhook, who(by), timedelta(hours=both_hours))
    _show_secret(made, as_json)


@app.command("test")
def send_test(context: typer.Context, webhook: Id, by: By = None) -> None:
    """Send an event that means nothing, of the topic webhook.tested."""
    with opened(context) as application:
        found = _desk(application).test(webhook, who(by))
    say(f"{webhook}: it goes out next; semel deliveries --channel {found.stream} shows what became of it")


@app.command()
def replay(
    context: typer.Context,
    webhook: Id,
    since: Annotated[str, typer.Option("--from", metavar="TIME", help="Since when, such as 2026-05-12 10:00.")],
    zone: ZoneOption = None,
    by: By = None,
) -> None:
    """Send what was recorded in the past as well; what the webhook got already does not go out again."""
    from adapters.cli.times import A_MOMENT, window_of

    with opened(context) as application:
        window = window_of(application, since, None, zone)
        _desk(application).replay(webhook, window.after + A_MOMENT, who(by))
    say(f"{webhook}: what was recorded since {since} goes out, as far as it did not yet")


@app.command()
def retry(context: typer.Context, webhook: Id, by: By = None, as_json: AsJson = False) -> None:
    """Send anew what failed; exits 1 where something could not be."""
    from adapters.webhooks.pages import retry_failed

    with opened(context) as application:
        _require(application, webhook)
        acted = retry_failed(application, webhook, who(by))
    rows = [{"delivery": each.key, "refused": each.refused} for each in acted]
    if as_json:
        print_array(rows)
    elif rows:
        show_table(("delivery", "refused"), [list(row.values()) for row in rows])
    else:
        say("nothing failed")
    if any(each.refused for each in acted):
        raise typer.Exit(1)


@app.command()
def remove(context: typer.Context, webhook: Id, by: By = None) -> None:
    """Send no more, and forget the secret; what waits is cancelled."""
    with opened(context) as application:
        _desk(application).remove(webhook, who(by))
    say(f"{webhook}: removed")


def _show_secret(made: NewSecret, as_json: bool) -> None:
    if as_json:
        say(json_text({"webhook": made.webhook.id, "secret": made.secret}))
        return
    say(made.secret)
    complain(f"this is the secret of {made.webhook.id}: give it to the receiver now, it is not shown again")


def _page(application: Application, webhook: str) -> dict[str, Any]:
    from adapters.webhooks.pages import page_of_webhook

    found = page_of_webhook(application, webhook)
    if found is None:
        raise InvalidInput(f"there is no webhook {webhook!r}: semel webhooks list shows them")
    return found


def _require(application: Application, webhook: str) -> None:
    _page(application, webhook)


def _cell(value: object) -> object:
    if isinstance(value, dict):
        return ", ".join(f"{count:,} {name}" for name, count in sorted(value.items()))
    return ", ".join(map(str, value)) if isinstance(value, list) else cell_text(value)


def _desk(application: Application) -> WebhookDesk:
    from adapters.webhooks.opening import webhook_desk

    return webhook_desk(application)
