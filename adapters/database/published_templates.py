"""Deliveries keep to the wording that they began with: its version stands in the delivery, its text in the log.

The log and not a file, because a file changes, and not a table of its own, because what was said to people
belongs to what happened. A version is recorded once, by whoever uses it first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from adapters.database import log_queries
from adapters.database.engine import reading
from adapters.database.event_log import EventLog
from adapters.database.facts import FreshEntities
from adapters.database.unit_of_work import UnitOfWork
from automations.notifications.languages import languages
from automations.notifications.wordings import Wording, Wordings
from domain.delivery_events import DeliveryPending
from domain.facts import Entity
from domain.ids import kind_of
from domain.notifications import STAFF
from domain.nouns import NOUNS
from domain.places import space_of
from domain.wordings import TemplatePublished, template_stream


@dataclass
class PublishedTemplates:
    """Reads versions that were used before; safe to use from any thread."""

    log: EventLog
    _known: dict[str, Wording] = field(default_factory=dict)

    def wording(self, version: str) -> Wording | None:
        """Return a version, or None where it was never used; raises CorruptEvent where it cannot be read."""
        if version not in self._known:
            with reading(self.log.engine) as connection:
                rows = log_queries.streams(connection, [template_stream(version)])
            for event in map(self.log.mapper.read, rows):
                if isinstance(event, TemplatePublished):
                    told = (event.type, event.channel, event.locale, event.text, event.html)
                    self._known[version] = Wording(*told)
        return self._known.get(version)


class TemplatePublisher:
    """Chooses the wording of deliveries as they begin, for one worker."""

    def __init__(self, wordings: Wordings) -> None:
        self._wordings = wordings
        self._published: set[str] = set()

    def worded(
        self, work: UnitOfWork, deliveries: Sequence[DeliveryPending], at: datetime, entities: FreshEntities
    ) -> list[DeliveryPending]:
        """Return deliveries with language and version, and record what versions were not used before."""
        chosen = [self._chosen(delivery, entities) for delivery in deliveries]
        self._publish(work, (wording for wording in chosen if wording is not None), at)
        return [
            each if wording is None else each.model_copy(update={"locale": wording.locale, "template": wording.version})
            for each, wording in zip(deliveries, chosen, strict=True)
        ]

    def _chosen(self, delivery: DeliveryPending, entities: FreshEntities) -> Wording | None:
        recipient = None if delivery.to == STAFF else entities.readable(delivery.to)
        space = _space(delivery.entity, entities)
        wanted = languages(recipient, space, self._wordings.default_locale)
        return self._wordings.find(delivery.type, delivery.channel, wanted)

    def _publish(self, work: UnitOfWork, used: Iterable[Wording], at: datetime) -> None:
        new = {each.version: each for each in used if each.version not in self._published}
        if not new:
            return
        there = log_queries.existing_streams(work.connection, map(template_stream, new))
        work.append(_event(each, at) for version, each in new.items() if template_stream(version) not in there)
        work.after_commit(lambda: self._published.update(new))


def _space(named: str, entities: FreshEntities) -> Entity | None:
    return space_of(entities.readable(named), entities.readable) if kind_of(named) in NOUNS else None


def _event(wording: Wording, at: datetime) -> TemplatePublished:
    return TemplatePublished(
        stream=template_stream(wording.version),
        version=1,
        at=at,
        type=wording.type,
        channel=wording.channel,
        locale=wording.locale,
        text=wording.text,
        html=wording.html,
    )
