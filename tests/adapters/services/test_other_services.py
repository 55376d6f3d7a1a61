"""The embedded services for tasks, memberships and notifications."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from domain.endings import Refused
from domain.notifications import DeliveryRequested
from tests.adapters.services.commands import END, notification, renewal, task
from tests.adapters.services.desk import AT, ServiceDesk

SUBSCRIPTION: dict[str, Any] = {
    "subscription_id": "s1",
    "space_id": "mitte",
    "member_id": "m1",
    "plan": "silver",
    "starts_on": "2026-01-01",
    "ends_on": "2026-12-31",
}


def test_a_task_is_open_with_what_it_was_given(desk: ServiceDesk) -> None:
    state = desk.state(f"task/{desk.done(task())['task_id']}")

    assert (state.get("status"), state.get("due_at"), state.get("assignee")) == ("open", END, "ana")


def test_rooms_are_cleaned_after_erased_members_too(desk: ServiceDesk) -> None:
    desk.tell("member.erased", member_id="m1")

    desk.done(task())


@pytest.mark.parametrize(("asked", "offered"), [(None, "silver"), ("gold", "gold")])
def test_an_offer_is_of_the_same_plan_unless_another_is_named(
    desk: ServiceDesk, asked: str | None, offered: str
) -> None:
    desk.tell("subscription.started", **SUBSCRIPTION)

    state = desk.state(f"renewal/{desk.done(renewal(plan=asked))['renewal_id']}")

    assert (state.get("plan"), state.get("subscription_id")) == (offered, "s1")


def test_no_renewal_of_a_cancelled_subscription_is_offered(desk: ServiceDesk) -> None:
    desk.tell("subscription.started", **SUBSCRIPTION)
    desk.tell("subscription.cancelled", at=AT + timedelta(hours=1), subscription_id="s1")

    assert desk.ask(renewal()) == Refused(reason="subscription/s1 has been cancelled")


def test_a_renewal_needs_a_subscription_and_a_member(desk: ServiceDesk) -> None:
    for command in (renewal(entity="booking/b1"), renewal(member="")):
        ending = desk.ask(command)
        assert isinstance(ending, Refused)
        assert ending.at_fault == "rule"


@pytest.mark.parametrize("to", ["member/m1", "staff", "member/m2"])
def test_a_request_to_tell_somebody_is_one_event(desk: ServiceDesk, to: str) -> None:
    result = desk.done(notification(to=to))

    (event,) = desk.events()
    assert isinstance(event, DeliveryRequested)
    assert (event.notification, event.to, event.type) == (result["notification_id"], to, "reminder")
    assert (event.idempotency_key, event.entity, event.at) == ("k/0", "booking/b1", AT)


def test_a_payload_of_nothing_leaves_no_personal_value(desk: ServiceDesk) -> None:
    desk.done(notification().model_copy(update={"payload": {}}))

    (event,) = desk.events()
    assert isinstance(event, DeliveryRequested)
    assert event.payload == ""
    desk.done(notification().model_copy(update={"payload": {}}))
    assert isinstance(desk.ask(notification()), Refused)


@pytest.mark.parametrize("change", [{"type": "Not A Name"}, {"to": "ana@example.org"}, {"to": "member/"}])
def test_a_request_that_names_nobody_or_nothing_is_the_rule_s_fault(desk: ServiceDesk, change: dict[str, str]) -> None:
    ending = desk.ask(notification().model_copy(update=change))

    assert isinstance(ending, Refused)
    assert ending.at_fault == "rule"
