"""The OpenAPI description: what FastAPI finds, with the scope of each route and the route it does not know."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute
from starlette.routing import BaseRoute

from adapters.web.api.doors import scopes_of
from adapters.web.api.event_schemas import EVENT_SCHEMAS, EVENTS
from adapters.web.api.events import PATH
from adapters.web.api.problem_schemas import EXAMPLE, ProblemDocument

ABOUT = """\
Events go in, automations run, and everything can be asked about. Errors are problem documents (RFC 9457).

Programs send `Authorization: Bearer <token>`; `semel token create` makes one, with the scopes that it needs.
People sign in at `/v1/session`. Lists come in pages: `next` of one page is the `cursor` of the following one.
Writing the same again with the same key or id is always safe.
"""

SECURITY = {
    "token": {"type": "http", "scheme": "bearer", "description": "A token made by `semel token create`."},
    "session": {"type": "apiKey", "in": "cookie", "name": "semel_session", "description": "Somebody who signed in."},
}


def describe(app: FastAPI, routes: Sequence[BaseRoute]) -> None:
    """Let an application that has these routes describe itself so."""

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _described(app, routes)
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]


def _described(app: FastAPI, routes: Sequence[BaseRoute]) -> dict[str, Any]:
    described = get_openapi(title=app.title, version=app.version, summary=app.summary, description=ABOUT, routes=routes)
    schemas = described.setdefault("components", {}).setdefault("schemas", {})
    schemas.pop("HTTPValidationError", None)
    schemas.pop("ValidationError", None)
    problem = ProblemDocument.model_json_schema(ref_template="#/components/schemas/{model}")
    schemas |= problem.pop("$defs")
    schemas["ProblemDocument"] = {**problem, "example": EXAMPLE}
    schemas |= EVENT_SCHEMAS
    described["components"]["securitySchemes"] = SECURITY
    described["paths"][PATH] = {"post": EVENTS}
    for route in routes:
        if isinstance(route, APIRoute):
            _guard(described["paths"].get(route.path_format, {}), route)
    return described


def _guard(path: dict[str, Any], route: APIRoute) -> None:
    """Say of a route what it needs."""
    scopes = scopes_of(route)
    for method in route.methods or ():
        operation = path.get(method.lower())
        if operation is None:
            continue
        operation["security"] = [{"token": []}, {"session": []}] if scopes else []
        if any(scopes):
            operation["x-scope"] = scopes[0]
            operation["description"] = f"{operation.get('description', '')}\n\nNeeds the scope `{scopes[0]}`.".strip()
