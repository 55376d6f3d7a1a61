"""What goes wrong is told as problem documents (RFC 9457): a type, a status, and each fault with its pointer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from http import HTTPStatus
from typing import Any

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic_core import to_json
from starlette.exceptions import HTTPException
from starlette.responses import Response

from adapters.web.access.callers import NotAllowed, NotSignedIn
from domain.errors import Conflict, CorruptEvent, InvalidInput, Mistake, SemelError, Unavailable

MEDIA_TYPE = "application/problem+json"

TYPES: Mapping[int, str] = {
    400: "bad-request",
    401: "not-signed-in",
    403: "not-allowed",
    404: "not-found",
    405: "method-not-allowed",
    408: "too-slow",
    409: "conflict",
    413: "too-large",
    415: "unsupported-media-type",
    422: "invalid-input",
    429: "too-many-requests",
    500: "fault",
    503: "unavailable",
}
"""What each status is called in the type of a problem, `urn:semel:problem:<name>`."""

MOST_FAULTS = 100
"""Faults that one answer names."""

LONGEST_TOLD = 500
"""Characters of one text in an answer."""

RETRY_AFTER = {"retry-after": "1"}

logger = structlog.get_logger(__name__)


class Problem(SemelError):
    """Something a route refuses, with its status."""

    def __init__(
        self,
        status: int,
        detail: str,
        mistakes: Iterable[Mistake] = (),
        headers: Mapping[str, str] | None = None,
        **more: Any,
    ) -> None:
        super().__init__(detail)
        self.status, self.detail, self.mistakes = status, detail, tuple(mistakes)
        self.headers, self.more = dict(headers or {}), more


def document(status: int, detail: str, mistakes: Sequence[Mistake] = (), **more: Any) -> dict[str, Any]:
    """Return a problem document; pointers are JSON pointers (RFC 6901) into what was sent."""
    told: dict[str, Any] = {
        "type": f"urn:semel:problem:{TYPES.get(status, 'bad-request')}",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": cut(detail),
    }
    if mistakes:
        told["errors"] = [
            {"pointer": cut(pointer(mistake.path)), "detail": cut(mistake.message)}
            for mistake in mistakes[:MOST_FAULTS]
        ]
    return {**told, **more}


def cut(text: str) -> str:
    """Return a text that may repeat what was sent, as long as an answer may be."""
    return text if len(text) <= LONGEST_TOLD else f"{text[:LONGEST_TOLD]}…"


def pointer(path: Sequence[str | int]) -> str:
    """Return a path as a JSON pointer in a fragment: `#/data/starts_at`."""
    return "#" + "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in path)


def answer(problem: Problem) -> Response:
    """Return a problem as an answer."""
    told = document(problem.status, problem.detail, problem.mistakes, **problem.more)
    content = to_json(told, inf_nan_mode="null", serialize_unknown=True)
    return Response(content, problem.status, {**problem.headers}, media_type=MEDIA_TYPE)


def problem_of(error: Exception) -> Problem:
    """Return what an error means to whoever sent the request; of a fault of ours nothing is told."""
    match error:
        case Problem():
            return error
        case NotSignedIn():
            return Problem(401, str(error), headers={"www-authenticate": 'Bearer realm="semel"'})
        case NotAllowed():
            return Problem(403, str(error))
        case InvalidInput():
            return Problem(422, "what was sent cannot be taken as it is", error.mistakes)
        case Conflict():
            return Problem(409, "somebody else changed the same at this moment: read it again and decide again")
        case Unavailable():
            # The error may name the database; that is for the log.
            logger.warning("http.unavailable", remedy=str(error))
            return Problem(503, "it cannot be done now: try again, with the same keys", headers=RETRY_AFTER)
        case CorruptEvent():
            logger.error("http.corrupt", stream=error.stream, version=error.version, topic=error.topic)
            return Problem(503, "a record of this cannot be read; a dossier tells the operator", headers=RETRY_AFTER)
        case RequestValidationError():
            return _invalid(error)
        case HTTPException():
            return _of_http(error)
        case _:
            logger.error("http.fault", exc_info=error)
            return Problem(500, "a fault in Semel, not in what you sent; it is in the log")


def install(app: FastAPI) -> None:
    """Let every error of an application end as a problem."""

    async def handle(_request: Request, error: Exception) -> Response:
        return answer(problem_of(error))

    for kind in (SemelError, RequestValidationError, HTTPException, Exception):
        app.add_exception_handler(kind, handle)


def _invalid(error: RequestValidationError) -> Problem:
    found = error.errors()
    if any(each["type"] == "json_invalid" for each in found):
        return Problem(400, "the body is not JSON", [_mistake(each) for each in found])
    return Problem(422, "what was sent cannot be taken as it is", [_mistake(each) for each in found])


def _mistake(found: Mapping[str, Any]) -> Mistake:
    place, *path = found["loc"]
    # Without the value: it may be a secret, also in the wrong place or under a misspelt name.
    message = str(found["msg"]).removeprefix("Value error, ").removeprefix("Input ")
    return Mistake(tuple(path) if place == "body" else (place, *path), message)


def _of_http(error: HTTPException) -> Problem:
    details = {404: "there is nothing at this address", 405: "this address does not take this method"}
    status = error.status_code if error.status_code in TYPES else 400
    return Problem(status, details.get(status, "the request cannot be read"), headers=error.headers)
