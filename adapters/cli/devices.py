"""`semel devices` lists where a member gets push notifications, and withdraws one of these devices."""

from __future__ import annotations

from typing import Annotated

import typer

from adapters.cli.authoring import AsJson, By, who
from adapters.cli.printing import print_array, say, show_table
from adapters.cli.session import opened


def devices(
    context: typer.Context,
    member: Annotated[str, typer.Argument(metavar="MEMBER", help="The member: m1, or member/m1.")],
    withdraw: Annotated[
        str | None, typer.Option(metavar="DEVICE", help="Send no more push notifications to this device.")
    ] = None,
    by: By = None,
    as_json: AsJson = False,
) -> None:
    """List the devices on which a member gets push notifications.

    One that a push service does not know any more is listed with the time at which it said so.
    """
    from adapters.aftercare import device_desk
    from projections.devices import LISTED

    member_id = member.removeprefix("member/")
    with opened(context) as application:
        desk = device_desk(application)
        if withdraw is not None:
            changed = desk.withdraw(member_id, withdraw.removeprefix("device/"), by=who(by))
            say(f"{withdraw}: withdrawn" if changed else f"{withdraw}: got no push notifications before either")
            return
        found = [{name: row[name] for name in LISTED} for row in desk.of(member_id)]
    if as_json:
        print_array(found)
    elif found:
        show_table([name.replace("_", " ") for name in LISTED], [list(row.values()) for row in found])
    else:
        say(f"{member_id} has no device")
