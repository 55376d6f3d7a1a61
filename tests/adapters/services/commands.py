"""One command for each operation, and another of the same operation, as tests of every service need them."""

from __future__ import annotations

from datetime import UTC, date, datetime

from domain.commands import (
    ChargeFee,
    Command,
    CreateTask,
    GrantAccess,
    IssueInvoice,
    OfferRenewal,
    RequestNotification,
    RevokeAccess,
)
from domain.money import Money

START = datetime(2026, 5, 12, 10, tzinfo=UTC)
END = datetime(2026, 5, 12, 12, tzinfo=UTC)


def invoice(total: str = "20 EUR", space: str = "mitte", member: str = "m1") -> IssueInvoice:
    return IssueInvoice(
        entity="booking/b1",
        member_id=member,
        space_id=space,
        total=Money.parse(total),
        due_on=date(2026, 5, 26),
        text="Room 1",
    )


def fee(amount: str = "15 EUR", member: str = "m1") -> ChargeFee:
    return ChargeFee(entity="booking/b1", member_id=member, amount=Money.parse(amount), reason="no show")


def grant(door: str = "d1", until: datetime = END, entity: str = "booking/b1", member: str = "m1") -> GrantAccess:
    return GrantAccess(entity=entity, member_id=member, door=door, valid_from=START, valid_until=until)


def revoke(door: str = "d1", entity: str = "booking/b1", member: str = "m1") -> RevokeAccess:
    return RevokeAccess(entity=entity, member_id=member, door=door)


def task(title: str = "Clean room 1") -> CreateTask:
    return CreateTask(entity="booking/b1", member_id="m1", title=title, due_at=END, assignee="ana")


def renewal(plan: str | None = None, entity: str = "subscription/s1", member: str = "m1") -> OfferRenewal:
    return OfferRenewal(entity=entity, member_id=member, plan=plan, text="Stay with us")


def notification(to: str = "member/m1", name: str = "Mia") -> RequestNotification:
    return RequestNotification(
        entity="booking/b1", member_id="m1", to=to, type="reminder", payload={"name": name, "seats": [1, 2]}
    )


PAIRS: tuple[tuple[Command, Command], ...] = (
    (invoice(), invoice("21 EUR")),
    (fee(), fee("16 EUR")),
    (grant(), grant(door="d2")),
    (revoke(), revoke(door="d2")),
    (task(), task("Clean room 2")),
    (renewal(), renewal(plan="gold")),
    (notification(), notification(name="Ana")),
)
"""A command of each operation, and a different request for the same operation."""
