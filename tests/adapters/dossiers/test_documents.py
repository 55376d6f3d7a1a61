"""A dossier explains itself: nothing else has to be looked up, and nothing in it can become markup."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from html.parser import HTMLParser

import pytest

from adapters.database.personal import erase
from adapters.database.unit_of_work import unit_of_work
from adapters.dossiers.pages import dossier_page
from automations import sentences
from automations.actions import actions
from automations.operators import operators
from automations.triggers import triggers
from domain.attempts import LateAnswer, late_answers_of
from domain.endings import Done
from tests.adapters.dossiers.office import Office
from tests.adapters.dossiers.test_keeping import FEE, GRANT, NO
from tests.operators import event, rule

WELCOME = {"create_task": {"title": "Welcome {{ member.name }}"}}


def failed(office: Office) -> str:
    """Return the dossier of a run that failed at its second action."""
    office.operator.save(
        rule("greet", "booking.created", "member.name is Mia", "booking.attendees at least 2", do=[WELCOME, FEE])
    )
    office.switch.answers["billing"] = NO
    office.book(1, note="<script>alert(1)</script>")
    return office.dossier().id


@contextmanager
def without_plugins(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Take away an operator, a trigger and an action, as if another version of Semel had none of them."""
    gone = ((operators, "at least"), (triggers, "booking.created"), (actions, "charge_fee"))
    with monkeypatch.context() as patch:
        for registry, name in gone:
            assert name in registry
            patch.delitem(registry._plugins, name)
        sentences._spellings.cache_clear()
        yield
    sentences._spellings.cache_clear()


def test_a_run_is_told_with_everything_that_led_to_it(office: Office) -> None:
    dossier = failed(office)
    office.act("retry", office.key(), reason="looked at it", by="ana")
    document = office.document(dossier)
    assert (document["cause"], document["is_open"]) == ("billing.charge_fee was refused", True)
    (run,) = document["runs"]
    assert (run["standing"], run["status"], run["reason"]) == ("open", "failed", "no")
    assert (run["rule"], run["version"], run["trigger"]) == ("greet", 1, "booking.created")
    assert (run["entity"], run["key"]) == ("booking/b1", office.key())
    assert run["event"]["data"]["attendees"] == 4
    assert run["wording"]["where"] == ["member.name is Mia", "booking.attendees at least 2"]
    assert [(each["fact"], each["seen"], each["verdict"]) for each in run["conditions"]] == [
        ("member.name", "Mia", "true"),
        ("booking.attendees", 4, "true"),
    ]
    first, second, third = run["attempts"]
    assert (first["name"], first["class"], first["arguments"]["title"]) == ("create_task", "done", "Welcome Mia")
    assert (second["number"], second["idempotency_key"]) == (1, f"{office.key()}/1")
    assert (third["number"], third["idempotency_key"], third["answer"]) == (2, f"{office.key()}/1", "no")
    assert second["arguments"] == {"amount": "5.00 EUR", "entity": "booking/b1", "member_id": "m1", "reason": "late"}
    acts = [(each["what"], each["by"], each["why"]) for each in run["acts"]]
    assert acts == [("retried", "ana", "looked at it")]


def test_the_history_of_a_dossier_says_who_did_what(office: Office) -> None:
    dossier = failed(office)
    acts = office.operator.app.dossier_acts()
    acts.assign(dossier, "ben", by="ana")
    acts.note(dossier, "Billing says: Mia has no address", by="ben")
    office.act("done", office.key())
    told = [(entry["what"], entry["by"]) for entry in office.document(dossier)["history"]]
    assert told == [("opened", ""), ("assigned", "ana"), ("noted", "ben"), ("closed", "")]
    assert office.document(dossier)["history"][2]["note"] == "Billing says: Mia has no address"
    assert office.document(dossier)["history"][3]["by_hand"] == 1


def test_what_was_erased_is_shown_as_erased(office: Office) -> None:
    dossier = failed(office)
    office.operator.app.dossier_acts().note(dossier, "Mia called", by="ben")
    with unit_of_work(office.operator.app.log) as work:
        erase(work.connection, "m1")
    text = json.dumps(office.document(dossier))
    assert "Mia called" not in text
    assert "Welcome Mia" not in text
    document = office.document(dossier)
    assert document["runs"][0]["conditions"][0]["seen"] == "erased"
    assert document["runs"][0]["attempts"][0]["arguments"]["title"] == "erased"
    assert document["history"][1]["note"] == "erased"


def test_it_is_as_readable_when_rule_and_plugins_are_gone(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    dossier = failed(office)
    before = office.document(dossier)
    office.operator.app.archive_rule("greet", "ben")
    office.work()
    with without_plugins(monkeypatch):
        (run,) = office.document(dossier)["runs"]
        page = dossier_page(office.document(dossier))
    told = {name: value for name, value in before["runs"][0].items() if name != "wording"}
    assert {name: value for name, value in run.items() if name != "wording"} == told
    assert "at least" in run["wording"]["where"][1]
    assert run["wording"]["do"] == before["runs"][0]["wording"]["do"]
    assert "booking.attendees at least" in page


def test_an_answer_that_came_too_late_stands_there_as_evidence(office: Office) -> None:
    dossier = failed(office)
    key, now = office.key(), office.operator.clock.now()
    answer = LateAnswer(
        stream=late_answers_of(key),
        version=1,
        at=now,
        key=key,
        action=1,
        attempt=1,
        operation="billing.charge_fee",
        idempotency_key=f"{key}/1",
        started_at=now,
        ending=Done(result={"fee_id": "fee-7"}),
    )
    with unit_of_work(office.operator.app.log) as work:
        work.append([answer])
    (told,) = office.document(dossier)["runs"][0]["late_answers"]
    assert (told["idempotency_key"], told["ending"]["result"]) == (f"{key}/1", {"fee_id": "fee-7"})


def test_a_run_of_a_clock_rule_says_when_it_was_due(office: Office) -> None:
    office.operator.save(rule("door", "booking.starting", before="2 hours", do=[GRANT]))
    office.switch.answers["access"] = NO
    office.book(1, starts_at="2026-05-04T16:30:00+02:00", ends_at="2026-05-04T18:00:00+02:00")
    office.operator.clock.jump(office.operator.clock.now().replace(hour=12, minute=30))
    office.worker.tick()
    office.work()
    (run,) = office.document(office.dossier().id)["runs"]
    assert (run["due"], run["event"], run["trigger"]) == ("2026-05-04T12:30:00Z", None, "booking.starting")


def test_a_manual_operation_stands_there_beside_runs_of_rules(office: Office) -> None:
    from tests.adapters.test_operations import fee

    failed(office)
    office.operator.app.performer().perform(fee("k1"))
    office.work()
    document = office.document(office.dossier().id)
    assert [(run["name"], run["origin"], run["by"]) for run in document["runs"]] == [
        ("greet", "rule", ""),
        ("billing.charge_fee", "staff", "ana"),
    ]


class _Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.words: list[str] = []
        self.links: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.links += [value or "" for name, value in attrs if name in {"src", "href", "onload", "style"}]

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def test_the_page_stands_alone_and_takes_nothing_for_markup(office: Office) -> None:
    dossier = failed(office)
    office.operator.record(event("member.changed", {"member_id": "m1", "name": "<img src=x onerror=alert(1)>"}))
    office.operator.app.dossier_acts().note(dossier, "</td><script>x</script>", by="<b>ben</b>")
    page = _Page(dossier_page(office.document(dossier)))
    assert page.tags.isdisjoint({"script", "img", "link", "iframe", "b"})
    assert page.links == []
    text = " ".join(page.words)
    assert "</td><script>x</script>" in text
    assert "<script>alert(1)</script>" in text
    assert office.key() in text


def test_the_page_has_a_language_a_title_and_headings(office: Office) -> None:
    text = dossier_page(office.document(failed(office)))
    assert text.startswith('<!doctype html>\n<html lang="en">')
    assert "<title>Dossier " in text
    assert text.count("<h1>") == 1
