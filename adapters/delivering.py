"""The loop of one worker for deliveries: expand what was requested, and send what is due on each channel.

A channel whose lane is held gets one call a minute, and none while its provider wants to be left alone; one that
has used up its rate is passed over. So no channel waits for another, and no lane of a channel for long.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

import sqlalchemy as sa

from adapters.callbacks.plain_reports import PlainReports
from adapters.database import meta
from adapters.database.callbacks import LOOKED_UP
from adapters.database.callbacks import QUEUE as REPORTS
from adapters.database.campaign_gate import cancelled, stopped_campaigns
from adapters.database.campaigning import QUEUE as CAMPAIGNS
from adapters.database.campaigning import CampaignExpander, is_crowded
from adapters.database.deliveries import StoredDeliveries
from adapters.database.delivery_queue import DeliveryQueue, is_to_people, place_of
from adapters.database.delivery_views import DeliveryViews
from adapters.database.engine import reading
from adapters.database.event_log import EventLog
from adapters.database.expanding import Expander
from adapters.database.lanes import StoredLanes
from adapters.database.lanes import lane as stored_lane
from adapters.database.lease_observer import LEASE_TIME, LeaseObserver
from adapters.database.queue import Lease
from adapters.database.queue_dues import next_dues
from adapters.database.reports_at_work import ReportReader, ReportWorker
from adapters.database.requests import QUEUE
from adapters.database.send_answers import SendAnswers
from adapters.database.suppressing import SuppressionDesk
from adapters.database.unit_of_work import unit_of_work
from adapters.first_attempts import AtOnce
from automations.notifications.calls import Calls, InTurn
from automations.notifications.channel_lanes import WatchedChannel
from automations.notifications.channels import Channel
from automations.notifications.decisions import Spread, without_spread
from automations.notifications.dispatcher import Change, Dispatcher, Prepared
from automations.notifications.letters import Writing
from automations.notifications.pace import Rate, places_in_a_moment
from automations.notifications.types import Types
from automations.notifications.unsubscribing import WayOut, without_a_way_out
from automations.notifications.wordings import Wordings
from automations.ports import Clock
from automations.retries import Jitter
from domain.campaigns import campaign_of
from domain.deliveries import WAITING, Delivery
from domain.lanes import channel_lane

LEASED_AT_ONCE = 250
"""Deliveries that a channel is given at a time, where they are recorded together and it is fast."""

LEASED_ALONE = 20
"""The same at least where they are not, and at most for four rounds of what a channel bears at a time: so many more
are tried before a lane that was held meanwhile is heeded."""

LOOKS_EVERY = 1.0
"""Seconds between two looks for what others left behind, while there is something to do."""

_OURS = frozenset({QUEUE, CAMPAIGNS, REPORTS})
"""Queues that a worker empties besides those of deliveries."""


class DeliveryWorker:
    """Delivers for one process and operator; several may work side by side.

    `channels` are those of the operator by name; a delivery on any other is looked at too, so that it ends.
    `rates` says what the providers of some allow. What shows no sign of life for `lease_seconds` is taken over.
    `callbacks` read what providers report afterwards, and `way_out` is offered in what is bulk.
    """

    def __init__(
        self,
        *,
        log: EventLog,
        clock: Clock,
        owner: str,
        default_zone: str,
        channels: Mapping[str, Channel],
        jitter: Jitter,
        lease_seconds: float = LEASE_TIME,
        types: Types | None = None,
        wordings: Wordings | None = None,
        rates: Mapping[str, Rate] | None = None,
        spread: Spread = without_spread,
        calls: Calls | None = None,
        callbacks: Mapping[str, ReportReader] | None = None,
        way_out: WayOut = without_a_way_out,
    ) -> None:
        self._log = log
        self._clock = clock
        self._owner = owner
        self._observer = LeaseObserver(clock.monotonic, lease_seconds, watches=is_to_people)
        self._queue = DeliveryQueue(owner, rates or {})
        senders = {name: str(getattr(channel, "sent_from", "")) for name, channel in channels.items()}
        views = DeliveryViews(log, default_zone, channels, senders)
        with reading(log.engine) as connection:
            desk = SuppressionDesk(log, clock, meta.salt(connection))
        self._deliveries = StoredDeliveries(log, views, SendAnswers(log, desk, senders))
        bulk = [] if types is None else [name for name in types.names if types.of(name).lane == "bulk"]
        readers: dict[str, ReportReader] = {LOOKED_UP: PlainReports(), **(callbacks or {})}
        self._reports = ReportWorker(log, clock, owner, readers, views, desk, bulk)
        self._campaigns = CampaignExpander(log, clock, owner)
        self._expander = Expander(log, clock, owner, types or Types(), views, wordings, spread)
        self._lanes = StoredLanes(log)
        self._channels = {name: WatchedChannel(name, each, self._lanes, clock) for name, each in channels.items()}
        self._calls, self._looked = calls or InTurn(), 0.0
        self._dispatching(Writing(wordings or Wordings(), way_out), jitter, spread, rates or {})

    def _dispatching(self, writing: Writing, jitter: Jitter, spread: Spread, rates: Mapping[str, Rate]) -> None:
        to, at, by = self._deliveries, self._channels, self._calls
        self._dispatcher = Dispatcher(to, at, writing, self._clock, jitter=jitter, spread=spread, calls=by)
        self._first = AtOnce(at, self._dispatcher, writing, by, self._clock.monotonic, self._places, rates)

    def work_once(self) -> bool:
        """Expand and send what can be now, as much as fits one round; say whether there was anything to do.

        Raises Conflict where another worker expands the same: the next round looks again.
        """
        now = self._clock.now()
        due = {name for name, due_at in self._dues().items() if due_at <= now}
        done = CAMPAIGNS in due and self._campaigns.expand()
        for channel in sorted({place_of(name).channel for name in due if is_to_people(name)}):
            done |= self._send_on(channel, now)
        done |= QUEUE in due and self._expand()
        done |= REPORTS in due and self._reports.work()
        return done | self._recover(busy=done)

    def _expand(self) -> bool:
        """Expand what was requested, and send at once what is new on channels where nothing waits."""
        watch = self._dispatcher.watch()
        expanded = self._expander.expand(first=self._first)
        self._deliveries.keep(expanded.leases)
        by_channel: dict[str, list[Prepared]] = {}
        for change, message in expanded.begun:
            by_channel.setdefault(change.before.asked.channel, []).append((change, message))
        try:
            for together in by_channel.values():
                self._dispatcher.dispatch([], together, watch)
        finally:
            self._deliveries.forget()
        return expanded.notifications > 0

    def _send_on(self, channel: str, now: datetime) -> bool:
        limit = self._limit(channel, now)
        if not limit:
            return False
        with unit_of_work(self._log, "lease") as work:
            leases = self._queue.lease(work.connection, channel, limit, now)
        return self._take_up(leases)

    def _limit(self, channel: str, now: datetime) -> int:
        """Return how many deliveries to take from the queues of a channel now."""
        watched = self._channels.get(channel)
        lane = watched.look() if watched is not None else None
        if lane is not None and not lane.permits(now):
            return 0
        if lane is not None and lane.is_held:
            return 1 if self._lanes.take_probe(lane, now) else 0
        return self._places(channel)

    def _places(self, channel: str) -> int:
        """Return how many deliveries a channel is given at a time."""
        width = self._calls.width(channel)
        together = self._dispatcher.honours_keys(channel)
        most = LEASED_AT_ONCE if together else min(LEASED_AT_ONCE, max(LEASED_ALONE, 4 * width))
        watched = self._channels.get(channel)
        seconds = watched.seconds if watched is not None else None
        return places_in_a_moment(seconds, width=width, first=max(width, LEASED_ALONE), most=most)

    def next_due(self) -> datetime | None:
        """Return when there is something to do next, `AT_ONCE` where there is already, or None."""
        dues = self._dues()
        with reading(self._log.engine) as connection:
            if is_crowded(connection):
                dues.pop(CAMPAIGNS, None)  # they go on once something of what is bulk has gone out
            return min((self._possible(connection, name, due_at) for name, due_at in dues.items()), default=None)

    def _possible(self, connection: sa.Connection, queue_name: str, due_at: datetime) -> datetime:
        """Return when something that is due in a queue can be done."""
        if not is_to_people(queue_name):
            return due_at
        channel = place_of(queue_name).channel
        opens_at = stored_lane(connection, channel_lane(channel)).opens_at
        return self._queue.next_at(connection, channel, max(due_at, opens_at or due_at))

    def _recover(self, *, busy: bool) -> bool:
        """Take over what other workers left behind; who is busy looks now and then."""
        now = self._clock.monotonic()
        if busy and now - self._looked < LOOKS_EVERY:
            return False
        self._looked = now
        with reading(self._log.engine) as connection:
            abandoned = self._observer.look(connection)
        if not abandoned:
            return False
        with unit_of_work(self._log, "take over") as work:
            leases = self._observer.take_over(work.connection, self._owner, LEASED_AT_ONCE)
        return self._take_up(leases)

    def _take_up(self, leases: Sequence[Lease]) -> bool:
        """Do what was leased, be it free before or left behind by another worker; say whether it was anything."""
        deliveries = self._deliveries.hold(leases)
        try:
            for together in self._together(self._going_on(deliveries)):
                self._dispatcher.recover(together)
        finally:
            self._deliveries.forget()
        return bool(leases)

    def _going_on(self, deliveries: Sequence[Delivery]) -> list[Delivery]:
        """Return the deliveries without those of campaigns that were stopped, which are put aside or cancelled."""
        waiting = [each for each in deliveries if each.state in WAITING and campaign_of(each.asked.producer)]
        if not waiting:
            return list(deliveries)
        with reading(self._log.engine) as connection:
            stopped = stopped_campaigns(connection, self._log.mapper, waiting)
        now = self._clock.now()
        paused = {item: each.started.stream for item, each in stopped.items() if each.stopped == "paused"}
        self._deliveries.set_apart(paused, now)
        over = [each for each in waiting if each.id in stopped and each.id not in paused]
        self._deliveries.record([Change(each, [cancelled(each, now)]) for each in over])
        return [each for each in deliveries if each.id not in stopped]

    def beat(self) -> None:
        """Show that this worker is alive and still at all that it holds; safe to call from another thread."""
        self._deliveries.beat()

    def let_go(self) -> None:
        """Give back at once all that this worker holds, for others to take up; safe to call from another thread."""
        self._deliveries.let_go()

    def _together(self, deliveries: Sequence[Delivery]) -> Iterator[Sequence[Delivery]]:
        """Yield the deliveries in groups of one channel that are sent together.

        What a worker vanished with goes alone, so that it takes no other with it.
        """
        by_channel: dict[str, list[Delivery]] = {}
        for delivery in deliveries:
            if delivery.crashes == 0 and delivery.state != "sending":
                by_channel.setdefault(delivery.asked.channel, []).append(delivery)
            else:
                yield [delivery]
        yield from by_channel.values()

    def _dues(self) -> dict[str, datetime]:
        with reading(self._log.engine) as connection:
            dues = next_dues(connection)
        return {name: due_at for name, due_at in dues.items() if name in _OURS or is_to_people(name)}
