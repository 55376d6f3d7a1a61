"""`POST /v1/operations`: what staff ask a service for by hand goes the way of every run."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import to_jsonable_python

from adapters.cli.story_pages import story_object
from adapters.database.engine import reading
from adapters.database.stories import Storyteller
from adapters.web.api.doors import App, By, needs
from adapters.web.api.problem_schemas import problems
from adapters.web.api.runs import Story
from adapters.wording.known_names import require_operation
from automations.manual_operations import ManualOperation
from domain.catalogue import mistakes_of
from domain.commands import Command, command_of
from domain.errors import InvalidInput
from domain.ids import LONGEST_ID, Id

router = APIRouter(tags=["operations"], prefix="/v1/operations")

Operation = Literal[
    "billing.issue_invoice",
    "billing.charge_fee",
    "access.grant",
    "access.revoke",
    "tasks.create",
    "memberships.offer_renewal",
    "notifications.request",
    "webhook.call",
]

EXAMPLE: dict[str, Any] = {
    "operation": "tasks.create",
    "idempotency_key": "desk-2026-05-12-1",
    "entity": "booking/b1",
    "values": {"title": "Bring two more chairs"},
}


class OperationForm(BaseModel):
    """What a service is asked for; the same idempotency key does nothing a second time.

    `member_id` is that of the entity where it is left out. `values` are what the operation takes.
    """

    model_config = ConfigDict(extra="forbid", json_schema_extra={"example": EXAMPLE})

    operation: Operation
    idempotency_key: Id
    entity: Annotated[str, Field(min_length=3, max_length=300, pattern=r"^[a-z]+/.+$")]
    member_id: Annotated[str, Field(max_length=LONGEST_ID)] = ""
    values: dict[str, Any] = {}


class Performed(Story):
    """The run of an operation; `repeat` says that it was asked for before, and nothing was called again."""

    idempotency_key: str
    repeat: bool


@router.post("", dependencies=needs("operations:write"), responses=problems(400, 401, 403, 409, 413, 422, 503))
def perform_operation(application: App, caller: By, form: OperationForm) -> Performed:
    """Ask a service for something. What it cannot do now is tried again like any run, and failures open a dossier."""
    command = _command(form)
    require_operation(application, command)
    operation = ManualOperation(command, caller.by, form.idempotency_key)
    performed = application.performer().perform(operation)
    with reading(application.engine) as connection:
        story = Storyteller(connection, application.log.mapper).stories([performed.execution.key])[0]
    shown = {**story_object(story), "idempotency_key": form.idempotency_key, "repeat": performed.is_repeat}
    return Performed.model_validate(to_jsonable_python(shown, fallback=str))


def _command(form: OperationForm) -> Command:
    reserved = {"entity", "member_id"} & form.values.keys()
    if reserved:
        raise InvalidInput(f"{min(reserved)} stands beside the values, not among them")
    try:
        return command_of(form.operation, {"entity": form.entity, "member_id": form.member_id, **form.values})
    except ValidationError as error:
        raise InvalidInput(mistakes_of(error, ("values",))) from None
