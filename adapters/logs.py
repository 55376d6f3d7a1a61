"""How logging is set up: lines for people on a terminal, JSON lines elsewhere, nothing personal in either.

Our events are dotted facts with fields. A field is written out if its name is known to hold no personal
value; other texts are withheld, and of an exception only its type and its place are told.
"""

from __future__ import annotations

import logging
import sys
import traceback
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any, TextIO

import structlog

from adapters.clock import SystemClock

OPEN = frozenset(
    {
        *("event", "level", "at", "logger", "key", "rule", "entity", "stream", "version", "position", "topic"),
        *("status", "operation", "service", "follower", "worker", "database", "place", "remedy", "exception"),
        *("dossier", "ending", "trigger", "action", "attempt", "queue", "lane", "channel", "delivery"),
        *("provider", "reason", "item", "scenario", "now", "before"),
    }
)
"""Fields whose values are ids, states, instants and names of our own; a `reason` is a text that stands in the code."""

WITHHELD = "(withheld)"

SILENCED = ("psycopg", "psycopg.pool")
"""Loggers that the library `eventsourcing` turns down for the whole process."""

Fields = MutableMapping[str, Any]

LEVELS = (logging.WARNING, logging.INFO, logging.DEBUG)
"""What is logged without -v, with one, and with two."""

QUIET = -1
"""In the place of a number of -v: what goes wrong is shown in another way, so nothing is logged."""


def configure(verbose: int = 0) -> None:
    """Set up logging for this process: warnings, with `verbose` 1 every change of state, with 2 everything."""
    level = logging.CRITICAL if verbose == QUIET else LEVELS[min(verbose, len(LEVELS) - 1)]
    terminal = sys.stderr.isatty()
    shared: list[Any] = [structlog.stdlib.add_log_level, _at, _exceptions, without_personal_values]
    form: Any = structlog.dev.ConsoleRenderer() if terminal else structlog.processors.JSONRenderer()
    structlog.configure(
        processors=[*shared, form],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(_ErrorStream()),  # type: ignore[arg-type]
        cache_logger_on_first_use=False,
    )
    _configure_libraries(level, shared, form)


def _configure_libraries(level: int, shared: list[Any], form: Any) -> None:
    handler = _Handler(_ErrorStream())
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[structlog.stdlib.add_logger_name, *shared],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, form],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [*(other for other in root.handlers if not isinstance(other, _Handler)), handler]
    root.setLevel(max(level, logging.INFO))
    for name in SILENCED:
        logging.getLogger(name).setLevel(logging.NOTSET)


def without_personal_values(_logger: Any, _method: str, fields: Fields) -> Fields:
    """Withhold every text whose field is not known to be harmless; numbers and yes/no are."""
    for name, value in fields.items():
        if name not in OPEN and not name.startswith("_") and not _is_harmless(value):
            fields[name] = WITHHELD
    return fields


def _is_harmless(value: object) -> bool:
    return value is None or isinstance(value, (bool, int, float))


def _at(_logger: Any, _method: str, fields: Fields) -> Fields:
    fields["at"] = SystemClock().now().isoformat(timespec="milliseconds")
    return fields


def _exceptions(_logger: Any, _method: str, fields: Fields) -> Fields:
    """Put the type of an exception, and where it was raised, in the place of its text and its traceback."""
    found = fields.pop("exc_info", None)
    error = found if isinstance(found, BaseException) else sys.exc_info()[1] if found else None
    if error is not None:
        fields["exception"] = type(error).__name__
        fields["place"] = " < ".join(_places(error))
    return fields


def _places(error: BaseException) -> list[str]:
    frames = traceback.extract_tb(error.__traceback__)
    return [f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in reversed(frames)][:5]


class _Handler(logging.StreamHandler["_ErrorStream"]):
    """What libraries log through; a second set-up replaces the first one's."""


class _ErrorStream:
    """The error stream as it is at each moment: a progress bar and a test put another in its place."""

    def write(self, text: str) -> int:
        return self._now().write(text)

    def flush(self) -> None:
        self._now().flush()

    @staticmethod
    def _now() -> TextIO:
        return sys.stderr
