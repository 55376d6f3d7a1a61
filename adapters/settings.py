"""The settings of one operator, read once from `semel.toml` and from `SEMEL_…` variables, which win."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr, ValidationError
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
    TomlConfigSettingsSource,
)

from adapters.callbacks.amazon import Amazon
from adapters.callbacks.generic import Generic
from adapters.callbacks.mail import Mail
from adapters.callbacks.standard import Standard
from adapters.callbacks.twilio import Twilio
from adapters.channels.email import Email
from adapters.channels.sms import Sms
from adapters.channels.web_push import WebPush
from adapters.channels.webhook import Webhook
from adapters.services.outside_settings import ServiceSettings
from automations.clock_jumps import Limits
from automations.notifications.type_reading import CHANNELS, no_channel
from domain.catalogue import mistakes_of
from domain.civil_time import Zone
from domain.errors import InvalidInput
from domain.fields import Locale
from domain.text_values import did_you_mean


def _known_channel(name: str) -> str:
    if name not in CHANNELS:
        raise ValueError(no_channel(name))
    return name


ChannelName = Annotated[str, AfterValidator(_known_channel)]

FILE = Path("semel.toml")
"""Where settings are looked for, in the folder in which Semel is called."""


class HttpSettings(BaseModel):
    """How Semel is reached over HTTP: the table `[http]`, or variables like `SEMEL_HTTP__PORT`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    host: str = "127.0.0.1"
    """The address to listen at; the default is for this machine alone."""

    port: Annotated[int, Field(ge=0, le=65_535)] = 8_080
    """The port to listen at; 0 takes any that is free."""

    trusted_proxies: tuple[str, ...] = ()
    """Addresses of proxies in front, whose word about the caller's address and about encryption counts."""

    largest_body: Annotated[int, Field(ge=1_000, le=100_000_000)] = 4_000_000
    """Bytes of one request, packed or not."""

    largest_batch: Annotated[int, Field(ge=1, le=10_000)] = 1_000
    """Events in one request."""

    deepest_nesting: Annotated[int, Field(ge=5, le=200)] = 50
    """Levels of lists and objects inside of each other in one request."""

    idle_minutes: Annotated[float, Field(gt=0, le=10_080)] = 60.0
    """After how long without a request somebody has to sign in again."""

    session_hours: Annotated[float, Field(gt=0, le=720)] = 12.0
    """After how long somebody has to sign in again in any case."""

    stop_seconds: Annotated[float, Field(gt=0, le=60)] = 8.0
    """How long requests and runs under way may take when the server is asked to stop."""


class CallbackSettings(BaseModel):
    """Who reports what became of messages; each posts to `/v1/callbacks/` and the name of its table."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    standard: Standard | None = None
    """Whoever signs by Standard Webhooks."""

    twilio: Twilio | None = None
    """An SMS service that speaks as Twilio does."""

    amazon: Amazon | None = None
    """Amazon SES, through SNS."""

    mail: Mail | None = None
    """Notices of mail servers."""

    generic: Generic | None = None
    """Whoever knows a secret."""


class WebhookSettings(BaseModel):
    """How events go out to the webhooks of programs: the table `[webhooks]`, or variables like `SEMEL_WEBHOOKS__…`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    allow_private: bool = False
    """Whether addresses inside a private network may be called, and http."""

    timeout_seconds: Annotated[float, Field(gt=0, le=60)] = 15.0
    """The longest wait for an answer."""

    at_once: Annotated[int, Field(ge=1, le=100)] = 8
    """To how many webhooks a process sends at a time; to each, one event after the other."""


class Settings(BaseSettings):
    """Everything that can be set. Secrets are never shown."""

    model_config = SettingsConfigDict(
        env_prefix="SEMEL_",
        env_nested_delimiter="__",
        frozen=True,
        extra="forbid",
        toml_file=FILE,
        nested_model_default_partial_update=True,
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

    rates: dict[ChannelName, Annotated[float, Field(gt=0, le=100_000)]] = {}
    """How many messages a second the provider of a channel allows, by channel: `{email: 10}`."""

    notifications: Path = Path("notifications.yaml")
    """The file of notification types; it need not be there."""

    templates: Path = Path("templates")
    """The folder of templates, `<type>/<channel>.<locale>.liquid`; it need not be there."""

    default_locale: Locale = "en"
    """The language of who has none, in a space that has none."""

    outbox: Path = Path("outbox")
    """The folder for messages on channels that no provider is set up for."""

    poll_seconds: Annotated[float, Field(gt=0, le=60)] = 0.5
    """How often the log is looked at where no news comes."""

    longest_line: Annotated[int, Field(ge=1_000, le=100_000_000)] = 1_000_000
    """Bytes of one event; longer ones are refused."""

    http: HttpSettings = HttpSettings()
    """How Semel is reached over HTTP."""

    email: Email | None = None
    """The mail server, in the table `[email]`; without it mails go to the outbox."""

    sms: Sms | None = None
    """The SMS service, in the table `[sms]`."""

    web_push: WebPush | None = None
    """The key for browsers, in the table `[web_push]`."""

    webhook: Webhook | None = None
    """Where messages are posted to, in the table `[webhook]`."""

    webhooks: WebhookSettings = WebhookSettings()
    """How events go out to the webhooks of programs."""

    services: ServiceSettings = ServiceSettings()
    """Services of the operator's own, in tables like `[services.billing]`."""

    callbacks: CallbackSettings = CallbackSettings()
    """Who reports what became of messages, in tables like `[callbacks.twilio]`."""

    public_url: Annotated[str, Field(pattern=r"^(https?://[^\s<>\"?#]{1,300})?$")] = ""
    """Where the world reaches Semel, such as `https://semel.example.org`; bulk mails say how to end them there."""

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
        raise InvalidInput(mistakes_of(error, ("settings",), shows_values=False)) from None
    except SettingsError as error:
        # A table or a list stands in one variable as JSON, or has a variable for each of its values.
        raise InvalidInput(
            f"settings: {error}: write JSON there, or one variable for each value, such as SEMEL_HTTP__PORT=8080"
        ) from None


def misspelt_variables(environment: Mapping[str, str]) -> list[str]:
    """Return a message for each variable that sets nothing, but has nearly the name of one that would.

    Others with our prefix are left alone: whatever runs programs in containers makes such by itself.
    """
    prefix = str(Settings.model_config["env_prefix"]).casefold()
    known = Settings.model_fields
    found = []
    for variable in sorted(environment):
        name = variable.casefold().removeprefix(prefix).partition("__")[0]
        if variable.casefold().startswith(prefix) and name not in known and (hint := did_you_mean(name, known)):
            found.append(f"{variable} sets nothing: no setting is called {name}{hint}")
    return found
