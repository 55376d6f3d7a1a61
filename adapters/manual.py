"""The reference pages, made from what the code itself says: docstrings and schemas of plug-ins and nouns.

`python -m adapters.manual docs/reference` writes them; a test fails where they are stale.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from adapters.channel_pages import channels_page
from adapters.service_pages import service_api
from automations.actions import Action, actions
from automations.operators import Operator, operators
from automations.triggers import Trigger, triggers
from domain.facts import CATALOGUE
from domain.fields import Fields
from domain.nouns import NOUNS, FactType, Noun

MADE = "<!-- Made by `python -m adapters.manual`; change the docstrings instead. -->"


def pages() -> dict[str, str]:
    """Return every page by the name of its file."""
    made: dict[str, Callable[[], Iterator[str]]] = {
        "events.md": _events,
        "triggers.md": _triggers,
        "operators.md": _operators,
        "actions.md": _actions,
        "channels.md": channels_page,
    }
    written = {name: "\n".join([MADE, "", *page()]).rstrip() + "\n" for name, page in made.items()}
    return {**written, "service-api.openapi.json": service_api()}


def _events() -> Iterator[str]:
    yield from ("# Events", "", f"CloudEvents 1.0 in JSON; the catalogue has {len(NOUNS)} nouns.", "")
    about = {noun.kind: inspect.getdoc(module) or "" for module in CATALOGUE for noun in _nouns_of(module)}
    for noun in NOUNS.values():
        yield from (f"## {noun.kind}", "", about[noun.kind], "")
        yield from ("| type | needs | means |", "|---|---|---|")
        yield from (_event_row(name, kind) for name, kind in noun.types.items())
        yield ""
        yield from _fields("Fields", noun.fields)
        parts = {kind.fields for kind in noun.types.values() if kind.fields is not None}
        for part in sorted(parts, key=lambda fields: fields.__name__):
            yield from _fields(_first_line(part), part)


def _nouns_of(module: Any) -> Iterator[Noun]:
    return (value for value in vars(module).values() if isinstance(value, Noun))


def _event_row(name: str, kind: FactType) -> str:
    means = {**kind.defaults, **kind.sets}
    told = ", ".join(f"{field} = {_said(value)}" for field, value in means.items())
    timed = f"{kind.sets_time} = its time" if kind.sets_time else ""
    return f"| `{name}` | {', '.join(kind.needs)} | {'; '.join(filter(None, (told, timed)))} |"


def _said(value: object) -> str:
    return {True: "yes", False: "no"}.get(value, str(value)) if isinstance(value, bool) else str(value)


def _fields(title: str, fields: type[Fields]) -> Iterator[str]:
    yield from (f"{title}:", "", "| field | form | personal |", "|---|---|---|")
    for name, schema in fields.model_json_schema()["properties"].items():
        yield f"| `{name}` | {_form(schema)} | {'yes' if name in fields.PERSONAL else ''} |"
    yield ""


def _form(schema: Mapping[str, Any]) -> str:
    """Return the form of a value in a few words."""
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(_form(each) for each in schema["anyOf"] if each.get("type") != "null"))
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    if "$ref" in schema:
        return str(schema["$ref"].rpartition("/")[2])
    words = {"date-time": "instant", "date": "date"}
    kind = words.get(schema.get("format", ""), schema.get("type", "any"))
    return f"list of {_form(schema['items'])}" if kind == "array" and schema.get("items") else str(kind)


def _triggers() -> Iterator[str]:
    yield from ("# Triggers", "")
    for name, trigger in triggers.items():
        yield from (f"## {name}", "", inspect.getdoc(trigger) or "", "")
        yield from _trigger_facts(trigger)


def _trigger_facts(trigger: type[Trigger]) -> Iterator[str]:
    yield f"- starts by {'the clock' if trigger.IS_CLOCK else 'an event'}, about a {trigger.KIND}"
    if trigger.OFFSET:
        yield f"- wants `{trigger.OFFSET}`"
    yield f"- facts: {', '.join(f'`{root}.`' for root in trigger.ROOTS)}"
    yield f"- `once`: {', '.join(f'`{once}`' for once in trigger.ONCE)}; the first is the default"
    yield ""


def _operators() -> Iterator[str]:
    yield from ("# Operators", "")
    for name, operator in operators.items():
        yield from (f"## {name}", "", inspect.getdoc(operator) or "", "")
        yield from _operator_facts(operator)


def _operator_facts(operator: type[Operator]) -> Iterator[str]:
    if operator.SPELLINGS:
        yield from (f"Also written {', '.join(f'`{spelling}`' for spelling in operator.SPELLINGS)}.", "")


def _actions() -> Iterator[str]:
    yield from ("# Actions", "")
    for name, action in actions.items():
        yield from (f"## {name}", "", inspect.getdoc(action) or "", "")
        yield from _action_facts(action)


def _action_facts(action: type[Action]) -> Iterator[str]:
    settings = (
        f"`{info.alias or name}`{'' if info.is_required() else '?'}" for name, info in action.model_fields.items()
    )
    yield from (f"Settings: {', '.join(settings)}. Calls `{action.OPERATION}`.", "")


def _first_line(thing: type) -> str:
    return (inspect.getdoc(thing) or "").partition("\n")[0].rstrip(".")


def main(folder: str) -> None:
    """Write all pages into a folder."""
    for name, text in pages().items():
        Path(folder, name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
