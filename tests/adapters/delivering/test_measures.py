"""How deliveries go, in numbers."""

from __future__ import annotations

from datetime import timedelta

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import Metric

from adapters.database.engine import reading
from adapters.database.preferences import PreferenceDesk
from adapters.database.projecting import Projector
from adapters.database.readers import projections
from adapters.database.unit_of_work import unit_of_work
from adapters.delivery_metrics import delivery_metrics
from domain.delivery_receipts import DeliveryComplained, DeliveryDelivered
from domain.endings import Done, Refused, TryLater
from domain.preferences import Subject
from tests.adapters.delivering.office import FakeChannel, Office


class Told:
    """What an office tells Prometheus."""

    def __init__(self, office: Office) -> None:
        self._office = office

    def collect(self) -> list[Metric]:
        self._office.worker.work_until_idle()
        with reading(self._office.app.engine) as connection:
            return list(delivery_metrics(connection, {"email": "smtp"}, self._office.clock.now()))


def registry_of(office: Office) -> CollectorRegistry:
    registry = CollectorRegistry(auto_describe=False)
    registry.register(Told(office))
    return registry


def text(office: Office) -> str:
    return generate_latest(registry_of(office)).decode()


def value(office: Office, name: str, **labels: str) -> float | None:
    about = {"channel": "email", "provider": "smtp", "lane": "transactional", "type": "news"}
    return registry_of(office).get_sample_value(name, about | labels)


def test_the_way_to_the_provider_is_measured_from_when_it_became_due(office: Office) -> None:
    office.email.answer = TryLater(reason="busy")
    office.request()
    office.settle()
    office.email.answer = Done()
    office.deliver_for(timedelta(minutes=2))
    assert value(office, "semel_delivery_accepted_seconds_count") == 1
    assert value(office, "semel_delivery_accepted_seconds_sum") == 60
    assert value(office, "semel_delivery_accepted_seconds_bucket", le="30.0") == 0
    assert value(office, "semel_delivery_accepted_seconds_bucket", le="60.0") == 1
    assert value(office, "semel_delivery_attempts_sum") == 2


def test_failures_are_counted_by_class_and_nobody_is_named(office: Office) -> None:
    office.email.answer = Refused(reason="mia@example.org is unknown", error_class="bad_address")
    office.request()
    office.settle()
    assert value(office, "semel_delivery_states_total", state="failed", error_class="bad_address") == 1
    assert "mia" not in text(office)
    assert "m1" not in text(office)


def test_what_waits_is_told_by_its_age(office: Office) -> None:
    office.use_channel("email", FakeChannel(honours_keys=False))  # what no key guards begins in its turn
    office.request()
    office.delivering.work_once()
    office.clock.advance(timedelta(minutes=7))
    assert 'semel_delivery_oldest_due_seconds{channel="email",lane="transactional"} 420.0' in text(office)


def test_reports_are_measured_by_how_late_they_come_and_counted_where_nobody_knows_them(office: Office) -> None:
    office.request()
    office.settle()
    last = office.events("delivery.sent")[-1]
    now = office.clock.now()
    told_at = (now - timedelta(seconds=90)).isoformat()
    with unit_of_work(office.app.log) as work:
        work.append([DeliveryDelivered(stream=last.stream, version=last.version + 1, at=now, told_at=told_at)])
    assert value(office, "semel_callback_lag_seconds_sum") == 90
    assert "semel_callbacks_unmatched 0.0" in text(office)


def test_a_report_without_a_certain_instant_is_not_measured(office: Office) -> None:
    office.request()
    office.settle()
    last = office.events("delivery.sent")[-1]
    with unit_of_work(office.app.log) as work:
        for number, told_at in enumerate(("2605121000", "2026-05-12T10:00:00"), last.version + 1):
            kind = DeliveryDelivered if number == last.version + 1 else DeliveryComplained
            work.append([kind(stream=last.stream, version=number, at=office.clock.now(), told_at=told_at)])
    assert value(office, "semel_callback_lag_seconds_count") is None


def test_who_refuses_a_type_is_counted_and_not_named(office: Office) -> None:
    desk = PreferenceDesk(office.app.log, office.clock)
    desk.choose("m1", Subject("news", "email"), enabled=False)
    assert 'semel_opt_outs{channel="email",type="news"} 1.0' in text(office)


def test_a_rebuild_counts_the_same(office: Office) -> None:
    office.request()
    office.settle()
    before = text(office)
    Projector(office.app.log, projections("Europe/Madrid")).empty()
    assert text(office) == before
