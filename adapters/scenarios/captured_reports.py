"""Captured providers report what became of a message when the scenario says so, as real ones post it."""

from __future__ import annotations

import json
from collections.abc import Sequence

from adapters.database.callbacks import Report, keep
from adapters.database.unit_of_work import unit_of_work
from adapters.scenarios.captured_channels import Accepted
from adapters.scenarios.stage import REPORTER, Stage
from automations.scenario import CallBack
from domain.errors import InvalidInput
from domain.notices import is_notice


def report(stage: Stage, step: CallBack) -> None:
    """Post the report of a step; raises InvalidInput where there is no such message."""
    accepted = _message(stage.outgoing.accepted, step)
    bounce = "hard" if step.event == "bounced" else ""
    told = {"type": step.event, "delivery": accepted.message.delivery, "bounce": bounce}
    event_id = f"{step.event}/{accepted.message.delivery}"
    with unit_of_work(stage.log, "callbacks") as work:
        keep(work.connection, [Report(REPORTER, event_id, step.channel, json.dumps(told))], stage.clock.now())


def _message(accepted: Sequence[Accepted], step: CallBack) -> Accepted:
    """Return the message with a number: of all that went out, or else of those on the channel."""
    messages = [each for each in accepted if not is_notice(each.message.type)]
    on_channel = [each for each in messages if each.message.channel == step.channel]
    for numbered in (messages, on_channel):
        if len(numbered) >= step.message and numbered[step.message - 1].message.channel == step.channel:
            return numbered[step.message - 1]
    raise InvalidInput(f"no message {step.message} was sent on {step.channel}")
