"""The application that answers over HTTP, built from an operator's `Application`."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from anyio.to_thread import current_default_thread_limiter
from fastapi import APIRouter, FastAPI

from adapters.application import Application
from adapters.web.api import (
    callbacks,
    deliveries,
    dossiers,
    entities,
    health,
    inboxes,
    members,
    metrics,
    notifications,
    operations,
    problems,
    reference_page,
    rehearsals,
    rules,
    runs,
    session,
    unsubscribing,
    webhooks,
)
from adapters.web.api.bodies import BoundedBodies, Limits
from adapters.web.api.description import describe
from adapters.web.api.doors import unguarded
from adapters.web.api.events import PATH, Ingest
from adapters.web.api.gate import Gate
from adapters.web.bell import Bell
from adapters.web.reception import Reception

THREADS = 12
"""Requests that use the database at a time: so many connections an engine has to give."""

ROUTERS: tuple[APIRouter, ...] = (
    notifications.router,
    operations.router,
    rules.router,
    rehearsals.router,
    runs.router,
    dossiers.router,
    deliveries.router,
    entities.router,
    inboxes.router,
    members.router,
    callbacks.router,
    unsubscribing.router,
    webhooks.router,
    session.router,
    health.router,
    metrics.router,
    reference_page.router,
)


def build(application: Application, stop: threading.Event | None = None) -> Gate:
    """Return what serves one operator; it holds no global state, so that one process may hold several.

    `stop` is set when the process is about to end, so that answers without an end can end.
    """
    app = api()
    reception = app.state.reception = Reception(application)
    app.state.bell = Bell(application.log, stop or threading.Event())
    http = application.settings.http
    limits = Limits(http.largest_body, http.deepest_nesting)
    ingest = Ingest(lambda: reception.committer, http.largest_batch)
    return Gate(BoundedBodies(app, limits), lambda: reception.doorkeeper, {PATH: BoundedBodies(ingest, limits)})


def api() -> FastAPI:
    """Return the routes and their description, for an operator who is still to be named."""
    app = FastAPI(
        title="Semel",
        summary="Automations for coworking spaces: each rule acts once, and can explain itself.",
        version="1",
        docs_url=None,
        redoc_url=None,
        openapi_url="/openapi.json",
        redirect_slashes=False,
        lifespan=_living,
    )
    problems.install(app)
    for router in ROUTERS:
        app.include_router(router)
    routes = [route for router in ROUTERS for route in router.routes]
    describe(app, routes)
    open_by_mistake = list(unguarded(routes))
    if open_by_mistake:
        raise TypeError(f"anybody known may use what no scope guards: {', '.join(open_by_mistake)}")
    return app


@asynccontextmanager
async def _living(app: FastAPI) -> AsyncIterator[None]:
    current_default_thread_limiter().total_tokens = THREADS
    yield
    await app.state.bell.close()
    app.state.reception.close()
