"""Up to when a run is still useful: what `give_up_after` says, and what a trigger says where it is silent."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import Enum, auto


class LimitKind(Enum):
    """What a limit is counted from."""

    NONE = auto()
    ANCHOR = auto()
    END_OF_DAY = auto()
    AFTER_DUE = auto()


@dataclass(frozen=True, slots=True)
class Limit:
    """The last instant at which a run may start; exactly then it still runs (semantics 5).

    The anchor is the entity's own instant that the trigger looks at: the start for `booking.starting`, the
    end of the due day for `invoice.due`. The end of the day is that of the event date, in the space's zone.
    Otherwise `span` counts from the moment's due instant, or from the event.
    """

    kind: LimitKind
    span: timedelta = timedelta(0)


NO_LIMIT = Limit(LimitKind.NONE)
UNTIL_ANCHOR = Limit(LimitKind.ANCHOR)
UNTIL_END_OF_DAY = Limit(LimitKind.END_OF_DAY)


def for_hours(hours: int) -> Limit:
    """Return the limit of so many hours after the moment is due."""
    return Limit(LimitKind.AFTER_DUE, timedelta(hours=hours))
