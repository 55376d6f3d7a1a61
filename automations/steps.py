"""The actions of a rule: each plug-in is found, and its settings are checked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from pydantic import ValidationError

from automations.actions import Action, actions
from automations.fact_catalogue import FactCatalogue
from automations.mistakes import Key, Mistakes, Path, mistakes_in
from automations.registry import UnknownName
from automations.setting_facts import instant_mistakes, template_mistakes
from automations.triggers import Trigger
from domain.errors import Mistake
from domain.rules import Step
from domain.text_values import shown

MOST_STEPS = 20
"""Actions of one rule."""

LARGEST_SETTINGS = 50_000
"""Characters of one action's settings in JSON."""

_ON_FAILURE = ("stop", "go_on")


def read_steps(given: object, trigger: type[Trigger] | None, path: Path, mistakes: Mistakes) -> tuple[Step, ...]:
    """Return the steps of a rule; what is wrong leaves mistakes.

    Facts that settings name are checked if the trigger is known.
    """
    if given is None:
        mistakes.add(path[:-1], "'do' is missing")
        return ()
    if not isinstance(given, list) or not given:
        mistakes.add(path, f"do is a list of actions, like - notify: {{type: reminder}}, and not {shown(given)}")
        return ()
    if len(given) > MOST_STEPS:
        mistakes.add(path, f"a rule has at most {MOST_STEPS} actions, this one has {len(given)}")
        return ()
    catalogue = trigger.catalogue() if trigger is not None else None
    read = [_Step(item, (*path, index), mistakes).read(catalogue) for index, item in enumerate(given)]
    return tuple(step for step in read if step is not None)


class _Step:
    def __init__(self, given: object, path: Path, mistakes: Mistakes) -> None:
        self._given, self._path, self._mistakes = given, path, mistakes

    def read(self, catalogue: FactCatalogue | None) -> Step | None:
        named = self._named()
        if named is None:
            return None
        name, settings, on_failure = named
        path = (*self._path, name)
        try:
            plugin = actions[name]
        except UnknownName as error:
            self._mistakes.add((*self._path, Key(name)), str(error))
            return None
        if len(json.dumps(settings, default=str)) > LARGEST_SETTINGS:
            self._mistakes.add(path, f"the settings of an action have at most {LARGEST_SETTINGS} characters")
            return None
        found = list(_faults(plugin, settings, catalogue))
        self._mistakes.extend(found, path)
        return None if found else Step(action=name, settings=settings, on_failure=on_failure)

    def _named(self) -> tuple[str, dict[str, Any], Any] | None:
        given = {self._given: {}} if isinstance(self._given, str) else self._given
        if not isinstance(given, dict):
            self._mistakes.add(self._path, f"an action is written name: {{settings}}, and not {shown(given)}")
            return None
        outside = given.get("on_failure")
        names = [key for key in given if key != "on_failure"]
        if len(names) != 1:
            self._mistakes.add(self._path, "each action stands by itself: begin the next one with a dash")
            return None
        name, settings = names[0], given[names[0]]
        settings = {} if settings is None else settings
        if not isinstance(settings, dict) or not all(isinstance(key, str) for key in settings):
            self._mistakes.add((*self._path, name), f"the settings of {name} are a mapping, and not {shown(settings)}")
            return None
        inside = {key: value for key, value in settings.items() if key != "on_failure"}
        return str(name), inside, self._on_failure(outside, settings.get("on_failure"), str(name))

    def _on_failure(self, outside: object, inside: object, name: str) -> Any:
        for found, place in ((inside, (name, "on_failure")), (outside, ("on_failure",))):
            if found is not None and found not in _ON_FAILURE:
                self._mistakes.add((*self._path, *place), f"on_failure is stop or go_on, and not {shown(found)}")
                return "stop"
        return inside or outside or "stop"


def _faults(plugin: type[Action], settings: dict[str, Any], catalogue: FactCatalogue | None) -> Iterator[Mistake]:
    try:
        action = plugin.model_validate(settings)
    except ValidationError as error:
        yield from mistakes_in(error, plugin, settings)
        return
    if catalogue is not None:
        yield from template_mistakes(settings, catalogue)
        yield from instant_mistakes(action, settings, catalogue)
        yield from action.check(settings, catalogue)
