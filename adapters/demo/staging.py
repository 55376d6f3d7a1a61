"""The demo is played: its rules are saved, its month goes by, and then everything is looked at once more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, time, timedelta
from importlib import resources
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import sqlalchemy as sa

from adapters.clock import SimulatedClock
from adapters.database import evaluating, log_queries, meta, watermark
from adapters.database.engine import reading, writing
from adapters.database.schema import tracking
from adapters.demo.arrival import arrivals
from adapters.demo.cast import SPACE
from adapters.demo.history import DAYS
from adapters.demo.month import Month
from adapters.files.yaml_source import read_document as read_yaml
from adapters.ingestion.batches import Answer
from adapters.workers import Worked
from automations import authoring
from domain.errors import InvalidInput
from domain.moment_ranges import Window
from projections import executions

if TYPE_CHECKING:
    from adapters.application import Application

RULES = "rules.yaml"
"""The file of rules in this package."""

MARK = "demo-midnight"
"""The name under which a database remembers the last midnight of its demo."""

BY = "semel demo"
"""Who saves the rules."""


@dataclass(frozen=True, slots=True)
class Look:
    """What one working through brought: events looked at, candidates, and what the keys kept away.

    `ended` counts the executions that it brought to each status, as they stood when it was over.
    """

    events: int = 0
    candidates: int = 0
    kept: int = 0
    ended: Mapping[str, int] = field(default_factory=dict)

    @property
    def runs(self) -> int:
        """Return how many executions there are by it; one that waited in between counts once."""
        return sum(self.ended.values())


@dataclass(frozen=True, slots=True)
class Played:
    """What a demo has shown. `is_first` is false where the database had played the month before."""

    midnight: datetime
    is_first: bool
    ticks: int
    crashes: int
    answers: tuple[Answer, ...]
    first_look: Look
    second_look: Look


@dataclass(frozen=True, slots=True)
class Stage:
    """An application of its own for the month that ends at a midnight, on a clock that the demo moves."""

    application: Application
    clock: SimulatedClock
    midnight: datetime

    @property
    def start(self) -> datetime:
        """Return the instant at which the month begins."""
        return beginning(self.midnight)


def beginning(midnight: datetime) -> datetime:
    """Return the midnight with which the month begins, by the space's calendar."""
    zone = ZoneInfo(str(SPACE["time_zone"]))
    first = midnight.astimezone(zone).date() - timedelta(days=DAYS)
    return datetime.combine(first, time(), zone)


def play(stage: Stage, progress: Callable[[int], object] = lambda ticks: None) -> Played:
    """Play the month, or what is left of it; what was played before changes nothing any more.

    Then the evaluator looks at everything once more, and ticks sweep over the whole month.
    """
    application, clock = stage.application, stage.clock
    begin = _begin(stage)
    clock.set(begin)
    document = read_yaml(resources.files(__package__).joinpath(RULES).read_bytes(), RULES)
    rules = authoring.read_document(document.value)
    application.save_rules([(one.rule, one.enabled) for one in rules], BY)
    month, before = Month(application, clock), _runs(application)
    answers = month.play(arrivals(stage.midnight), begin, stage.midnight, progress)
    month.work()
    played = _runs(application)
    first = _looked(Look(), month.worked, played - before)
    _look_again(application)
    month.work()
    month.sweep(Window(stage.start, stage.midnight))
    is_first = begin == stage.start
    second = _looked(first, month.worked, _runs(application) - played)
    return Played(stage.midnight, is_first, month.ticks, month.crashes, tuple(answers), first, second)


def _begin(stage: Stage) -> datetime:
    """Return the instant up to which the month was played already: its beginning, where it was not."""
    with reading(stage.application.engine) as connection:
        return min(max(watermark.stored(connection), stage.start), stage.midnight)


def midnight_of(application: Application, now: datetime) -> datetime:
    """Return the midnight at which the month of this database ends; the first time it is the last one.

    Raises InvalidInput for a database that holds other events.
    """
    zone = ZoneInfo(str(SPACE["time_zone"]))
    with reading(application.engine) as connection:
        known = meta.remembered(connection, MARK)
        head = log_queries.head_position(connection)
    if known is not None:
        return datetime.fromisoformat(known)
    if head:
        raise InvalidInput(
            "this database holds events of its own: give the demo another one, with --database sqlite:///demo.db"
        )
    midnight = datetime.combine(now.astimezone(zone).date(), time(), zone)
    with writing(application.engine) as connection:
        meta.remember(connection, MARK, midnight.isoformat())
    return midnight


def _look_again(application: Application) -> None:
    """Let the evaluator forget how far it has looked, so that it looks at everything once more."""
    with writing(application.engine) as connection:
        connection.execute(sa.delete(tracking).where(tracking.c.follower == evaluating.FOLLOWER))


def _runs(application: Application) -> Counter[str]:
    """Return how many executions stand how."""
    with reading(application.engine) as connection:
        return Counter(executions.counted(connection))


def _looked(before: Look, worked: Worked, ended: Mapping[str, int]) -> Look:
    """Return what was done since an earlier look."""
    return Look(
        worked.events - before.events,
        worked.candidates - before.candidates,
        worked.kept - before.kept,
        ended,
    )
