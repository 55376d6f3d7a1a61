"""What the answers of a push service mean (RFC 8030, RFC 8292)."""

from __future__ import annotations

from datetime import datetime

from adapters.channels.replies.http import Answer, ending_of_answer
from automations.notifications.channels import CallEnding
from domain.endings import Done, Refused

_GONE = frozenset({404, 410})


def ending_of_push(answer: Answer, at: datetime) -> CallEnding:
    """Return how a push ends by its answer; only 404 and 410 say that the subscription is no more.

    A push that is sent again replaces the first by its topic, so a fault of the service leaves no doubt.
    """
    if answer.status in _GONE:
        return Refused(reason=f"the push service answered {answer.status}", error_class="token_gone")
    ending = ending_of_answer(answer, at, harmless=True)
    location = answer.headers.get("location")
    return Done(result={"provider_message_id": location}) if isinstance(ending, Done) and location else ending
