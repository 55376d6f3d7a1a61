"""Trials 24, 38, 39 and 40: what lies between deciding and doing, and between doing and writing it down."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from adapters.application import Application, embedded_services
from automations.ports import Call, Service
from domain.commands import Command
from domain.endings import Done, Ending, Unknown
from domain.executions import ActionDone
from tests.architecture.tree import ROOT
from tests.crashes.ledgers import LedgerService
from tests.crashes.ticker import ticking
from tests.databases import Databases
from tests.operators import BOOKING, INVOICE, Operator, event, operator_on, rule, scene
from tests.scripted import ScriptedService

FULL = bool(os.environ.get("SEMEL_FULL"))
DUE = datetime(2026, 4, 4, 7, 0, tzinfo=UTC)
INVOICES = 500 if FULL else 120
PAID = f"INV-{INVOICES // 2:03}"
DUNNING = rule(
    "dunning",
    "invoice.overdue",
    "invoice.outstanding above 0 EUR",
    after="3 days at 09:00",
    do=[{"notify": {"type": "dunning"}}, {"charge_fee": {"amount": "10 EUR", "reason": "late payment"}}],
)


class Dead(BaseException):
    """Stands for the end of the process: nothing of ours may catch it."""


class FirstTime:
    """A service of the engine's own, at whose first call something happens after it was done."""

    honours_keys = True

    def __init__(self, inner: Service) -> None:
        self.name, self._inner = inner.name, inner
        self.keys: list[str] = []

    def perform(self, command: Command, call: Call) -> Ending:
        """Do it, and then say what became of it, or nothing."""
        self.keys.append(call.key)
        ending = self._inner.perform(command, call)
        return self.after_the_first(ending) if len(self.keys) == 1 else ending

    def after_the_first(self, ending: Ending) -> Ending:
        """Return what the engine hears of its first call."""
        raise NotImplementedError


class Deaf(FirstTime):
    """A service whose first answer does not arrive in time."""

    def after_the_first(self, ending: Ending) -> Ending:
        return Unknown(reason="no answer within 30 s")


class Deadly(FirstTime):
    """A service whose first answer kills whoever hears it."""

    def after_the_first(self, ending: Ending) -> Ending:
        raise Dead


def invoices() -> list[dict[str, Any]]:
    each = ({**INVOICE, "invoice_id": f"INV-{number:03}", "due_on": "2026-04-01"} for number in range(1, INVOICES + 1))
    return [event("invoice.issued", data, at=DUE - timedelta(days=30)) for data in each]


def outcome(operator: Operator) -> Counter[tuple[str, str]]:
    operator.follow()
    return Counter((run["status"], run["reason"]) for run in operator.runs())


def test_24_who_pays_before_it_is_their_turn_is_neither_dunned_nor_charged(database_url: str) -> None:
    """All are selected at 09:00:00; one is paid at 09:00:02 and comes to its turn later."""
    mail, billing = ScriptedService("notifications"), ScriptedService("billing")

    def services(app: Application) -> Mapping[str, Service]:
        return {**embedded_services(app), "notifications": mail, "billing": billing}

    with operator_on(database_url, at=DUE - timedelta(days=20), services=services) as operator:
        payment = {"payment_id": "p1", "invoice_id": PAID, "amount": "100.00 EUR"}

        def pay(call: Call) -> None:
            if mail.commands[-1].entity == "invoice/INV-010":
                operator.clock.advance(timedelta(seconds=2))
                operator.record(event("payment.received", payment, at=operator.clock.now()))

        mail.during = pay
        operator.save(DUNNING)
        operator.record(*scene(), *invoices())
        worker = operator.app.worker()
        worker.tick()
        worker.work_until_idle()
        operator.clock.set(DUE)
        worker.tick()
        worker.work_until_idle()
        skipped = ("skipped", "no longer matches (invoice paid 09:00:02)")
        assert outcome(operator) == {("done", ""): INVOICES - 1, skipped: 1}
        for service in (mail, billing):
            assert f"invoice/{PAID}" not in {command.entity for command in service.commands}
            assert len(service.calls) == INVOICES - 1


def test_24_who_pays_between_the_mail_and_the_fee_is_not_charged(database_url: str) -> None:
    mail, billing = ScriptedService("notifications"), ScriptedService("billing")

    def services(app: Application) -> Mapping[str, Service]:
        return {**embedded_services(app), "notifications": mail, "billing": billing}

    with operator_on(database_url, at=DUE - timedelta(days=20), services=services) as operator:
        payment = {"payment_id": "p1", "invoice_id": "INV-001", "amount": "100.00 EUR"}

        def pay(call: Call) -> None:
            operator.record(event("payment.received", payment, at=operator.clock.now()))

        mail.during = pay
        operator.save(DUNNING)
        operator.record(*scene(), invoices()[0])
        worker = operator.app.worker()
        worker.tick()
        operator.clock.set(DUE)
        worker.work_until_idle()
        worker.tick()
        assert [status for status, _ in outcome(operator)] == ["skipped"]
        assert (len(mail.calls), billing.calls) == (1, [])


def begin(url: str, folder: Path, items: int) -> None:
    """Let so many things fall due at once, and be noticed by nobody yet."""
    app = ticking(url, folder, DUE - timedelta(days=1))
    app.install()
    with operator_on(url, at=DUE - timedelta(days=1)) as operator:
        operator.save(rule("remind", "booking.starting", before="1 hour"))
        starts = DUE + timedelta(hours=1)
        times = {"starts_at": starts.isoformat(), "ends_at": (starts + timedelta(hours=1)).isoformat()}
        bookings = ({**BOOKING, "booking_id": f"b{number}", **times} for number in range(items))
        operator.record(*scene(), *(event("booking.created", each, at=DUE - timedelta(days=2)) for each in bookings))
        worker = operator.app.worker()
        worker.tick()
        worker.work_until_idle()
    app.close()


@pytest.mark.slow
@pytest.mark.parametrize("repetition", range(20 if FULL else 1))
def test_38_two_engines_that_tick_at_once_do_everything_once(
    repetition: int, databases: Databases, tmp_path: Path
) -> None:
    items, chance = 1_000 if FULL else 150, random.Random(repetition)
    with databases.fresh(blank=True) as url:
        begin(url, tmp_path, items)
        command = [sys.executable, "-m", "tests.crashes.ticker", url, str(tmp_path), DUE.isoformat()]
        engines = [subprocess.Popen([*command, f"{chance.uniform(0, 0.3):.3f}"], cwd=ROOT) for _ in range(2)]
        (tmp_path / "go").touch()
        assert [engine.wait(timeout=300) for engine in engines] == [0, 0]
        with operator_on(url, at=DUE) as operator:
            assert outcome(operator) == {("done", ""): items}
        ledger = LedgerService(tmp_path, "tasks", honours_keys=False)
        assert Counter(ledger.lines("did").values()) == {1: items}
        assert len(ledger.lines("asked")) == items


def test_39_a_crash_between_doing_and_writing_it_down_charges_once(database_url: str) -> None:
    billing: list[Deadly] = []

    def services(app: Application) -> Mapping[str, Service]:
        embedded = embedded_services(app)
        billing[:] = billing or [Deadly(embedded["billing"])]
        return {**embedded, "billing": billing[0]}

    with operator_on(database_url, services=services) as operator:
        operator.save(rule("fee", "booking.no_show", do=[{"charge_fee": {"amount": "15 EUR", "reason": "no show"}}]))
        operator.record(*scene(), event("booking.created", BOOKING), event("booking.no_show", {"booking_id": "b1"}))
        with pytest.raises(Dead):
            operator.work()
        worker = operator.app.worker()
        worker.work_until_idle()
        operator.clock.advance(timedelta(seconds=60))
        worker.work_until_idle()
        assert outcome(operator) == {("done", ""): 1}
        assert operator.topics().count("fee.charged") == 1
        assert len(billing[0].keys) == 2
        assert len(set(billing[0].keys)) == 1


def test_39_a_crash_at_a_service_that_knows_no_keys_is_left_to_a_person(database_url: str) -> None:
    def die(call: Call) -> None:
        raise Dead

    tasks = ScriptedService("tasks", honours_keys=False, during=die)
    with operator_on(database_url, services=tasks.among_the_others()) as operator:
        operator.save(rule("task", "booking.created"))
        operator.record(*scene(), event("booking.created", BOOKING))
        with pytest.raises(Dead):
            operator.work()
        worker = operator.app.worker()
        for _ in range(5):
            worker.work_until_idle()
            operator.clock.advance(timedelta(seconds=60))
        assert outcome(operator) == {("unknown", "the worker vanished during the call"): 1}
        assert len(tasks.calls) == 1
        assert operator.topics().count("dossier.opened") == 1


def test_40_a_time_out_of_what_worked_after_all_gives_one_invoice_with_one_number(database_url: str) -> None:
    billing: list[Deaf] = []

    def services(app: Application) -> Mapping[str, Service]:
        embedded = embedded_services(app)
        billing[:] = billing or [Deaf(embedded["billing"])]
        return {**embedded, "billing": billing[0]}

    with operator_on(database_url, services=services) as operator:
        operator.save(rule("invoice", "booking.created", do=[{"issue_invoice": {"total": "20 EUR"}}]))
        operator.record(*scene(), event("booking.created", BOOKING))
        worker = operator.app.worker()
        worker.work_until_idle()
        assert [status for status, _ in outcome(operator)] == ["waiting"]
        operator.clock.advance(timedelta(minutes=5))
        worker.work_until_idle()
        assert outcome(operator) == {("done", ""): 1}
        issued = [each for each in operator.events() if each.topic == "invoice.issued"]
        endings = [each.ending for each in operator.events() if isinstance(each, ActionDone)]
        assert len(issued) == 1
        assert [ending.kind for ending in endings] == ["unknown", "done"]
        assert isinstance(endings[1], Done)
        assert endings[1].result["number"] == operator.field(issued[0].stream, "number")
        assert len(set(billing[0].keys)) == 1
