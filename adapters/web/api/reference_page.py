"""`/docs`: the description of the API as a page that needs no script and nothing from anywhere else."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

router = APIRouter()

STYLE = """
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1b1b1b;background:#fff}
h2{margin-top:2.5rem;border-bottom:1px solid #ccc}code,pre{font:14px/1.4 ui-monospace,monospace}
pre{background:#f4f4f4;padding:.8rem;overflow:auto}summary{cursor:pointer;padding:.3rem 0}
.m{display:inline-block;min-width:4.5rem;font-weight:600}table{border-collapse:collapse}
td,th{border:1px solid #ddd;padding:.2rem .6rem;text-align:left;vertical-align:top}
"""

POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

METHODS = ("get", "post", "put", "patch", "delete")


@router.get("/docs", include_in_schema=False)
async def reference(request: Request) -> HTMLResponse:
    """Show the description of the API."""
    page = "".join(_page(request.app.openapi()))
    return HTMLResponse(page, headers={"content-security-policy": POLICY})


def _page(described: Mapping[str, Any]) -> Iterator[str]:
    info = described["info"]
    yield f"<!doctype html><html lang=en><meta charset=utf-8><title>{escape(info['title'])} API</title>"
    yield f"<meta name=viewport content='width=device-width'><style>{STYLE}</style>"
    yield f"<h1>{escape(info['title'])} API</h1><p>{escape(info.get('summary', ''))}</p>"
    yield from _paragraphs(info.get("description", ""))
    yield "<p>The same for programs: <a href='/openapi.json'>openapi.json</a></p>"
    tag = None
    for path, operations in described["paths"].items():
        for method in METHODS:
            if method not in operations:
                continue
            operation = operations[method]
            if operation.get("tags", ["other"])[0] != tag:
                tag = operation.get("tags", ["other"])[0]
                yield f"<h2>{escape(tag)}</h2>"
            yield from _operation(method, path, operation, described)
    yield "</html>"


def _operation(method: str, path: str, operation: Mapping[str, Any], described: Mapping[str, Any]) -> Iterator[str]:
    yield f"<details><summary><span class=m>{method.upper()}</span> <code>{escape(path)}</code> "
    yield f"{escape(operation.get('summary', ''))}</summary>"
    yield from _paragraphs(operation.get("description", ""))
    yield from _parameters(operation.get("parameters", ()))
    for media, content in operation.get("requestBody", {}).get("content", {}).items():
        yield f"<p>Sends <code>{escape(media)}</code>:</p>"
        yield _json(_example(content, described))
    yield "<table><tr><th>answer<th>means"
    for status, told in operation.get("responses", {}).items():
        yield f"<tr><td><code>{escape(status)}</code><td>{escape(told.get('description', ''))}"
    yield "</table></details>"


def _parameters(parameters: Any) -> Iterator[str]:
    if not parameters:
        return
    yield "<table><tr><th>parameter<th>in<th>means"
    for each in parameters:
        name = escape(each["name"]) + ("" if each.get("required") else " ?")
        yield f"<tr><td><code>{name}</code><td>{escape(each['in'])}<td>{escape(each.get('description', ''))}"
    yield "</table>"


def _example(content: Mapping[str, Any], described: Mapping[str, Any]) -> Any:
    """Return an example of a body: its own, or that of the schema it refers to."""
    if "example" in content:
        return content["example"]
    schema = content.get("schema", {})
    name = str(schema.get("$ref", "")).rpartition("/")[2]
    found = described["components"]["schemas"].get(name, schema)
    return found.get("example", {})


def _json(value: Any) -> str:
    return f"<pre>{escape(json.dumps(value, indent=2, ensure_ascii=False))}</pre>"


def _paragraphs(text: str) -> Iterator[str]:
    for part in filter(None, text.split("\n\n")):
        pieces = escape(part).split("`")
        yield "<p>" + "".join(f"<code>{each}</code>" if i % 2 else each for i, each in enumerate(pieces)) + "</p>"
