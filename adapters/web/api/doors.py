"""What routes depend on: the application, who calls, and the scope that a caller needs.

A route of the API is behind `needs(...)`, or stands in `gate.OPEN`; `unguarded` finds any other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated, Any

from fastapi import Depends, Request
from fastapi.routing import APIRoute

from adapters.application import Application
from adapters.web.access.callers import Caller
from adapters.web.api.gate import caller_in, is_open
from adapters.web.reception import Reception
from domain.accounts import Scope


async def reception_of(request: Request) -> Reception:
    """Return what the web needs of the operator."""
    reception: Reception = request.app.state.reception
    return reception


async def application_of(request: Request) -> Application:
    """Return the operator's application."""
    reception: Reception = request.app.state.reception
    return reception.application


async def caller_of(request: Request) -> Caller:
    """Return who calls."""
    return caller_in(request.scope)


App = Annotated[Application, Depends(application_of)]
Front = Annotated[Reception, Depends(reception_of)]
By = Annotated[Caller, Depends(caller_of)]


class Needs:
    """Lets only callers with a scope through."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope

    async def __call__(self, request: Request) -> None:
        """Raise NotAllowed for anybody else."""
        caller_in(request.scope).require(self.scope)


class NeedsCaller:
    """Lets any known caller through: for what is about themselves."""

    async def __call__(self, request: Request) -> None:
        """Raise a problem for anybody else."""
        caller_in(request.scope)


def needs(scope: Scope) -> list[Any]:
    """Return the dependencies of routes that need a scope."""
    return [Depends(Needs(scope))]


def needs_caller() -> list[Any]:
    """Return the dependencies of routes for whoever is known."""
    return [Depends(NeedsCaller())]


def scopes_of(route: APIRoute) -> list[str]:
    """Return the scopes that a route needs; the empty text stands for just being known."""
    found = (each.dependency for each in route.dependencies)
    return [getattr(each, "scope", "") for each in found if isinstance(each, Needs | NeedsCaller)]


def unguarded(routes: Iterable[Any]) -> Iterator[str]:
    """Yield each route that neither needs a scope nor is open on purpose."""
    for route in routes:
        if not isinstance(route, APIRoute):
            yield f"{type(route).__name__} {getattr(route, 'path', '')}"
            continue
        for method in sorted(route.methods or ()):
            if not scopes_of(route) and not is_open(method, route.path):
                yield f"{method} {route.path}"
