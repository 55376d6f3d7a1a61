"""Makes databases for tests: each one fresh and isolated from the others.

A database starts as a copy of a template that holds the tables of Semel, which takes milliseconds.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from uuid import uuid4

import psycopg
from sqlalchemy import URL, make_url

InstallSchema = Callable[[str], None]
"""Fills the database of a URL with tables, and leaves no connection open."""


class Databases(Protocol):
    """Where tests get databases of one kind."""

    def fresh(self, *, blank: bool = False) -> AbstractContextManager[str]:
        """Lend the URL of a new database; a blank one has no tables."""
        ...


def written(url: URL) -> str:
    """Return the URL as text, its password included."""
    return url.render_as_string(hide_password=False)


@dataclass(frozen=True, slots=True)
class SQLiteDatabases:
    """One file in a folder for each database; they stay for whoever looks into a failed test."""

    folder: Path
    template: Path | None = None

    @contextmanager
    def fresh(self, *, blank: bool = False) -> Iterator[str]:
        """Lend the URL of a new file."""
        path = self.folder / f"{_name()}.db"
        if self.template and not blank:
            shutil.copyfile(self.template, path)
        yield f"sqlite:///{path}"

    @classmethod
    def in_folder(cls, folder: Path, install_schema: InstallSchema | None) -> SQLiteDatabases:
        """Prepare the template in the folder."""
        if install_schema is None:
            return cls(folder)
        template = folder / "template.db"
        install_schema(f"sqlite:///{template}")
        return cls(folder, template)


@dataclass(frozen=True, slots=True)
class PostgresDatabases:
    """Databases on one server; `administrator` is a connection outside of any transaction."""

    url: URL
    administrator: psycopg.Connection
    template: str = ""

    @contextmanager
    def fresh(self, *, blank: bool = False) -> Iterator[str]:
        """Lend the URL of a new database, and drop it afterwards, whoever is still connected."""
        source = f" TEMPLATE {self.template} STRATEGY file_copy" if self.template and not blank else ""
        name = _name()
        self.administrator.execute(f"CREATE DATABASE {name}{source}".encode())
        try:
            yield written(self.url.set(database=name))
        finally:
            self.administrator.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)".encode())

    @classmethod
    @contextmanager
    def on(cls, server: str, install_schema: InstallSchema | None) -> Iterator[PostgresDatabases]:
        """Connect to the server of a URL, whose user may create databases, and prepare the template."""
        url = make_url(server).set(drivername="postgresql+psycopg")
        plain = written(url.set(drivername="postgresql"))
        with psycopg.connect(plain, autocommit=True) as administrator:
            bare = cls(url, administrator)
            if install_schema is None:
                yield bare
                return
            with bare.fresh() as template:
                install_schema(template)
                yield cls(url, administrator, str(make_url(template).database))


def _name() -> str:
    return f"semel_test_{uuid4().hex}"
