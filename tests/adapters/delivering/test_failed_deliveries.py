"""Deliveries that failed: they stand in dossiers, and staff do something about them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest

from adapters.database.delivery_stories import delivery_stories
from adapters.database.engine import reading
from adapters.dossiers.documents import dossier_document
from adapters.dossiers.pages import dossier_page
from automations.staff_acts import ActName, Order
from domain.endings import Done, Misconfigured, Refused, TryLater, Unknown
from projections.dossier_lists import Dossier, open_dossiers
from tests.adapters.delivering.office import FakeChannel, Office


def dossiers(office: Office) -> list[Dossier]:
    office.settle()
    with reading(office.app.engine) as connection:
        return open_dossiers(connection)


def act(office: Office, name: ActName, key: str, reason: str = "") -> str:
    [acted] = office.app.run_acts().act(Order(name, "ana", reason), [key])
    return acted.refused


def row(office: Office) -> Mapping[str, Any]:
    [found] = office.rows(channel="email")
    return found


def notices(office: Office) -> list[str]:
    return [each["type"] for each in office.notices()]


def fail(office: Office) -> str:
    office.email.answer = Refused(reason="550 5.7.1 not here")
    office.request()
    office.settle()
    return str(row(office)["delivery"])


def test_failures_of_one_cause_are_one_dossier_with_one_notice(office: Office) -> None:
    office.email.answer = Refused(reason="550 5.7.1 not here")
    for number in range(3):
        office.request(f"k/{number}")
    [dossier] = dossiers(office)
    assert (dossier.operation, dossier.ending, len(dossier.runs)) == ("channel-email.send", "refused", 3)
    assert notices(office) == ["semel.dossier-opened"]


def test_a_doubt_stands_in_a_dossier_and_a_person_decides(office: Office) -> None:
    office.use_channel("email", FakeChannel(honours_keys=False, answer=Unknown(reason="no answer after DATA")))
    office.request()
    [dossier] = dossiers(office)
    assert (dossier.ending, dossier.runs[0]["status"]) == ("unknown", "unknown")


def test_what_waits_for_a_channel_that_is_set_up_wrongly_is_listed_and_goes_on(office: Office) -> None:
    office.email.answer = Misconfigured(reason="535 bad password")
    office.request()
    [dossier] = dossiers(office)
    assert (dossier.operation, dossier.ending) == ("channel-email", "misconfigured")
    assert [run["standing"] for run in dossier.runs] == ["waiting"]
    office.email.answer = Done()
    office.deliver_for(timedelta(minutes=2))
    assert dossiers(office) == []
    assert notices(office) == ["semel.dossier-opened", "semel.dossier-recovered"]


def test_it_is_sent_anew_with_a_new_series_of_attempts(office: Office) -> None:
    """Trial C13: an outage that was longer than all attempts."""
    office.email.answer = TryLater(reason="busy")
    office.request()
    office.deliver_for(timedelta(hours=20))
    delivery, tried = row(office)["delivery"], row(office)["attempts"]
    assert row(office)["status"] == "failed"
    assert act(office, "retry", delivery) == ""
    office.settle()
    assert row(office)["status"] == "retrying"
    office.email.answer = Done()
    office.deliver_for(timedelta(minutes=6))
    assert (row(office)["status"], row(office)["attempts"]) == ("sent", tried + 2)
    assert dossiers(office) == []
    with reading(office.app.engine) as connection:
        [story] = delivery_stories(connection, office.app.log.mapper, [delivery])
    assert [step.what for step in story.steps].count("retrying") == tried
    assert "requeued" in [step.what for step in story.steps]


def test_what_is_of_no_use_any_more_is_not_sent_anew(office: Office) -> None:
    delivery = fail(office)
    office.clock.advance(timedelta(hours=25))
    assert "it was of use until" in act(office, "retry", delivery)
    assert len(office.email.calls) == 1


@pytest.mark.parametrize(("name", "how"), [("done", "by_hand"), ("dismiss", "dismissed")])
def test_somebody_deals_with_it_otherwise(office: Office, name: ActName, how: str) -> None:
    delivery = fail(office)
    [before] = dossiers(office)
    assert act(office, name, delivery, "told at the desk") == ""
    assert dossiers(office) == []
    assert row(office)["status"] == "failed"
    with reading(office.app.engine) as connection:
        document = dossier_document(connection, office.app.log.mapper, before)
    [told] = document["deliveries"]
    assert told["standing"] == how
    assert (told["steps"][-1]["by"], told["steps"][-1]["why"]) == ("ana", "told at the desk")
    assert "told at the desk" in dossier_page(document)


def test_what_did_not_fail_and_what_went_out_is_left_alone(office: Office) -> None:
    office.request()
    office.settle()
    delivery = str(row(office)["delivery"])
    assert act(office, "retry", delivery) == "it did not fail: it is sent"
    assert "goes out once" in act(office, "run-again", delivery, "again")
    assert act(office, "retry", "delivery-none") == "there is no such delivery"


def test_all_of_one_cause_are_sent_anew(office: Office) -> None:
    office.email.answer = Refused(reason="550 5.7.1 not here")
    for number in range(3):
        office.request(f"k/{number}")
    [dossier] = dossiers(office)
    office.email.answer = Done()
    acted = office.app.run_acts().act_on_all(Order("retry", "ana"), dossier.id)
    assert [each.refused for each in acted] == ["", "", ""]
    assert dossiers(office) == []
    assert len(office.email.sent) == 3


def test_the_words_of_staff_are_no_part_of_the_log(office: Office) -> None:
    act(office, "dismiss", fail(office), "mia does not mind")
    recorded = "".join(event.model_dump_json() for event in office.events("delivery."))
    assert "mia does not mind" not in recorded
