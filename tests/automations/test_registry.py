"""Plug-ins are found in their folder and in other distributions."""

from __future__ import annotations

import sys
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path
from textwrap import dedent

import pytest

from automations import registry as registry_module
from automations.registry import DuplicateName, Registry, UnknownName

PACKAGE = "plugins_of_a_test"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    package = tmp_path / PACKAGE
    package.mkdir()
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in [name for name in sys.modules if name.startswith(PACKAGE)]:
        monkeypatch.delitem(sys.modules, name)
    init = f"from automations.registry import Registry\nthings = Registry('thing', '{PACKAGE}')\n"
    (package / "__init__.py").write_text(init)
    return package


def add(folder: Path, module: str, name: str) -> None:
    text = f"""
        from {PACKAGE} import things

        @things.register("{name}")
        class Plugin:
            pass
        """
    (folder / f"{module}.py").write_text(dedent(text))


def things(folder: Path) -> Registry[object]:
    module = __import__(folder.name)
    found: Registry[object] = module.things
    return found


def test_a_new_file_in_the_folder_is_found(folder: Path) -> None:
    add(folder, "lamp", "desk lamp")
    assert list(things(folder)) == ["desk lamp"]
    assert things(folder)["desk lamp"].NAME == "desk lamp"  # type: ignore[attr-defined]


def test_an_entry_point_of_another_distribution_is_found(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outside = folder.parent / "outside_of_a_test.py"
    outside.write_text(f"from {PACKAGE} import things\n@things.register('outside')\nclass Outside: pass\n")
    points = EntryPoints([EntryPoint("outside", "outside_of_a_test:Outside", PACKAGE)])
    monkeypatch.setattr(registry_module, "entry_points", lambda group: points.select(group=group))
    assert "outside" in things(folder)


def test_an_unknown_name_is_refused_with_the_nearest_one(folder: Path) -> None:
    add(folder, "lamp", "desk lamp")
    with pytest.raises(UnknownName, match=r"^no thing is called 'desk lmap'; did you mean desk lamp\?$"):
        things(folder)["desk lmap"]


def test_an_unknown_name_that_is_near_to_none_is_told_all(folder: Path) -> None:
    add(folder, "lamp", "desk lamp")
    with pytest.raises(UnknownName, match="known: desk lamp"):
        things(folder)["zzz"]


def test_two_plugins_of_one_name_are_refused(folder: Path) -> None:
    add(folder, "lamp", "lamp")
    add(folder, "light", "lamp")
    with pytest.raises(DuplicateName, match="two things are called 'lamp'"):
        list(things(folder))


def test_a_broken_plugin_fails_each_time_it_is_asked_for(folder: Path) -> None:
    (folder / "broken.py").write_text("raise RuntimeError('no such library')")
    for _ in range(2):
        with pytest.raises(RuntimeError, match="no such library"):
            len(things(folder))
