"""`/healthz`: this process answers. `/readyz`: it can do its work, and how far behind its workers are."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict

from adapters.application import Application
from adapters.database import evaluating, log_queries, projecting, watermark
from adapters.database.engine import reading
from adapters.web.api.doors import App
from adapters.web.api.problem_schemas import problems

router = APIRouter(tags=["health"])


class Health(BaseModel):
    """The process answers."""

    status: Literal["ok"] = "ok"


class Readiness(BaseModel):
    """The database answers; the workers are so many events and seconds behind.

    `watermark_age_seconds` is how long ago the clock was last looked at; null where nobody ever did.
    """

    model_config = ConfigDict(
        json_schema_extra={
            "example": {"status": "ready", "events_behind": 0, "watermark_age_seconds": 12.5, "clock_paused": False}
        }
    )

    status: Literal["ready"] = "ready"
    events_behind: int
    watermark_age_seconds: float
    clock_paused: bool


@router.get("/healthz")
async def healthz() -> Health:
    """Say that this process is alive."""
    return Health()


@router.get("/readyz", responses=problems(503))
def readyz(application: App) -> Readiness:
    """Say that the database is there and set up, and how far behind the workers are.

    Workers that are behind do not make a server unready: events are still taken, and none of them is lost.
    """
    application.require_ready()
    return readiness(application)


def readiness(application: Application) -> Readiness:
    """Return how far behind the workers are."""
    with reading(application.engine) as connection:
        standing = watermark.standing(connection, projecting.FOLLOWER)
        followers = (projecting.FOLLOWER, evaluating.FOLLOWER)
        reached = min(log_queries.tracked_position(connection, name) for name in followers)
    age = (application.clock.now() - standing.looked_until).total_seconds()
    return Readiness(
        events_behind=standing.head - reached, watermark_age_seconds=round(age, 3), clock_paused=standing.is_paused
    )
