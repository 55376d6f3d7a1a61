"""The kinds of settings that actions have, and how each is written.

A setting stays as it was written until a candidate gives it its facts (see `resolving`). Any text may be a
template; what is none is checked here for what it has to be.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, StringConstraints

from automations.fact_catalogue import FactCatalogue
from automations.structures import read_structure
from automations.templates import LONGEST_TEMPLATE, is_template
from automations.value_types import ValueType
from domain.errors import Mistake
from domain.fields import without_controls
from domain.money import Money
from domain.notifications import STAFF, is_recipient, is_type_name
from domain.offsets import Offset
from domain.relative_instants import RelativeInstant
from domain.text_values import shown

MEMBER = "member"
"""The recipient that stands for the entity's member."""

_ONE_FACT = re.compile(r"\s*\{\{-?\s*([A-Za-z]\w*(?:\.[\w-]+)+)\s*-?\}\}\s*")
_NAMES_A_FACT = re.compile(r"\S+\.\S+|.*\s(before|after)\s.*", re.IGNORECASE | re.DOTALL)
_MONEY = frozenset({ValueType.MONEY, ValueType.ANY})


def amount_mistakes(setting: str, written: str, catalogue: FactCatalogue) -> Iterator[Mistake]:
    """Return that an amount is taken from a fact which is none: `{{ booking.attendees }}`."""
    match = _ONE_FACT.fullmatch(written)
    if match is None or match[1] not in catalogue:
        return
    fact = catalogue.find(match[1])
    if fact.type not in _MONEY:
        yield Mistake((setting,), f"{fact.path} is {fact.article}, and not an amount of money")


def _read_amount(value: object) -> object:
    if isinstance(value, str) and is_template(value):
        return value
    money = Money.read(value)
    if money.amount <= 0:
        raise ValueError(f"{money} is not above zero")
    return value if isinstance(value, str) else str(money)


def _read_due(value: object) -> object:
    if isinstance(value, str):
        return RelativeInstant.parse(value) if _NAMES_A_FACT.fullmatch(value.strip()) else Offset.parse(value)
    if isinstance(value, Offset | RelativeInstant):
        return value
    raise ValueError(f"{shown(value)} is not a time: write it like 2 days, or 1 hour after booking.ends_at")


def _read_days(value: Offset) -> Offset:
    if value.is_elapsed or value.at is not None:
        raise ValueError(f"{value} does not lead to a date: write days, weeks or months, like 14 days")
    return value


def _read_recipient(text: str) -> str:
    if is_template(text) or text == MEMBER or is_recipient(text):
        return text
    raise ValueError(f"{shown(text)} is nobody to tell: write {MEMBER}, {STAFF}, or a member like member/m2")


def _read_member(text: str) -> str:
    if is_template(text) or (is_recipient(text) and text != STAFF):
        return text
    raise ValueError(f"{shown(text)} is not a member: write it like member/m2")


def _read_type(text: str) -> str:
    if is_type_name(text):
        return text
    raise ValueError(f"{shown(text)} is not a name: it has only a-z, 0-9, dots, dashes and underscores")


def _read_address(text: str) -> str:
    # Whoever can change a fact must not choose the machine that is called.
    scheme, separator, rest = text.partition("://")
    host = re.split(r"[/?#]", rest, maxsplit=1)[0]
    if scheme in {"http", "https"} and separator and host and not is_template(host) and "{" not in host:
        return text
    raise ValueError(f"{shown(text)} is not an address: write it like https://example.org/hook")


Written = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_TEMPLATE), AfterValidator(without_controls)]
"""A text, which may be a Liquid template over the candidate's facts."""

Amount = Annotated[Written, BeforeValidator(_read_amount)]
"""Money such as `15 EUR`, or a template that comes to money."""

DueTime = Annotated[Offset | RelativeInstant, BeforeValidator(_read_due)]
"""A time such as `2 days`, counted from the claim, or an instant such as `1 hour after booking.ends_at`."""

Days = Annotated[Offset, AfterValidator(_read_days)]
"""Steps of the calendar such as `14 days`, which lead to a date."""

Recipient = Annotated[Written, AfterValidator(_read_recipient)]
"""Whom to tell: `member`, `staff` or `member/m2`."""

OtherMember = Annotated[Written, AfterValidator(_read_member)]
"""A member other than the entity's: `member/m2`."""

TypeName = Annotated[str, AfterValidator(_read_type)]
"""The name of a notification type."""

Address = Annotated[Written, AfterValidator(_read_address)]
"""A web address; what stands behind its host may be a template."""

Structure = Annotated[dict[str, Any], BeforeValidator(read_structure)]
"""Named values, in which each text is a template."""
