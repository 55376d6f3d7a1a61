"""What can start a rule: one module for each trigger.

An event trigger fires because something has just happened, a clock trigger because time passed. Each is a
frozen model of its settings, a docstring that becomes its manual page, and the method `still_wanted`.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import BaseModel, ConfigDict

from automations.fact_catalogue import FactCatalogue, catalogue_of
from automations.limits import NO_LIMIT, UNTIL_ANCHOR, Limit
from automations.ports import FactSource
from automations.registry import Registry
from automations.still_wanted import unless_cancelled
from domain.executions import Once
from domain.offsets import Offset

OffsetName = Literal["before", "after"]


class Trigger(BaseModel):
    """The base of both kinds of trigger.

    `KIND` is the kind of entity that it is about, `ROOTS` what its rules can see, `ONCE` what a rule may act
    once for (the first is the default), `LIMIT` when running is pointless if the rule does not say.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    NAME: ClassVar[str]
    KIND: ClassVar[str]
    ROOTS: ClassVar[tuple[str, ...]]
    ONCE: ClassVar[tuple[Once, ...]]
    LIMIT: ClassVar[Limit]
    OFFSET: ClassVar[OffsetName | None] = None
    IS_CLOCK: ClassVar[bool]

    @classmethod
    def still_wanted(cls, facts: FactSource) -> str | None:
        """Return why a re-check must skip the run by the state of the entity alone, or None to go on."""
        raise NotImplementedError

    @classmethod
    def catalogue(cls) -> FactCatalogue:
        """Return the facts that this trigger's rules can name."""
        return catalogue_of(cls.ROOTS, None if cls.IS_CLOCK else cls.NAME)


class EventTrigger(Trigger):
    """Fires once for each recorded event of the type that it is named after."""

    ONCE = ("event", "date", "entity")
    LIMIT = NO_LIMIT
    IS_CLOCK = False

    @classmethod
    def still_wanted(cls, facts: FactSource) -> str | None:
        """Return a reason if the entity was cancelled, voided or erased since."""
        return unless_cancelled(cls.KIND, facts)


class ClockTrigger(Trigger):
    """Fires when a dated instant of an entity comes near or has passed."""

    ONCE = ("date", "moment", "entity")
    LIMIT = UNTIL_ANCHOR
    IS_CLOCK = True


class LookingAhead(ClockTrigger):
    """A clock trigger that fires some time before the instant."""

    OFFSET = "before"

    before: Offset


class LookingBack(ClockTrigger):
    """A clock trigger that fires some time after the instant."""

    OFFSET = "after"

    after: Offset


triggers: Registry[Trigger] = Registry("trigger", __name__)
"""Every trigger by the name that `when` gives."""
