"""Whatever a service is asked, it decides on a fact that the catalogue knows, or says no."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from domain.catalogue import read_data
from domain.commands import (
    ChargeFee,
    Command,
    CreateTask,
    GrantAccess,
    IssueInvoice,
    OfferRenewal,
    RevokeAccess,
)
from domain.decisions import Decided, Operation, access, billing, memberships, stamped, tasks
from domain.endings import Refused
from domain.facts import Entity, Stamp
from domain.money import Money
from domain.nouns import NOUN_OF_TYPE

OPERATIONS: dict[type[Command], Operation[Any]] = {
    operation.command: operation
    for service in (access, billing, memberships, tasks)
    for operation in service.OPERATIONS
}
AT = datetime(2026, 5, 12, 8, tzinfo=UTC)


@dataclass(frozen=True)
class KnownGround:
    """A ground with some entities and one last number."""

    values: dict[str, dict[str, Any]] = field(default_factory=dict)
    last_number: int = 0

    def find(self, stream: str) -> Entity:
        return Entity(stream, version=1, values=self.values.get(stream, {}))

    def next_number(self, series: str) -> int:
        return self.last_number + 1


ERASED = KnownGround({"member/m1": {"erased": True}})

ids = st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S"]), min_size=1, max_size=40)
texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=60)
members = st.just("") | ids
money = st.builds(Money.from_minor_units, st.integers(-(10**12), 10**12), st.sampled_from(["EUR", "JPY", "KWD"]))
instants = st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))
entities = st.builds("{}/{}".format, st.sampled_from(["booking", "subscription", "invoice", "member"]), ids)
about = {"entity": entities, "member_id": members}

commands = st.one_of(
    st.builds(
        IssueInvoice,
        **about,
        space_id=ids,
        total=money,
        due_on=st.dates(date(2000, 1, 1), date(2100, 1, 1)),
        text=st.none() | texts,
    ),
    st.builds(ChargeFee, **about, amount=money, reason=texts),
    st.builds(GrantAccess, **about, door=texts, valid_from=instants, valid_until=instants),
    st.builds(RevokeAccess, **about, door=texts),
    st.builds(CreateTask, **about, title=texts, due_at=st.none() | instants, assignee=st.none() | texts),
    st.builds(OfferRenewal, **about, plan=st.none() | texts, text=st.none() | texts),
)
grounds = st.builds(KnownGround, st.just({}), st.integers(0, 10**6)) | st.just(ERASED)


@given(commands, ids, grounds)
def test_every_decision_is_a_valid_fact_about_the_entity_foretold_or_a_no_with_a_reason(
    command: Command, key: str, ground: KnownGround
) -> None:
    operation = OPERATIONS[type(command)]

    decided = operation.decide(command, key, ground)

    if isinstance(decided, Refused):
        assert decided.reason
        return
    read_data(decided.type, decided.data)
    assert NOUN_OF_TYPE[decided.type].entity(decided.data) == operation.entity(command, key)
    assert set(operation.answer) <= set(decided.data)


@given(commands, ids, grounds)
def test_a_decision_is_the_same_whenever_it_is_taken_again(command: Command, key: str, ground: KnownGround) -> None:
    decide = OPERATIONS[type(command)].decide

    assert decide(command, key, ground) == decide(command, key, ground)


@given(commands, ids, ids)
def test_what_a_key_makes_is_its_own_and_a_grant_is_no_key_s(command: Command, key: str, other: str) -> None:
    entity = OPERATIONS[type(command)].entity
    belongs_to_key = not isinstance(command, GrantAccess | RevokeAccess)

    assert (entity(command, key) == entity(command, other)) is (key == other or not belongs_to_key)


@given(entities, ids, ids, ids, ids)
def test_grants_of_different_doors_or_members_never_meet(
    entity: str, door: str, member: str, door_2: str, member_2: str
) -> None:
    one = access.grant_of(RevokeAccess(entity=entity, member_id=member, door=door))
    other = access.grant_of(RevokeAccess(entity=entity, member_id=member_2, door=door_2))

    assert (one == other) is ((door, member) == (door_2, member_2))


@given(money)
def test_nobody_is_asked_for_nothing_or_less(amount: Money) -> None:
    fee = ChargeFee(entity="booking/b1", member_id="m1", amount=amount, reason="late")

    decided = billing.charge_fee(fee, "k", KnownGround())

    assert isinstance(decided, Decided) is (amount.amount > 0)


@given(instants, st.lists(st.tuples(instants, texts), max_size=3), st.integers(0, 10**6))
def test_the_next_fact_of_a_service_wins_over_all_before_it(
    at: datetime, known: list[tuple[datetime, str]], version: int
) -> None:
    stamps = {
        str(number): Stamp(time, f"{version:010d}", "semel/access", key) for number, (time, key) in enumerate(known)
    }

    time, sequence = stamped(Entity("access/a", version=version, stamps=stamps), at)

    assert all(Stamp(time, sequence, "semel/access", "") > stamp for stamp in stamps.values())
    assert time >= at


def test_the_invoice_of_a_booking_or_subscription_says_so() -> None:
    for kind in ("booking", "subscription"):
        command = IssueInvoice(
            entity=f"{kind}/x", member_id="m1", space_id="mitte", total=Money.parse("1 EUR"), due_on=AT.date()
        )
        decided = billing.issue_invoice(command, "k", KnownGround(last_number=41))
        assert isinstance(decided, Decided)
        assert decided.data[f"{kind}_id"] == "x"
        assert decided.data["number"] == "mitte-00042"


def test_access_for_no_time_is_refused() -> None:
    for length in (timedelta(), timedelta(hours=-1)):
        command = GrantAccess(entity="booking/b1", member_id="m1", door="d1", valid_from=AT, valid_until=AT + length)
        assert isinstance(access.grant(command, "k", KnownGround()), Refused)


def test_an_erased_member_is_refused_all_but_tasks_and_withdrawals() -> None:
    served = {
        type(command)
        for command in _one_of_each()
        if isinstance(OPERATIONS[type(command)].decide(command, "k", ERASED), Decided)
    }
    assert served == {CreateTask, RevokeAccess}


def _one_of_each() -> list[Command]:
    subscription: dict[str, Any] = {"entity": "subscription/s1", "member_id": "m1"}
    return [
        IssueInvoice(**subscription, space_id="mitte", total=Money.parse("1 EUR"), due_on=AT.date()),
        ChargeFee(**subscription, amount=Money.parse("1 EUR"), reason="late"),
        GrantAccess(**subscription, door="d1", valid_from=AT, valid_until=AT + timedelta(hours=1)),
        RevokeAccess(**subscription, door="d1"),
        CreateTask(**subscription, title="Clean"),
        OfferRenewal(**subscription),
    ]
