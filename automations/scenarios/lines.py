"""Expected lines and observed rows in words, and what a line says about a row, field by field."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from automations.scenarios.expectations import (
    ExpectedDelivery,
    ExpectedDossier,
    ExpectedDue,
    ExpectedMessage,
    ExpectedRun,
    Written,
)
from automations.scenarios.matching import Check
from automations.scenarios.observed import Delivery, Dossier, Due, Message, Run
from domain.civil_time import wall_of
from domain.text_values import shown
from domain.time_texts import format_wall

LONGEST_TEXT = 120
"""Characters of a message that a line shows."""


@dataclass(frozen=True, slots=True)
class Teller:
    """Tells lines and rows; instants as the clocks of one zone show them."""

    zone: ZoneInfo

    def time(self, instant: datetime | None) -> str:
        """Return an instant as a local time."""
        return "never" if instant is None else format_wall(wall_of(instant, self.zone))

    def line(self, line: Any) -> str:
        """Return an expected line in words."""
        told = ", ".join(f"{name} {value}" for name, value in self._written(line))
        kind = _KINDS[type(line)]
        count = f" {line.times} times" if line.times > 1 else ""
        return f"a {kind}{count}: {told}" if told else f"a {kind}{count}, whichever"

    def _written(self, line: Any) -> Iterator[tuple[str, str]]:
        for name in line.__slots__:
            value = getattr(line, name)
            if name in ("path", "times") or value is None or value == "":
                continue
            yield name.replace("_", " "), self._value(value)

    def _value(self, value: object) -> str:
        match value:
            case Written():
                return self.time(value.instant)
            case bool():
                return "yes" if value else "no"
            case _:
                return str(value)

    def row(self, row: Run | Message | Delivery | Dossier | Due) -> str:
        """Return something that happened in words."""
        match row:
            case Run():
                late = ", late" if row.late else ""
                told = f"{row.rule} for {row.entity} on {row.date}, {row.status} at {self.time(row.at)}{late}"
                return f"{told} ({row.reason})" if row.reason else told
            case Message():
                told = f"{row.type} to {row.to}{_by(row.channel)} at {self.time(row.at)}"
                return f"{told}: {_shortened(row.text)}" if row.text else told
            case Delivery():
                told = f"{row.type} to {row.to}{_by(row.channel)}, {row.status} at {self.time(row.at)}"
                return f"{told} ({row.reason})" if row.reason else told
            case Dossier():
                what = f"rule {row.rule}" if row.rule else f"service {row.service}"
                return f"{what}, {row.ending}, {row.runs} run{'' if row.runs == 1 else 's'}"
            case Due():
                return f"{row.rule} for {row.entity} at {self.time(row.at)}"

    def run_checks(self, line: ExpectedRun, run: Run) -> list[Check]:
        """Compare a line with a run."""
        return [
            *_same("rule", line.rule, run.rule),
            *_same("entity", line.entity, run.entity),
            *_same("date", line.date, run.date),
            *_same("status", line.status, run.status),
            *self._at(line.at, run.at),
            *_same("late", line.late, run.late),
            *_contains("reason", line.reason_contains, run.reason),
        ]

    def message_checks(self, line: ExpectedMessage, message: Message) -> list[Check]:
        """Compare a line with a message or a notice."""
        return [
            *_same("to", line.to, message.to),
            *_same("type", line.type, message.type),
            *_same("channel", line.channel, message.channel),
            *self._at(line.at, message.at),
            *_contains("text", line.text_contains, message.text, whatever_case=False),
        ]

    def delivery_checks(self, line: ExpectedDelivery, delivery: Delivery) -> list[Check]:
        """Compare a line with a delivery."""
        return [
            *_same("to", line.to, delivery.to),
            *_same("type", line.type, delivery.type),
            *_same("channel", line.channel, delivery.channel),
            *_same("status", line.status, delivery.status),
            *self._at(line.at, delivery.at),
            *_contains("reason", line.reason, delivery.reason),
        ]

    def dossier_checks(self, line: ExpectedDossier, dossier: Dossier) -> list[Check]:
        """Compare a line with an open dossier."""
        return [
            *_same("rule", line.rule, dossier.rule),
            *_same("service", line.service, dossier.service),
            *_same("runs", line.runs, dossier.runs),
        ]

    def due_checks(self, line: ExpectedDue, due: Due) -> list[Check]:
        """Compare a line with what is ahead."""
        return [
            *_same("entity", line.entity, due.entity),
            *_same("rule", line.rule, due.rule),
            *self._at(line.at, due.at),
        ]

    def _at(self, wanted: Written | None, seen: datetime | None) -> Iterator[Check]:
        if wanted is not None:
            yield Check("at", self.time(wanted.instant), self.time(seen), wanted.fits(seen))


def _same(name: str, wanted: object, seen: object) -> Iterator[Check]:
    if wanted is not None and wanted != "":
        yield Check(name, _told(wanted), _told(seen), wanted == seen)


def _contains(name: str, wanted: str, seen: str, *, whatever_case: bool = True) -> Iterator[Check]:
    if wanted:
        fits = wanted.casefold() in seen.casefold() if whatever_case else wanted in seen
        yield Check(name, f"one with {shown(wanted)}", shown(_shortened(seen)) if seen else "", fits)


def _by(channel: str) -> str:
    return f" by {channel}" if channel else ""


def _told(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_TEXT else f"{line[:LONGEST_TEXT]}…"


_KINDS: dict[type[Any], str] = {
    ExpectedRun: "run",
    ExpectedMessage: "message",
    ExpectedDelivery: "delivery",
    ExpectedDossier: "dossier",
    ExpectedDue: "run ahead",
}
