"""`semel rules add` copies ready rules into the operator's folder, and lists those that there are."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from adapters.cli.authoring import AsJson
from adapters.cli.printing import print_array, say, show_table
from adapters.cli.rules import app

Name = Annotated[str | None, typer.Argument(metavar="NAME", help="The ready rule; without one they are listed.")]
Folder = Annotated[Path, typer.Option("--into", metavar="FOLDER", help="Where the files go.")]
Wording = Annotated[
    bool, typer.Option("--wording", help="Also copy the texts that are sent, so that they can be changed.")
]


@app.command()
def add(name: Name = None, into: Folder = Path(), wording: Wording = False, as_json: AsJson = False) -> None:
    """Copy a ready rule into your folder.

    The rule is yours from then on. A file of scenarios comes with it, which shows it at work and can be changed
    with it. No file is ever overwritten. Without a name the ready rules are listed.
    """
    from adapters import ready_rules

    if name is None:
        _list(as_json)
        return
    file = ready_rules.ready_file(name)
    copied = ready_rules.copy(file, into, wording=wording)
    if as_json:
        print_array({"file": str(path)} for path in copied)
        return
    for path in copied:
        say(f"{path}")
    rules, scenario = copied[0], copied[1]
    say(f"try it: semel test {scenario}")
    say(f"publish it: semel apply {rules}")


def _list(as_json: bool) -> None:
    from adapters.ready_rules import ready_files

    rows = [{"name": file.name, "rules": file.rules, "about": file.about} for file in ready_files().values()]
    if as_json:
        print_array(rows)
        return
    show_table(("name", "about"), [(row["name"], row["about"]) for row in rows])
    say("semel rules add NAME copies one into this folder")
