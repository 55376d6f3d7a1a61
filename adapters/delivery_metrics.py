"""The measures of deliveries as Prometheus wants them; no label names a person."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import datetime

import sqlalchemy as sa
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric

from adapters.database import callbacks
from projections.delivery_measures import (
    ACCEPTED,
    DELIVERED,
    ENDED,
    HISTOGRAMS,
    REPORTED,
    TRIED,
    Labels,
    measured,
    oldest_due,
)
from projections.preferences import opted_out

_NAMED = {
    ACCEPTED: ("semel_delivery_accepted_seconds", "From due to taken by the provider."),
    DELIVERED: ("semel_delivery_delivered_seconds", "From due to delivered, as the provider says."),
    REPORTED: ("semel_callback_lag_seconds", "From what happened at the provider to its record here."),
    TRIED: ("semel_delivery_attempts", "Attempts of a delivery until it was sent or failed."),
}
_LABELS = ("channel", "provider", "lane", "type")

Buckets = dict[int, tuple[int, float]]


def delivery_metrics(connection: sa.Connection, providers: Mapping[str, str], at: datetime) -> Iterator[Metric]:
    """Yield the measures of all deliveries; `providers` names what stands behind each channel."""
    spread: defaultdict[Labels, Buckets] = defaultdict(dict)
    for labels, bucket, number, total in measured(connection):
        spread[labels][bucket] = number, total
    for measure, (name, about) in _NAMED.items():
        family = HistogramMetricFamily(name, about, labels=_LABELS)
        for labels, buckets in spread.items():
            if labels.measure == measure:
                cumulated, total = _cumulated(HISTOGRAMS[measure], buckets)
                family.add_metric(_values(labels, providers), cumulated, total)
        yield family
    yield _states(spread, providers)
    yield _oldest(connection, at)
    about = "Reports of providers about messages that are not known here."
    yield GaugeMetricFamily("semel_callbacks_unmatched", about, value=callbacks.unmatched(connection))
    yield _opt_outs(connection)


def _states(spread: Mapping[Labels, Buckets], providers: Mapping[str, str]) -> Metric:
    family = CounterMetricFamily(
        "semel_delivery_states", "How often deliveries came to a state.", labels=(*_LABELS, "state", "error_class")
    )
    for labels, buckets in spread.items():
        if labels.measure == ENDED:
            state, _, failure = labels.error_class.partition(":")
            family.add_metric(
                [*_values(labels, providers), state, failure], sum(count for count, _ in buckets.values())
            )
    return family


def _oldest(connection: sa.Connection, at: datetime) -> Metric:
    family = GaugeMetricFamily(
        "semel_delivery_oldest_due_seconds", "For how long the oldest due delivery waits.", labels=("channel", "lane")
    )
    for channel, lane, due_at in oldest_due(connection, at):
        family.add_metric([channel, lane], (at - due_at).total_seconds())
    return family


def _opt_outs(connection: sa.Connection) -> Metric:
    about = "Members who refuse a type on a channel; an empty label stands for all."
    family = GaugeMetricFamily("semel_opt_outs", about, labels=("type", "channel"))
    for (name, channel), number in sorted(opted_out(connection).items()):
        family.add_metric([name, channel], number)
    return family


def _values(labels: Labels, providers: Mapping[str, str]) -> list[str]:
    return [labels.channel, providers.get(labels.channel, ""), labels.lane, labels.type]


def _cumulated(bounds: tuple[float, ...], buckets: Buckets) -> tuple[list[tuple[str, float]], float]:
    """Return the buckets as Prometheus counts them, each with all that is below, and the sum of the values."""
    cumulated: list[tuple[str, float]] = []
    so_far = 0
    for place, bound in enumerate((*bounds, float("inf"))):
        so_far += buckets.get(place, (0, 0.0))[0]
        cumulated.append(("+Inf" if bound == float("inf") else str(float(bound)), so_far))
    return cumulated, sum(total for _, total in buckets.values())
