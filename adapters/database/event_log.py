"""The log: where events are recorded, numbered, and read again.

Its head is one row. Appending n events moves it by n, which locks the row until the commit. So positions
have no gaps, the order of commits is that of positions, and none is given out twice, even after the newest
event was deleted. A follower that has read a position has missed nothing before it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from eventsourcing import persistence as es

from adapters.database.bulk import insert_rows
from adapters.database.engine import place_of, reading, writing
from adapters.database.event_mapper import EventMapper
from adapters.database.failures import AlreadyRecorded, Contended, translated
from adapters.database.news import news_of
from adapters.database.schema import events, head, tracking
from adapters.points import Points, pass_by

_STREAM_COLUMNS = [events.c.version, events.c.topic, events.c.state]
_LOG_COLUMNS = [events.c.stream, *_STREAM_COLUMNS, events.c.position]
_ROW = [events.c[name] for name in ("position", "stream", "version", "topic", "state")]


class EventLog(es.ProcessRecorder):
    """Records events and the positions of followers, in the caller's transaction or in one of its own.

    It is a process recorder of the `eventsourcing` library, whose methods are the library's interface;
    the engine itself appends in a `unit_of_work` and asks `log_queries`. `points` is told of each commit.
    """

    def __init__(self, engine: sa.Engine, mapper: EventMapper | None = None, points: Points = pass_by) -> None:
        self.engine = engine
        self.mapper = mapper or EventMapper()
        self.points = points
        self.news = news_of(engine)
        self._place = place_of(engine.url)

    def wait_for_news(self, timeout: float, heard: int | None = None) -> int:
        """Return when something was appended, or after `timeout` seconds; it may be a false alarm.

        Returns the number of the last ring, to be passed as `heard` next time, so that what is appended
        between two waits is not slept through.
        """
        return self.news.wait(timeout, heard)

    def close(self) -> None:
        """Stop listening for news; the engine stays open."""
        self.news.close()

    # --- writing ---

    def insert_events(
        self,
        stored_events: Sequence[es.StoredEvent],
        *,
        tracking: es.Tracking | None = None,
        connection: sa.Connection | None = None,
        **_: Any,
    ) -> Sequence[int]:
        """Record events, and the position they come from, and return their positions.

        Raises Conflict where a version of a stream is taken, or where the follower has read as far already.
        """
        if connection is None:
            with writing(self.engine) as own:
                positions = self._insert(own, stored_events, tracking)
            if positions:
                self.news.ring()
            return positions
        with translated(self._place):
            return self._insert(connection, stored_events, tracking)

    def _insert(
        self,
        connection: sa.Connection,
        stored_events: Sequence[es.StoredEvent],
        tracked: es.Tracking | None,
    ) -> Sequence[int]:
        if tracked is not None:
            self.track(connection, tracked.application_name, tracked.notification_id)
        if not stored_events:
            return []
        positions = self._take(connection, len(stored_events))
        rows = [
            (position, str(event.originator_id), event.originator_version, event.topic, event.state)
            for position, event in zip(positions, stored_events, strict=True)
        ]
        insert_rows(connection, _ROW, rows)
        return list(positions)

    def _take(self, connection: sa.Connection, count: int) -> range:
        last = self._sure(connection.scalar(_MOVE_HEAD, {"count": count}))
        return range(last - count + 1, last + 1)

    def lock(self, connection: sa.Connection) -> int:
        """Keep other writers out until the commit, so that what was checked stays true; return the head."""
        return self._sure(connection.scalar(_LOCK_HEAD))

    def _sure(self, position: int | None) -> int:
        if position is None:
            # While a cluster moves a schema to another node, a statement may match no row, once.
            raise Contended(f"{self._place}: the head of the log was not found; try again")
        return position

    def insert_tracking(self, tracking: es.Tracking) -> None:
        """Record how far a follower has read; raises Conflict where it has read as far already."""
        self.insert_events([], tracking=tracking)

    def track(self, connection: sa.Connection, follower: str, position: int, after: int | None = None) -> None:
        """Move a follower on to a position.

        With `after`, only from exactly there: of two that read from the same position, one fails, however
        far each came. Without, from any lower one. Raises Conflict otherwise.
        """
        if after is None:
            moved = connection.execute(_ADVANCE, {"name": follower, "at": position})
        else:
            moved = connection.execute(_ADVANCE_FROM, {"name": follower, "at": position, "after": after})
        if moved.rowcount == 1:
            return
        if after:
            raise AlreadyRecorded(f"{self._place}: the follower {follower!r} is no longer at {after}")
        connection.execute(_TRACK, {"follower": follower, "position": position})

    # --- reading ---

    def select_events(
        self,
        originator_id: UUID | str,
        *,
        gt: int | None = None,
        lte: int | None = None,
        desc: bool = False,
        limit: int | None = None,
    ) -> Sequence[es.StoredEvent]:
        """Return the events of one stream, in the order of versions."""
        version = events.c.version
        query = sa.select(*_STREAM_COLUMNS).where(events.c.stream == str(originator_id))
        if gt is not None:
            query = query.where(version > gt)
        if lte is not None:
            query = query.where(version <= lte)
        query = query.order_by(version.desc() if desc else version).limit(limit)
        with reading(self.engine) as connection:
            return [es.StoredEvent(originator_id, *row) for row in connection.execute(query)]

    def select_notifications(
        self,
        start: int | None,
        limit: int,
        stop: int | None = None,
        topics: Sequence[str] = (),
        *,
        inclusive_of_start: bool = True,
    ) -> Sequence[es.Notification]:
        """Return events in log order. Who filters by topic has to move on past what was filtered, too."""
        position = events.c.position
        query = sa.select(*_LOG_COLUMNS)
        if start is not None:
            query = query.where(position >= start if inclusive_of_start else position > start)
        if stop is not None:
            query = query.where(position <= stop)
        if topics:
            query = query.where(events.c.topic.in_(topics))
        query = query.order_by(position).limit(limit)
        with reading(self.engine) as connection:
            return [es.Notification(_identifier(row[0]), *row[1:]) for row in connection.execute(query)]

    def max_notification_id(self) -> int | None:
        """Return the last position given out, or None where there is none yet."""
        with reading(self.engine) as connection:
            return connection.scalar(_HEAD) or None

    def max_tracking_id(self, application_name: str) -> int | None:
        """Return the position of a follower, or None where it has not begun."""
        query = sa.select(tracking.c.position).where(tracking.c.follower == application_name)
        with reading(self.engine) as connection:
            return connection.scalar(query)

    def subscribe(self, gt: int | None = None, topics: Sequence[str] = ()) -> es.Subscription[EventLog]:
        """Return an endless iterator over events after a position, for tools that watch the log."""
        return LogSubscription(self, gt=gt, topics=topics)


class LogSubscription(es.ListenNotifySubscription[EventLog]):
    """Looks at each word of news, and twice a second anyway."""

    POLL = 0.5

    def _loop_on_pull(self) -> None:
        heard = self._recorder.wait_for_news(0)
        try:
            while not self._has_been_stopped:
                self._pull()
                heard = self._recorder.wait_for_news(self.POLL, heard)
        except BaseException as error:  # noqa: BLE001 - raised again where the events are awaited
            self._thread_error = error
            self.stop()


def _identifier(stream: str) -> UUID | str:
    # Streams are text; the library's contract also uses UUIDs, and wants them back.
    with contextlib.suppress(ValueError):
        return UUID(stream) if len(stream) == 36 else stream
    return stream


_HEAD = sa.select(head.c.position).where(head.c.id == 1)
_LOCK_HEAD = _HEAD.with_for_update()
_MOVE_HEAD = (
    sa.update(head)
    .where(head.c.id == 1)
    .values(position=head.c.position + sa.bindparam("count"))
    .returning(head.c.position)
)
_TRACK = sa.insert(tracking)
_MINE = sa.update(tracking).where(tracking.c.follower == sa.bindparam("name")).values(position=sa.bindparam("at"))
_ADVANCE = _MINE.where(tracking.c.position < sa.bindparam("at"))
_ADVANCE_FROM = _MINE.where(tracking.c.position == sa.bindparam("after"))
