"""Rule files are read and checked, with the place of everything that is wrong or unwise in them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from adapters.files.yaml_source import Document
    from automations.authoring import AuthoredRule
    from domain.errors import InvalidInput

_PLACED = re.compile(r"(?P<file>.*?):(?P<line>\d+):(?P<column>\d+): (?P<message>.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Finding:
    """Something in a file that is wrong, or that probably means another thing than its author thinks."""

    severity: Literal["mistake", "warning"]
    file: str
    message: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}" if self.line else self.file
        return f"{place}: {'warning: ' if self.severity == 'warning' else ''}{self.message}"

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "severity": self.severity,
            "file": self.file,
            "line": self.line,
            "column": self.column,
            "message": self.message,
        }


@dataclass(frozen=True, slots=True)
class RuleFiles:
    """What the files say; the rules count for nothing if there is a mistake."""

    rules: tuple[AuthoredRule, ...]
    findings: tuple[Finding, ...]

    @property
    def mistakes(self) -> tuple[Finding, ...]:
        """Return what is wrong."""
        return tuple(found for found in self.findings if found.severity == "mistake")


def read_rule_files(names: Sequence[str]) -> RuleFiles:
    """Read all files, and collect the rules and the findings of all of them."""
    rules: list[AuthoredRule] = []
    findings: list[Finding] = []
    homes: dict[str, str] = {}
    for name in names:
        read, found = _read_file(name)
        rules += read
        findings += found
        findings += _repeated(read, name, homes)
    return RuleFiles(tuple(rules), tuple(findings))


def _read_file(name: str) -> tuple[Sequence[AuthoredRule], Sequence[Finding]]:
    from adapters.files.yaml_source import read_document
    from automations import authoring
    from domain.errors import InvalidInput

    try:
        document = read_document(Path(name).read_bytes(), name)
    except OSError as error:
        return (), [Finding("mistake", name, error.strerror or str(error))]
    except InvalidInput as error:
        return (), list(_placed("mistake", name, _messages(error)))
    try:
        rules = authoring.read_document(document.value)
    except InvalidInput as error:
        return (), list(_placed("mistake", name, document.lines(error.mistakes)))
    return rules, list(_advice(rules, document, name))


def _messages(error: InvalidInput) -> list[str]:
    return [str(mistake) for mistake in error.mistakes]


def _advice(rules: Sequence[AuthoredRule], document: Document, name: str) -> Iterator[Finding]:
    from automations.advice import advice_on
    from domain.errors import Mistake

    found = [
        Mistake(("rules", index, *one.path), one.message, one.offset)
        for index, authored in enumerate(rules)
        for one in advice_on(authored.rule)
    ]
    return _placed("warning", name, document.lines(found))


def _placed(severity: Literal["mistake", "warning"], name: str, lines: Iterable[str]) -> Iterator[Finding]:
    for line in lines:
        match = _PLACED.fullmatch(line)
        if match is None:
            yield Finding(severity, name, line.removeprefix(f"{name}: "))
        else:
            yield Finding(severity, match["file"], match["message"], int(match["line"]), int(match["column"]))


def _repeated(rules: Sequence[AuthoredRule], name: str, homes: dict[str, str]) -> list[Finding]:
    """Return the rules that another file defines already; within one file the reader finds them itself."""
    found = []
    for authored in rules:
        home = homes.setdefault(authored.rule.id, name)
        if home != name:
            found.append(Finding("mistake", name, f"the rule {authored.rule.id} stands in {home} too"))
    return found
