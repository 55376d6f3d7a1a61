"""Ready rules: the files that `semel rules add` copies for an operator, each with a scenario that shows it at work."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from adapters.files.yaml_source import read_document
from adapters.wording import SUFFIX, packaged_templates
from automations.authoring import AuthoredRule
from automations.authoring import read_document as read_rules_of
from automations.registry import nearest
from domain.errors import InvalidInput

RULES = ".yaml"
SCENARIO = ".scenario.yaml"
TEMPLATES = "templates"
TYPE_PREFIX = "ready."
"""How the notification types of ready rules begin."""


@dataclass(frozen=True, slots=True)
class ReadyFile:
    """One file of ready rules: its name, what it is for, its text, and the text of its scenarios."""

    name: str
    text: str
    scenario: str

    @property
    def about(self) -> str:
        """Return the first line of its comment: what the rules are for."""
        return self.text.partition("\n")[0].removeprefix("#").strip()

    @property
    def authored(self) -> tuple[AuthoredRule, ...]:
        """Return the rules, checked."""
        return read_rules_of(read_document(self.text, f"{self.name}{RULES}").value)

    @property
    def rules(self) -> list[str]:
        """Return the ids of the rules."""
        return [each.rule.id for each in self.authored]

    def files(self) -> Iterator[tuple[str, str]]:
        """Yield the name and the text of each file to be copied."""
        yield f"{self.name}{RULES}", self.text
        yield f"{self.name}{SCENARIO}", self.scenario

    def wording(self) -> Iterator[tuple[str, str]]:
        """Yield the name and the text of each template that the rules use."""
        for name, text in sorted(packaged_templates().items()):
            if name.partition("/")[0] == f"{TYPE_PREFIX}{self.name}":
                yield f"{TEMPLATES}/{name}{SUFFIX}", text


def ready_files() -> dict[str, ReadyFile]:
    """Return every file of ready rules by its name."""
    folder = resources.files(__name__)
    names = sorted(entry.name.removesuffix(SCENARIO) for entry in folder.iterdir() if entry.name.endswith(SCENARIO))
    return {name: _read(name) for name in names}


def ready_file(name: str) -> ReadyFile:
    """Return one file of ready rules; raises InvalidInput with the nearest name if there is none."""
    known = ready_files()
    if name not in known:
        raise InvalidInput(f"no ready rule is called {name!r}{nearest(name, known)}")
    return known[name]


def copy(file: ReadyFile, folder: Path, *, wording: bool = False) -> list[Path]:
    """Copy the files into a folder and return where they are: the rules, their scenarios, the templates if asked for.

    Raises InvalidInput where one is there already. Nothing is overwritten, and nothing copied, unless all can be.
    """
    targets = {folder / name: text for name, text in file.files()}
    if wording:
        targets |= {folder / name: text for name, text in file.wording()}
    present = [path for path in targets if path.exists()]
    if present:
        raise InvalidInput(f"{present[0]} is there already: nothing was copied, so that no rule of yours is lost")
    try:
        for path, text in targets.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("x", encoding="utf-8", newline="\n") as opened:
                opened.write(text)
    except OSError as error:
        raise InvalidInput(f"{folder}: {error.strerror or error}") from None
    return list(targets)


def _read(name: str) -> ReadyFile:
    folder = resources.files(__name__)
    text, scenario = (folder.joinpath(f"{name}{end}").read_text(encoding="utf-8") for end in (RULES, SCENARIO))
    return ReadyFile(name, text, scenario)
