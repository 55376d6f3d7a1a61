"""Every operation of every embedded service acts once for a key, whoever repeats it."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta

import pytest
import sqlalchemy as sa

from adapters.database.event_log import EventLog
from adapters.database.failures import Contended, Unreachable
from adapters.database.unit_of_work import UnitOfWork, unit_of_work
from adapters.services import embedded
from domain.commands import CallWebhook, Command
from domain.endings import Refused, TryLater, Unknown
from domain.errors import Conflict
from domain.facts import Fact, PersonalRef
from domain.notifications import DeliveryRequested
from tests.adapters.services.commands import PAIRS, fee, invoice, notification, task
from tests.adapters.services.desk import AT, CAUSE, ServiceDesk, call

operations = pytest.mark.parametrize(("command", "other"), PAIRS, ids=[command.OPERATION for command, _ in PAIRS])


@operations
def test_a_key_used_again_gets_the_first_answer_and_has_no_further_effect(
    desk: ServiceDesk, command: Command, other: Command
) -> None:
    first = desk.done(command)
    events = desk.events()

    assert desk.done(command, at=AT + timedelta(days=1)) == first
    assert desk.events() == events


@operations
def test_a_key_used_for_another_request_is_refused_and_changes_nothing(
    desk: ServiceDesk, command: Command, other: Command
) -> None:
    desk.done(command)
    events = desk.events()

    assert desk.ask(other) == Refused(reason="this key was used for another request")
    assert desk.events() == events


@operations
def test_another_key_has_an_effect_of_its_own(desk: ServiceDesk, command: Command, other: Command) -> None:
    desk.done(command)
    events = desk.events()

    desk.done(command, key="k/1")

    assert len(desk.events()) > len(events)


@operations
def test_eight_racers_with_one_key_have_one_effect_and_eight_good_answers(
    desk: ServiceDesk, command: Command, other: Command
) -> None:
    with ThreadPoolExecutor(8) as racers:
        answers = list(racers.map(lambda _: desk.done(command), range(8)))

    assert all(answer == answers[0] for answer in answers)
    streams = [(event.stream, event.version) for event in desk.events()]
    assert len(streams) == len(set(streams)) == (2 if command.OPERATION == "billing.issue_invoice" else 1)


@operations
def test_what_was_done_names_the_execution_that_caused_it(desk: ServiceDesk, command: Command, other: Command) -> None:
    desk.done(command)

    assert {event.cause for event in desk.events()} == {CAUSE}
    assert {event.at for event in desk.events()} == {AT}


@operations
def test_a_refusal_leaves_the_key_free(desk: ServiceDesk, command: Command, other: Command) -> None:
    wrong = {"notifications": {"to": "nobody"}, "tasks": {"title": " "}}.get(command.service, {"member_id": ""})

    assert isinstance(desk.ask(command.model_copy(update=wrong)), Refused)
    assert desk.events() == []
    desk.done(command)


def test_one_key_for_two_operations_of_a_service_is_refused(desk: ServiceDesk) -> None:
    desk.done(invoice())

    assert isinstance(desk.ask(fee()), Refused)


def test_the_first_answer_stands_after_the_member_was_erased(desk: ServiceDesk) -> None:
    first = desk.done(fee())
    told = desk.done(notification())
    desk.tell("member.erased", member_id="m1")

    assert desk.done(fee()) == first
    assert desk.done(notification()) == told
    assert isinstance(desk.ask(fee(), key="k/1"), Refused)
    assert isinstance(desk.ask(notification(), key="k/1"), Refused)


def test_what_is_personal_stands_in_its_own_table_alone(desk: ServiceDesk) -> None:
    desk.done(task())
    desk.done(notification())

    recorded, requested = desk.events()
    assert isinstance(recorded, Fact)
    assert "title" not in recorded.data
    assert desk.personal(PersonalRef("m1", recorded.personal["title"])) == "Clean room 1"
    assert isinstance(requested, DeliveryRequested)
    assert "Mia" not in requested.model_dump_json()
    assert desk.personal(PersonalRef("m1", requested.payload)) == {"name": "Mia", "seats": [1, 2]}


def test_an_operation_of_another_service_is_refused(desk: ServiceDesk) -> None:
    webhook = CallWebhook(entity="booking/b1", url="https://example.org")

    for service in desk.services.values():
        assert isinstance(service.perform(webhook, call()), Refused)


def _break(monkeypatch: pytest.MonkeyPatch, error: Exception, times: int, *, at_commit: bool = False) -> None:
    """Let so many units of work fail: at once, or when they have been committed and nobody hears of it."""
    failures = iter([error] * times)

    @contextmanager
    def failing(log: EventLog, purpose: str) -> Iterator[UnitOfWork]:
        failure = next(failures, None)
        if failure is not None and not at_commit:
            raise failure
        with unit_of_work(log, purpose) as work:
            yield work
        if failure is not None:
            raise failure

    monkeypatch.setattr(embedded, "unit_of_work", failing)


@pytest.mark.parametrize("error", [Conflict("somebody was faster"), Contended("somebody was in the way")])
def test_being_too_late_is_tried_again_and_after_some_times_put_off(
    desk: ServiceDesk, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    _break(monkeypatch, error, embedded.ATTEMPTS - 1)
    desk.done(fee())

    _break(monkeypatch, error, 1_000)
    assert isinstance(desk.ask(fee(), key="k/1"), TryLater)


def test_a_database_that_is_away_is_asked_later(desk: ServiceDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    _break(monkeypatch, Unreachable("no answer"), 1)

    assert desk.ask(fee()) == TryLater(reason="no answer")
    assert desk.events() == []


def test_a_commit_that_broke_off_is_unknown_and_its_repeat_finds_out(
    desk: ServiceDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    _break(monkeypatch, Unreachable("the connection was lost"), 1, at_commit=True)

    assert desk.ask(fee()) == Unknown(reason="the connection was lost")
    desk.done(fee())
    assert len(desk.events()) == 1


def test_a_transaction_lasts_a_moment_only(desk: ServiceDesk) -> None:
    statements: list[str] = []
    sa.event.listen(desk.foundation.log.engine, "before_cursor_execute", lambda *args: statements.append(args[2]))

    desk.done(invoice())

    assert len(statements) < 25, statements
