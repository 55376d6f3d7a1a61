"""Deliveries that begin get their place in the queue of their channel, in the transaction that records them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from adapters.database.delivery_queue import queue_of
from adapters.database.queue import Waiting, enqueue, rank_of
from adapters.database.unit_of_work import UnitOfWork
from automations.notifications.request import beside, followed_by
from domain.deliveries import Delivery
from domain.ids import id_of


def waiting(delivery: Delivery) -> Waiting:
    """Return the place of a new delivery in the queue of its channel: at once, or when quiet hours are over."""
    asked = delivery.asked
    rank = rank_of(asked.requested_at)
    return Waiting(queue_of(asked.channel, asked.lane), delivery.id, delivery.again_at, rank)


def go_on_after(work: UnitOfWork, ended: Sequence[Delivery], read: Callable[[Iterable[str]], list[Delivery]]) -> None:
    """Begin what follows deliveries that have just ended: those on the next channel of a first-of list.

    `read` returns the deliveries of streams as they are in this transaction.
    """
    streams = {stream for each in ended if each.asked.then for stream in beside(each)}
    if streams:
        # Of two workers whose pushes fail at once, the later one has to see what the other did.
        work.lock_head()
        work.flush()
    known = {each.stream: each for each in read(streams)} if streams else {}
    following = {after.stream: after for each in ended for after in followed_by(each, each.at, known)}
    begun = [Delivery(id_of(each.stream), each.version, each, each.at) for each in following.values()]
    enqueue(work.connection, map(waiting, begun))
    work.append(following.values())
