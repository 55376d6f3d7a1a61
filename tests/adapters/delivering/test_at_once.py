"""What is requested begins its first attempt in the transaction that expands it, where nothing speaks for waiting."""

from __future__ import annotations

from datetime import timedelta

import pytest

from adapters.parallel_calls import ParallelCalls
from adapters.points import Point
from automations.notifications.pace import Rate
from automations.notifications.types import NotificationType, Types
from domain.endings import Done, Misconfigured, Refused
from tests.adapters.delivering.office import FakeChannel, Killed, Office

LEASE_OVER = timedelta(seconds=61)


def statuses_after_one_round(office: Office) -> dict[str, int]:
    office.delivering.work_once()
    return office.statuses()


def test_a_message_goes_out_in_the_round_in_which_it_is_expanded(office: Office) -> None:
    office.request()
    assert statuses_after_one_round(office) == {"sent": 1}
    topics = [event.topic for event in office.events("delivery.")]
    assert topics == ["delivery.requested", "delivery.pending", "delivery.sending", "delivery.sent"]


class TestWhatWaitsInItsQueue:
    """Where an attempt is not begun with its delivery."""

    def test_what_no_key_guards(self, office: Office) -> None:
        office.use_channel("email", FakeChannel(honours_keys=False))
        office.request()
        assert statuses_after_one_round(office) == {"pending": 1}

    def test_what_is_bulk(self, office: Office) -> None:
        office.types = Types({"news": NotificationType(lane="bulk")})
        office.start_anew()
        office.request()
        assert statuses_after_one_round(office) == {"pending": 1}

    def test_what_has_a_rate(self, office: Office) -> None:
        office.limit("email", Rate(10))
        office.request()
        assert statuses_after_one_round(office) == {"pending": 1}

    def test_what_is_called_several_times_at_once(self, office: Office) -> None:
        calls = office.calls = ParallelCalls({"email": 2})
        office.start_anew()
        office.request()
        assert statuses_after_one_round(office) == {"pending": 1}
        calls.close()

    def test_what_comes_behind_others_that_wait(self, office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
        office.request("k/0")
        office.delivering._expander.expand()
        monkeypatch.setattr(office.delivering, "_limit", lambda channel, now: 0)  # nothing is sent meanwhile
        office.request("k/1")
        assert statuses_after_one_round(office) == {"pending": 2}

    def test_what_would_keep_others_from_writing(self, office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
        seconds = iter(range(1000))
        monkeypatch.setattr(office.clock, "monotonic", lambda: float(next(seconds)))
        office.start_anew()
        office.request()
        assert statuses_after_one_round(office) == {"pending": 1}

    def test_what_cannot_be_worded_fails_in_its_turn(self, office: Office) -> None:
        office.use_templates({"news/email.en": "{{ payload.nothing }}"})
        office.request()
        assert statuses_after_one_round(office) == {"pending": 1}
        office.settle()
        assert office.statuses() == {"failed": 1}


def test_who_dies_during_the_call_leaves_it_to_others_who_repeat_its_key(office: Office) -> None:
    def die() -> None:
        office.email.after = lambda: None
        raise Killed

    office.email.after = die
    office.request()
    with pytest.raises(Killed):
        office.delivering.work_once()
    office.start_anew()
    office.deliver_for(LEASE_OVER * 2, step=LEASE_OVER)
    assert office.statuses() == {"sent": 1}
    assert len(office.email.calls) == 2
    assert len(office.email.sent) == 1


def test_who_dies_before_the_commit_leaves_nothing(office: Office) -> None:
    def die(point: Point) -> None:
        if point == Point("before commit", "expand", point.topics):
            office.app.log.points = lambda point: None
            raise Killed

    office.app.log.points = die
    office.request()
    with pytest.raises(Killed):
        office.delivering.work_once()
    office.start_anew()
    assert statuses_after_one_round(office) == {"sent": 1}
    assert len(office.email.calls) == 1


def test_once_we_are_set_up_wrongly_nothing_more_of_a_round_is_called(office: Office) -> None:
    office.email.answer = Misconfigured(reason="401")
    for number in range(10):
        office.request(f"k{number}/0")
    office.settle()
    assert len(office.email.calls) == 1
    office.email.answer = Done()
    office.deliver_for(timedelta(minutes=3))
    assert office.statuses() == {"sent": 10}


def test_a_channel_that_refuses_is_followed_by_the_next_one(office: Office) -> None:
    office.types = Types({"news": NotificationType(first_of=("email", "in_app"))})
    office.use_channel("email", FakeChannel(answer=Refused(reason="no such mailbox")))
    office.request()
    office.settle()
    assert office.statuses() == {"failed": 1, "sent": 1}
