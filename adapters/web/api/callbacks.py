"""`/v1/callbacks/{provider}`: what providers report about messages, checked over the body as it came."""

from __future__ import annotations

from typing import Annotated

from anyio.to_thread import run_sync
from fastapi import APIRouter, Path, Request
from pydantic import BaseModel

from adapters.aftercare import callback_door
from adapters.web.api.doors import App
from adapters.web.api.problem_schemas import problems
from adapters.web.api.problems import Problem

router = APIRouter(tags=["callbacks"], prefix="/v1/callbacks")


class Heard(BaseModel):
    """How many of the reports are new, and how many were heard before."""

    new: int
    known: int


@router.post(
    "/{provider}",
    responses=problems(401, 403, 404, 413, 422, 503),
    openapi_extra={"requestBody": {"content": {"*/*": {"schema": {}}}, "description": "As the provider sends it."}},
)
async def receive_callback(request: Request, application: App, provider: Annotated[str, Path(max_length=50)]) -> Heard:
    """Take what a provider reports. Anybody may post here: its signature or secret says whether it is believed."""
    body = await request.body()
    url = str(request.url)
    if application.settings.public_url:
        # What was signed is the address that the provider knows, whatever proxies made of it.
        query = f"?{request.url.query}" if request.url.query else ""
        url = f"{application.settings.public_url.rstrip('/')}{request.url.path}{query}"
    door, now = callback_door(application), application.clock.now()
    answer = await run_sync(lambda: door.receive(provider, dict(request.headers), body, url, now))
    if answer.status != 200:
        raise Problem(answer.status, answer.reason)
    return Heard(new=answer.new, known=answer.known)
