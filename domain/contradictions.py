"""A run that charged for something which, as it turned out, was not so: the fee stands, and somebody should know.

A no-show that was there after all is one. What was done stays done; whether it is taken back, a person decides.
"""

from __future__ import annotations

from domain.events import DomainEvent
from domain.executions import Execution
from domain.facts import Entity
from domain.nouns import NOUN_OF_TYPE

CONTRADICTED = "contradicted"
"""The class of such runs among failures."""

CHARGES = ("billing.charge_fee", "billing.issue_invoice")
"""Operations whose effect stands against a member until somebody takes it back."""

FLAPPING = ("no_show", "cancelled")
"""Statuses that are charged for, and are taken back."""

SAYING = {
    fact_type: status
    for fact_type, noun in NOUN_OF_TYPE.items()
    if (status := noun.types[fact_type].sets.get("status")) in FLAPPING
}
"""Types of facts that say such a status."""


class ExecutionContradicted(DomainEvent):
    """What started a run does not hold any more, and the run has charged for it."""

    TOPIC = "execution.contradicted"

    operation: str
    reason: str


class ExecutionBorneOut(DomainEvent):
    """What started a run holds again."""

    TOPIC = "execution.borne-out"

    reason: str


def contradiction(execution: Execution, entity: Entity) -> str | None:
    """Return in which way an entity contradicts what started a run about it, or None if it does not."""
    said, status = SAYING.get(execution.claim.trigger), entity.get("status")
    if said is None or status is None or status == said:
        return None
    return f"the {entity.noun.kind} is {_words(status)} now, and was charged as {_words(said)}"


def _words(status: object) -> str:
    return str(status).replace("_", " ")
