"""The README's two commands are the ones that everything else uses."""

from __future__ import annotations

import re
import tomllib

from tests.architecture.tree import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^ {4}(python3\.11 -m venv .+)$", README, re.MULTILINE)


def test_there_are_two_commands_for_a_fresh_machine_and_each_does_all_of_its_set_up() -> None:
    assert len(COMMANDS) == 2
    assert [command.split(" && ")[0] for command in COMMANDS] == ["python3.11 -m venv .venv"] * 2
    assert [command.split(" && ")[-1] for command in COMMANDS] == [
        ".venv/bin/semel demo",
        ".venv/bin/python -m pytest",
    ]


def test_the_build_runs_the_test_command_of_the_readme() -> None:
    lines = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert lines[-1] == COMMANDS[1]


def test_every_dependency_is_pinned() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [each for extra in project["optional-dependencies"].values() for each in extra]
    wanted = [each for each in [*project["dependencies"], *extras] if not each.startswith(f"{project['name']}[")]
    pinned = {line.partition("==")[0] for line in (ROOT / "constraints.txt").read_text("utf-8").splitlines()}
    names = {re.split(r"[\[<>=! ]", requirement)[0].lower() for requirement in wanted}
    assert {name.replace(".", "-").replace("_", "-") for name in names} <= pinned
