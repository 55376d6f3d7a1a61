"""Topics that webhooks can ask for: real ones, with the nearest named for one that is not."""

from __future__ import annotations

import pytest

from automations.webhook_topics import checked_topics, offered
from domain.errors import InvalidInput
from domain.nouns import NOUN_OF_TYPE


def test_what_happens_at_the_operators_and_what_semel_does_is_offered() -> None:
    topics = offered()
    assert set(NOUN_OF_TYPE) <= topics
    assert {"execution.ended", "delivery.failed", "dossier.opened", "rule.enabled", "lane.held"} <= topics
    nouns = {topic.partition(".")[0] for topic in topics}
    assert not nouns & {"webhook", "token", "user", "device", "preference", "suppression", "template", "outside"}


def test_topics_are_taken_once_each() -> None:
    assert checked_topics(["booking.*", "invoice.issued", "booking.*"]) == ("booking.*", "invoice.issued")


def test_a_type_beyond_the_catalogue_is_taken_once_it_was_recorded() -> None:
    with pytest.raises(InvalidInput):
        checked_topics(["door.opened"])
    assert checked_topics(["door.opened"], {"door.opened"}) == ("door.opened",)


@pytest.mark.parametrize(
    ("topic", "told"),
    [
        ("booking.creatd", "did you mean booking.created?"),
        ("invoces.*", "did you mean invoice.*?"),
        ("member.that-moved-to-another-town", "member.*, member.changed, member.erased"),
        ("*", "known: access.*, booking.*"),
        ("", "known: access.*, booking.*"),
        ("token.*", "there is no topic 'token.*'"),
    ],
)
def test_the_nearest_topic_is_named(topic: str, told: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        checked_topics(["booking.*", topic])
    [mistake] = caught.value.mistakes
    assert mistake.path == ("topics", 1)
    assert told in mistake.message


@pytest.mark.parametrize("topics", [[], [f"x{number}.y" for number in range(101)]])
def test_some_topics_have_to_be_named_and_not_too_many(topics: list[str]) -> None:
    with pytest.raises(InvalidInput, match="1 to 100"):
        checked_topics(topics)
