"""The description of the API is true: whatever is sent, no answer is a fault of ours or outside of its schema."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import hypothesis
import pytest
import schemathesis
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from adapters.application import Application
from adapters.database.engine import reading
from adapters.ingestion.batches import ingest
from adapters.settings import read_settings
from adapters.web.api.building import api
from adapters.web.reception import Reception
from automations.authoring import read_rules
from projections.dossier_lists import open_dossiers
from projections.executions import runs
from tests.adapters.cli.samples import WORLD, booking
from tests.adapters.web.running import served
from tests.databases import SQLiteDatabases

EXAMPLES = 300 if os.environ.get("SEMEL_FULL") else 12
"""Requests for each operation."""

DOCUMENT = api().openapi()
SCHEMA = schemathesis.openapi.from_dict(DOCUMENT)
FOUND: list[Any] = list(SCHEMA.get_all_operations())
OPERATIONS = {operation.label: operation for operation in (each.ok() for each in FOUND)}

ENDLESS = "GET /v1/members/{id}/inbox/stream"
CHECKS: list[Any] = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]

RULES = [
    {"id": "prepare", "when": "booking.created", "do": [{"create_task": {"title": "{{ booking.attendees }} chairs"}}]},
    {"id": "call", "when": "booking.created", "do": [{"call_webhook": {"url": "https://example.org/", "body": {}}}]},
    {"id": "tell", "when": "booking.created", "do": [{"notify": {"type": "ready.reminders", "to": "staff"}}]},
]


@dataclass
class Served:
    """A server with a history, a token for it, and real values for its paths."""

    address: str
    token: str
    known: Mapping[str, str]


@pytest.fixture(scope="module")
def served_site(sqlite_databases: SQLiteDatabases) -> Iterator[Served]:
    """A server over a database in which things have run and failed."""
    with sqlite_databases.fresh() as url:
        application = Application(read_settings(database_url=url))
        application.install()
        application.save_rules([(one.rule, one.enabled) for one in read_rules(RULES)], "tests")
        ingest(application, [*WORLD, *map(booking, range(1, 4))])
        application.crew().work_through()
        with reading(application.engine) as connection:
            failed = [run["key"] for run in runs(connection, rule="call")]
            dossiers = open_dossiers(connection)
        token = Reception(application).tokens.create("fuzz", ["admin"], "tests").text
        known = {"rule": "prepare", "key": failed[0], "kind": "booking", "id": "b1", "dossier": dossiers[0].id}
        with served(application) as address:
            yield Served(address, token, known)
        application.close()


def test_every_operation_of_the_contract_is_described() -> None:
    for label in ("POST /v1/events", "POST /v1/operations", "GET /v1/runs", "POST /v1/dossiers/{dossier}/{act}"):
        assert label in OPERATIONS
    assert ENDLESS in OPERATIONS
    assert all("x-scope" in one or not one.get("security") for one in operations() if "session" not in one["tags"])


def operations() -> Iterator[dict[str, Any]]:
    for path in DOCUMENT["paths"].values():
        yield from path.values()


def test_every_body_has_an_example() -> None:
    schemas = DOCUMENT["components"]["schemas"]
    for operation in operations():
        for content in operation.get("requestBody", {}).get("content", {}).values():
            name = str(content["schema"].get("$ref", "")).rpartition("/")[2]
            # What providers report has a form of their own, which is described with no schema of ours.
            assert not name or "example" in content or "example" in schemas[name], operation["summary"]


@pytest.mark.parametrize("label", sorted(OPERATIONS.keys() - {ENDLESS}))
def test_no_answer_is_a_fault_or_outside_of_its_schema(label: str, served_site: Served) -> None:
    operation = OPERATIONS[label]
    headers = {"Authorization": f"Bearer {served_site.token}"}

    @hypothesis.settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        suppress_health_check=list(hypothesis.HealthCheck),
        phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate],
    )
    @hypothesis.given(case=operation.as_strategy(), real=st.booleans())
    def ask(case: Any, real: bool) -> None:
        if real:
            case.path_parameters |= {n: v for n, v in served_site.known.items() if n in case.path_parameters}
        case.call_and_validate(base_url=served_site.address, headers=headers, checks=CHECKS, timeout=60)

    ask()
