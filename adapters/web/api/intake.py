"""What came in over HTTP since this process began, by what came of it: replays and conflicts leave no other trace."""

from __future__ import annotations

from prometheus_client import Counter

INTAKE = Counter(
    "semel_intake",
    "Events and notifications that came in over HTTP since this process began, by what came of them.",
    ["kind", "outcome"],
    registry=None,
)
"""`kind` is `event` or `notification`; `outcome` the status that the caller was told."""
