"""What is asked about dossiers: which are open, what stands in each, and which need to be opened or closed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from domain.dossiers import CORRUPT, FailureCause
from projections.dossiers import dossiers, failures
from projections.executions import executions

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Dossier:
    """A dossier and the runs that stand open in it, or wait behind it, in the order in which they came there.

    `rule` is empty where the service is at fault, `runs` where what is open are not runs; `settled` counts the
    runs that left it since it was opened, by how.
    """

    id: str
    operation: str
    ending: str
    rule: str
    is_open: bool
    held: bool
    opened_at: datetime | None
    closed_at: datetime | None
    assigned_to: str
    runs: tuple[Row, ...]
    settled: Mapping[str, int]

    @property
    def cause(self) -> FailureCause:
        """Return what its failures have in common."""
        return FailureCause(self.operation, self.ending, self.rule)

    @property
    def is_about_the_log(self) -> bool:
        """Say whether it is about events that cannot be read, and not about runs."""
        return self.ending == CORRUPT

    @property
    def since(self) -> datetime | None:
        """Return when it was opened, or when its first run failed where it is about to be."""
        return self.opened_at or (self.runs[0]["at"] if self.runs else None)

    @property
    def reason(self) -> str:
        """Return what the latest of its runs said."""
        return self.runs[-1]["reason"] if self.runs else ""


@dataclass(frozen=True, slots=True)
class DueChange:
    """A dossier that is to be opened, or closed: as failures stand, it is not as it should be."""

    cause: FailureCause
    opens: bool
    runs: int = 0
    reason: str = ""
    settled: Mapping[str, int] = field(default_factory=dict)


def open_dossiers(connection: sa.Connection) -> list[Dossier]:
    """Return the open dossiers, the oldest first; one that is about to be opened counts as well."""
    rows = _told(connection, sa.select(dossiers).where(_IS_OPEN))
    return sorted(rows, key=lambda dossier: (str(dossier.since or ""), dossier.id))


def closed_dossiers(connection: sa.Connection, limit: int = 100) -> list[Dossier]:
    """Return the dossiers that were closed last, the latest first."""
    query = sa.select(dossiers).where(~_IS_OPEN, dossiers.c.closed_at.is_not(None))
    return _told(connection, query.order_by(dossiers.c.closed_at.desc(), dossiers.c.id).limit(limit))


def dossiers_named(connection: sa.Connection, beginning: str) -> list[Dossier]:
    """Return the dossiers, open or closed, whose id begins so."""
    query = sa.select(dossiers).where(dossiers.c.id.startswith(beginning, autoescape=True))
    return _told(connection, query.where(sa.or_(_IS_OPEN, dossiers.c.opened_at.is_not(None))))


def runs_of(connection: sa.Connection, dossier: str, standings: Iterable[str] = ("open", "waiting")) -> list[Row]:
    """Return the runs of a dossier that stand so, in the order in which they came there."""
    query = sa.select(failures).where(failures.c.dossier == dossier, failures.c.standing.in_(list(standings)))
    return [dict(row._mapping) for row in connection.execute(query.order_by(failures.c.at, failures.c.key))]


def members_of(connection: sa.Connection, dossier: str) -> set[str]:
    """Return the members whom the runs of a dossier are about."""
    query = sa.select(executions.c.member).join(failures, failures.c.key == executions.c.key)
    return set(connection.scalars(query.where(failures.c.dossier == dossier).distinct()))


def dossier_of_run(connection: sa.Connection, key: str) -> str | None:
    """Return the dossier in which a run stands open, or waits."""
    query = sa.select(failures.c.dossier).where(failures.c.key == key, failures.c.standing.in_(("open", "waiting")))
    dossier: str | None = connection.scalar(query)
    return dossier


def due_changes(connection: sa.Connection) -> list[DueChange]:
    """Return the dossiers that are to be opened or closed; those about what cannot be read are not known here."""
    query = sa.select(dossiers).where(dossiers.c.ending != CORRUPT, sa.or_(_OPENS, _CLOSES))
    rows = [dict(row._mapping) for row in connection.execute(query.order_by(dossiers.c.id))]
    return [_opened(connection, row) if not row["is_open"] else _closed(row) for row in rows]


def open_of_class(connection: sa.Connection, ending: str) -> list[FailureCause]:
    """Return the causes of one class whose dossiers are open."""
    query = sa.select(dossiers.c.operation, dossiers.c.ending, dossiers.c.rule)
    rows = connection.execute(query.where(dossiers.c.is_open, dossiers.c.ending == ending))
    return [FailureCause(*row) for row in rows]


def _latest_reason(connection: sa.Connection, dossier: str) -> str:
    """Return what the latest run of a dossier said."""
    query = sa.select(failures.c.reason).where(failures.c.dossier == dossier)
    return connection.scalar(query.order_by(failures.c.at.desc(), failures.c.key.desc()).limit(1)) or ""


def _told(connection: sa.Connection, query: sa.Select[Any]) -> list[Dossier]:
    return [_dossier(connection, dict(row._mapping)) for row in connection.execute(query)]


def _dossier(connection: sa.Connection, row: Row) -> Dossier:
    told = {name: row[name] for name in _NAMES}
    return Dossier(**told, runs=tuple(runs_of(connection, row["id"])), settled=_settled(row))


def _opened(connection: sa.Connection, row: Row) -> DueChange:
    runs = row["open"] + row["waiting"]
    return DueChange(_cause(row), opens=True, runs=runs, reason=_latest_reason(connection, row["id"]))


def _closed(row: Row) -> DueChange:
    return DueChange(_cause(row), opens=False, settled=_settled(row))


def _cause(row: Row) -> FailureCause:
    return FailureCause(row["operation"], row["ending"], row["rule"])


def _settled(row: Row) -> dict[str, int]:
    return {name: row[name] for name in ("done", "by_hand", "no_longer_needed", "dismissed")}


_NAMES = (
    "id",
    "operation",
    "ending",
    "rule",
    "is_open",
    "held",
    "opened_at",
    "closed_at",
    "assigned_to",
)
# Of what is set up wrongly nobody needs to give up first: it stays so until a person mends it.
_IS_CAUSE_FOR_ALARM = sa.or_(
    dossiers.c.open > 0, dossiers.c.held, sa.and_(dossiers.c.ending == "misconfigured", dossiers.c.waiting > 0)
)
_OPENS = sa.and_(~dossiers.c.is_open, _IS_CAUSE_FOR_ALARM)
_CLOSES = sa.and_(dossiers.c.is_open, dossiers.c.open == 0, dossiers.c.waiting == 0, ~dossiers.c.held)
_IS_OPEN = sa.or_(dossiers.c.is_open, _IS_CAUSE_FOR_ALARM)
