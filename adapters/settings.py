"""The settings of one operator, read once from `semel.toml` and from `SEMEL_…` variables, which win."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, SecretStr, ValidationError
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from automations.clock_jumps import Limits
from domain.catalogue import mistakes_of
from domain.civil_time import Zone
from domain.errors import InvalidInput

FILE = Path("semel.toml")
"""Where settings are looked for, in the folder in which Semel is called."""


class Settings(BaseSettings):
    """Everything that can be set. Secrets are never shown."""

    model_config = SettingsConfigDict(
        env_prefix="SEMEL_", frozen=True, extra="forbid", toml_file=FILE, nested_model_default_partial_update=True
    )

    database_url: SecretStr = SecretStr("sqlite:///semel.db")
    """Where everything is kept: `sqlite:///…` or `postgresql+psycopg://…`."""

    database_schema: str | None = None
    """The operator's schema on PostgreSQL."""

    default_zone: Zone = "UTC"
    """The time zone of what belongs to no known space."""

    lease_seconds: Annotated[float, Field(gt=0, le=3600)] = 60.0
    """After how long without a sign of life a worker's runs are taken over."""

    tick_seconds: Annotated[float, Field(gt=0, le=86_400)] = 60.0
    """How far apart ticks are; what is claimed later than this after its moment counts as late."""

    longest_jump_hours: Annotated[float, Field(gt=0, le=8_784)] = 24.0
    """By how much the clock may be set ahead before clock triggers pause and staff are asked."""

    longest_outage_days: Annotated[float, Field(gt=0, le=3_660)] = 30.0
    """After how long without any engine the next one pauses clock triggers and asks staff."""

    outbox: Path = Path("outbox")
    """The folder for messages on channels that no provider is set up for."""

    poll_seconds: Annotated[float, Field(gt=0, le=60)] = 0.5
    """How often the log is looked at where no news comes."""

    longest_line: Annotated[int, Field(ge=1_000, le=100_000_000)] = 1_000_000
    """Bytes of one event; longer ones are refused."""

    @property
    def tick_interval(self) -> timedelta:
        """Return how far apart ticks are."""
        return timedelta(seconds=self.tick_seconds)

    @property
    def clock_limits(self) -> Limits:
        """Return what the clock may do without anybody being asked."""
        return Limits(timedelta(hours=self.longest_jump_hours), timedelta(days=self.longest_outage_days))

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Let arguments win over variables, and variables over the file."""
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls)


def read_settings(**given: Any) -> Settings:
    """Return the settings; raises InvalidInput with every mistake at once."""
    try:
        return Settings(**{name: value for name, value in given.items() if value is not None})
    except ValidationError as error:
        raise InvalidInput(mistakes_of(error, ("settings",))) from None
