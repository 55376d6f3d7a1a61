"""A dossier has somebody who looks after it, and notes."""

from __future__ import annotations

import pytest

from domain.errors import InvalidInput
from tests.adapters.dossiers.office import Office
from tests.adapters.dossiers.test_keeping import FEE, NO
from tests.operators import rule


@pytest.fixture
def dossier(office: Office) -> str:
    """A dossier with one run."""
    office.operator.save(rule("fee", "booking.created", do=[FEE]))
    office.switch.answers["billing"] = NO
    office.book(1)
    return office.dossier().id


def test_somebody_looks_after_a_dossier_until_somebody_else_does(office: Office, dossier: str) -> None:
    acts = office.operator.app.dossier_acts()
    for name in ("ben", "cleo", ""):
        acts.assign(dossier, name, by="ana")
        office.work()
        assert office.dossier().assigned_to == name


def test_a_dossier_that_begins_anew_is_in_nobodys_hands(office: Office, dossier: str) -> None:
    office.operator.app.dossier_acts().assign(dossier, "ben", by="ana")
    office.act("done", office.key())
    office.later(days=2)
    office.book(2)
    assert (office.dossier().id, office.dossier().assigned_to) == (dossier, "")


def test_notes_are_no_part_of_the_log(office: Office, dossier: str) -> None:
    office.operator.app.dossier_acts().note(dossier, "Mia has moved", by="ben")
    (noted,) = [each for each in office.operator.events() if each.topic == "dossier.noted"]
    assert "moved" not in noted.model_dump_json()


def test_a_note_says_something_and_not_too_much(office: Office, dossier: str) -> None:
    for text in ("", "  ", "x" * 5001):
        with pytest.raises(InvalidInput, match="a note has 1 to 5000 characters"):
            office.operator.app.dossier_acts().note(dossier, text, by="ben")


def test_nobody_minds_a_dossier_that_never_was(office: Office) -> None:
    acts = office.operator.app.dossier_acts()
    with pytest.raises(InvalidInput, match="no dossier is called 'abc'"):
        acts.assign("abc", "ben", by="ana")
    with pytest.raises(InvalidInput, match="no dossier is called 'abc'"):
        acts.note("abc", "hello", by="ana")


def test_a_dossier_about_runs_has_nothing_to_read_again(office: Office, dossier: str) -> None:
    acts = office.operator.app.dossier_acts()
    assert (acts.read_again(dossier, "ana"), acts.leave_unread(dossier, "x", "ana")) == (0, 0)
    assert office.topics() == ["dossier.opened"]
