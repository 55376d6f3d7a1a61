"""How `POST /v1/events` is described: it is no route of FastAPI, so nothing finds this by itself."""

from __future__ import annotations

from typing import Any

from adapters.web.api.cloud_event_requests import BATCHED, JSON, SINGLE
from adapters.web.api.problem_schemas import problems

_EVENT = {"$ref": "#/components/schemas/CloudEvent"}
_BATCH = {"type": "array", "items": _EVENT}

EXAMPLE: dict[str, Any] = {
    "specversion": "1.0",
    "id": "7f3a",
    "source": "booking-system",
    "type": "booking.created",
    "time": "2026-05-01T10:00:00+02:00",
    "data": {
        "booking_id": "b1",
        "resource_id": "r1",
        "member_id": "m1",
        "starts_at": "2026-05-12T10:00:00+02:00",
        "ends_at": "2026-05-12T12:00:00+02:00",
    },
}

_NAMED = {"source": {"type": "string"}, "id": {"type": "string"}, "event_type": {"type": "string"}}

EVENT_SCHEMAS: dict[str, Any] = {
    "CloudEvent": {
        "title": "CloudEvent",
        "description": "A CloudEvents 1.0 event. What `data` holds depends on `type`: see the catalogue of events.",
        "type": "object",
        "required": ["id", "source", "type", "time"],
        "properties": {
            "specversion": {"const": "1.0"},
            "id": {"type": "string", "minLength": 1, "maxLength": 200},
            "source": {"type": "string", "minLength": 1, "maxLength": 200},
            "type": {"type": "string", "pattern": "^[A-Za-z0-9._/-]{1,200}$"},
            "time": {"type": "string", "format": "date-time", "description": "RFC 3339, with an offset."},
            "sequence": {"type": "string", "maxLength": 200},
            "idempotencykey": {"type": "string"},
            "data": {},
        },
        "example": EXAMPLE,
    },
    "Recorded": {
        "title": "Recorded",
        "type": "object",
        "required": ["status", "source", "id", "event_type"],
        "properties": {"status": {"enum": ["accepted", "duplicate"]}, **_NAMED},
        "example": {"status": "accepted", "source": "booking-system", "id": "7f3a", "event_type": "booking.created"},
    },
    "BatchItem": {
        "title": "BatchItem",
        "type": "object",
        "required": ["index", "status", "source", "id", "event_type"],
        "properties": {
            "index": {"type": "integer", "minimum": 0},
            "status": {"enum": ["accepted", "duplicate", "conflict", "refused"]},
            **_NAMED,
            "problem": {"$ref": "#/components/schemas/ProblemDocument"},
        },
    },
    "BatchAnswer": {
        "title": "BatchAnswer",
        "type": "object",
        "required": ["items"],
        "properties": {"items": {"type": "array", "items": {"$ref": "#/components/schemas/BatchItem"}}},
    },
}

_BATCH_ANSWER = {"$ref": "#/components/schemas/BatchAnswer"}

EVENTS: dict[str, Any] = {
    "tags": ["events"],
    "operationId": "record_events",
    "summary": "Record Events",
    "description": (
        "Record one event, or a batch of them. The answer comes after the commit, and the same again is a"
        " duplicate, so a request that got no answer can be repeated.\n\n"
        "A single event that cannot be recorded is answered with its problem. A batch is answered for each of its"
        " events, in their order: 202 where all of them stand in the log, 207 where some do not. Binary mode takes"
        " the attributes as headers `ce-id`, `ce-source`, `ce-type` and `ce-time`, and the data as body.\n\n"
        "Needs the scope `events:write`."
    ),
    "x-scope": "events:write",
    "security": [{"token": []}, {"session": []}],
    "requestBody": {
        "required": True,
        "content": {
            JSON: {"schema": {"anyOf": [_EVENT, _BATCH]}, "example": EXAMPLE},
            SINGLE: {"schema": _EVENT, "example": EXAMPLE},
            BATCHED: {"schema": _BATCH, "example": [EXAMPLE]},
        },
    },
    "responses": {
        "202": {
            "description": "It stands in the log.",
            "content": {JSON: {"schema": {"anyOf": [{"$ref": "#/components/schemas/Recorded"}, _BATCH_ANSWER]}}},
        },
        "207": {
            "description": "Some of the batch stands in the log; the problems of the rest are told.",
            "content": {JSON: {"schema": _BATCH_ANSWER}},
        },
        **{str(status): told for status, told in problems(400, 401, 403, 409, 413, 415, 422, 503).items()},
    },
}
