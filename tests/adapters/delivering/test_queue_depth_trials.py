"""However much waits: what is asked for is taken, what is bulk moves, and nobody waits for others (trials I)."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta

import sqlalchemy as sa

from adapters.database.engine import reading
from adapters.database.schema import queue
from automations.notifications.pace import Rate
from automations.notifications.types import NotificationType, Types
from automations.notifications.wordings import Wordings
from domain.endings import Misconfigured
from tests.adapters.delivering.conftest import opened
from tests.adapters.delivering.office import FakeChannel, Office
from tests.databases import Databases

URGENT, BULK = "ready.reminders", "ready.renewal-talk"
SECOND = timedelta(seconds=1)


def use_types(office: Office) -> None:
    """Start another process in which one of two types is bulk, and both go by email."""
    office.wordings = Wordings({f"{name}/email.en": "Hello" for name in (URGENT, BULK)})
    office.types = Types({URGENT: NotificationType(), BULK: NotificationType(lane="bulk")})
    office.start_anew()


def ask(office: Office, count: int, type: str = URGENT, producer: str = "crm") -> None:
    """Ask for so many messages; their keys begin with their type."""
    wanted = [
        {"idempotency_key": f"{type}/{number}", "recipient": "member/m1", "type": type, "entity": "member/m1"}
        for number in range(count)
    ]
    outcomes = office.app.notification_door().request_many(producer, wanted)
    assert {outcome.status for outcome in outcomes} == {"accepted"}


def expand(office: Office) -> None:
    while office.delivering._expander.expand().notifications:
        pass


def sent(office: Office) -> Counter[str]:
    return Counter(message.type for message in office.email.sent)


def test_i5_bulk_moves_while_a_thousand_urgent_messages_wait(office: Office) -> None:
    """Trial I5, the other half: bulk has a tenth of what goes out, however much of what is urgent waits."""
    use_types(office)
    office.use_channel("email", FakeChannel(honours_keys=False))
    office.limit("email", Rate(20))
    ask(office, 1000)
    ask(office, 100, BULK)
    expand(office)
    for _ in range(10):
        office.clock.advance(SECOND)
        while office.delivering.work_once():
            pass
    went = sent(office)
    assert went[URGENT] >= 9 * went[BULK] > 0
    assert went[BULK] >= sum(went.values()) // 10 - 1, went
    assert sum(went.values()) >= 200, "the provider allows more"


def statements_of_a_request(office: Office, key: str) -> int:
    """Ask for one message, and return how many statements that took."""
    counted: list[str] = []
    engine = office.app.engine

    def count(connection: object, cursor: object, statement: str, *_: object) -> None:
        counted.append(statement)

    sa.event.listen(engine, "before_cursor_execute", count)
    wanted = {"idempotency_key": key, "recipient": "member/m1", "type": URGENT, "entity": "member/m1"}
    assert office.app.notification_door().request("crm", wanted).status == "accepted"
    sa.event.remove(engine, "before_cursor_execute", count)
    return len(counted)


def test_i7_n5_a_request_is_a_row_however_many_wait(office: Office) -> None:
    """Trials I7 and N5: nothing is held in memory, nothing is refused, and nothing takes longer."""
    use_types(office)
    office.use_channel("email", FakeChannel(answer=Misconfigured(reason="535 bad password")))
    statements_of_a_request(office, "warm")
    few = statements_of_a_request(office, "first")
    ask(office, 2000)
    expand(office)
    ask(office, 2000, BULK)
    assert statements_of_a_request(office, "last") == few
    office.start_anew()  # whoever accepted it may be gone
    with reading(office.app.engine) as connection:
        rows = connection.scalar(sa.select(sa.func.count()).select_from(queue))
    assert rows == 2 * 2000 + 3
    assert office.email.calls == []


def test_i10_one_message_beside_a_hundred_pages_of_somebody_elses_bulk_goes_in_the_next_round(office: Office) -> None:
    """Trial I10 within one operator: whoever sends much sends it as bulk, and that holds up no message of others."""
    use_types(office)
    office.use_channel("email", FakeChannel(honours_keys=False))
    ask(office, 2000, BULK, producer="tenant a")
    expand(office)
    ask(office, 1, producer="tenant b")
    expand(office)
    office.delivering.work_once()
    assert sent(office)[URGENT] == 1


def test_i10_operators_have_their_own_queues(databases: Databases) -> None:
    """Trial I10: a tenant is an operator, whose database and whose workers no other one shares."""
    with databases.fresh() as hot, databases.fresh() as other, opened(hot) as busy, opened(other) as calm:
        for office in (busy, calm):
            use_types(office)
        busy.use_channel("email", FakeChannel(honours_keys=False))
        ask(busy, 1000)
        expand(busy)
        ask(calm, 1)
        busy.delivering.work_once()
        calm.delivering.work_once()
        assert sent(busy)[URGENT] < 1000
        assert sent(calm) == {URGENT: 1}
