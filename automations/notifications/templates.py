"""The wording of a delivery: the template that it began with, filled in.

A first line `Subject: …` is the subject; otherwise the name of the type is. Where there is no template the
text is that name too, except for what Semel itself has to say. A value that is missing, or null, fails the
delivery, and so does a text that says nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from automations.notifications.channels import Message
from automations.notifications.languages import languages
from automations.notifications.policy import Case
from automations.notifications.wordings import FALLBACK, Wording, Wordings
from automations.ports import FactSource
from automations.situation import Situation
from automations.templates import render, render_html
from automations.visible_text import header_line
from domain.errors import InvalidInput
from domain.facts import PersonalRef
from domain.notices import is_notice
from domain.places import space_of

READY_REMINDERS = "ready.reminders"
"""The type of the ready rule that tells members about their reminders."""

OWN_WORDING: Mapping[str, str] = {
    READY_REMINDERS: "Subject: {{ reminder.about }}\n{{ reminder.about }}",
}
"""What is said where the operator has no template of their own."""

_SUBJECT = "subject:"


def compose(case: Case, wordings: Wordings, unsubscribe_url: str = "") -> Message:
    """Return what is sent; raises InvalidInput where a template has not all that it needs, or says nothing."""
    asked, payload = case.asked, _payload(case)
    wording = _wording(case, wordings) or _own_wording(case, payload)
    subject, text, html = _filled(wording, case, payload)
    assert case.address is not None
    return Message(
        delivery=case.delivery.id,
        to=asked.to,
        channel=asked.channel,
        address=case.address,
        type=asked.type,
        subject=subject or asked.type,
        text=text,
        html=html,
        locale=wording.locale,
        lane=asked.lane,
        urgent=asked.urgent,
        requested_at=asked.requested_at,
        expires_at=case.expires_at,
        at=case.at,
        unsubscribe_url=unsubscribe_url,
    )


def _wording(case: Case, wordings: Wordings) -> Wording | None:
    """Return the wording that a delivery began with; one that has none gets what there is now."""
    asked = case.asked
    if asked.template:
        found = wordings.of_version(asked.template)
        if found is None:
            raise InvalidInput(f"the template {asked.template} that this began with is not there any more")
        if found.channel == asked.channel:
            return found
    space = None if case.situation is None else space_of(case.situation.root, case.world.entities.get)
    return wordings.find(asked.type, asked.channel, languages(case.recipient, space, wordings.default_locale))


def _filled(wording: Wording, case: Case, payload: Mapping[str, object]) -> tuple[str, str, str]:
    """Return subject, text and HTML."""
    head, body = _parted(wording.text, wording.type)
    facts: FactSource = _Facts(case)
    locale, beside = wording.locale, {"payload": payload}
    subject = header_line(render(head, facts, locale, beside=beside)).strip()
    text = render(body, facts, locale, lines=True, beside=beside).strip()
    html = render_html(wording.html, facts, locale, beside=beside).strip() if wording.html else ""
    if _says_nothing(text) or (wording.html and _says_nothing(html)):
        raise InvalidInput("the template comes to nothing")
    return subject, text, html


def _says_nothing(text: str) -> bool:
    return not any(character.isprintable() and not character.isspace() for character in text)


class _Facts:
    """What templates see: the facts of the entity, and as `member` whoever reads the message.

    Where staff read it, `member` is the member whom the entity is about.
    """

    def __init__(self, case: Case) -> None:
        self._entity = case.situation
        self._reader = case.situation if _is_about_the_reader(case) else case.world.situation(case.asked.to, case.at)

    def value(self, path: str) -> object | None:
        """Return the value of a fact, None where it is missing."""
        source = self._source_of(path)
        return None if source is None else source.value(path)

    def reference(self, path: str) -> str | None:
        """Return where a personal value lies."""
        source = self._source_of(path)
        return None if source is None else source.reference(path)

    def _source_of(self, path: str) -> Situation | None:
        return self._reader if path.partition(".")[0] == "member" else self._entity


def _is_about_the_reader(case: Case) -> bool:
    if case.asked.to_staff:
        return True
    member = None if case.situation is None else case.situation.entity("member")
    return member is not None and member.stream == case.asked.to


def _payload(case: Case) -> Mapping[str, object]:
    if not case.asked.payload:
        return {}
    found = case.world.personal.read(PersonalRef(case.asked.about, case.asked.payload))
    return dict(_without_nulls(found)) if isinstance(found, dict) else {}


def _without_nulls(value: object) -> Any:
    """Return a value of which what is null is missing, so that no template writes it as something."""
    if isinstance(value, dict):
        return {name: _without_nulls(each) for name, each in value.items() if each is not None}
    return [_without_nulls(each) for each in value if each is not None] if isinstance(value, list) else value


def _own_wording(case: Case, payload: Mapping[str, object]) -> Wording:
    asked = case.asked
    text = OWN_WORDING.get(asked.type, asked.type)
    if is_notice(asked.type) and payload:
        text = ", ".join(f"{{{{ payload.{name} }}}} {name}" for name in payload if name.isidentifier())
    space = None if case.situation is None else space_of(case.situation.root, case.world.entities.get)
    locale = asked.locale or languages(case.recipient, space, FALLBACK)[0]
    return Wording(asked.type, asked.channel, locale, text)


def _parted(template: str, type_name: str) -> tuple[str, str]:
    first, _, rest = template.partition("\n")
    if first.casefold().startswith(_SUBJECT):
        return first[len(_SUBJECT) :], rest
    return type_name, template
