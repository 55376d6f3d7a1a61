"""What goes out of one delivery in one attempt: its wording, checked and filled in right before the call."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from automations.notifications.channels import Message
from automations.notifications.decisions import Halt, Hold
from automations.notifications.policy import Case, View, decided
from automations.notifications.templates import compose
from automations.notifications.unsubscribing import WayOut, without_a_way_out
from automations.notifications.wordings import Wordings
from domain.deliveries import Delivery


@dataclass(frozen=True, slots=True)
class Letter:
    """A message that may be sent now.

    `override` says what lets it go out in spite of quiet hours; `registration` is that of the device that it goes to,
    where it is one. Where it `is_kept`, what it says lies among the personal values of whom it is to.
    """

    message: Message
    override: Literal["", "urgent"] = ""
    registration: int = 0
    is_kept: bool = True


class Writing:
    """Writes to people, in the wordings of an operator."""

    def __init__(self, wordings: Wordings, way_out: WayOut = without_a_way_out) -> None:
        self._wordings = wordings
        self._way_out = way_out

    def written(self, view: View, delivery: Delivery, at: datetime) -> Halt | Hold | Letter:
        """Return what is sent, or why nothing is sent now; raises InvalidInput where the wording does not come out."""
        case = view.case(delivery, at)
        decision = decided(case)
        if decision is not None:
            return decision
        return self.letter(case)

    def letter(self, case: Case) -> Letter:
        """Return what is sent where nothing stands in the way; raises InvalidInput as `written` does."""
        message = compose(case, self._wordings, self._way_out(case.asked))
        registration = case.device.registration if case.device is not None else 0
        return Letter(message, "urgent" if case.quiet_until != case.at else "", registration)
