"""`/metrics`: what Prometheus asks for, looked up when it asks; no label names a person."""

from __future__ import annotations

from collections.abc import Iterator

import sqlalchemy as sa
from fastapi import APIRouter, Response
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric

from adapters.application import Application
from adapters.database import evaluating, log_queries, projecting, watermark
from adapters.database.engine import reading
from adapters.database.queue import AT_ONCE
from adapters.database.queue_dues import next_dues
from adapters.database.schema import queue
from adapters.delivery_metrics import delivery_metrics
from adapters.web.api.doors import App, needs
from adapters.web.api.intake import INTAKE
from adapters.web.api.problem_schemas import problems
from projections import deliveries, executions

router = APIRouter(tags=["health"])


@router.get(
    "/metrics",
    dependencies=needs("read"),
    response_class=Response,
    responses={
        **problems(401, 403, 503),
        200: {
            "description": "The text format of Prometheus.",
            "content": {"text/plain": {"schema": {"type": "string"}}},
        },
    },
)
def metrics(application: App) -> Response:
    """Tell how far behind followers and ticks are, what waits in the queues, and how runs and deliveries stand."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(Gauges(application))
    registry.register(INTAKE)
    return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)


class Gauges:
    """The gauges of one operator at this moment."""

    def __init__(self, application: Application) -> None:
        self._application = application

    def collect(self) -> Iterator[Metric]:
        """Yield every gauge."""
        with reading(self._application.engine) as connection:
            yield from self._followers(connection)
            yield from self._queues(connection)
            yield _counted("semel_runs", "Executions by status.", executions.counted(connection))
            yield _counted("semel_deliveries", "Deliveries by status.", deliveries.counted(connection))
            providers = {name: channel.NAME for name, channel in self._application.channels().items()}
            yield from delivery_metrics(connection, providers, self._application.clock.now())

    def _followers(self, connection: sa.Connection) -> Iterator[Metric]:
        head = log_queries.head_position(connection)
        lag = GaugeMetricFamily("semel_follower_lag_events", "Events behind the head of the log.", labels=["follower"])
        for name in (projecting.FOLLOWER, evaluating.FOLLOWER):
            lag.add_metric([name], head - log_queries.tracked_position(connection, name))
        yield lag
        yield GaugeMetricFamily("semel_log_events", "Events in the log.", value=head)
        age = (self._application.clock.now() - watermark.stored(connection)).total_seconds()
        yield GaugeMetricFamily("semel_watermark_age_seconds", "Seconds since the clock was looked at.", value=age)
        paused = watermark.paused(connection) is not None
        yield GaugeMetricFamily("semel_clock_paused", "1 while clock triggers are paused.", value=float(paused))

    def _queues(self, connection: sa.Connection) -> Iterator[Metric]:
        now = self._application.clock.now()
        depth = GaugeMetricFamily("semel_queue_depth", "Items in a queue by state.", labels=["queue", "state"])
        for name, state, number in connection.execute(_DEPTHS):
            depth.add_metric([name, state], number)
        oldest = GaugeMetricFamily(
            "semel_queue_oldest_due_seconds",
            "For how long the first free item of a queue has been due; below zero where it is due later.",
            labels=["queue"],
        )
        for name, due_at in next_dues(connection).items():
            oldest.add_metric([name], 0.0 if due_at == AT_ONCE else (now - due_at).total_seconds())
        yield from (depth, oldest)


def _counted(name: str, about: str, counts: dict[str, int]) -> Metric:
    family = GaugeMetricFamily(name, about, labels=["status"])
    for status, number in sorted(counts.items()):
        family.add_metric([status], number)
    return family


_STATE = sa.case(
    (queue.c.owner.is_not(None), "leased"),
    (queue.c.lane.is_not(None), "apart"),
    else_="free",
)
_DEPTHS = sa.select(queue.c.queue, _STATE.label("state"), sa.func.count()).group_by(queue.c.queue, _STATE)
