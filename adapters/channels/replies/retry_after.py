"""How long a service asks to be left alone (RFC 9110, 10.2.3)."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

from automations.retries import LONGEST_WAIT


def asked_wait(value: str | None, at: datetime) -> timedelta | None:
    """Return the wait that a header asks for, or None where it asks for none.

    Seconds may have a fraction; a date counts from `at`. What is negative, past, or cannot be read is no wait,
    and nothing is longer than a year.
    """
    text = (value or "").strip()
    seconds = _seconds(text)
    if seconds is None:
        return _until(text, at)
    wait = timedelta(seconds=max(0.0, min(seconds, LONGEST_WAIT.total_seconds())))
    return wait or None


def _seconds(text: str) -> float | None:
    try:
        seconds = float(text) if text.isascii() and "_" not in text else math.nan
    except ValueError:
        return None
    return None if math.isnan(seconds) else seconds


def _until(text: str, at: datetime) -> timedelta | None:
    try:
        date = parsedate_to_datetime(text)
        aware = date if date.tzinfo is not None else date.replace(tzinfo=UTC)
        wait = aware - at
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return min(wait, LONGEST_WAIT) if wait > timedelta() else None
