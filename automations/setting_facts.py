"""The facts that an action's settings name, in templates and as instants, checked when the rule is saved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from automations import templates
from automations.fact_catalogue import FactCatalogue, UnknownFact
from automations.mistakes import Path
from automations.value_types import ValueType
from domain.errors import Mistake
from domain.relative_instants import RelativeInstant

_POINTS_IN_TIME = frozenset({ValueType.INSTANT, ValueType.DATE, ValueType.ANY})


def template_mistakes(settings: object, catalogue: FactCatalogue, path: Path = ()) -> Iterator[Mistake]:
    """Return what is wrong with the template in each text of some settings, however deep it lies."""
    match settings:
        case str():
            for found in templates.check(settings, catalogue):
                yield Mistake((*path, *found.path), found.message, found.offset)
        case Mapping():
            for key, value in settings.items():
                yield from template_mistakes(value, catalogue, (*path, key))
        case list():
            for index, value in enumerate(settings):
                yield from template_mistakes(value, catalogue, (*path, index))


def instant_mistakes(action: BaseModel, settings: Mapping[str, Any], catalogue: FactCatalogue) -> Iterator[Mistake]:
    """Return what is wrong with the facts that an action's instants are counted from."""
    for name, field in type(action).model_fields.items():
        value = getattr(action, name)
        if not isinstance(value, RelativeInstant):
            continue
        setting = field.alias or name
        offset = max(str(settings.get(setting, "")).find(value.fact), 0)
        try:
            fact = catalogue.find(value.fact)
        except UnknownFact as error:
            yield Mistake((setting,), str(error), offset)
            continue
        if fact.type not in _POINTS_IN_TIME:
            yield Mistake((setting,), f"{fact.path} is {fact.article}, and no point in time", offset)
