"""What each action asks of its service."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from automations.fact_catalogue import FactCatalogue
from domain.commands import (
    CallWebhook,
    ChargeFee,
    CreateTask,
    GrantAccess,
    IssueInvoice,
    OfferRenewal,
    RequestNotification,
    RevokeAccess,
)
from domain.money import Money
from tests.automations.actions.facts import AT, BOOKING, SUBSCRIPTION, KnownFacts, action, asked, unfit

ABOUT: dict[str, Any] = {"entity": "booking/b1", "member_id": "m1"}


def test_notify_tells_the_entity_s_member() -> None:
    assert asked("notify", type="reminder") == RequestNotification(**ABOUT, to="member/m1", type="reminder")


@pytest.mark.parametrize(
    ("to", "recipient"),
    [("staff", "staff"), ("member/m2", "member/m2"), ("member/{{ booking.extra.host }}", "member/m3")],
)
def test_notify_tells_somebody_else(to: str, recipient: str) -> None:
    assert asked("notify", {"booking.extra.host": "m3"}, type="x", to=to).to == recipient


@pytest.mark.parametrize("to", ["member", "staff"])
def test_notify_fills_in_its_payload_in_the_language_of_who_is_told(to: str) -> None:
    payload = {"day": "{{ booking.starts_at | date }}", "list": ["{{ member.name }}", 2, None, False]}

    filled = asked("notify", type="x", to=to, payload=payload).payload

    assert filled["day"] == {"member": "12. Mai 2026", "staff": "12 maggio 2026"}[to]
    assert filled["list"] == ["Mia", 2, None, False]


def test_notify_says_where_in_its_payload_a_value_is_missing() -> None:
    told = unfit("notify", type="x", payload={"a": {"b": ["{{ member.company }}"]}})
    assert told.startswith("payload.a.b.0: member.company is missing")


@pytest.mark.parametrize("name", ["Reminder", "a b", "", "{{ member.name }}", "a/b"])
def test_notify_refuses_what_cannot_name_a_type(name: str) -> None:
    with pytest.raises(ValidationError):
        action("notify", type=name)


def test_issue_invoice_takes_the_total_from_a_fact_and_is_due_in_a_fortnight() -> None:
    assert asked("issue_invoice", total="{{ booking.price }}", text="For {{ resource.name }}\nThanks") == (
        IssueInvoice(
            **ABOUT,
            space_id="mitte",
            total=Money.parse("18.50 EUR"),
            due_on=date(2026, 5, 25),
            text="For Room 1\nThanks",
        )
    )


def test_issue_invoice_counts_days_from_the_local_date_of_the_claim() -> None:
    late = AT + timedelta(hours=2)  # after midnight in Berlin, still the day before in UTC

    command = action("issue_invoice", total="1 EUR", due="1 month").command(KnownFacts(BOOKING), late)

    assert isinstance(command, IssueInvoice)
    assert command.due_on == date(2026, 6, 12)


def test_issue_invoice_needs_to_know_the_space() -> None:
    nowhere: dict[str, object] = {"space.space_id": None}

    assert unfit("issue_invoice", nowhere, total="1 EUR") == (
        "space: it is not known to which space booking/b1 belongs"
    )
    assert asked("issue_invoice", {**nowhere, "resource.space_id": "nord"}, total="1 EUR").space_id == "nord"


@pytest.mark.parametrize("due", ["2 hours", "14", 14, "soon", "1 day at 09:00"])
def test_issue_invoice_refuses_what_leads_to_no_date(due: object) -> None:
    with pytest.raises(ValidationError):
        action("issue_invoice", total="1 EUR", due=due)


def test_charge_fee() -> None:
    assert asked("charge_fee", amount="15 EUR", reason="No-show of {{ member.name }}") == (
        ChargeFee(**ABOUT, amount=Money.parse("15 EUR"), reason="No-show of Mia")
    )


@pytest.mark.parametrize("amount", ["15", 15, "0 EUR", "-1 EUR", "1.234 EUR", "15 XXQ", None])
def test_an_amount_that_is_none_is_refused_when_saved(amount: object) -> None:
    with pytest.raises(ValidationError):
        action("charge_fee", amount=amount, reason="x")


@pytest.mark.parametrize("amount", ["{{ booking.attendees }}", "{{ member.name }} EUR", "{{ booking.price }} EUR"])
def test_a_template_that_comes_to_no_amount_is_named_without_what_it_came_to(amount: str) -> None:
    assert unfit("charge_fee", amount=amount, reason="x") == (
        "amount: does not come to an amount of money, such as 15 EUR"
    )


def test_a_template_that_comes_to_nothing_owed_is_named() -> None:
    free: dict[str, object] = {"booking.price": Money.parse("0 EUR")}
    assert unfit("charge_fee", free, amount="{{ booking.price }}", reason="x") == (
        "amount: comes to 0.00 EUR, which is not above zero"
    )


def test_an_amount_can_be_worked_out() -> None:
    assert asked("charge_fee", amount="{{ booking.attendees | times: 5 }} EUR", reason="x").amount == (
        Money.parse("15 EUR")
    )


def test_a_fact_that_is_no_money_is_a_mistake_of_the_rule() -> None:
    catalogue = FactCatalogue(("booking", "member", "space"))
    for name, setting in (("charge_fee", "amount"), ("issue_invoice", "total")):
        settings = {setting: "{{ booking.attendees }}", **({"reason": "x"} if name == "charge_fee" else {})}
        (mistake,) = action(name, **settings).check(settings, catalogue)
        assert str(mistake) == f"{setting}: booking.attendees is a number, and not an amount of money"


def test_an_invoice_for_a_trigger_without_a_space_is_a_mistake_of_the_rule() -> None:
    (mistake,) = action("issue_invoice", total="1 EUR").check({}, FactCatalogue(("member",)))
    assert "space" in mistake.message


def test_grant_access() -> None:
    assert asked(
        "grant_access",
        door="{{ resource.door }}",
        from_="15 minutes before booking.starts_at",
        until="booking.ends_at",
    ) == GrantAccess(
        **ABOUT,
        door="d1",
        valid_from=datetime(2026, 5, 12, 7, 45, tzinfo=UTC),
        valid_until=datetime(2026, 5, 12, 10, tzinfo=UTC),
    )


def test_grant_access_of_whole_days_lasts_from_the_first_instant_to_the_end_of_the_last_day() -> None:
    days: dict[str, object] = {"booking.starts_at": date(2026, 5, 12), "booking.ends_at": date(2026, 5, 13)}

    command = asked("grant_access", days, door="d1", from_="booking.starts_at", until="booking.ends_at")

    assert command.valid_from == datetime(2026, 5, 11, 22, tzinfo=UTC)
    assert command.valid_until == datetime(2026, 5, 13, 22, tzinfo=UTC)


@pytest.mark.parametrize("value", ["12 o'clock", 3, "2026-05-12T10:00", True])
def test_an_instant_that_is_none_is_named(value: object) -> None:
    facts: dict[str, object] = {"booking.extra.until": value}
    assert unfit("grant_access", facts, door="d1", from_="booking.starts_at", until="booking.extra.until").startswith(
        "until: "
    )


def test_an_instant_of_any_type_is_read_from_its_text() -> None:
    facts: dict[str, object] = {"booking.extra.until": "2026-05-12T14:00:00+02:00"}

    command = asked("grant_access", facts, door="d1", from_="booking.starts_at", until="booking.extra.until")

    assert command.valid_until == datetime(2026, 5, 12, 12, tzinfo=UTC)


def test_a_missing_instant_is_named() -> None:
    facts: dict[str, object] = {"booking.starts_at": None}
    assert unfit("grant_access", facts, door="d1", from_="booking.starts_at", until="booking.ends_at") == (
        "from: booking.starts_at is missing"
    )


def test_a_door_that_the_resource_does_not_have_is_named() -> None:
    facts: dict[str, object] = {"resource.door": None}
    assert unfit("revoke_access", facts, door="{{ resource.door }}").startswith("door: resource.door is missing")
    assert unfit("revoke_access", facts, door="{{ resource.door | default: '' }}") == "door: comes to nothing"


def test_revoke_access() -> None:
    assert asked("revoke_access", door="d1") == RevokeAccess(**ABOUT, door="d1")
    assert asked("revoke_access", door="d1", member="member/m2").member_id == "m2"


def test_create_task() -> None:
    assert asked("create_task", title="Clean\n{{ resource.name }}", due="2 days", assignee="ana") == CreateTask(
        **ABOUT, title="Clean Room 1", due_at=AT + timedelta(days=2), assignee="ana"
    )


@pytest.mark.parametrize(
    ("due", "instant"),
    [
        ("90 minutes", AT + timedelta(minutes=90)),
        ("1 day at 12:00", datetime(2026, 5, 12, 10, tzinfo=UTC)),
        ("booking.ends_at", datetime(2026, 5, 12, 10, tzinfo=UTC)),
        ("1 hour after booking.ends_at", datetime(2026, 5, 12, 11, tzinfo=UTC)),
        (None, None),
    ],
)
def test_create_task_is_due_after_the_claim_or_at_an_instant(due: str | None, instant: datetime | None) -> None:
    assert asked("create_task", title="x", due=due).due_at == instant


def test_create_task_speaks_the_language_of_the_space() -> None:
    assert asked("create_task", title="{{ booking.starts_at | date }}").title == "12 maggio 2026"


def test_offer_renewal() -> None:
    facts = {**BOOKING, **SUBSCRIPTION}
    assert asked("offer_renewal", facts, text="Until {{ subscription.ends_on | date }}") == OfferRenewal(
        entity="subscription/s1", member_id="m1", text="Until 31. Dezember 2026"
    )
    assert asked("offer_renewal", facts, text="{{ member.company | default: '' }}").text is None


def test_a_renewal_of_something_else_is_a_mistake_of_the_rule() -> None:
    assert list(action("offer_renewal").check({}, FactCatalogue(("booking", "subscription"))))
    assert not list(action("offer_renewal").check({}, FactCatalogue(("subscription", "member"))))


def test_call_webhook() -> None:
    assert asked("call_webhook", url="https://example.org/{{ booking.booking_id }}", body={"n": 1}) == (
        CallWebhook(**ABOUT, url="https://example.org/b1", body={"n": 1})
    )
    assert "url_encode" in unfit("call_webhook", {"member.name": "Mia M"}, url="https://x.org/{{ member.name }}")


@pytest.mark.parametrize(
    "url",
    ["ftp://example.org", "example.org", "https://", "https:///x", "{{ booking.extra.url }}", "file:///x"],
)
def test_call_webhook_names_its_host_itself(url: str) -> None:
    with pytest.raises(ValidationError):
        action("call_webhook", url=url)
