"""Where plug-ins are found: one registry for each kind of thing that an author can add.

A plug-in is one module in the folder of its kind, or one entry point of another distribution (the group is
the folder's import name). It registers itself under the name that rules use, which becomes its `NAME`.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.metadata import entry_points
from typing import Any, Generic, TypeVar

from domain.text_values import did_you_mean, shown

T = TypeVar("T")
P = TypeVar("P", bound=type[Any])


class UnknownName(KeyError):
    """Nobody registered a plug-in under this name."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        super().__init__(f"no {kind} is called {shown(name)}{nearest(name, known)}")

    def __str__(self) -> str:
        return str(self.args[0])


class DuplicateName(TypeError):
    """Two plug-ins of one kind claim the same name."""


def nearest(name: str, known: Iterable[str]) -> str:
    """Return a hint for a name that does not exist: the nearest known one, or else all of them."""
    names = sorted(known)
    return did_you_mean(name, names) or (f"; known: {', '.join(names)}" if names else "; none is known")


class Registry(Mapping[str, type[T]], Generic[T]):
    """The plug-in classes of one kind by name; the folder is searched when it is first asked.

    `kind` is the glossary's word for messages, `package` the import name of the folder and of the entry
    point group.
    """

    def __init__(self, kind: str, package: str) -> None:
        self.kind, self.package = kind, package
        self._plugins: dict[str, type[T]] = {}
        self._searched = False

    def register(self, name: str) -> Callable[[P], P]:
        """Return the decorator that makes a class known under a name; a second such class is refused."""

        def keep(plugin: P) -> P:
            taken: Any = self._plugins.setdefault(name, plugin)
            if taken is not plugin:
                raise DuplicateName(f"two {self.kind}s are called {name!r}: {taken.__module__} and {plugin.__module__}")
            taken.NAME = name
            return plugin

        return keep

    def __getitem__(self, name: str) -> type[T]:
        self._search()
        try:
            return self._plugins[name]
        except KeyError:
            raise UnknownName(self.kind, name, self._plugins) from None

    def __contains__(self, name: object) -> bool:
        self._search()
        return name in self._plugins

    def __iter__(self) -> Iterator[str]:
        self._search()
        return iter(sorted(self._plugins))

    def __len__(self) -> int:
        self._search()
        return len(self._plugins)

    def _search(self) -> None:
        if self._searched:
            return
        self._searched = True
        try:
            self._import_all()
        except BaseException:
            # A plug-in that cannot be imported must fail every time, not leave half a registry behind.
            self._searched = False
            raise

    def _import_all(self) -> None:
        folder = importlib.import_module(self.package)
        for module in pkgutil.iter_modules(folder.__path__, f"{self.package}."):
            importlib.import_module(module.name)
        for found in entry_points(group=self.package):
            found.load()
