"""How problems look in the description of the API."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict

from adapters.web.api.problems import MEDIA_TYPE


class Fault(BaseModel):
    """One thing that is wrong, and where."""

    pointer: str
    detail: str


class ProblemDocument(BaseModel):
    """What went wrong (RFC 9457)."""

    model_config = ConfigDict(extra="allow")

    type: str
    title: str
    status: int
    detail: str
    errors: list[Fault] | None = None


EXAMPLE = {
    "type": "urn:semel:problem:invalid-input",
    "title": "Unprocessable Entity",
    "status": 422,
    "detail": "this event cannot be recorded as it is",
    "errors": [{"pointer": "#/data/starts_at", "detail": "is missing"}],
}

MEANS = {
    400: "The request cannot be read.",
    401: "Nobody knows who calls.",
    403: "The caller may not do this.",
    404: "There is no such thing.",
    409: "It stands against something that is there already.",
    413: "It is too large.",
    415: "It comes in a form that is not understood.",
    422: "Something in it is wrong; each fault is named.",
    429: "It was tried too often.",
    503: "It cannot be done now.",
}


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the answers that a route may give beside the good one."""
    return {
        status: {
            "description": MEANS[status],
            "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemDocument"}}},
        }
        for status in statuses
    }
