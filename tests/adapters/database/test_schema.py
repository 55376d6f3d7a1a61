"""The tables keep to what a cluster of PostgreSQL servers can carry, so that nothing has to change for one."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from adapters.database.engine import reading
from adapters.database.event_log import EventLog

FORBIDDEN = {
    "tables without a primary key": """
        SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname = 'public' AND c.relkind IN ('r', 'p')
          AND NOT EXISTS (SELECT FROM pg_constraint k WHERE k.conrelid = c.oid AND k.contype = 'p')""",
    "sequences, views and foreign tables": """
        SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname = 'public' AND c.relkind IN ('S', 'v', 'm', 'f')""",
    "triggers": "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal",
    "rules": "SELECT rulename FROM pg_rules WHERE schemaname = 'public'",
}


@pytest.mark.postgresql
@pytest.mark.parametrize("what", FORBIDDEN)
def test_there_are_none_of_the(what: str, postgresql_log: EventLog) -> None:
    with reading(postgresql_log.engine) as connection:
        assert connection.exec_driver_sql(FORBIDDEN[what]).all() == []


def test_every_constraint_has_a_name_by_the_convention(engine: sa.Engine) -> None:
    with reading(engine) as connection:
        inspector = sa.inspect(connection)
        for table in ("events", "head", "tracking", "queue", "meta"):
            assert inspector.get_pk_constraint(table)["name"] == f"pk_{table}"
        assert [found["name"] for found in inspector.get_unique_constraints("events")] == ["uq_events_stream_version"]
        assert [found["name"] for found in inspector.get_check_constraints("head")] == ["ck_head_one_row"]


def test_what_is_due_is_found_in_the_index_of_free_items(engine: sa.Engine) -> None:
    """However many items wait for later, or are leased."""
    with reading(engine) as connection:
        indexes = {index["name"]: index["column_names"] for index in sa.inspect(connection).get_indexes("queue")}
    assert indexes == {
        "ix_queue_free": ["queue", "due_at", "rank", "item"],
        "ix_queue_apart": ["lane", "due_at"],
        "ix_queue_leased": ["owner"],
    }
