"""Wordings: what a notification type says on a channel in a language, each version kept for ever.

A version is named after its content. It is recorded when a delivery first uses it, so that what was pending is
sent as it was meant, whatever has become of the file meanwhile.
"""

from __future__ import annotations

from domain.events import DomainEvent
from domain.ids import digest, entity, id_of

SHORTENED = 32
"""Hexadecimal characters of a digest that a version shows: 128 bits, which never meet by chance."""


class TemplatePublished(DomainEvent):
    """A version of a template is used for the first time.

    `text` is Liquid, its first line the subject where that begins with `Subject:`; `html` is the same as HTML,
    where there is such a thing.
    """

    TOPIC = "template.published"

    type: str
    channel: str
    locale: str
    text: str
    html: str = ""

    @property
    def template(self) -> str:
        """Return the version, as deliveries name it."""
        return id_of(self.stream)


def template_version(type_name: str, channel: str, locale: str, text: str, html: str = "") -> str:
    """Return the name of what a template says: the same for the same, another one for anything else."""
    return digest("template", type_name, channel, locale, text, html)[:SHORTENED]


def template_stream(version: str) -> str:
    """Return the stream of a version: `template/3f…`."""
    return entity("template", version)
