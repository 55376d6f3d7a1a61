"""Scenario files: all of them are read first, and only then is any of them run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import structlog

from adapters.files.yaml_source import Document, read_document, read_documents
from adapters.scenarios.playing import Played, play
from adapters.scenarios.results import Result, located
from automations.authoring import AuthoredRule
from automations.authoring import read_document as read_rules_of
from automations.scenario import Scenario
from automations.scenarios.comparing import broken_off
from automations.scenarios.reading import read_scenario
from domain.errors import InvalidInput, Mistake, Unavailable

logger = structlog.get_logger(__name__)

SUFFIXES = (".yaml", ".yml")
"""How the names of scenario files end, where a folder is given."""


ONLY_SCENARIOS = frozenset({"scenario", "timeline", "given", "expect"})
"""Settings that nothing else has at its top."""


@dataclass(frozen=True, slots=True)
class Written:
    """A scenario and the document that it stands in."""

    scenario: Scenario
    document: Document


def run_files(
    paths: Iterable[str | Path],
    database_url: str | None = None,
    *,
    finished: Callable[[Result], object] = lambda result: None,
) -> list[Result]:
    """Run every scenario of these files, or of the files in these folders, and return what came of each.

    Without a URL each scenario gets an embedded database of its own, with that of a PostgreSQL database a
    schema of its own in it; both are gone afterwards. `finished` is called with each result when it is there.
    Raises InvalidInput with the place of every mistake in all of the files, before anything is run.
    """
    results = []
    for written in read_files(paths):
        results.append(run(written, database_url))
        finished(results[-1])
    return results


def read_files(paths: Iterable[str | Path]) -> list[Written]:
    """Return the scenarios of these files and folders; raises InvalidInput with every mistake in them.

    In a folder, files that have nothing of a scenario, such as those of rules, are passed over.
    """
    written: list[Written] = []
    mistakes: list[Mistake] = []
    for path in map(Path, paths):
        try:
            found = _in_folder(path) if path.is_dir() else [_file(path)]
        except InvalidInput as error:
            mistakes += error.mistakes
            continue
        for file, documents in found:
            mistakes += _read(file, documents, written)
    if mistakes:
        raise InvalidInput(mistakes)
    return written


def _read(file: Path, documents: Iterable[Document], written: list[Written]) -> Iterator[Mistake]:
    """Take over the scenarios of a file, and return what is wrong with others."""
    for document in documents:
        try:
            scenario = read_scenario(document.value, _rules_beside(file))
            written.append(Written(scenario, document))
        except InvalidInput as error:
            yield from document.located(error).mistakes


def _documents(file: Path) -> list[Document]:
    """Return the documents of a file; a separator behind the last one makes none."""
    return [each for each in read_documents(_content(file), str(file)) if each.value is not None]


def _file(file: Path) -> tuple[Path, list[Document]]:
    documents = _documents(file)
    if not documents:
        raise InvalidInput(f"{file}:1:1: no scenario stands in this file")
    return file, documents


def _in_folder(folder: Path) -> list[tuple[Path, list[Document]]]:
    files = sorted(file for file in folder.rglob("*") if file.suffix in SUFFIXES and file.is_file())
    read = [(file, _documents(file)) for file in files]
    found = [(file, documents) for file, documents in read if any(map(_looks_like_one, documents))]
    if not found:
        raise InvalidInput(f"{folder}: no file in this folder that ends with {' or '.join(SUFFIXES)} holds a scenario")
    return found


def _looks_like_one(document: Document) -> bool:
    return isinstance(document.value, dict) and not ONLY_SCENARIOS.isdisjoint(document.value)


def run(written: Written, database_url: str | None = None) -> Result:
    """Run one scenario, and return what came of it; one that breaks the engine fails, and stops no other."""
    document = written.document
    try:
        played = play(written.scenario, database_url)
    except Unavailable:
        raise
    except Exception as error:  # the loop over scenarios: what is wrong with one is told with it
        logger.exception("scenario.broke-off", scenario=written.scenario.name)
        played = Played([broken_off(error)])
    return Result(
        written.scenario.name,
        document.place(),
        located(document, played.differences),
        tuple(f"{document.place(path)}: {note}" for path, note in played.notes),
    )


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InvalidInput(f"{path}: cannot be read: {error.strerror or error}") from None


def _rules_beside(path: Path) -> Callable[[str], tuple[AuthoredRule, ...]]:
    """Return what reads a file of rules that a scenario names, from the folder of the scenario's file."""

    def read(name: str) -> tuple[AuthoredRule, ...]:
        rules = path.parent / name
        document = read_document(_content(rules), str(rules))
        try:
            return read_rules_of(document.value)
        except InvalidInput as error:
            raise document.located(error) from None

    return read
