"""Requests to tell somebody: one notification for each key of a producer, whoever repeats it and however often."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest

from adapters.database.requests import QUEUE
from adapters.database.schema import queue
from adapters.database.unit_of_work import unit_of_work
from adapters.ingestion.notification_door import NotificationDoor, RequestOutcome, counted
from domain.errors import InvalidInput
from domain.facts import PersonalRef
from domain.notifications import DeliveryRequested
from tests.operators import BOOKING, Operator, event, operator_on, scene

CRM = "crm"


def ask(key: object = "k1", **more: Any) -> dict[str, Any]:
    """Return a request that there is nothing wrong with."""
    return {"idempotency_key": key, "recipient": "member/m1", "type": "ready.reminders", **more}


@pytest.fixture
def operator(database_url: str) -> Iterator[Operator]:
    with operator_on(database_url) as operator:
        operator.record(*scene())
        yield operator


@pytest.fixture
def door(operator: Operator) -> NotificationDoor:
    return operator.app.notification_door()


def requests(operator: Operator) -> list[DeliveryRequested]:
    return [event for event in operator.events() if isinstance(event, DeliveryRequested)]


def messages(outcome: RequestOutcome) -> str:
    return "\n".join(map(str, outcome.mistakes))


def test_n5_a_request_is_a_row_before_it_is_answered(operator: Operator, door: NotificationDoor) -> None:
    outcome = door.request(CRM, ask(payload={"name": "Mia"}, entity="booking/b1", channels=["sms", "email"]))
    [requested] = requests(operator)
    assert (outcome.status, outcome.id, outcome.mistakes) == ("accepted", requested.notification, ())
    assert (requested.producer, requested.idempotency_key, requested.to, requested.type) == (
        CRM,
        "k1",
        "member/m1",
        "ready.reminders",
    )
    assert (requested.entity, requested.member, requested.channels) == ("booking/b1", "m1", ("sms", "email"))
    assert "Mia" not in requested.model_dump_json()
    assert [row["item"] for row in operator.rows(queue) if row["queue"] == QUEUE] == [outcome.id]


def test_staff_and_members_by_their_id_are_recipients(operator: Operator, door: NotificationDoor) -> None:
    door.request(CRM, ask("a", recipient="staff"))
    door.request(CRM, ask("b", recipient={"member_id": "m1"}))
    assert [event.to for event in requests(operator)] == ["staff", "member/m1"]
    assert door.request(CRM, ask("b", recipient="member/m1")).status == "replayed"


def test_b1_fifty_threads_with_one_key_make_one_notification_and_get_fifty_good_answers(
    operator: Operator, door: NotificationDoor
) -> None:
    together = threading.Barrier(50)

    def post(_: int) -> RequestOutcome:
        together.wait()
        return door.request(CRM, ask(payload={"seats": [1, 2]}))

    with ThreadPoolExecutor(50) as threads:
        outcomes = list(threads.map(post, range(50)))
    assert counted(outcomes) == {"accepted": 1, "replayed": 49, "conflict": 0, "refused": 0}
    assert len({outcome.id for outcome in outcomes}) == 1
    assert len(requests(operator)) == 1


def test_b3_another_request_under_a_key_is_a_conflict_and_changes_nothing(
    operator: Operator, door: NotificationDoor
) -> None:
    first = door.request(CRM, ask(payload={"at": "10:00"}))
    before = operator.events()
    second = door.request(CRM, ask(payload={"at": "11:00"}))
    assert (second.status, second.id) == ("conflict", first.id)
    assert "used before, for another request" in messages(second)
    assert operator.events() == before
    assert door.request(CRM, ask(payload={"at": "10:00"})).status == "replayed"


@pytest.mark.parametrize(
    ("one", "other", "status"),
    [
        ('{"a": 1, "b": {"c": 2, "d": 3}}', '{ "b" : {"d":3,\n"c":2}, "a":1 }', "replayed"),
        ('{"a": 1}', '{"a": 1.0}', "replayed"),
        ('{"a": 100}', '{"a": 1e2}', "replayed"),
        ('{"a": 0}', '{"a": -0.0}', "replayed"),
        ('{"a": "\\u00e9"}', '{"a": "é"}', "replayed"),
        ('{"a": null}', "{}", "conflict"),
        ('{"a": 1}', '{"a": true}', "conflict"),
        ('{"a": 0}', '{"a": false}', "conflict"),
        ('{"a": 1}', '{"a": "1"}', "conflict"),
        ('{"a": [1, 2]}', '{"a": [2, 1]}', "conflict"),
        ('{"a": "é"}', '{"a": "e\\u0301"}', "conflict"),
        ('{"a": {}}', '{"a": []}', "conflict"),
    ],
)
def test_b3_what_counts_as_the_same_payload_is_the_canonical_json(
    door: NotificationDoor, one: str, other: str, status: str
) -> None:
    door.request(CRM, ask(payload=json.loads(one)))
    assert door.request(CRM, ask(payload=json.loads(other))).status == status


def test_b3_what_is_null_or_empty_in_a_request_means_the_same_as_what_is_left_out(door: NotificationDoor) -> None:
    door.request(CRM, ask())
    assert door.request(CRM, ask(payload=None, entity=None, channels=None)).status == "replayed"
    assert door.request(CRM, ask(payload={}, entity="", channels=[])).status == "replayed"


@pytest.mark.parametrize(
    "other",
    [
        {"recipient": "staff"},
        {"type": "ready.renewal-talk"},
        {"entity": "booking/b1"},
        {"channels": ["email", "sms"]},
        {"payload": {"a": 1}},
    ],
)
def test_b3_every_part_of_a_request_counts(door: NotificationDoor, other: dict[str, Any]) -> None:
    door.request(CRM, ask(channels=["sms", "email"]))
    assert door.request(CRM, ask(**{"channels": ["sms", "email"], **other})).status == "conflict"


def test_b3_a_repeat_is_still_told_from_another_request_when_the_member_was_erased(
    operator: Operator, door: NotificationDoor
) -> None:
    first = door.request(CRM, ask(payload={"name": "Mia"}))
    operator.record(event("member.erased", {"member_id": "m1"}))
    assert door.request(CRM, ask(payload={"name": "Mia"})) == RequestOutcome("replayed", first.id)
    assert door.request(CRM, ask(payload={"name": "Zoë"})).status == "conflict"
    refused = door.request(CRM, ask("k2", payload={"name": "Mia"}))
    assert (refused.status, messages(refused)) == ("refused", "member/m1 has been erased")


def test_b4_a_key_belongs_to_its_producer(operator: Operator, door: NotificationDoor) -> None:
    one = door.request("tenant a", ask("booking-1-confirmed", payload={"name": "A"}))
    other = door.request("tenant b", ask("booking-1-confirmed", recipient="staff"))
    assert (one.status, other.status) == ("accepted", "accepted")
    assert one.id != other.id
    assert [event.producer for event in requests(operator)] == ["tenant a", "tenant b"]
    # No two pairs of producer and key run into each other, wherever one ends and the other begins.
    assert door.request("tenant", ask(" abooking-1-confirmed")).id not in (one.id, other.id)


@pytest.mark.parametrize("producer", ["", "semel/executions", "semel/engine", "a\nb", "x" * 201])
def test_b4_nobody_can_pass_for_semel_itself(door: NotificationDoor, producer: str) -> None:
    with pytest.raises(InvalidInput, match="producer"):
        door.request(producer, ask())


def test_b6_a_repeat_after_days_is_still_a_replay(operator: Operator, door: NotificationDoor) -> None:
    first = door.request(CRM, ask())
    operator.clock.advance(timedelta(hours=25))
    assert door.request(CRM, ask()) == RequestOutcome("replayed", first.id)
    operator.clock.advance(timedelta(days=400))
    assert operator.app.notification_door().request(CRM, ask()) == RequestOutcome("replayed", first.id)
    assert len(requests(operator)) == 1


GOOD_KEYS = ["k", "k" * 255, "booking 1 confirmed", " k", "k ", "😎" * 255, "ключ/日本語?=&%\"'\\", "K", "é", "e\u0301"]


BAD_KEYS: list[tuple[object, str]] = [
    (None, "is missing"),
    ("", "is empty"),
    ("k" * 256, "has 256 characters, 255 is the most"),
    ("k\0", "U+0000"),
    ("k\n", "U+000A"),
    ("k\t", "U+0009"),
    ("k\x7f", "U+007F"),
    ("k\u2028", "U+2028"),
    ("k\u202e", "U+202E"),
    ("k\u200b", "U+200B"),
    ("k\ud800", "U+D800"),
    ("k\ue000", "U+E000"),
    (7, "must be text, not 7"),
    (["k"], "must be text"),
]


def test_b8_a_key_outside_of_the_rule_is_refused(operator: Operator, door: NotificationDoor) -> None:
    outcomes = door.request_many(CRM, [ask(key) for key, _ in BAD_KEYS])
    for outcome, (key, message) in zip(outcomes, BAD_KEYS, strict=True):
        assert (outcome.status, outcome.id) == ("refused", ""), key
        [mistake] = outcome.mistakes
        assert mistake.path == ("idempotency_key",)
        assert message in mistake.message
    assert requests(operator) == []


def test_b8_keys_are_never_cut_or_made_alike(operator: Operator, door: NotificationDoor) -> None:
    outcomes = door.request_many(CRM, [ask(key) for key in GOOD_KEYS])
    assert {outcome.status for outcome in outcomes} == {"accepted"}
    assert len({outcome.id for outcome in outcomes}) == len(GOOD_KEYS)
    assert [event.idempotency_key for event in requests(operator)] == GOOD_KEYS
    again = door.request_many(CRM, [ask(key) for key in GOOD_KEYS])
    assert [(each.status, each.id) for each in again] == [("replayed", each.id) for each in outcomes]
    long = ["k" * 255 + "a", "k" * 255 + "b"]
    assert {each.status for each in door.request_many(CRM, [ask(key) for key in long])} == {"refused"}


def test_every_mistake_of_a_request_is_named_and_its_key_stays_free(door: NotificationDoor) -> None:
    wrong = ask(
        recipient="membr/m1",
        type="ready.remindrs",
        entity="bookng/b1",
        channels=["emial", "sms", "sms"],
        payload={"a": [float("nan")], "b": 2**53, "c": "\ud800", "d": {1}, "e": 10**400},
        priorty=1,
    )
    outcome = door.request(CRM, wrong)
    assert (outcome.status, outcome.id) == ("refused", "")
    told = messages(outcome)
    for expected in (
        "priorty: there is no setting 'priorty'",
        "recipient: 'membr/m1' is neither staff nor a member like member/m1",
        "type: there is no notification type 'ready.remindrs'; did you mean ready.reminders?",
        "entity: nothing is called 'bookng'; did you mean booking?",
        "channels.0: there is no channel 'emial'; did you mean email?",
        "channels.2: sms stands there twice",
        "payload.a.0: nan is no number in JSON",
        "payload.b: is too large a number to be exact in JSON: write it as text",
        "payload.e: is too large a number to be exact in JSON: write it as text",
        "payload.c: holds half a character",
        "payload.d: set is no JSON",
    ):
        assert expected in told
    assert door.request(CRM, ask()).status == "accepted"


@pytest.mark.parametrize("value", [None, 7, "text", [], [{}]])
def test_what_is_no_object_is_refused(door: NotificationDoor, value: object) -> None:
    assert "must be a JSON object" in messages(door.request(CRM, value))


def nested(depth: int) -> Any:
    return {"a": nested(depth - 1)} if depth else 1


@pytest.mark.parametrize(
    ("payload", "message"),
    [
        ({"a": "x" * 65_536}, "more than 65,536 characters"),
        ({"a": list(range(10_001))}, "more than 10,000 values"),
        (nested(100), "more than 32 deep"),
    ],
)
def test_a_payload_has_bounds(door: NotificationDoor, payload: Any, message: str) -> None:
    assert message in messages(door.request(CRM, ask(payload=payload)))


def test_a_batch_answers_each_request_and_a_bad_one_takes_no_other_with_it(
    operator: Operator, door: NotificationDoor
) -> None:
    outcomes = door.request_many(
        CRM, [ask("a"), ask("b", type="x"), ask("a"), ask("a", recipient="staff"), ask("b"), 7, ask("c")]
    )
    assert [outcome.status for outcome in outcomes] == [
        "accepted",
        "refused",
        "replayed",
        "conflict",
        "accepted",
        "refused",
        "accepted",
    ]
    assert [event.idempotency_key for event in requests(operator)] == ["a", "b", "c"]
    assert outcomes[0].id == outcomes[2].id == outcomes[3].id


def test_batches_with_the_same_keys_in_another_order_meet_without_harm(
    operator: Operator, door: NotificationDoor
) -> None:
    batch = [ask(f"k{number}") for number in range(100)]
    together = threading.Barrier(4)

    def post(values: list[dict[str, Any]]) -> list[RequestOutcome]:
        together.wait()
        return door.request_many(CRM, values)

    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(post, [batch, batch[::-1], batch, batch[::-1]]))
    assert {outcome.status for outcomes in answers for outcome in outcomes} == {"accepted", "replayed"}
    assert sum(counted(outcomes)["accepted"] for outcomes in answers) == 100
    assert len(requests(operator)) == 100


def test_m2_a_second_request_is_refused_while_the_delivery_of_the_first_goes_on(
    operator: Operator, door: NotificationDoor
) -> None:
    first = door.request(CRM, ask())
    operator.app.deliverer()._expander.expand()
    before = operator.events()
    assert door.request(CRM, ask()).id == first.id
    assert door.request(CRM, ask(payload={"a": 1})).status == "conflict"
    assert operator.events() == before


def test_m3_n17_where_the_winner_rolls_back_the_losers_request_is_recorded(
    operator: Operator, door: NotificationDoor
) -> None:
    class Broken(Exception):
        pass

    begun = threading.Event()
    outcomes: list[RequestOutcome] = []

    def lose() -> None:
        begun.wait(10)
        outcomes.append(door.request(CRM, ask(payload={"who": "loser"})))

    loser = threading.Thread(target=lose)
    loser.start()

    def win() -> None:
        with unit_of_work(operator.app.log, "winner") as work:
            work.lock_head()
            work.append([_winners(operator)])
            begun.set()
            loser.join(0.5)
            assert outcomes == []  # it waits
            raise Broken

    with pytest.raises(Broken):
        win()
    loser.join(30)
    assert [outcome.status for outcome in outcomes] == ["accepted"]
    [requested] = requests(operator)
    assert requested.notification == outcomes[0].id
    assert requested.payload


def _winners(operator: Operator) -> DeliveryRequested:
    from domain.notifications import notification_of

    return DeliveryRequested(
        stream=notification_of(CRM, "k1"),
        version=1,
        at=operator.clock.now(),
        producer=CRM,
        idempotency_key="k1",
        type="ready.reminders",
        to="staff",
    )


def test_the_payload_lies_with_the_personal_values_of_whom_it_is_about(
    operator: Operator, door: NotificationDoor
) -> None:
    from adapters.database.engine import reading
    from adapters.database.personal import StoredPersonalValues

    door.request(CRM, ask(payload={"name": "Mia", "seats": [1, 2]}))
    [requested] = requests(operator)
    with reading(operator.app.engine) as connection:
        found = StoredPersonalValues(connection).read(PersonalRef("m1", requested.payload))
    assert found == {"name": "Mia", "seats": [1, 2]}


def test_what_staff_are_told_about_a_member_is_erased_with_them(operator: Operator, door: NotificationDoor) -> None:
    for key, about in (("a", "booking/b1"), ("b", "member/m1"), ("c", "space/mitte")):
        assert door.request(CRM, ask(key, recipient="staff", entity=about, payload={"name": "Mia"})).is_good
    operator.record(event("booking.created", BOOKING))
    assert door.request(CRM, ask("d", recipient="staff", entity="booking/b1", payload={"name": "Mia"})).is_good
    assert [each.member for each in requests(operator)] == ["", "m1", "", "m1"]
    operator.record(event("member.erased", {"member_id": "m1"}))
    refused = door.request(CRM, ask("e", recipient="staff", entity="booking/b1", payload={"name": "Mia"}))
    assert (refused.status, messages(refused)) == ("refused", "entity: the member has been erased")
