"""When staff are told that messages came too late to be sent, and in what words: once for all of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from domain.notices import TOO_LATE, Notice

OVER_AFTER = timedelta(minutes=1)
"""For how long nothing more has expired until a wave of it counts as over."""

LONGEST_WAVE = timedelta(minutes=15)
"""After how long staff are told of a wave that does not end."""

NOT_AGAIN_FOR = timedelta(hours=1)
"""How long after one such notice the next one may come; it then tells of all that expired since."""


@dataclass(frozen=True, slots=True)
class Wave:
    """Messages that expired while they could have been sent: how many of each type, and from when to when."""

    numbers: Mapping[str, int]
    first: datetime
    last: datetime
    told_at: datetime | None
    """When staff were told of the wave before, or None if they never were."""

    def is_to_be_told(self, at: datetime) -> bool:
        """Say whether staff are told of it now."""
        if self.told_at is not None and at - self.told_at < NOT_AGAIN_FOR:
            return False
        return at - self.last >= OVER_AFTER or at - self.first >= LONGEST_WAVE

    @property
    def notice(self) -> Notice:
        """Return what staff are told."""
        most_first = sorted(self.numbers.items(), key=lambda each: (-each[1], each[0]))
        payload = {
            "messages": sum(self.numbers.values()),
            "types": ", ".join(f"{number} {name}" for name, number in most_first),
            "from": self.first.isoformat(timespec="seconds"),
            "to": self.last.isoformat(timespec="seconds"),
        }
        return Notice(TOO_LATE, self.first.isoformat(), payload)
