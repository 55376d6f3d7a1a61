"""What is decided while a page is being sent counts for the rest of it: the window left is one call (trial F2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from threading import Lock

import pytest

from adapters.database.campaigning import Campaigns
from adapters.database.delivery_watch import MOMENT, DeliveryWatch
from adapters.database.preferences import PreferenceDesk
from adapters.database.suppressing import SuppressionDesk
from adapters.parallel_calls import ParallelCalls
from automations.notifications.types import NotificationType, Types
from domain.campaigns import CampaignCancelled
from domain.deliveries import DeliveryRetrying, DeliverySending, delivery_of
from domain.preferences import Subject
from tests.adapters.delivering.office import FakeChannel, Office

NEWS = Subject("news", "email")
MANY, ACTS_AT = 40, 25
"""The call during which something is done: by then attempts at all that is left have begun."""


def members() -> list[str]:
    return [f"n{number:02d}" for number in range(MANY)]


@pytest.fixture
def page(office: Office) -> Office:
    """An office with a campaign to many, on a channel that honours keys, so that they are all begun together."""
    for member in members():
        office.tell("member.registered", member_id=member, name="N", email=f"{member}@example.org")
    office.types = Types({"news": NotificationType(lane="bulk")})
    office.use_templates({"news/email.en": "Subject: News\nParty"})
    Campaigns(office.app.log, office.clock).start("summer", "news", members(), {}, "ada")
    return office


def waiting(office: Office) -> list[str]:
    """Return the members who have not been written to."""
    return sorted(set(members()) - {message.to.removeprefix("member/") for message in office.email.sent})


def at_call(office: Office, act: Callable[[str], object]) -> list[str]:
    """Do something about somebody who is still waiting during one of the calls; return who that is, once it is."""
    whom: list[str] = []

    def during() -> None:
        if len(office.email.calls) == ACTS_AT and not whom:
            whom.append(waiting(office)[0])
            begun = [event for event in office.events("delivery.") if isinstance(event, DeliverySending)]
            assert len(begun) == MANY, "not all have begun"
            act(whom[0])

    office.email.after = during
    return whom


def become_of(office: Office, member: str) -> tuple[str, str]:
    [row] = [row for row in office.rows() if row["to"] == f"member/{member}"]
    return row["status"], row["reason"]


def leave(office: Office, member: str) -> None:
    PreferenceDesk(office.app.log, office.clock).unsubscribe(member, NEWS)


def complain(office: Office, member: str) -> None:
    desk = SuppressionDesk(office.app.log, office.clock, office.app.salt)
    desk.suppress("email", f"{member}@example.org", "complaint", source="e1")


def erase(office: Office, member: str) -> None:
    office.tell("member.erased", member_id=member)


@pytest.mark.parametrize(
    ("act", "outcome"),
    [
        (leave, ("skipped", "unsubscribed")),
        (complain, ("skipped", "suppressed: complaint")),
        (erase, ("cancelled", "member erased")),
    ],
)
def test_f2_who_leaves_while_a_page_is_sent_gets_nothing_any_more(
    page: Office, act: Callable[[Office, str], None], outcome: tuple[str, str]
) -> None:
    """Trial F2, where attempts of a whole page begin together: looked at once more right before each call."""
    whom = at_call(page, lambda member: act(page, member))
    page.settle()
    assert become_of(page, whom[0]) == outcome
    assert page.statuses() == {"sent": MANY - 1, outcome[0]: 1}
    assert len(page.email.calls) == MANY - 1
    assert waiting(page) == whom


def test_f2_the_window_left_is_one_call(page: Office) -> None:
    """Trial F2: whoever leaves during the very call before theirs is spared, during their own they are not."""
    left: list[str] = []

    def two_leave() -> None:
        for member in [each for each in waiting(page) if each not in left][:2]:
            left.append(member)
            leave(page, member)

    page.email.after = two_leave
    page.settle()
    assert len(left) > MANY / 2
    assert waiting(page) == sorted(left)
    assert page.statuses() == {"sent": MANY - len(left), "skipped": len(left)}


@pytest.fixture
def calls() -> Iterator[ParallelCalls]:
    calls = ParallelCalls({"email": 2})
    yield calls
    calls.close()


def test_f2_also_where_calls_are_made_side_by_side(page: Office, calls: ParallelCalls) -> None:
    """Trial F2: two at a time, so whoever is being written to at that moment may be one of those who leave."""
    page.calls = calls
    page.start_anew()
    left, lock = list[str](), Lock()

    def ten_leave() -> None:
        with lock:
            if len(page.email.calls) >= ACTS_AT and not left:
                left.extend(waiting(page)[:10])
                for member in left:
                    leave(page, member)

    page.email.after = ten_leave
    page.settle()
    assert len(set(left) - set(waiting(page))) <= 1
    assert set(waiting(page)) <= set(left)
    assert page.statuses() == {"sent": MANY - len(waiting(page)), "skipped": len(waiting(page))}


def test_f2_also_where_the_first_attempts_begin_with_their_deliveries(office: Office) -> None:
    """Trial F2, in the round in which messages are expanded, and on the second of their channels."""
    for member in members()[:10]:
        office.tell(
            "member.registered", member_id=member, name="N", email=f"{member}@example.org", phone="+34600111222"
        )
        office.request(f"{member}/0", to=f"member/{member}", channels=("email", "sms"))
    desk = PreferenceDesk(office.app.log, office.clock)
    office.email.after = lambda: desk.unsubscribe("n09", Subject("news", "sms"))
    office.settle()
    sms = office.channels["sms"]
    assert isinstance(sms, FakeChannel)
    assert (len(office.email.sent), len(sms.sent)) == (10, 9)
    assert "member/n09" not in [message.to for message in sms.sent]


def test_a_campaign_that_is_cancelled_while_a_page_is_sent_ends_with_the_call(page: Office) -> None:
    at_call(page, lambda _: Campaigns(page.app.log, page.clock).act("summer", CampaignCancelled, "ada"))
    page.settle()
    assert page.statuses() == {"sent": ACTS_AT, "cancelled": MANY - ACTS_AT}


def test_what_changed_and_is_still_wanted_goes_out_as_it_is_now_and_uses_up_no_try(page: Office) -> None:
    page.clock.advance(timedelta(seconds=1))
    at_call(page, lambda member: page.tell("member.changed", member_id=member, email="other@example.org"))
    page.settle()
    assert page.statuses() == {"sent": MANY}
    assert "other@example.org" in [message.address for message in page.email.sent]
    assert len(page.email.calls) == MANY
    retried = [event for event in page.events("delivery.") if isinstance(event, DeliveryRetrying)]
    assert [(event.ending, event.again_at - event.at) for event in retried] == [(None, timedelta())]
    assert page.events("dossier.") == []


def test_what_is_told_about_others_sends_nothing_back(page: Office) -> None:
    def tell() -> None:
        page.tell("member.registered", member_id="somebody", name="S", email="s@example.org")

    page.email.after = tell
    page.settle()
    assert page.statuses() == {"sent": MANY}
    assert [event for event in page.events("delivery.") if isinstance(event, DeliveryRetrying)] == []


def test_calls_in_quick_succession_are_looked_at_once_in_a_moment(page: Office) -> None:
    """So that a channel which takes no time stays fast."""
    page.settle()
    delivery = delivery_of(page.events("delivery.pending")[:1])
    assert delivery is not None
    watch = DeliveryWatch(page.app.engine, page.clock.monotonic)
    leave(page, delivery.asked.to.removeprefix("member/"))
    page.clock.advance(MOMENT / 2)
    assert not watch.has_changed(delivery, "")
    page.clock.advance(MOMENT)
    assert watch.has_changed(delivery, "")
