"""The type of each fact, read off the noun's fields, so that a new field is a fact without a second list."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel

from automations.value_types import KnownFact, ValueType
from domain.fields import ClockTime, DayOrMoment, Personal, Texts
from domain.money import Money

_WRITTEN_SO: tuple[tuple[Any, ValueType], ...] = (
    (ClockTime, ValueType.CLOCK),
    (DayOrMoment, ValueType.INSTANT),
    (Texts, ValueType.TEXTS),
)
"""Annotations that say more than the class behind them."""

_CLASSES: tuple[tuple[type, ValueType], ...] = (
    (bool, ValueType.YES_NO),
    (Money, ValueType.MONEY),
    (datetime, ValueType.INSTANT),
    (date, ValueType.DATE),
    (time, ValueType.CLOCK),
    (timedelta, ValueType.DURATION),
    (int, ValueType.NUMBER),
    (Decimal, ValueType.NUMBER),
    (str, ValueType.TEXT),
)


def facts_of_fields(model: type[BaseModel], prefix: str) -> Iterator[KnownFact]:
    """Return a fact for each field of a noun, and for each field of the models inside it."""
    for name, annotation in get_type_hints(model, include_extras=True).items():
        if name not in model.model_fields:
            continue
        path = f"{prefix}{name}"
        required = _without_none(annotation)
        if isinstance(required, type) and issubclass(required, BaseModel):
            yield from facts_of_fields(required, f"{path}.")
        else:
            yield _fact(path, required)


def _fact(path: str, annotation: Any) -> KnownFact:
    personal = _is_personal(annotation)
    for written, value_type in _WRITTEN_SO:
        if annotation == written:
            return KnownFact(path, value_type, personal=personal)
    bare = get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation
    if get_origin(bare) is Literal:
        return KnownFact(path, ValueType.CHOICE, get_args(bare), personal)
    if get_origin(bare) is tuple and get_origin(get_args(bare)[0]) is Literal:
        return KnownFact(path, ValueType.TEXTS, get_args(get_args(bare)[0]), personal)
    return KnownFact(path, _of_class(bare), personal=personal)


def _of_class(bare: Any) -> ValueType:
    for known, value_type in _CLASSES:
        if isinstance(bare, type) and issubclass(bare, known):
            return value_type
    return ValueType.ANY


def _without_none(annotation: Any) -> Any:
    if get_origin(annotation) not in (Union, UnionType):
        return annotation
    rest = [part for part in get_args(annotation) if part is not type(None)]
    return rest[0] if len(rest) == 1 else Any


def _is_personal(annotation: Any) -> bool:
    return any(isinstance(mark, Personal) for mark in getattr(annotation, "__metadata__", ()))
