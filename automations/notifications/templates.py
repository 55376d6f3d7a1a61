"""The wording of a delivery: the template of its type for channel and locale, filled in.

A first line `Subject: …` is the subject; otherwise the name of the type is. Where there is no template the
text is that name too, except for what Semel itself has to say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from automations.notifications.channels import Message
from automations.notifications.policy import Case
from automations.ports import FactSource
from automations.templates import render
from domain.errors import InvalidInput
from domain.facts import Entity, PersonalRef
from domain.notices import is_notice
from domain.places import space_of

READY_REMINDERS = "ready.reminders"
"""The type of the ready rule that tells members about their reminders."""

OWN_WORDING: Mapping[str, str] = {
    READY_REMINDERS: "Subject: {{ reminder.about }}\n{{ reminder.about }}",
}
"""What is said where the operator has no template of their own."""

FALLBACK = "en"

_SUBJECT = "subject:"


class Wordings:
    """The templates of one operator, by `<type>/<channel>.<locale>`."""

    def __init__(self, templates: Mapping[str, str] | None = None) -> None:
        self._templates = dict(templates or {})

    def find(self, type_name: str, channel: str, locales: Iterable[str]) -> tuple[str, str] | None:
        """Return the first template there is for these locales, or any, with its locale."""
        start = f"{type_name}/{channel}."
        there = {name.removeprefix(start): name for name in sorted(self._templates) if name.startswith(start)}
        by_fold = {_folded(locale): locale for locale in there}
        for wanted in (*locales, *there):
            locale = by_fold.get(_folded(wanted))
            if locale is not None:
                return self._templates[there[locale]], locale
        return None


def compose(case: Case, wordings: Wordings) -> Message:
    """Return what is sent; raises InvalidInput where a template has not all that it needs, or says nothing."""
    asked, payload = case.asked, _payload(case)
    locales = list(_locales(case))
    found = wordings.find(asked.type, asked.channel, locales)
    template, locale = found or (_own_wording(asked.type, payload), locales[0])
    head, body = _parted(template, asked.type)
    facts: FactSource = case.situation if case.situation is not None else _NoFacts()
    subject = render(head, facts, locale, beside={"payload": payload}).strip()
    text = render(body, facts, locale, lines=True, beside={"payload": payload}).strip()
    if not text:
        raise InvalidInput("the template comes to nothing")
    assert case.address is not None
    return Message(
        delivery=case.delivery.id,
        to=asked.to,
        channel=asked.channel,
        address=case.address,
        type=asked.type,
        subject=subject or asked.type,
        text=text,
        locale=locale,
        lane=asked.lane,
        urgent=asked.urgent,
        expires_at=asked.expires_at,
    )


class _NoFacts:
    """What templates see of a notification that is about no entity."""

    def value(self, path: str) -> object | None:
        """Return that it is missing."""
        return None

    def reference(self, path: str) -> str | None:
        """Return that there is none."""
        return None


def _payload(case: Case) -> Mapping[str, object]:
    if not case.asked.payload:
        return {}
    found = case.world.personal.read(PersonalRef(case.asked.about, case.asked.payload))
    return found if isinstance(found, dict) else {}


def _own_wording(type_name: str, payload: Mapping[str, object]) -> str:
    if is_notice(type_name) and payload:
        return ", ".join(f"{{{{ payload.{name} }}}} {name}" for name in payload if name.isidentifier())
    return OWN_WORDING.get(type_name, type_name)


def _parted(template: str, type_name: str) -> tuple[str, str]:
    first, _, rest = template.partition("\n")
    if first.casefold().startswith(_SUBJECT):
        return first[len(_SUBJECT) :], rest
    return type_name, template


def _locales(case: Case) -> Iterator[str]:
    """Yield the languages to try: the recipient's, that of the space, and English; each also without a region."""
    space = None if case.situation is None else space_of(case.situation.root, case.world.entities.get)
    for whose in (case.recipient, space):
        locale = _locale(whose)
        if locale:
            yield locale
            yield locale.replace("_", "-").partition("-")[0]
    yield FALLBACK


def _locale(whose: Entity | None) -> str | None:
    value = None if whose is None else whose.get("locale")
    return str(value) if value else None


def _folded(locale: str) -> str:
    return locale.replace("_", "-").casefold()
