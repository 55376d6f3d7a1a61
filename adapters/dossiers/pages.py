"""A dossier's document as a page that stands alone: no script, no style or picture from elsewhere.

Everything in it is escaped, so that nothing which somebody wrote can be taken for markup.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import Any

Document = Mapping[str, Any]

STYLE = """
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { margin: 2rem auto; max-width: 70rem; padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.25rem; margin-top: 2rem; } h3 { font-size: 1rem; margin-bottom: .25rem; }
table { border-collapse: collapse; width: 100%; } caption { text-align: left; font-weight: 600; padding: .5rem 0; }
th, td { border: 1px solid #8888; padding: .3rem .5rem; text-align: left; vertical-align: top; }
td { overflow-wrap: anywhere; }
th { background: #8882; } tbody th { width: 12rem; }
summary { cursor: pointer; padding: .4rem 0; } details { border-top: 1px solid #8888; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: 0; font-size: .85rem; }
"""

_CONDITIONS = ("verdict", "fact", "operator", "value", "seen", "note")
_ATTEMPTS = (
    "name",
    "number",
    "series",
    "started_at",
    "ended_at",
    "operation",
    "idempotency_key",
    "arguments",
    "class",
    "answer",
    "by",
)
_LATE = ("action", "attempt", "series", "operation", "idempotency_key", "started_at", "arguments", "ending")
_ACTS = ("at", "what", "by", "why")
_STEPS = ("at", "what", "attempt", "class", "by", "why")
_UNREAD = ("position", "stream", "version", "topic", "reason")
_FACTS = (
    "rule",
    "version",
    "trigger",
    "entity",
    "date",
    "key",
    "origin",
    "by",
    "claimed_at",
    "due",
    "late",
    "status",
    "at",
    "reason",
    "again_at",
)


def dossier_page(document: Document) -> str:
    """Return the page of a dossier in HTML."""
    title = f"Dossier {document['dossier']}: {document['cause']}"
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(title)}</title>",
            f"<style>{STYLE}</style>",
            "</head>",
            "<body>",
            f"<h1>{escape(title)}</h1>",
            *_heading(document),
            *_history(document["history"]),
            *_unread(document["unread"]),
            *_runs(document["runs"]),
            *_deliveries(document["deliveries"]),
            "</body>",
            "</html>",
            "",
        ]
    )


def _heading(document: Document) -> Iterator[str]:
    state = "open" if document["is_open"] else "closed"
    held = " · the service is held back until it answers" if document["held"] else ""
    yield f"<p>{escape(state + held)}</p>"
    shown = ("service", "operation", "ending", "rule", "opened_at", "closed_at", "assigned_to", "settled")
    yield from _facts(document, shown, "About")


def _history(history: Sequence[Document]) -> Iterator[str]:
    yield "<h2>What happened to it</h2>"
    rows = [
        {
            **entry,
            "details": {name: value for name, value in entry.items() if name not in ("at", "what", "by") and value},
        }
        for entry in history
    ]
    yield from _table(rows, ("at", "what", "by", "details"), "History")


def _unread(unread: Sequence[Document]) -> Iterator[str]:
    if unread:
        yield "<h2>Events that cannot be read</h2>"
        yield from _table(unread, _UNREAD, "Events")


def _runs(runs: Sequence[Document]) -> Iterator[str]:
    yield f"<h2>Runs ({len(runs)})</h2>"
    for run in runs:
        told = (
            f"{run['standing'].replace('_', ' ')}: {run['name']} for {run['entity']} on {run['date']}, {run['status']}"
        )
        yield "<details open>" if len(runs) == 1 else "<details>"
        yield f"<summary>{escape(told)}</summary>"
        yield from _facts(run, _FACTS, "Run")
        yield from _event(run["event"])
        yield from _wording(run["wording"])
        yield from _table(run["conditions"], _CONDITIONS, "Conditions, with the values they saw")
        yield from _table(run["attempts"], _ATTEMPTS, "Attempts")
        yield from _table(run["late_answers"], _LATE, "Answers that came too late")
        yield from _table(run["acts"], _ACTS, "What was done about it since")
        yield "</details>"


def _deliveries(deliveries: Sequence[Document]) -> Iterator[str]:
    if deliveries:
        yield f"<h2>Deliveries ({len(deliveries)})</h2>"
    for each in deliveries:
        told = f"{each['standing'].replace('_', ' ')}: {each['type']} to {each['to']} on {each['channel']}"
        yield "<details open>" if len(deliveries) == 1 else "<details>"
        yield f"<summary>{escape(told)}, {escape(each['status'])}</summary>"
        yield from _facts(each, [name for name in each if name not in ("standing", "steps")], "Delivery")
        yield from _table(each["steps"], _STEPS, "What happened to it")
        yield "</details>"


def _event(event: Document | None) -> Iterator[str]:
    if event is not None:
        shown = ("type", "source", "id", "time", "recorded_at", "changed", "data")
        yield from _facts(event, shown, "The event that started it")


def _wording(wording: Document | None) -> Iterator[str]:
    if wording is not None:
        yield from _facts(wording, [name for name in wording if name != "enabled"], "The rule as it was")


def _facts(document: Document, names: Iterable[str], caption: str) -> Iterator[str]:
    """Return a table of names and values, without those that are empty."""
    yield f"<table><caption>{escape(caption)}</caption><tbody>"
    for name in names:
        if document.get(name) not in (None, "", [], {}):
            yield f'<tr><th scope="row">{_words(name)}</th><td>{_cell(document[name])}</td></tr>'
    yield "</tbody></table>"


def _table(rows: Sequence[Document], columns: Sequence[str], caption: str) -> Iterator[str]:
    """Return a table with a row for each document; none at all where there is nothing to show."""
    if not rows:
        return
    yield f"<table><caption>{escape(caption)}</caption><thead><tr>"
    yield from (f'<th scope="col">{_words(column)}</th>' for column in columns)
    yield "</tr></thead><tbody>"
    for row in rows:
        yield f"<tr>{''.join(f'<td>{_cell(row.get(column))}</td>' for column in columns)}</tr>"
    yield "</tbody></table>"


def _words(name: str) -> str:
    return escape(name.replace("_", " "))


def _cell(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case str() | int() | float():
            return escape(str(value))
        case _:
            return f"<pre>{escape(json.dumps(value, ensure_ascii=False, indent=1))}</pre>"
