"""What a correct rule probably does not mean, for `semel check` to say; nothing here stops a rule."""

from __future__ import annotations

from domain.condition_tree import leaves
from domain.errors import Mistake
from domain.rules import Rule

CHANGED_BY_TIME = {"invoice.days_overdue": "after: 3 days"}
"""Facts that only time changes, and the kind of offset that says the same as a clock trigger."""


def advice_on(rule: Rule) -> list[Mistake]:
    """Return warnings about a checked rule, with paths below it.

    A fact that only time changes is taken at the moment's due instant, so a condition on it cannot wait
    until it becomes true: the trigger's offset does that.
    """
    if rule.where is None:
        return []
    named = {leaf.fact for leaf in leaves(rule.where)}
    return [
        Mistake(
            ("where",),
            f"{fact} is taken at the moment that is due, and never looked at again as days pass: "
            f"say it with the trigger's offset, like {offset}",
        )
        for fact, offset in CHANGED_BY_TIME.items()
        if fact in named
    ]
