"""Dossiers are opened and closed, once each, with one notice each."""

from __future__ import annotations

import sqlalchemy as sa

from adapters.database.engine import reading, writing
from adapters.database.projecting import Projector
from adapters.database.readers import projections
from adapters.database.schema import events
from domain.dossiers import OPENED, RECOVERED, dossier_stream
from domain.endings import Misconfigured, Refused, TryLater, Unknown
from tests.adapters.dossiers.office import Office, booking
from tests.engines import notices
from tests.operators import ZONE, rule

NO = Refused(reason="no")
GRANT = {"grant_access": {"door": "d1", "from": "booking.starts_at", "until": "booking.ends_at"}}
FEE = {"charge_fee": {"amount": "5 EUR", "reason": "late"}}


def test_failures_of_one_cause_are_one_dossier_and_one_notice(office: Office) -> None:
    office.operator.save(rule("door", "booking.created", do=[GRANT]), rule("other", "booking.created", do=[GRANT]))
    office.switch.answers["access"] = NO
    office.book(1, 2)
    office.book(3)
    dossier = office.dossier()
    assert (dossier.operation, dossier.ending, dossier.rule, len(dossier.runs)) == ("access.grant", "refused", "", 6)
    assert office.topics() == ["dossier.opened"]
    assert office.told() == [OPENED]


def test_other_operations_and_other_rules_at_fault_are_other_dossiers(office: Office) -> None:
    office.operator.save(
        rule("fee", "booking.created", do=[FEE]),
        rule("torn", "booking.created", do=[{"create_task": {"title": "{{ member.company }}"}}]),
        rule("worn", "booking.created", do=[{"create_task": {"title": "{{ member.company }}"}}]),
    )
    office.switch.answers["billing"] = NO
    office.book(1)
    causes = {(each.operation, each.ending, each.rule) for each in office.dossiers()}
    assert causes == {
        ("billing.charge_fee", "refused", ""),
        ("tasks.create", "refused", "torn"),
        ("tasks.create", "refused", "worn"),
    }
    assert office.told() == [OPENED] * 3


def test_looking_again_and_other_workers_tell_nothing_twice(office: Office) -> None:
    office.operator.save(rule("fee", "booking.created", do=[FEE]))
    office.switch.answers["billing"] = NO
    office.operator.record(booking(1))
    workers = [office.operator.app.worker() for _ in range(3)]
    for worker in workers:
        worker.work_until_idle()
    for worker in [*workers, office.operator.app.worker()]:
        worker.work_until_idle()
    assert office.topics() == ["dossier.opened"]
    assert office.told() == [OPENED]


def test_rebuilding_the_projections_opens_and_closes_nothing(office: Office) -> None:
    office.operator.save(rule("fee", "booking.created", do=[FEE]))
    office.switch.answers["billing"] = NO
    office.book(1, 2)
    office.act("dismiss", office.key(1), reason="not needed")
    office.act("done", office.key(2))
    office.later(days=2)
    office.book(3)
    before, dossier = office.topics(), office.dossier()
    Projector(office.operator.app.log, projections(ZONE)).empty()
    office.operator.app.worker().work_until_idle()
    assert office.topics() == before == ["dossier.opened", "dossier.closed", "dossier.opened"]
    assert office.dossier() == dossier


def test_a_dossier_closes_when_its_last_run_is_settled_and_says_how(office: Office) -> None:
    office.operator.save(rule("fee", "booking.created", do=[FEE]))
    office.switch.answers["billing"] = NO
    office.book(1, 2, 3)
    office.act("dismiss", office.key(1), reason="it was ours")
    office.act("done", office.key(2))
    assert office.told() == [OPENED]
    office.switch.answers.clear()
    office.act("retry", office.key(3))
    assert office.dossiers() == []
    assert [kind for kind, _ in notices(office.operator)] == [OPENED, RECOVERED]
    told = notices(office.operator)[1][1]
    assert (told["done"], told["by_hand"], told["dismissed"], told["no_longer_needed"]) == (1, 1, 1, 0)


def test_a_cause_that_returns_within_a_day_reopens_its_dossier_and_later_begins_anew(office: Office) -> None:
    office.operator.save(rule("fee", "booking.created", do=[FEE]))
    office.switch.answers["billing"] = NO
    office.book(1)
    first = office.dossier()
    office.act("done", office.key(1))
    office.later(hours=23)
    office.book(2)
    assert (office.dossier().id, office.dossier().opened_at) == (first.id, first.opened_at)
    assert office.dossier().settled["by_hand"] == 1
    office.act("done", office.key(2))
    office.later(hours=25)
    office.book(3)
    assert office.topics() == [
        "dossier.opened",
        "dossier.closed",
        "dossier.reopened",
        "dossier.closed",
        "dossier.opened",
    ]
    assert office.dossier().settled["by_hand"] == 0
    assert office.told() == [OPENED, RECOVERED] * 2 + [OPENED]


def test_a_service_that_is_set_up_wrongly_opens_a_dossier_at_once_and_closes_it_when_it_answers(office: Office) -> None:
    office.operator.save(rule("door", "booking.created", do=[GRANT]))
    office.switch.answers["access"] = Misconfigured(reason="401")
    office.book(1, 2)
    dossier = office.dossier()
    assert (dossier.operation, dossier.ending, dossier.held) == ("access", "misconfigured", True)
    assert {run["status"] for run in dossier.runs} == {"waiting"}
    office.switch.answers.clear()
    office.later(minutes=2)
    assert (office.status(1), office.status(2)) == ("done", "done")
    assert office.dossiers() == []
    assert office.told() == [OPENED, RECOVERED]


def test_what_waits_a_little_and_is_done_then_alarms_nobody(office: Office) -> None:
    office.operator.save(rule("door", "booking.created", do=[GRANT]))
    office.switch.answers["access"] = TryLater(reason="busy")
    office.book(1)
    office.switch.answers.clear()
    office.later(minutes=1)
    assert office.status() == "done"
    assert office.topics() == []


def test_a_run_that_waits_after_a_retry_keeps_its_dossier_open(office: Office) -> None:
    office.operator.save(rule("door", "booking.created", do=[GRANT]))
    office.switch.answers["access"] = NO
    office.book(1)
    dossier = office.dossier()
    office.switch.answers["access"] = TryLater(reason="busy")
    office.act("retry", office.key())
    assert (office.status(), office.dossier().id, office.dossier().runs[0]["status"]) == (
        "waiting",
        dossier.id,
        "waiting",
    )
    office.switch.answers.clear()
    office.later(minutes=1)
    assert (office.status(), office.dossiers()) == ("done", [])


def test_nobody_knows_what_became_of_a_call_is_a_cause_of_its_own(office: Office) -> None:
    office.operator.save(rule("door", "booking.created", do=[GRANT]))
    office.switch.forgetful.add("access")
    office.switch.answers["access"] = Unknown(reason="timed out")
    office.book(1)
    dossier = office.dossier()
    assert (office.status(), dossier.operation, dossier.ending) == ("unknown", "access.grant", "unknown")


def test_an_event_that_cannot_be_read_opens_a_dossier_which_a_dismissal_or_a_better_version_closes(
    office: Office,
) -> None:
    office.operator.record(booking(1))
    office.operator.save(rule("fee", "booking.created", do=[FEE]))
    with writing(office.operator.app.engine) as connection:
        good = connection.scalar(sa.select(events.c.state).where(events.c.stream == "booking/b1"))
        connection.execute(sa.update(events).where(events.c.stream == "booking/b1").values(state=b'{"at": 1}'))
    office.work()
    dossier = office.dossier()
    assert (dossier.operation, dossier.ending, dossier.runs) == ("log.booking.created", "corrupt", ())
    assert office.document(dossier.id)["unread"][0]["stream"] == "booking/b1"
    acts = office.operator.app.dossier_acts()
    assert acts.read_again(dossier.id, "ana") == 0
    with writing(office.operator.app.engine) as connection:
        connection.execute(sa.update(events).where(events.c.stream == "booking/b1").values(state=good))
    assert acts.read_again(dossier.id, "ana") == 1
    office.work()
    assert office.topics() == ["dossier.opened", "dossier.settled", "dossier.closed"]


def test_events_that_cannot_be_read_are_dismissed_with_a_reason(office: Office) -> None:
    office.operator.record(booking(1), booking(2))
    with writing(office.operator.app.engine) as connection:
        connection.execute(sa.update(events).where(events.c.stream.like("booking/%")).values(state=b"{"))
    office.work()
    dossier = office.dossier()
    assert office.operator.app.dossier_acts().leave_unread(dossier.id, "from a test", "ana") == 2
    office.work()
    assert office.dossiers() == []
    assert [entry["what"] for entry in office.document(dossier.id)["history"]] == ["opened", "settled", "closed"]
    assert office.document(dossier.id)["history"][1]["reason"] == "from a test"


def test_a_dossier_is_open_from_the_moment_in_which_its_first_run_is_seen(office: Office) -> None:
    office.operator.save(rule("fee", "booking.created", do=[FEE]))
    office.switch.answers["billing"] = NO
    office.operator.record(booking(1))
    office.worker.work_once()
    office.operator.follow()
    assert office.topics() == []
    assert [len(each.runs) for each in office.dossiers()] == [1]


def test_a_dossiers_stream_is_named_after_its_cause(office: Office) -> None:
    office.operator.save(rule("fee", "booking.created", do=[FEE]))
    office.switch.answers["billing"] = NO
    office.book(1)
    with reading(office.operator.app.engine) as connection:
        streams = set(connection.scalars(sa.select(events.c.stream).where(events.c.topic == "dossier.opened")))
    assert streams == {dossier_stream(office.dossier().cause.dossier)}
    assert office.dossier().opened_at == office.operator.clock.now()
