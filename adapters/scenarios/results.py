"""What came of one scenario: whether all was as expected, and if not, what differs and where."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from adapters.files.yaml_source import Document
from automations.scenarios.comparing import Difference


@dataclass(frozen=True, slots=True)
class Located:
    """A difference, and where the expectation stands: `scenarios.yaml:23:7`."""

    place: str
    difference: Difference

    def lines(self) -> Iterator[str]:
        """Return the difference in words, the place first."""
        first, *others = self.difference.lines()
        yield f"{self.place}: {first}"
        yield from (f"    {line}" for line in others)

    def to_json(self) -> dict[str, Any]:
        """Return the difference as `--json` prints it."""
        return {"place": self.place, **self.difference.to_json()}


@dataclass(frozen=True, slots=True)
class Result:
    """The outcome of one scenario. `place` is where it begins; `notes` tell what was refused on the way."""

    scenario: str
    place: str
    differences: tuple[Located, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Say whether everything was as the scenario expects."""
        return not self.differences

    def lines(self) -> list[str]:
        """Return the outcome in words: one line if all is well, else each difference below it."""
        verdict = "passed" if self.ok else "FAILED"
        told = [f"{self.place}: {verdict}: {self.scenario}"]
        if not self.ok:
            told += [f"  {line}" for located in self.differences for line in located.lines()]
            told += [f"  note: {note}" for note in self.notes]
        return told

    def to_json(self) -> dict[str, Any]:
        """Return the outcome as `--json` prints it."""
        return {
            "scenario": self.scenario,
            "place": self.place,
            "ok": self.ok,
            "differences": [located.to_json() for located in self.differences],
            "notes": list(self.notes),
        }


def located(document: Document, differences: list[Difference]) -> tuple[Located, ...]:
    """Return differences with the place of each in its file."""
    return tuple(Located(document.place(each.path), each) for each in differences)
