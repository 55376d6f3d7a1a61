"""A backup takes the place of a database as a whole, and then everything waits until staff resume."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from adapters.database import meta, restored
from adapters.database.engine import connect, reading, writing
from adapters.restoring import restore
from domain.errors import InvalidInput, Unavailable
from tests.engines import local, notices
from tests.operators import BOOKING, Operator, event, operator_on, rule, scene

AT = local("2026-05-12 09:00")


def live(operator: Operator) -> None:
    """Let an operator have something of everything that could go on by itself."""
    operator.record(*scene(), event("booking.created", BOOKING))
    made = rule("made", "booking.changed", do=[{"notify": {"type": "ready.reminders", "to": "member"}}])
    operator.save(made, rule("remind", "booking.starting", before="2 hours"))
    operator.app.crew().work_once()


def change(operator: Operator, attendees: int) -> None:
    operator.record(event("booking.changed", {"booking_id": "b1", "attendees": attendees}, at=operator.clock.now()))


def work(operator: Operator) -> None:
    crew = operator.app.crew()
    for _ in range(20):
        crew.work_once()


def is_held(operator: Operator) -> bool:
    with reading(operator.app.engine) as connection:
        return restored.is_held(connection)


@pytest.fixture
def operator(database_url: str) -> Iterator[Operator]:
    with operator_on(database_url, at=local("2026-05-10 08:00")) as lent:
        live(lent)
        yield lent


def test_h2_h6_while_a_restored_database_waits_facts_are_recorded_and_nothing_else_happens(operator: Operator) -> None:
    change(operator, 7)
    restored.mark(operator.app.engine)
    operator.clock.set(local("2026-05-12 09:00"))
    change(operator, 9)
    before = operator.events()
    work(operator)
    assert operator.events() == before
    assert operator.statuses() == []
    desk = operator.app.clock_desk()
    assert desk.paused() is not None
    assert [(each.rule, each.runs) for each in desk.expected()] == [("remind", 1)]
    held = desk.held()
    assert held is not None
    assert (held.events, held.actions, held.messages) == (2, 0, 0)


def test_what_was_claimed_or_requested_before_the_backup_waits_too(operator: Operator) -> None:
    change(operator, 7)
    worker = operator.app.worker()
    worker.work_until_idle()  # and nobody has delivered yet
    restored.mark(operator.app.engine)
    before = operator.events()
    work(operator)
    assert operator.events() == before
    held = operator.app.clock_desk().held()
    assert held is not None
    assert held.messages == 1


def test_once_staff_resume_it_all_goes_on(operator: Operator) -> None:
    change(operator, 7)
    restored.mark(operator.app.engine)
    operator.clock.set(local("2026-05-12 09:00"))
    operator.app.clock_desk().resume(by="Ana")
    assert operator.app.clock_desk().held() is None
    work(operator)
    assert sorted(operator.statuses()) == [("made", "done"), ("remind", "done")]
    assert "delivery.pending" in operator.topics()


def test_h6_deliveries_that_are_too_late_are_told_before(operator: Operator) -> None:
    change(operator, 7)
    operator.app.worker().work_until_idle()
    operator.app.deliverer()._expander.expand()
    operator.follow()
    restored.mark(operator.app.engine)
    with reading(operator.app.engine) as connection:
        now = operator.clock.now()
        soon, late = restored.waiting(connection, now), restored.waiting(connection, now + timedelta(days=30))
    assert soon.expired == 0
    assert late.expired == late.messages > 0


def test_a_copy_on_another_server_is_found_out_by_itself(postgresql_url: str) -> None:
    with operator_on(postgresql_url, at=local("2026-05-10 08:00")) as operator:
        live(operator)
        change(operator, 7)
        with writing(operator.app.engine) as connection:
            meta.remember(connection, meta.IDENTITY, "cluster 1 database 2")
        work(operator)
        assert is_held(operator)
        assert operator.statuses() == []
        assert [kind for kind, _ in notices(operator)] == ["semel.paused"]
        operator.app.clock_desk().resume(by="Ana")
        work(operator)
        assert ("made", "done") in operator.statuses()
        assert not is_held(operator)


# --- files ---


@pytest.fixture
def backup(tmp_path: Path) -> Path:
    """A backup of a database, as the file of one that nobody uses."""
    with operator_on(f"sqlite:///{tmp_path / 'was.db'}", at=local("2026-05-10 08:00")) as operator:
        live(operator)
    return tmp_path / "was.db"


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_backup_takes_its_place_and_waits(tmp_path: Path, backup: Path) -> None:
    content = backup.read_bytes()
    done = restore(backup, tmp_path / "semel.db", AT)
    assert done.kept is None
    assert "restored from a backup" in done.reason
    assert names(tmp_path) == ["semel.db", "was.db"]
    assert backup.read_bytes() == content
    with operator_on(f"sqlite:///{tmp_path / 'semel.db'}", at=AT) as operator:
        assert is_held(operator)
        assert operator.state("booking/b1").known


def test_what_was_there_is_replaced_only_by_force_and_kept(tmp_path: Path, backup: Path) -> None:
    with operator_on(f"sqlite:///{tmp_path / 'semel.db'}", at=AT):
        pass
    before = (tmp_path / "semel.db").read_bytes()
    with pytest.raises(InvalidInput, match="is there already"):
        restore(backup, tmp_path / "semel.db", AT)
    assert (tmp_path / "semel.db").read_bytes() == before
    done = restore(backup, tmp_path / "semel.db", AT, force=True)
    assert done.kept == tmp_path / "semel.db.before-restore-20260512-070000"
    assert done.kept.read_bytes() == before
    again = restore(backup, tmp_path / "semel.db", AT, force=True)
    assert again.kept == tmp_path / "semel.db.before-restore-20260512-070000-2"


def test_a_database_that_is_in_use_is_not_replaced(tmp_path: Path, backup: Path) -> None:
    with operator_on(f"sqlite:///{tmp_path / 'semel.db'}", at=AT) as operator:
        operator.record(*scene())
        with pytest.raises(Unavailable, match="in use"):
            restore(backup, tmp_path / "semel.db", AT, force=True)
        operator.record(event("booking.created", BOOKING))
    assert names(tmp_path) == ["semel.db", "was.db"]


def test_a_damaged_database_is_kept_with_its_log_and_replaced(tmp_path: Path, backup: Path) -> None:
    (tmp_path / "semel.db").write_bytes(b"no database" * 1000)
    (tmp_path / "semel.db-wal").write_bytes(b"its log")
    done = restore(backup, tmp_path / "semel.db", AT, force=True)
    assert done.kept is not None
    assert done.kept.read_bytes().startswith(b"no database")
    assert not (tmp_path / "semel.db-wal").exists()
    with operator_on(f"sqlite:///{tmp_path / 'semel.db'}", at=AT) as operator:
        assert operator.state("booking/b1").known


def test_a_backup_of_a_database_at_work_holds_what_its_log_holds(tmp_path: Path) -> None:
    with operator_on(f"sqlite:///{tmp_path / 'was.db'}", at=AT) as operator:
        live(operator)
        assert (tmp_path / "was.db-wal").stat().st_size > 0
        restore(tmp_path / "was.db", tmp_path / "semel.db", AT)
    with operator_on(f"sqlite:///{tmp_path / 'semel.db'}", at=AT) as operator:
        assert operator.state("booking/b1").known


def test_what_is_no_sound_database_of_ours_is_refused_and_leaves_nothing(tmp_path: Path, backup: Path) -> None:
    text, other, torn, newer = (tmp_path / name for name in ("text", "other", "torn", "newer"))
    text.write_text("nothing of a database in here, and long enough to look at" * 100)
    sqlite3.connect(other).execute("CREATE TABLE cake (slices)").connection.close()
    content = bytearray(backup.read_bytes())
    content[8192:20480] = b"\x5a" * 12288
    torn.write_bytes(content)
    shutil.copy(backup, newer)
    engine = connect(f"sqlite:///{newer}")
    with writing(engine) as connection:
        meta.remember(connection, meta.SCHEMA_VERSION, "99")
    engine.dispose()
    before = names(tmp_path)
    for wrong in (text, other, torn, newer, tmp_path / "missing", tmp_path):
        with pytest.raises(InvalidInput):
            restore(wrong, tmp_path / "semel.db", AT)
    assert names(tmp_path) == before


def test_the_database_is_not_restored_from_itself(backup: Path) -> None:
    with pytest.raises(InvalidInput, match="--mark"):
        restore(backup, backup, AT, force=True)
