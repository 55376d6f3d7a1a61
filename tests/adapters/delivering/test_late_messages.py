"""Trials H1 and H6: whoever comes back after hours sends what is still of use, and tells staff once of the rest."""

from __future__ import annotations

from datetime import timedelta

from adapters.database.preferences import PreferenceDesk
from adapters.wording.files import templates_of, types_of
from automations.notifications.types import NotificationType, Types
from automations.notifications.wordings import Wordings
from domain.endings import TryLater
from domain.spaces import QuietHours
from tests.adapters.delivering.office import Office

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
TOO_LATE = "semel.messages-too-late"


def use(office: Office, useful_for: timedelta) -> None:
    """Start another process that knows Semel's own types, and one of messages that are of use for so long."""
    own = {name: kind for name, kind in types_of(office.app.settings).items() if name.startswith("semel.")}
    office.types = Types({**own, "code": NotificationType(useful_for=useful_for), "news": NotificationType()})
    office.wordings = Wordings(templates_of(office.app.settings))
    office.start_anew()


def away(office: Office, *codes: str) -> None:
    """Ask for messages that nobody sends for three hours."""
    use(office, 15 * MINUTE)
    for key in codes:
        office.request(key, type="code")
    office.request(f"{codes[0]}/news")
    office.clock.set(office.clock.now() + 3 * HOUR)


def ticks(office: Office, count: int) -> None:
    for _ in range(count):
        office.clock.set(office.clock.now() + MINUTE)
        office.tick()


def told(office: Office) -> list[str]:
    """Return what staff were told in their inbox."""
    notices = [each for each in office.messages() if each.type == TOO_LATE and each.channel == "in_app"]
    return [f"{each.subject}\n{each.text}" for each in notices]


def test_one_notice_tells_of_everything_that_came_too_late(office: Office) -> None:
    away(office, "k/1", "k/2")
    office.settle()
    ticks(office, 5)
    assert office.statuses() == {"expired": 2, "sent": 1}
    assert len(office.email.sent) == 1
    (text,) = told(office)
    assert text.startswith("Too late to be sent: 2 code\n")


def test_a_wave_is_told_when_it_is_over(office: Office) -> None:
    away(office, "k/1")
    office.settle()
    office.tick()
    assert told(office) == []
    ticks(office, 1)
    assert len(told(office)) == 1


def test_the_next_wave_is_told_an_hour_later_at_the_earliest_and_by_itself(office: Office) -> None:
    away(office, "k/1")
    office.settle()
    ticks(office, 3)
    office.email.answer = TryLater(reason="busy")
    office.request("k/2", type="code")
    office.request("k/3", type="code")
    office.settle()
    ticks(office, 30)
    assert len(told(office)) == 1
    ticks(office, 40)
    assert ["2 code" in text for text in told(office)] == [False, True]


def test_what_another_worker_has_told_is_not_told_again(office: Office) -> None:
    away(office, "k/1")
    office.settle()
    ticks(office, 3)
    office.start_anew()
    ticks(office, 90)
    assert len(told(office)) == 1


def test_what_quiet_hours_keep_back_for_good_is_no_news(office: Office) -> None:
    use(office, HOUR)
    desk = PreferenceDesk(office.app.log, office.clock)
    desk.set_quiet_hours("m1", QuietHours(start="00:00", end="23:59"))
    office.request("k/1", type="code")
    office.settle()
    ticks(office, 150)
    assert office.statuses() == {"expired": 1}
    assert told(office) == []
