"""`semel check` reads rule files and names what is wrong in them; `semel apply` publishes them."""

from __future__ import annotations

import getpass
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from adapters.cli.faults import WRONG_INPUT
from adapters.cli.printing import complain, print_array, say, show_table
from adapters.cli.rule_files import RuleFiles, read_rule_files
from adapters.cli.session import opened

if TYPE_CHECKING:
    from domain.rules import RuleEvent

Files = Annotated[list[str], typer.Argument(metavar="FILE", help="Rule files in YAML.")]
By = Annotated[str | None, typer.Option(metavar="NAME", help="Who does it; your name on this machine otherwise.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print an array of objects.")]


def check(files: Files, as_json: AsJson = False) -> None:
    """Check rule files.

    Nothing is published. Every mistake is named with its place, such as rules.yaml:12:9, and with the
    nearest known word; exits 2 if there is one. Warnings, about rules that probably mean something else, do
    not count as mistakes.
    """
    read = read_rule_files(files)
    if as_json:
        print_array(found.to_json() for found in read.findings)
    else:
        _complain_of(read)
        if not read.mistakes:
            say(f"{_counted(len(read.rules), 'rule')} checked: no mistake")
    if read.mistakes:
        raise typer.Exit(WRONG_INPUT)


def apply(context: typer.Context, files: Files, by: By = None, as_json: AsJson = False) -> None:
    """Check rule files and publish them.

    All their rules are published in one transaction, or none if there is a mistake. A rule that is new is
    drafted, one with another wording revised, and each is enabled or disabled as its file says. Rules that
    stand in no file stay as they are. Applying the same files again changes nothing.
    """
    read = read_rule_files(files)
    _complain_of(read)
    if read.mistakes:
        complain("nothing was published")
        raise typer.Exit(WRONG_INPUT)
    with opened(context, writes=True) as application:
        changes = application.save_rules([(one.rule, one.enabled) for one in read.rules], who(by))
        states = {state.rule.id: state for state in application.rules()}
    rows = [(rule_id, told(events), states[rule_id].version) for rule_id, events in changes.items()]
    if as_json:
        print_array({"rule": rule_id, "done": done, "version": version} for rule_id, done, version in rows)
    else:
        show_table(("rule", "done", "version"), rows)


def who(by: str | None) -> str:
    """Return who acts: as given, or the name of the user of this machine."""
    if by is not None:
        return by
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # a container may know no user of this number
        return ""


def told(events: Sequence[RuleEvent]) -> str:
    """Return what saving or switching a rule did, in words: `drafted and enabled`, or `unchanged`."""
    return " and ".join(event.topic.removeprefix("rule.") for event in events) or "unchanged"


def _complain_of(read: RuleFiles) -> None:
    for found in read.findings:
        complain(str(found))


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
