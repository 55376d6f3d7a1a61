"""Which topics webhooks can ask for: what happens at the operator's, and what Semel does about it.

What is about who may use Semel, and about webhooks themselves, goes to nobody.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from automations.registry import nearest
from domain import deliveries, dossiers, executions, lanes, rules
from domain.errors import InvalidInput, Mistake
from domain.events import TOPICS
from domain.facts import CATALOGUE
from domain.ids import entity
from domain.nouns import NOUN_OF_TYPE
from domain.outside import OutsideEvent
from domain.text_values import shown
from domain.webhooks import MOST_TOPICS

OUR_OWN = frozenset({"execution", "delivery", "dossier", "lane", "rule"})
"""The nouns of what Semel does itself."""

_DEFINED_IN = (*CATALOGUE, deliveries, dossiers, executions, lanes, rules)
"""The modules whose topics are offered; importing them makes the topics known."""

ALL_OF = "*"


def noun_of(topic: str) -> str:
    """Return the noun of a topic: `booking` of `booking.created`."""
    return topic.partition(".")[0]


def offered() -> frozenset[str]:
    """Return every topic of the catalogue that can be asked for."""
    return frozenset(NOUN_OF_TYPE) | {topic for topic in TOPICS if noun_of(topic) in OUR_OWN}


def topic_of(stored_topic: str, stream: str) -> str:
    """Return the topic under which an event is offered: of one that the catalogue does not have, its type."""
    return stream.partition("/")[2] if stored_topic == OutsideEvent.TOPIC else stored_topic


def outside_stream(topic: str) -> str:
    """Return the stream of the events of a type that the catalogue does not have."""
    return entity("outside", topic)


def checked_topics(topics: Iterable[str], recorded: Collection[str] = ()) -> tuple[str, ...]:
    """Return topics without repetition, or refuse each that cannot be asked for, with the nearest that can.

    `recorded` are types beyond the catalogue of which events have been recorded.
    """
    wanted = tuple(dict.fromkeys(topics))
    if not wanted or len(wanted) > MOST_TOPICS:
        raise InvalidInput(
            [Mistake(("topics",), f"name 1 to {MOST_TOPICS} topics, such as booking.* or invoice.issued")]
        )
    known = offered() | frozenset(recorded)
    known |= {f"{noun_of(topic)}.{ALL_OF}" for topic in offered()}
    mistakes = [
        Mistake(("topics", number), f"there is no topic {shown(topic)}{_hint(topic, known)}")
        for number, topic in enumerate(wanted)
        if topic not in known
    ]
    if mistakes:
        raise InvalidInput(mistakes)
    return wanted


def _hint(topic: str, known: Collection[str]) -> str:
    """Return the nearest topic, or else the whole nouns: all topics would be too many to read."""
    near = nearest(topic, known)
    if near.startswith("; did you mean"):
        return near
    alike = [each for each in known if noun_of(each) == noun_of(topic)]
    return nearest("", alike or [each for each in known if each.endswith(ALL_OF)])
