"""The OpenAPI description of what an operator's own service has to offer, made from the commands and their answers."""

from __future__ import annotations

import inspect
import json
from collections.abc import Collection
from typing import Any

from adapters.services.http import ANSWERS, path_of
from domain.commands import Command

DIALECT = "3.1.0"
KEY: dict[str, Any] = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": True,
    "description": "The same on every attempt at one thing: what it was used for is not done twice.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 200},
}
ATTEMPT: dict[str, Any] = {
    "name": "Semel-Attempt",
    "in": "header",
    "required": True,
    "description": "Which attempt this is, from 1.",
    "schema": {"type": "string", "pattern": "^[1-9][0-9]*$"},
}
REFUSALS = {
    "401": "Our token is wrong: calls are held back, and staff are told. So are 402 and 403.",
    "408": "Nothing was done, try again. So are 425, and 409 with Retry-After: the first attempt is still at work.",
    "422": "No: this will not be done, however often it is asked for. So are all others of 400 to 499.",
    "429": "Nothing was done, try again after Retry-After.",
    "500": "It may have been done. So are 502 and 504.",
    "503": "Nothing was done, try again after Retry-After.",
}


def service_api() -> str:
    """Return the description as JSON text."""
    commands = {kind.OPERATION: kind for kind in Command.__subclasses__() if kind.OPERATION in ANSWERS}
    described = {
        "openapi": DIALECT,
        "info": {
            "title": "An operator's own service",
            "version": "1",
            "description": "What Semel calls. A service offers the operations below its own name.",
        },
        "security": [{"token": []}],
        "paths": {path_of(name): {"post": _operation(kind)} for name, kind in sorted(commands.items())}
        | {"/requests/{key}": {"get": _look_up()}},
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": {
                **{kind.__name__: _arguments(kind) for kind in commands.values()},
                **{f"{kind.__name__}Answer": _answer(ANSWERS[name]) for name, kind in commands.items()},
                "Problem": _problem(),
            },
        },
    }
    return json.dumps(described, indent=2) + "\n"


def _operation(kind: type[Command]) -> dict[str, Any]:
    return {
        "operationId": kind.OPERATION.replace(".", "_"),
        "summary": inspect.getdoc(kind),
        "parameters": [KEY, ATTEMPT],
        "requestBody": {"required": True, "content": _json(kind.__name__)},
        "responses": {
            "200": {"description": "It was done, now or before.", "content": _json(f"{kind.__name__}Answer")},
            **{status: _said(meaning) for status, meaning in REFUSALS.items()},
        },
    }


def _look_up() -> dict[str, Any]:
    return {
        "operationId": "look_up",
        "summary": "What became of a key; its slashes are written %2F.",
        "parameters": [{**KEY, "name": "key", "in": "path"}],
        "responses": {
            "200": {
                "description": "It was done; the answer is that of its operation.",
                "content": {"application/json": {"schema": {"type": "object"}}},
            },
            "202": {"description": "It is still at work."},
            "404": _said("The key was never seen: `known` is false in the problem, or this counts as no answer."),
            "422": _said("It was refused."),
        },
    }


def _json(name: str) -> dict[str, Any]:
    return {"application/json": {"schema": {"$ref": f"#/components/schemas/{name}"}}}


def _said(meaning: str) -> dict[str, Any]:
    return {
        "description": meaning,
        "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }


def _arguments(kind: type[Command]) -> dict[str, Any]:
    """Return the schema of what is sent; whatever is missing is left out of it."""
    schema = kind.model_json_schema(mode="serialization")
    properties = {name: _without_null(each) for name, each in schema["properties"].items()}
    return {**schema, "properties": properties, "required": [*schema["required"], "member_id"]}


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a value that is there."""
    others = {name: value for name, value in schema.items() if name not in ("anyOf", "default", "title")}
    choices = [each for each in schema.get("anyOf", []) if each.get("type") != "null"]
    return {**others, **(choices[0] if choices else {})}


def _answer(names: Collection[str]) -> dict[str, Any]:
    ids = {name: {"type": ["string", "integer"], "maxLength": 200} for name in names}
    return {"type": "object", "properties": ids, "description": "Ids, where there are any; anything else is ignored."}


def _problem() -> dict[str, Any]:
    return {
        "type": "object",
        "description": "RFC 9457. `title` and the end of `type` are kept; `detail` may name somebody, and is not.",
        "properties": {
            "type": {"type": "string"},
            "title": {"type": "string"},
            "status": {"type": "integer"},
            "detail": {"type": "string"},
            "known": {"type": "boolean"},
        },
    }
