"""Clock rules meet moments: when a rule is due, whether that is past for it, and up to when it may start."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from automations.limits import LimitKind
from automations.rulebook import ReadyRule
from domain.civil_time import end_of_date
from domain.moments import Moment


@dataclass(frozen=True, slots=True)
class Due:
    """A moment as one rule looks at it: the instant at which the rule is due."""

    rule: ReadyRule
    moment: Moment
    at: datetime

    @property
    def is_past(self) -> bool:
        """Say whether it was due, and known, before the rule was enabled or its trigger revised."""
        since = self.rule.state.looks_ahead_from
        return since is not None and self.at <= since and self.moment.known_at <= since

    @property
    def became_known_late(self) -> bool:
        """Say whether the lead time had passed already when the moment became known."""
        return self.moment.known_at > self.at

    @property
    def limit(self) -> datetime:
        """Return the last instant at which a run may start; exactly then it still runs (semantics 5)."""
        rule = self.rule.rule
        if rule.give_up_after is not None:
            return rule.give_up_after.after(self.at, self.moment.place)
        assert self.rule.trigger is not None
        limit = self.rule.trigger.LIMIT
        match limit.kind:
            case LimitKind.AFTER_DUE:
                return self.at + limit.span
            case LimitKind.END_OF_DAY:
                return end_of_date(max(self.moment.day, self.moment.wall.date()), self.moment.place)
            case _:
                return self._anchored

    @property
    def _anchored(self) -> datetime:
        """Return the anchor's instant, or the end of a date: until then what lies ahead is useful."""
        anchor = self.moment.anchor
        return self.moment.instant if isinstance(anchor, datetime) else end_of_date(anchor, self.moment.place)


def due(rule: ReadyRule, moment: Moment) -> Due:
    """Return when a rule is due by a moment of its trigger."""
    return Due(rule, moment, moment.due(rule.rule.before, rule.rule.after))
