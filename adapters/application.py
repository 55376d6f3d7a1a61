"""Wiring: everything is built from settings here, and nowhere else."""

from __future__ import annotations

import random
import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Literal

from adapters.channels import ChannelPlugin
from adapters.clock import SystemClock
from adapters.clock_desk import ClockDesk
from adapters.crew import Crew
from adapters.database import meta
from adapters.database.archiving import hasten_runs_of
from adapters.database.campaigning import Campaigns
from adapters.database.claims import QUEUE
from adapters.database.engine import connect, reading
from adapters.database.evaluating import EvaluatingFollower
from adapters.database.event_log import EventLog
from adapters.database.facts import EntityCache
from adapters.database.follower import PageReader
from adapters.database.journal import StoredJournal
from adapters.database.judging import PageJudge
from adapters.database.lanes import StoredLanes
from adapters.database.lease_observer import LeaseObserver
from adapters.database.migrations import install, require_current
from adapters.database.projecting import Projector
from adapters.database.published_templates import PublishedTemplates
from adapters.database.readers import projections
from adapters.database.reconciling import Reconciler
from adapters.database.restored import Gate
from adapters.database.rules import StoredRules
from adapters.database.ticking import Ticker
from adapters.database.unit_of_work import retrying, unit_of_work
from adapters.delivering import DeliveryWorker
from adapters.dossiers.acting import RunActs
from adapters.dossiers.keeping import DossierKeeper
from adapters.dossiers.minding import DossierActs
from adapters.ingestion.incoming import Incoming, Outcome
from adapters.ingestion.notification_door import NotificationDoor
from adapters.ingestion.recording import FactRecorder
from adapters.operations import Performer
from adapters.points import Points, pass_by
from adapters.providers import callbacks_of, calls_of, channels_of, reported_channels
from adapters.rehearsing import Progress, Walk, unseen
from adapters.services.access import Access
from adapters.services.billing import Billing
from adapters.services.embedded import Foundation
from adapters.services.memberships import Memberships
from adapters.services.notifications import Notifications
from adapters.services.outside import outside_services
from adapters.services.tasks import Tasks
from adapters.settings import Settings
from adapters.webhooks.opening import events_out, line_to_webhooks
from adapters.wording.files import templates_of, types_of
from adapters.workers import Worker
from automations.notifications.decisions import spread_by_id
from automations.notifications.pace import Rate
from automations.notifications.types import Types
from automations.notifications.unsubscribing import way_out_of
from automations.notifications.wordings import Wordings
from automations.ports import Clock, Service
from automations.rulebook import RuleBook
from automations.runner import Runner
from domain.moment_ranges import Window
from domain.rules import Rule, RuleEvent, RuleState, archived, saved, switched


def embedded_services(application: Application) -> dict[str, Service]:
    """Return the services that come with Semel, by name: they keep what they do in the same log."""
    foundation = Foundation(application.log, application.salt, application.settings.default_zone, sleep=time.sleep)
    kinds = (Billing, Access, Tasks, Memberships, Notifications)
    return {kind.name: kind(foundation) for kind in kinds}


def all_services(application: Application) -> dict[str, Service]:
    """Return the services of an operator: those of their own, and those that come with Semel for the others."""
    return {**embedded_services(application), **application.outside}


def spread() -> float:
    """Return the factor by which a wait is stretched or shortened, so that retries part."""
    return random.uniform(0.8, 1.2)  # noqa: S311 - nothing secret depends on it


class Application:
    """One operator's Semel: its database, and what works on it.

    `services` replaces all of them; the clock and the jitter are given so that tests own time.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        clock: Clock | None = None,
        jitter: Callable[[], float] = spread,
        services: Callable[[Application], Mapping[str, Service]] = all_services,
        points: Points = pass_by,
    ) -> None:
        self.settings = settings
        self.clock: Clock = clock or SystemClock()
        self.engine = connect(settings.database_url.get_secret_value(), schema=settings.database_schema)
        self.log = EventLog(self.engine, points=points)
        self._jitter = jitter
        self._services = services
        self.outside = outside_services(settings.services)
        self._salt: bytes | None = None
        self._channels: dict[str, ChannelPlugin] = {}
        self._webhooks = line_to_webhooks(settings.webhooks)

    def install(self) -> None:
        """Set the database up; a ready one is left as it is."""
        install(self.engine, self.clock.now())

    def require_ready(self) -> None:
        """Raise Unavailable with the remedy where the database is not set up for this version."""
        require_current(self.engine)

    def close(self) -> None:
        """Let go of the database, of the providers of channels, and of the operator's services."""
        for outside in (*self._channels.values(), *self.outside.values(), self._webhooks):
            outside.close()
        self.log.close()
        self.engine.dispose()

    @property
    def salt(self) -> bytes:
        """Return the secret that goes into hashes of outside events."""
        if self._salt is None:
            with reading(self.engine) as connection:
                self._salt = meta.salt(connection)
        return self._salt

    def recorder(self) -> FactRecorder:
        """Return a recorder of facts, for one loop."""
        mapper = self.log.mapper
        return FactRecorder(mapper, EntityCache(mapper), self.salt, self.settings.default_zone)

    def record(self, recorder: FactRecorder, incoming: Sequence[Incoming]) -> list[Outcome]:
        """Record a batch of events in one transaction; what came of each is returned after the commit."""

        def attempt() -> list[Outcome]:
            with unit_of_work(self.log, "ingest") as work:
                return recorder.record(work, incoming, self.clock.now())

        return retrying(attempt, sleep=time.sleep)

    def worker(self) -> Worker:
        """Return a worker that does everything in this process."""
        owner = uuid.uuid4().hex
        zone, settings = self.settings.default_zone, self.settings
        cache, pages = EntityCache(self.log.mapper), PageReader(self.log)
        journal = StoredJournal(self.log, owner, zone, cache=cache)
        lanes = StoredLanes(self.log)
        projector = Projector(self.log, projections(zone), cache=cache, pages=pages)
        return Worker(
            log=self.log,
            clock=self.clock,
            owner=owner,
            projector=projector,
            evaluating=EvaluatingFollower(self.log, self.clock, owner, zone, cache=cache, pages=pages),
            journal=journal,
            runner=Runner(journal, self._services(self), self.clock, jitter=self._jitter, lanes=lanes),
            observer=LeaseObserver(self.clock.monotonic, settings.lease_seconds, watches=QUEUE.__eq__),
            ticker=Ticker(
                self.log,
                self.clock,
                PageJudge(self.log, owner, zone, settings.tick_interval, cache),
                projector,
                settings.tick_interval,
                settings.clock_limits,
            ),
            lanes=lanes,
            dossiers=DossierKeeper(self.log, self.clock),
        )

    def deliverer(self) -> DeliveryWorker:
        """Return what delivers notifications in this process, on this operator's channels."""
        return DeliveryWorker(
            log=self.log,
            clock=self.clock,
            owner=uuid.uuid4().hex,
            default_zone=self.settings.default_zone,
            channels=self.channels(),
            jitter=self._jitter,
            lease_seconds=self.settings.lease_seconds,
            types=self.types(),
            wordings=self.wordings(),
            spread=spread_by_id,
            rates={name: Rate(per_second) for name, per_second in self.settings.rates.items()},
            calls=calls_of(self.channels()),
            callbacks=callbacks_of(self.settings),
            way_out=way_out_of(self.settings.public_url, self.salt),
        )

    def types(self) -> Types:
        """Return the notification types that there are."""
        return Types(types_of(self.settings))

    def wordings(self) -> Wordings:
        """Return the templates that there are, with those versions that pending deliveries began with."""
        published = PublishedTemplates(self.log)
        templates = templates_of(self.settings)
        return Wordings(templates, default_locale=self.settings.default_locale, published=published)

    def notification_door(self) -> NotificationDoor:
        """Return where producers ask for somebody to be told; it serves any thread."""
        return NotificationDoor(self.log, self.clock, self.salt, self.types().names, sleep=time.sleep)

    def channels(self) -> dict[str, ChannelPlugin]:
        """Return the channels of this process by name."""
        self._channels = self._channels or channels_of(self.settings)
        return self._channels

    def crew(self) -> Crew:
        """Return all that one process does: rules, ticks, deliveries, and events that go out."""
        gate = Gate(self.log, self.clock)
        reported = reported_channels(self.settings)
        reconciler = Reconciler(self.log, self.clock, self.channels(), reported)
        interval, out = self.settings.tick_interval, events_out(self, self._webhooks, self._jitter)
        return Crew(self.worker(), self.deliverer(), self.clock, interval, gate.is_open, reconciler, out)

    def performer(self) -> Performer:
        """Return what performs manual operations in this process."""
        owner, zone = uuid.uuid4().hex, self.settings.default_zone
        journal = StoredJournal(self.log, owner, zone)
        runner = Runner(journal, self._services(self), self.clock, jitter=self._jitter, lanes=StoredLanes(self.log))
        return Performer(self.log, self.clock, owner, zone, journal, runner, self.settings.lease_seconds)

    @staticmethod
    def new_key() -> str:
        """Return an idempotency key that nobody has used."""
        return uuid.uuid4().hex

    def run_acts(self) -> RunActs:
        """Return what lets staff act on runs."""
        return RunActs(self.log, self.clock)

    def dossier_acts(self) -> DossierActs:
        """Return what lets staff act on dossiers."""
        return DossierActs(self.log, self.clock)

    def campaigns(self) -> Campaigns:
        """Return what lets staff tell many members something."""
        return Campaigns(self.log, self.clock)

    def clock_desk(self) -> ClockDesk:
        """Return what staff see of the clock, and decide about it."""
        projector = Projector(self.log, projections(self.settings.default_zone))
        return ClockDesk(self.log, self.clock, self.settings, projector)

    def rehearsal(self, rules: Sequence[RuleState], window: Window, progress: Progress = unseen) -> Walk:
        """Return a walk that rehearses rules over a window of the log; it has no service that it could call."""
        settings = self.settings
        return Walk(self.log, settings.default_zone, rules, window, settings.tick_interval, progress)

    def rules(self) -> RuleBook:
        """Return all rules as they are now."""
        with reading(self.engine) as connection:
            return StoredRules(self.log.mapper).at_head(connection)

    def save_rules(self, wanted: Iterable[tuple[Rule, bool]], by: str) -> dict[str, list[RuleEvent]]:
        """Save wordings, each with whether it is to be enabled, in one transaction; say what changed."""
        changes = list(wanted)

        def decide(book: RuleBook, at: datetime) -> dict[str, list[RuleEvent]]:
            return {rule.id: saved(book.get(rule.id), rule, enabled=enabled, at=at, by=by) for rule, enabled in changes}

        return self._decide_rules(decide)

    def switch_rule(self, rule_id: str, to: Literal["enabled", "disabled"], by: str) -> list[RuleEvent]:
        """Enable or disable a rule; raises InvalidInput for one that does not exist or is archived."""
        return self._decide_rule(rule_id, lambda state, at: switched(state, to, at=at, by=by))

    def archive_rule(self, rule_id: str, by: str) -> list[RuleEvent]:
        """Archive a rule, and have what waits cancelled; raises InvalidInput for one that does not exist."""
        events = self._decide_rule(rule_id, lambda state, at: archived(state, at=at, by=by))
        hasten_runs_of(self.log, rule_id)
        return events

    def _decide_rule(self, rule_id: str, decide: Callable[[RuleState, datetime], list[RuleEvent]]) -> list[RuleEvent]:
        return self._decide_rules(lambda book, at: {rule_id: decide(book.require(rule_id), at)})[rule_id]

    def _decide_rules(
        self, decide: Callable[[RuleBook, datetime], dict[str, list[RuleEvent]]]
    ) -> dict[str, list[RuleEvent]]:
        def attempt() -> dict[str, list[RuleEvent]]:
            with unit_of_work(self.log, "rules") as work:
                book = StoredRules(self.log.mapper).at_head(work.connection)
                decided = decide(book, self.clock.now())
                work.append(event for events in decided.values() for event in events)
                return decided

        return retrying(attempt, sleep=time.sleep)
