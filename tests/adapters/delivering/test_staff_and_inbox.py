"""What lies in inboxes: messages in the app, and what staff are to know."""

from __future__ import annotations

import pytest

from adapters.database.deliveries import mark_read
from adapters.database.engine import reading
from adapters.database.messages import with_texts
from adapters.database.notices import tell_staff
from adapters.database.unit_of_work import unit_of_work
from domain.errors import InvalidInput
from domain.notices import OUTAGE, Notice
from projections.deliveries import inbox
from tests.adapters.delivering.office import Office


def texts(office: Office, to: str, *, unread: bool = False) -> list[str | None]:
    with reading(office.app.engine) as connection:
        return [message.text for message in with_texts(connection, inbox(connection, to, unread=unread))]


def test_a_message_in_the_app_lies_in_the_inbox_until_it_is_read(office: Office) -> None:
    office.request("k/0", channels=("in_app",))
    office.request("k/1", channels=("in_app",), type="other")
    office.settle()
    assert sorted(map(str, texts(office, "member/m1"))) == ["news", "other"]
    [row] = [row for row in office.rows() if row["type"] == "news"]
    for expected in (True, False):
        with unit_of_work(office.app.log) as work:
            assert mark_read(work, office.app.log.mapper, row["delivery"], office.clock.now()) is expected
    office.settle()
    assert texts(office, "member/m1", unread=True) == ["other"]
    assert office.statuses() == {"sent": 2}


def test_what_lies_in_no_inbox_cannot_be_read(office: Office) -> None:
    office.request()
    office.settle()
    [row] = office.rows()
    for delivery in (row["delivery"], "nothing"):
        with pytest.raises(InvalidInput), unit_of_work(office.app.log) as work:
            mark_read(work, office.app.log.mapper, delivery, office.clock.now())


def test_erasing_a_member_empties_their_messages(office: Office) -> None:
    office.request(channels=("in_app",))
    office.settle()
    office.tell("member.erased", member_id="m1")
    office.settle()
    assert texts(office, "member/m1") == [None]


def test_staff_are_told_where_they_work_each_of_them(office: Office) -> None:
    office.tell("member.registered", member_id="s1", name="Sue", staff=True)
    office.tell("member.registered", member_id="s2", name="Sam", staff=True, email="sam@example.org")
    office.tell("member.registered", member_id="s3", name="Sid", staff=True)
    office.tell("member.changed", member_id="s3", staff=False)
    office.request(to="staff")
    office.settle()
    assert [(row["to"], row["channel"], row["status"]) for row in office.rows()] == [
        ("member/s1", "in_app", "sent"),
        ("member/s2", "in_app", "sent"),
    ]


def test_without_staff_what_they_are_to_know_stays_to_be_seen(office: Office) -> None:
    office.request(to="staff")
    office.settle()
    assert texts(office, "staff") == ["news"]


def test_a_notice_is_told_once_and_says_its_numbers(office: Office) -> None:
    notice = Notice(OUTAGE, "2026-08-08", {"missed": 1, "late": 3})
    for expected in (True, False):
        with unit_of_work(office.app.log) as work:
            assert tell_staff(work, notice, office.clock.now()) is expected
    office.settle()
    assert texts(office, "staff") == ["1 missed, 3 late"]
    assert [message.is_notice for message in office.messages()] == [True]
