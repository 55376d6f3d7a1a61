"""A delivery as lines for people and as an object for programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from adapters.cli.printing import cell_text

if TYPE_CHECKING:
    from adapters.database.delivery_stories import DeliveryStory, Step


def delivery_object(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a delivery as programs get it, from a row of the deliveries."""
    from projections.deliveries import LISTED

    return {"delivery": row["delivery"], **{name: row[name] for name in LISTED}}


def delivery_lines(story: DeliveryStory) -> Iterator[str]:
    """Return the story of a delivery in lines."""
    delivery, asked = story.delivery, story.delivery.asked
    yield f"{delivery.state}  {asked.type} to {asked.to} on {asked.channel} ({delivery.id})"
    about = f"about {asked.entity}, " if asked.entity else ""
    yield f"    {about}asked for at {cell_text(asked.requested_at)}, of use until {cell_text(asked.expires_at)}"
    if asked.cause is not None:
        yield f"    by the run {asked.cause.execution}"
    if story.subject:
        yield f"    subject: {story.subject}"
    for line in story.text.splitlines():
        yield f"    | {line}"
    for step in story.steps:
        yield f"    {_step_line(step)}"
    if delivery.again_at is not None:
        yield f"    goes on at {cell_text(delivery.again_at)}"


def _step_line(step: Step) -> str:
    attempt = f", attempt {step.attempt}" if step.attempt else ""
    error_class = f" ({step.error_class})" if step.error_class else ""
    by = f" by {step.by}" if step.by else ""
    why = f": {step.why}" if step.why else ""
    return f"{step.what}{by} at {cell_text(step.at)}{attempt}{error_class}{why}"
