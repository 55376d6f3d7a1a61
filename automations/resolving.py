"""Settings and the facts of one candidate come to values: texts, amounts, instants, and who is meant.

What does not come to a value is named by its setting. The words of that never hold what a template came to,
since that may be personal and the reason is recorded.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from functools import cached_property
from typing import Any
from zoneinfo import ZoneInfo

from automations.ports import FactSource
from automations.setting_kinds import MEMBER
from automations.structures import Path, with_texts
from automations.templates import render
from automations.written_values import timely_in
from domain.errors import InvalidInput, Mistake
from domain.fields import LONGEST_TEXT
from domain.ids import LONGEST_ID, entity, id_of, kind_of
from domain.money import Money
from domain.notifications import STAFF, is_recipient
from domain.offsets import Offset
from domain.relative_instants import RelativeInstant

FALLBACK_LOCALE = "en"
"""The language where neither the member nor the space has one."""


class SettingUnfit(InvalidInput):
    """A setting of a rule does not come to a value that its service could use."""

    def __init__(self, setting: str, reason: str, below: Path = ()) -> None:
        self.setting, self.reason = setting, reason
        super().__init__([Mistake((setting, *below), reason)])


class Resolver:
    """Resolves the settings of one action for one candidate.

    `at` is the instant of the claim, in the zone of the entity's space. Beside what settings name, these
    facts are asked for: `entity`; `<its kind>.member_id`, else `member.member_id`; `<its kind>.space_id`,
    else `resource.space_id` or `space.space_id`; `member.locale`, else `space.locale`.
    """

    def __init__(self, facts: FactSource, at: datetime) -> None:
        self._facts = facts
        self._at = at
        self._zone = at.tzinfo if isinstance(at.tzinfo, ZoneInfo) else ZoneInfo("UTC")

    @cached_property
    def entity(self) -> str:
        """Return the entity that the candidate is about."""
        return str(self._facts.value("entity"))

    @cached_property
    def entity_member(self) -> str:
        """Return the id of the entity's member; empty where it has none."""
        return self._first(f"{kind_of(self.entity)}.member_id", "member.member_id")

    def member(self, written: str | None) -> str:
        """Return the id of the member who is meant: the entity's, unless another is written."""
        if written is None:
            return self.entity_member or _unfit("member", f"{self.entity} has no member")
        found = self.name("member", written)
        if found == STAFF or not _is_somebody(found):
            raise SettingUnfit("member", "does not come to a member, such as member/m2")
        return id_of(found)

    def recipient(self, setting: str, written: str) -> str:
        """Return whom to tell: `staff`, or a member as an entity."""
        if written == MEMBER:
            return entity("member", self.entity_member or _unfit(setting, f"{self.entity} has no member"))
        found = self.name(setting, written)
        if not _is_somebody(found):
            raise SettingUnfit(setting, f"does not come to {STAFF}, or to a member such as member/m2")
        return found

    def space(self) -> str:
        """Return the id of the space to which the entity belongs."""
        found = self._first(f"{kind_of(self.entity)}.space_id", "resource.space_id", "space.space_id")
        return found or _unfit("space", f"it is not known to which space {self.entity} belongs")

    def text(self, setting: str, template: str) -> str:
        """Return one line filled in, in the language of the entity's member, else of the space."""
        return self._filled(setting, template, self._locale("member", "space"))

    def staff_text(self, setting: str, template: str) -> str:
        """Return one line filled in, in the language of the space."""
        return self._filled(setting, template, self._locale("space"))

    def long_text(self, setting: str, template: str | None) -> str | None:
        """Return a text filled in with its lines kept, or None if it is left out or comes to nothing."""
        if template is None:
            return None
        text = self._rendered(setting, template, self._locale("member", "space"), lines=True)
        return text if text.strip() else None

    def name(self, setting: str, template: str) -> str:
        """Return the name of something, such as a door, whatever the language."""
        return self._filled(setting, template, FALLBACK_LOCALE).strip()

    def address(self, setting: str, template: str) -> str:
        """Return a web address filled in."""
        address = self.name(setting, template)
        if " " in address:
            raise SettingUnfit(setting, "comes to an address with a space in it: use the filter url_encode")
        return address

    def structure(self, setting: str, values: Mapping[str, Any], recipient: str) -> dict[str, Any]:
        """Return named values with each text filled in, in the recipient's language as far as it is known."""
        own = recipient == entity("member", self.entity_member)
        locale = self._locale("member", "space") if own else self._locale("space")
        filled: dict[str, Any] = with_texts(
            values, lambda path, text: self._rendered(setting, text, locale, path, lines=True)
        )
        return filled

    def money(self, setting: str, written: str) -> Money:
        """Return the amount that is written, or that a template comes to; it has to be above zero."""
        try:
            money = Money.parse(self.name(setting, written))
        except ValueError:
            raise SettingUnfit(setting, "does not come to an amount of money, such as 15 EUR") from None
        if money.amount <= 0:
            raise SettingUnfit(setting, f"comes to {money}, which is not above zero")
        return money

    def instant(self, setting: str, named: RelativeInstant, *, as_limit: bool = False) -> datetime:
        """Return the instant that is named; a date stands for its beginning, or as a limit for its end."""
        value = self._facts.value(named.fact)
        if value is None:
            raise SettingUnfit(setting, f"{named.fact} is missing")
        try:
            return named.resolve(_as_time(value), self._zone, as_limit=as_limit)
        except ValueError:
            raise SettingUnfit(setting, f"{named} leads to no point in time") from None

    def due(self, setting: str, due: Offset | RelativeInstant) -> datetime:
        """Return an instant that is named, or the one that lies some time after the claim."""
        if isinstance(due, RelativeInstant):
            return self.instant(setting, due, as_limit=True)
        try:
            return due.after(self._at, self._zone)
        except ValueError:
            raise SettingUnfit(setting, f"{due} leads out of the calendar") from None

    def day(self, setting: str, days: Offset) -> date:
        """Return the date that lies some days after that of the claim."""
        try:
            return days.day_after(self._at.date())
        except ValueError:
            raise SettingUnfit(setting, f"{days} leads out of the calendar") from None

    def _filled(self, setting: str, template: str, locale: str) -> str:
        text = self._rendered(setting, template, locale)
        return text if text.strip() else _unfit(setting, "comes to nothing")

    def _rendered(self, setting: str, template: str, locale: str, below: Path = (), *, lines: bool = False) -> str:
        try:
            text = render(template, self._facts, locale, lines=lines)
        except InvalidInput as error:
            raise SettingUnfit(setting, "; ".join(each.message for each in error.mistakes), below) from None
        if len(text) > LONGEST_TEXT:
            raise SettingUnfit(setting, f"comes to more than {LONGEST_TEXT} characters", below)
        return text

    def _locale(self, *whose: str) -> str:
        return self._first(*(f"{root}.locale" for root in whose)) or FALLBACK_LOCALE

    def _first(self, *paths: str) -> str:
        return next((str(value) for path in paths if (value := self._facts.value(path))), "")


def _unfit(setting: str, reason: str) -> str:
    raise SettingUnfit(setting, reason)


def _is_somebody(text: str) -> bool:
    return is_recipient(text) and len(id_of(text)) <= LONGEST_ID


def _as_time(value: object) -> object:
    """Return what a text says of a date or an instant: facts of any type come as they were sent."""
    found = timely_in(value) if isinstance(value, str) else value
    if isinstance(found, datetime):
        return found if found.tzinfo else None
    return found
