"""What happened on a stage, and what lies ahead on it, read from its database and its services as plain rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from adapters.database import log_queries
from adapters.database.engine import reading
from adapters.database.looking_ahead import looking_ahead
from adapters.scenarios.captured_channels import Accepted
from adapters.scenarios.stage import Stage
from automations.rulebook import is_clock
from automations.scenarios.expectations import Expectations
from automations.scenarios.observed import Delivery, Dossier, Due, Message, Observed, Run
from domain.notices import is_notice
from domain.notifications import DeliveryRequested
from projections.deliveries import listed
from projections.dossier_lists import Dossier as OpenDossier
from projections.dossier_lists import open_dossiers
from projections.executions import runs

Row = Mapping[str, Any]

MOST_AHEAD = 500
"""Due times ahead of one rule that are compared."""


def observe(stage: Stage, expect: Expectations) -> Observed:
    """Return what these expectations can be compared with; what lies ahead is looked up only if they ask."""
    accepted = stage.outgoing.accepted
    with reading(stage.engine) as connection:
        deliveries = listed(connection)
        observed = Observed(
            runs=tuple(map(_run, runs(connection))),
            calls=stage.switchboard.calls(),
            messages=tuple(_message(each) for each in accepted if not is_notice(each.message.type)),
            notices=tuple(_notices(connection, stage, deliveries)),
            deliveries=tuple(_delivery(row) for row in deliveries if not is_notice(row["type"])),
            dossiers=tuple(map(_dossier, open_dossiers(connection))),
        )
    if expect.will_run is None:
        return observed
    return observed.with_ahead(tuple(_ahead(stage)))


def _run(row: Row) -> Run:
    return Run(
        rule=row["rule"],
        entity=row["entity"],
        status=row["status"],
        date=row["event_date"],
        at=row["at"],
        late=row["late"],
        reason=row["reason"],
    )


def _dossier(dossier: OpenDossier) -> Dossier:
    return Dossier(dossier.cause.service, dossier.rule, dossier.ending, len(dossier.runs))


def _message(accepted: Accepted) -> Message:
    message = accepted.message
    return Message(message.to, message.channel, message.type, accepted.at, _text(accepted))


def _text(accepted: Accepted) -> str:
    return f"{accepted.message.subject}\n{accepted.message.text}"


def _notices(connection: sa.Connection, stage: Stage, deliveries: Sequence[Row]) -> Iterator[Message]:
    """Return what Semel itself had to say to staff: each notice once, on however many channels it went out."""
    notification_of = {row["delivery"]: row["notification"] for row in deliveries}
    sent: defaultdict[str, list[Accepted]] = defaultdict(list)
    for each in stage.outgoing.accepted:
        sent[notification_of.get(each.message.delivery, "")].append(each)
    head = log_queries.head_position(connection)
    for row in log_queries.of_kind(connection, "notification", 0, head):
        event = stage.log.mapper.read(row)
        if isinstance(event, DeliveryRequested) and is_notice(event.type):
            messages = sent[event.notification]
            channels = ", ".join(each.message.channel for each in messages)
            at = min((each.at for each in messages), default=event.at)
            yield Message(event.to, channels, event.type, at, "\n".join(map(_text, messages)))


def _delivery(row: Row) -> Delivery:
    return Delivery(row["to"], row["channel"], row["type"], row["status"], row["at"], row["reason"])


def _ahead(stage: Stage) -> Iterator[Due]:
    clock_rules = [state.rule.id for state in stage.rules() if state.runs and is_clock(state.rule.when)]
    with looking_ahead(stage.log, stage.settings.default_zone, stage.clock.now()) as look:
        for rule in clock_rules:
            for ahead in look.of_rule(rule, MOST_AHEAD):
                yield Due(ahead.entity, ahead.rule, ahead.at)
