"""A verdict in words: which condition kept a candidate from running, and the value it saw."""

from __future__ import annotations

from automations.verdicts import Reason, Truth, Verdict
from domain.errors import SemelError


def told(verdict: Verdict) -> str:
    """Return the decisive condition as people say it: `invoice.outstanding is 0 EUR, not above 20 EUR`."""
    return "" if verdict.decisive is None else told_reason(verdict.decisive)


def told_reason(reason: Reason) -> str:
    """Return one condition with the value it saw; a personal value is not told."""
    if reason.verdict is Truth.UNKNOWN and reason.seen is None and reason.reference is None:
        return f"{reason.fact} is missing"
    seen = "personal" if reason.reference is not None else _shown(reason.seen)
    wanted = " ".join(part for part in (reason.operator, _shown(reason.value)) if part)
    note = f": {reason.note}" if reason.note else ""
    return f"{reason.fact} is {seen or 'missing'}, wanted: {wanted}{note}"


def told_error(error: Exception) -> str:
    """Return an error as an event may keep it: texts that are not our own may hold personal values."""
    return str(error) if isinstance(error, SemelError) else type(error).__name__


def _shown(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, (list, tuple)):
        return ", ".join(_shown(item) for item in value) or "empty"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)
