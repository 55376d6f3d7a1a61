"""Of several channels the first one that reaches somebody is enough."""

from __future__ import annotations

from datetime import timedelta

from adapters.database.preferences import PreferenceDesk
from adapters.database.suppressing import SuppressionDesk
from automations.notifications.types import NotificationType, Types
from domain.endings import Refused, TryLater
from domain.preferences import Subject
from tests.adapters.delivering.office import Office

NEWS = Subject("news", "email")


def use_types(office: Office, **types: NotificationType) -> None:
    office.types = Types(types)
    office.start_anew()


def outcomes(office: Office) -> list[tuple[str, str, str]]:
    return [(row["channel"], row["status"], row["reason"]) for row in office.rows()]


def test_one_after_the_other_until_one_takes_it(office: Office) -> None:
    use_types(office, news=NotificationType(first_of=("sms", "email", "in_app")))
    office.email.answer = Refused(reason="no such mailbox")
    office.request()
    office.settle()
    assert outcomes(office) == [
        ("sms", "skipped", "no address for sms"),
        ("email", "failed", "no such mailbox"),
        ("in_app", "sent", ""),
    ]


def test_what_may_have_been_taken_is_not_told_again_elsewhere(office: Office) -> None:
    use_types(office, news=NotificationType(first_of=("email", "in_app")))
    office.email.answer = TryLater(reason="busy")
    office.request()
    office.deliver_for(timedelta(minutes=30))
    assert [status for _, status, _ in outcomes(office)] == ["retrying"]
    office.deliver_for(timedelta(hours=20))
    assert [status for _, status, _ in outcomes(office)] == ["failed", "sent"]


def test_who_does_not_want_it_is_not_pursued(office: Office) -> None:
    use_types(office, news=NotificationType(first_of=("email", "in_app")))
    PreferenceDesk(office.app.log, office.clock).choose("m1", NEWS, enabled=False)
    office.request()
    office.settle()
    assert outcomes(office) == [("email", "skipped", "preference")]


def test_a_dead_address_is_none(office: Office) -> None:
    use_types(office, news=NotificationType(first_of=("email", "in_app")))
    SuppressionDesk(office.app.log, office.clock, office.app.salt).suppress("email", "mia@example.org", "hard_bounce")
    office.request()
    office.settle()
    assert [status for _, status, _ in outcomes(office)] == ["skipped", "sent"]


def test_whoever_asks_for_channels_gets_all_of_them(office: Office) -> None:
    use_types(office, news=NotificationType(first_of=("sms", "email")))
    office.request(channels=("sms", "email", "in_app"))
    office.settle()
    assert sorted(status for _, status, _ in outcomes(office)) == ["sent", "sent", "skipped"]
