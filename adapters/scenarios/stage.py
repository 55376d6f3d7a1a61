"""The stage of one scenario: a whole Semel whose time, services and crashes the scenario decides."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from datetime import timedelta

from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from adapters.application import Application, embedded_services
from adapters.callbacks.plain_reports import PlainReports
from adapters.clock import SimulatedClock
from adapters.delivering import DeliveryWorker
from adapters.ingestion.cloud_events import read_event
from adapters.ingestion.incoming import Outcome
from adapters.scenarios.captured import CapturedService, CapturedWebhook, Switchboard
from adapters.scenarios.captured_channels import Outgoing
from adapters.scenarios.crashes import CrashPoints
from adapters.scenarios.databases import Place, without_durability
from adapters.scenarios.world import types_of, wordings_of
from adapters.settings import Settings
from automations.ports import Service
from automations.scenario import RecordEvent, Scenario

GIVEN_BEFORE = timedelta(minutes=1)
"""How long before a scenario begins its given facts happen."""

BY = "scenario"
"""Who writes and switches the rules of a scenario."""

REPORTER = "scenario"
"""The provider that reports what became of messages."""


class StageSettings(Settings):
    """Settings that neither a file nor a variable of whoever runs the scenario changes."""

    model_config = SettingsConfigDict(toml_file=None)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Take arguments alone."""
        return (init_settings,)


class Stage(Application):
    """An application on a fresh database, with a simulated clock and captured services."""

    clock: SimulatedClock

    def __init__(self, scenario: Scenario, place: Place) -> None:
        # Not the tick of the scenario: a run is late after a minute, however far apart ticks are in a file.
        settings = StageSettings.model_validate(
            {
                "database_url": place.url,
                "database_schema": place.schema,
                "default_zone": scenario.zone,
            }
        )
        clock = SimulatedClock(scenario.start - GIVEN_BEFORE)
        self.crashes = CrashPoints()
        self.switchboard = Switchboard(self.crashes)
        super().__init__(
            settings, clock=clock, jitter=lambda: 1.0, services=captured_services, points=self.crashes.reach
        )
        without_durability(self.engine)
        self.outgoing = Outgoing(self.switchboard, clock)
        self._types, self._wordings = types_of(scenario), wordings_of(scenario)
        self.install()
        self._recorder = self.recorder()

    def arrive(self, event: RecordEvent) -> Outcome:
        """Record an event as if it had come from outside; raises InvalidInput for one that is none."""
        time = event.time or self.clock.now()
        cloud_event = {
            "id": event.id,
            "source": event.source,
            "type": event.type,
            "time": time.isoformat(),
            "data": dict(event.data),
        }
        return self.record(self._recorder, [read_event(cloud_event)])[0]

    def deliverer(self) -> DeliveryWorker:
        """Return what delivers notifications in this process, on captured channels."""
        return DeliveryWorker(
            log=self.log,
            clock=self.clock,
            owner=uuid.uuid4().hex,
            default_zone=self.settings.default_zone,
            channels=self.outgoing.channels(),
            jitter=lambda: 1.0,
            lease_seconds=self.settings.lease_seconds,
            types=self._types,
            wordings=self._wordings,
            callbacks={REPORTER: PlainReports()},
        )


def captured_services(application: Application) -> Mapping[str, Service]:
    """Return the embedded services, each behind one that counts and fails."""
    assert isinstance(application, Stage)
    inner = {CapturedWebhook.name: CapturedWebhook(), **embedded_services(application)}
    return {name: CapturedService(service, application.switchboard) for name, service in inner.items()}
