"""What staff do about runs: once decided it is recorded, queued and told, and what is refused changes nothing."""

from __future__ import annotations

import pytest

from adapters.database import queue
from adapters.database.claims import QUEUE
from adapters.database.engine import reading
from adapters.database.personal import erase
from adapters.database.schema import queue as queue_table
from adapters.database.unit_of_work import unit_of_work
from automations.staff_acts import Order
from domain.endings import Refused, TryLater, Unknown
from domain.errors import InvalidInput
from domain.executions import stream_of
from domain.staff_acts import ExecutionDismissed, ExecutionRetried
from tests.adapters.dossiers.office import Office, booking
from tests.adapters.dossiers.test_keeping import FEE, GRANT, NO
from tests.operators import event, rule

AWAY = TryLater(reason="away")


def refusals(office: Office, *orders: tuple[str, str]) -> list[str]:
    """Return why each act is refused; fails where one is not."""
    found = []
    for act, reason in orders:
        before = len(office.operator.events())
        (acted,) = office.act(act, office.key(), reason=reason)  # type: ignore[arg-type]
        assert len(office.operator.events()) == before
        found.append(acted.refused)
    return found


def test_a_retry_goes_on_with_the_numbering_and_the_key(office: Office) -> None:
    office.operator.save(rule("fee", "booking.created", do=[FEE]))
    office.switch.answers["billing"] = NO
    office.book(1)
    office.act("retry", office.key(), reason="called them")
    office.switch.answers.clear()
    office.act("retry", office.key())
    assert office.status() == "done"
    assert office.switch.keys("billing.charge_fee") == [f"{office.key()}/0"] * 3
    attempts = office.document(office.closed().id)["runs"][0]["attempts"]
    assert [(each["number"], each["class"]) for each in attempts] == [(1, "refused"), (2, "refused"), (3, "done")]


def test_a_retry_after_a_long_outage_has_a_schedule_of_its_own(office: Office) -> None:
    office.operator.save(rule("fee", "booking.created", do=[FEE]))
    office.switch.answers["billing"] = NO
    office.book(1)
    office.later(days=3)
    office.switch.answers["billing"] = AWAY
    office.act("retry", office.key())
    assert office.status() == "waiting"
    office.switch.answers.clear()
    office.later(seconds=10)
    assert office.status() == "done"


def test_one_retry_brings_back_everything_that_waits_behind_a_service(office: Office) -> None:
    office.operator.save(rule("door", "booking.created", do=[GRANT]))
    office.switch.answers["access"] = AWAY
    office.book(*range(1, 13))
    office.later(hours=1)
    assert (office.dossier().operation, len(office.dossier().runs)) == ("access", 12)
    office.switch.answers.clear()
    assert [acted.refused for acted in office.act_on_all("retry")] == [""] * 12
    assert {run["status"] for run in office.operator.runs()} == {"done"}
    assert office.dossiers() == []
    assert office.closed().settled["done"] == 12


def test_what_waits_can_be_dismissed_and_marked_as_done_and_is_not_called_any_more(office: Office) -> None:
    office.operator.save(rule("door", "booking.created", do=[GRANT]))
    office.switch.answers["access"] = AWAY
    office.book(1, 2)
    office.act("dismiss", office.key(1), reason="not needed")
    office.act("done", office.key(2))
    calls = len(office.switch.calls)
    office.later(days=1)
    assert (office.status(1), office.status(2)) == ("cancelled", "done")
    assert len(office.switch.calls) == calls
    assert office.operator.rows(queue_table) == []


def test_acts_that_make_no_sense_are_refused_with_the_reason(office: Office) -> None:
    office.operator.save(rule("fee", "booking.created", do=[FEE]))
    office.book(1)
    assert refusals(office, ("retry", ""), ("done", ""), ("dismiss", "x")) == [
        "it is done: only running it again on purpose, with a reason, repeats it",
        "it did not fail: it is done",
        "it did not fail: it is done",
    ]
    acts = office.operator.app.run_acts()
    for act in ("dismiss", "run-again"):
        with pytest.raises(InvalidInput, match="needs a reason"):
            acts.act(Order(act, "ana"), [office.key()])
    with pytest.raises(InvalidInput, match="at most 2000 characters"):
        acts.act(Order("retry", "ana", "x" * 2001), [office.key()])
    assert [acted.refused for acted in acts.act(Order("retry", "ana"), ["nobody"])] == ["there is no such run"]
    (acted,) = office.act("run-again", office.key(), reason="why not", action=1)
    assert acted.refused == "it has no action 2: its actions are numbered from 1 to 1"


def test_what_waits_is_not_over_and_so_not_run_again(office: Office) -> None:
    office.operator.save(rule("fee", "booking.created", do=[FEE]))
    office.switch.answers["billing"] = AWAY
    office.book(1)
    assert refusals(office, ("run-again", "please")) == ["it is not over yet: retry it, or dismiss it"]


def test_what_never_got_to_a_call_is_retried_and_not_run_again(office: Office) -> None:
    office.operator.save(rule("odd", "booking.created", "booking.extra.score above 10", do=[FEE]))
    office.book(1, score="n/a")
    assert office.status() == "failed"
    assert refusals(office, ("run-again", "please")) == ["nothing was called yet: retry it"]


def test_a_run_in_somebodys_hands_is_left_to_them(office: Office) -> None:
    office.operator.save(rule("fee", "booking.created", do=[FEE]))
    office.switch.answers["billing"] = AWAY
    office.book(1)
    with unit_of_work(office.operator.app.log) as work:
        now = office.operator.clock.now().replace(year=2030)
        assert queue.lease(work.connection, QUEUE, "somebody", 1, now)
    assert refusals(office, ("retry", ""), ("dismiss", "x")) == [
        "it is being run right now: look again in a moment",
        "it is being run right now: look again in a moment",
    ]


def test_a_run_is_repeated_in_a_new_series_and_retries_stay_in_it(office: Office) -> None:
    office.operator.save(rule("fee", "booking.created", do=[FEE]))
    office.book(1)
    office.switch.answers["billing"] = NO
    office.act("run-again", office.key(), reason="it was too little")
    assert (office.status(), office.dossier().operation) == ("failed", "billing.charge_fee")
    office.switch.answers.clear()
    office.act("retry", office.key())
    office.act("run-again", office.key(), reason="and again")
    key = office.key()
    assert office.switch.keys("billing.charge_fee") == [f"{key}/0", f"{key}/0/2", f"{key}/0/2", f"{key}/0/3"]
    assert office.operator.topics().count("fee.charged") == 3
    assert (office.status(), office.dossiers()) == ("done", [])


def test_one_action_of_a_run_can_be_repeated_alone(office: Office) -> None:
    office.operator.save(rule("both", "booking.created", do=[FEE, GRANT, {"create_task": {"title": "Greet"}}]))
    office.book(1)
    office.act("run-again", office.key(), reason="wrong code", action=1)
    assert [operation for operation, _ in office.switch.calls] == [
        "billing.charge_fee",
        "access.grant",
        "tasks.create",
        "access.grant",
    ]
    assert office.switch.calls[-1] == ("access.grant", f"{office.key()}/1/2")
    assert office.status() == "done"


def test_an_unknown_call_is_repeated_by_staff_with_what_was_sent_and_under_the_same_key(office: Office) -> None:
    office.operator.save(rule("door", "booking.created", do=[GRANT]))
    office.switch.forgetful.add("access")
    office.switch.answers["access"] = Unknown(reason="timed out")
    office.book(1)
    assert office.status() == "unknown"
    office.switch.answers.clear()
    office.act("retry", office.key())
    assert office.status() == "done"
    assert office.switch.keys("access.grant") == [f"{office.key()}/0"] * 2


def test_a_dismissed_run_may_be_retried_after_all(office: Office) -> None:
    office.operator.save(rule("fee", "booking.created", do=[FEE]))
    office.switch.answers["billing"] = NO
    office.book(1)
    office.act("dismiss", office.key(), reason="ours")
    assert office.dossiers() == []
    office.switch.answers.clear()
    office.act("retry", office.key())
    assert office.status() == "done"


def test_a_dismissed_failure_does_not_run_when_its_event_is_seen_again(office: Office) -> None:
    office.operator.save(rule("fee", "booking.no_show", once="entity", do=[FEE]))
    office.operator.record(booking(1), event("booking.no_show", {"booking_id": "b1"}))
    office.switch.answers["billing"] = NO
    office.work()
    office.act("dismiss", office.key(), reason="ours")
    office.switch.answers.clear()
    office.operator.record(event("booking.no_show", {"booking_id": "b1"}))
    office.work()
    assert (office.status(), len(office.switch.calls)) == ("failed", 1)


def test_nothing_of_an_archived_rule_is_called_but_what_failed_can_be_settled(office: Office) -> None:
    office.operator.save(rule("fee", "booking.created", name="Late fee", do=[FEE]))
    office.switch.answers["billing"] = NO
    office.book(1)
    office.operator.app.archive_rule("fee", "ben")
    told = "the rule Late fee is archived: save it again to bring it back, or do by hand what is needed"
    assert refusals(office, ("retry", ""), ("run-again", "x")) == [told, told]
    office.act("done", office.key())
    assert (office.status(), office.dossiers()) == ("done", [])


def test_why_somebody_did_something_is_no_part_of_the_log_and_can_be_erased(office: Office) -> None:
    office.operator.save(rule("fee", "booking.created", do=[FEE]))
    office.switch.answers["billing"] = NO
    office.book(1)
    office.act("dismiss", office.key(), reason="Mia was ill", by="ana")
    (act,) = [each for each in office.operator.events() if isinstance(each, ExecutionDismissed)]
    assert (act.by, act.member, act.stream) == ("ana", "m1", stream_of(office.key()))
    assert "ill" not in act.model_dump_json()
    document = office.document(office.closed().id)
    assert document["runs"][0]["acts"][-1]["why"] == "Mia was ill"
    with unit_of_work(office.operator.app.log) as work:
        erase(work.connection, "m1")
    assert office.document(office.closed().id)["runs"][0]["acts"][-1]["why"] == "erased"


def test_two_people_at_once_do_one_thing(office: Office) -> None:
    office.operator.save(rule("fee", "booking.created", do=[FEE]))
    office.switch.answers["billing"] = Refused(reason="no")
    office.book(1)
    acts = office.operator.app.run_acts()
    first = acts.act(Order("retry", "ana"), [office.key()])
    second = acts.act(Order("dismiss", "ben", "no"), [office.key(), office.key()])
    assert [each.refused for each in (*first, *second)] == ["", ""]
    assert len([each for each in office.operator.events() if isinstance(each, ExecutionRetried)]) == 1
    with reading(office.operator.app.engine) as connection:
        assert queue.next_due(connection, QUEUE) is None
