"""The embedded billing service: consecutive numbers, and what cannot be charged."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from domain.endings import Refused
from domain.invoices import InvoiceNumbered
from tests.adapters.services.commands import fee, invoice
from tests.adapters.services.desk import ServiceDesk


def test_invoices_of_a_space_are_numbered_one_after_the_other(desk: ServiceDesk) -> None:
    numbers = [desk.done(invoice(), key=f"k/{index}")["number"] for index in range(3)]

    assert numbers == ["mitte-00001", "mitte-00002", "mitte-00003"]
    assert desk.done(invoice(space="nord"), key="n/0")["number"] == "nord-00001"


def test_no_number_is_left_out_or_taken_twice_by_racers(desk: ServiceDesk) -> None:
    keys = [f"k/{index // 2}" for index in range(24)]

    with ThreadPoolExecutor(8) as racers:
        answers = list(racers.map(lambda key: desk.done(invoice(), key=key), keys))

    numbers = {answer["invoice_id"]: answer["number"] for answer in answers}
    assert sorted(numbers.values()) == [f"mitte-{number:05d}" for number in range(1, 13)]
    taken = [event for event in desk.events() if isinstance(event, InvoiceNumbered)]
    assert {event.invoice: f"mitte-{event.version:05d}" for event in taken} == numbers


def test_a_refused_invoice_takes_no_number(desk: ServiceDesk) -> None:
    assert isinstance(desk.ask(invoice("-1 EUR")), Refused)
    assert isinstance(desk.ask(invoice(member="")), Refused)

    assert desk.done(invoice())["number"] == "mitte-00001"


def test_an_invoice_is_a_fact_like_one_from_outside(desk: ServiceDesk) -> None:
    result = desk.done(invoice())

    state = desk.state(f"invoice/{result['invoice_id']}")
    assert str(state.get("total")) == "20.00 EUR"
    assert (state.get("member_id"), state.get("booking_id"), state.get("status")) == ("m1", "b1", "issued")


def test_an_erased_member_is_charged_nothing(desk: ServiceDesk) -> None:
    desk.tell("member.erased", member_id="m1")

    for command in (fee(), invoice()):
        ending = desk.ask(command)
        assert isinstance(ending, Refused)
        assert ending.reason == "member/m1 has been erased"
