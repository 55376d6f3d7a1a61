"""A whole Semel that delivers, on a simulated clock: what tests of deliveries tell it, and what came of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import count
from typing import Any

from adapters.application import Application, embedded_services
from adapters.callbacks import CallbackProvider
from adapters.clock import SimulatedClock
from adapters.database import log_queries
from adapters.database.engine import reading
from adapters.database.messages import SentMessage, sent_messages
from adapters.delivering import DeliveryWorker
from adapters.ingestion.cloud_events import read_event
from adapters.workers import Worker
from automations.authoring import read_rule
from automations.notifications.calls import Calls
from automations.notifications.channels import CallEnding, Channel, Message
from automations.notifications.pace import Rate
from automations.notifications.types import Types
from automations.notifications.unsubscribing import WayOut, without_a_way_out
from automations.notifications.wordings import Wordings
from automations.ports import Call
from domain.commands import RequestNotification
from domain.endings import Done
from domain.events import Cause, DomainEvent
from domain.notices import is_notice
from projections.deliveries import listed
from tests.domain.reminder_story import at

REMINDERS = {
    "id": "reminders",
    "name": "Reminders",
    "when": "reminder.due",
    "do": [{"notify": {"type": "ready.reminders"}}],
}
START = at("2026-08-08 00:00")


class Killed(BaseException):
    """The process died; nothing inside of it may take this for an error."""


@dataclass
class FakeChannel:
    """A channel that answers what the test says, and keeps what it was asked to send."""

    honours_keys: bool = True
    answer: CallEnding = field(default_factory=Done)
    before: Callable[[], object] = lambda: None
    after: Callable[[], object] = lambda: None
    calls: list[str] = field(default_factory=list)
    sent: list[Message] = field(default_factory=list)

    def send(self, message: Message, key: str) -> CallEnding:
        self.before()
        self.calls.append(key)
        is_repeat = self.honours_keys and key in [each.delivery for each in self.sent]
        if isinstance(self.answer, Done) and not is_repeat:
            self.sent.append(message)
        self.after()
        return self.answer


@dataclass
class Office:
    """An application, its worker, and a worker for deliveries; a new pair after each death."""

    app: Application
    clock: SimulatedClock
    channels: dict[str, Channel]
    types: Types = field(default_factory=Types)
    wordings: Wordings = field(default_factory=Wordings)
    rates: dict[str, Rate] = field(default_factory=dict)
    callbacks: dict[str, CallbackProvider] = field(default_factory=dict)
    way_out: WayOut = without_a_way_out
    calls: Calls | None = None
    names: Any = field(default_factory=count)

    def __post_init__(self) -> None:
        self.start_anew()

    @property
    def email(self) -> FakeChannel:
        channel = self.channels["email"]
        assert isinstance(channel, FakeChannel)
        return channel

    def start_anew(self) -> None:
        """Start another process, which knows nothing of the one before."""
        self.worker: Worker = self.app.worker()
        self.delivering = self.delivery_worker(f"deliverer {next(self.names)}")

    def use_templates(self, templates: Mapping[str, str]) -> None:
        """Start another process that has these templates."""
        self.wordings = Wordings(templates)
        self.start_anew()

    def use_channel(self, name: str, channel: FakeChannel) -> None:
        """Start another process that has this channel."""
        self.channels[name] = channel
        self.start_anew()

    def limit(self, channel: str, rate: Rate) -> None:
        """Start another process that sends no faster on a channel."""
        self.rates[channel] = rate
        self.start_anew()

    def delivery_worker(self, owner: str) -> DeliveryWorker:
        return DeliveryWorker(
            log=self.app.log,
            clock=self.clock,
            owner=owner,
            default_zone="Europe/Madrid",
            channels=self.channels,
            jitter=lambda: 1.0,
            types=self.types,
            wordings=self.wordings,
            rates=self.rates,
            callbacks=self.callbacks,
            way_out=self.way_out,
            calls=self.calls,
        )

    def tell(self, fact_type: str, **data: Any) -> None:
        """Record a fact from outside that happens now."""
        event = read_event(
            {
                "id": f"e{next(self.names)}",
                "source": "tests",
                "type": fact_type,
                "time": self.clock.now().isoformat(),
                "data": data,
            }
        )
        [outcome] = self.app.record(self.app.recorder(), [event])
        assert outcome.status == "accepted", outcome

    def save_rule(self, **wording: Any) -> None:
        authored = read_rule(wording)
        self.app.save_rules([(authored.rule, authored.enabled)], "tests")

    def settle(self) -> None:
        """Work until nothing is left that can be done now."""
        while self._rounds():
            pass

    def _rounds(self) -> bool:
        return bool(self.worker.work_once() | self.delivering.work_once())

    def tick(self) -> None:
        self.worker.tick()
        self.settle()

    def until(self, wall: str, *, every: timedelta = timedelta(minutes=60)) -> None:
        """Let time pass until a wall time, with a tick every so often and a stop where something is due."""
        end = at(wall)
        while self.clock.now() < end:
            now = self.clock.now()
            due = self.delivering.next_due()
            next_tick = now - (now - START) % every + every
            self.clock.set(min([next_tick, end] + ([due] if due is not None and due > now else [])))
            if self.clock.now() == next_tick:
                self.worker.tick()
            self.settle()

    def messages(self) -> list[SentMessage]:
        with reading(self.app.engine) as connection:
            return sent_messages(connection)

    def statuses(self) -> dict[str, int]:
        """Count what became of deliveries, without those of what Semel itself has to say."""
        return dict(Counter(row["status"] for row in self.rows()))

    def rows(self, **asked: Any) -> list[Mapping[str, Any]]:
        """Return deliveries, without those of what Semel itself has to say."""
        return [row for row in self._listed(**asked) if not is_notice(row["type"])]

    def notices(self) -> list[Mapping[str, Any]]:
        """Return the deliveries of what Semel itself has to say."""
        return [row for row in self._listed() if is_notice(row["type"])]

    def _listed(self, **asked: Any) -> list[Mapping[str, Any]]:
        self.worker.work_until_idle()
        with reading(self.app.engine) as connection:
            return listed(connection, **asked)

    def events(self, topic: str = "") -> Sequence[DomainEvent]:
        mapper = self.app.log.mapper
        with reading(self.app.engine) as connection:
            found = [mapper.read(row) for row in log_queries.events_after(connection, 0, 100_000)]
        return [event for event in found if event.topic.startswith(topic)]

    def request(
        self,
        key: str = "k/0",
        *,
        to: str = "member/m1",
        type: str = "news",
        channels: tuple[str, ...] = (),
        **payload: Any,
    ) -> str:
        """Ask for somebody to be told, as nobody's rule does; return the id of the notification."""
        service = embedded_services(self.app)["notifications"]
        command = RequestNotification(entity="member/m1", to=to, type=type, channels=channels, payload=payload)
        call = Call(key=key, cause=Cause(execution="nobody's"), at=self.clock.now())
        ending = service.perform(command, call)
        assert isinstance(ending, Done), ending
        return str(ending.result["notification_id"])

    def deliver_for(self, span: timedelta, step: timedelta | None = None) -> None:
        """Let time pass with deliveries alone: no ticks."""
        end = self.clock.now() + span
        self.settle()
        while self.clock.now() < end:
            due = self.delivering.next_due()
            ahead = [due] if due is not None and due > self.clock.now() else []
            self.clock.set(min([end, *ahead, *([self.clock.now() + step] if step else [])]))
            self.settle()
