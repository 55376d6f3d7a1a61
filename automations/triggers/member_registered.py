"""The event trigger `member.registered`."""

from __future__ import annotations

from automations.ports import FactSource
from automations.still_wanted import unless_erased
from automations.triggers import EventTrigger, triggers


@triggers.register("member.registered")
class MemberRegistered(EventTrigger):
    """A member was registered."""

    KIND = "member"
    ROOTS = ("member", "event")

    @classmethod
    def still_wanted(cls, facts: FactSource) -> str | None:
        """Return a reason if the member was erased since."""
        return unless_erased(facts)
