"""How much a template may do: counted in characters that it handles, so that it ends alike on every machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from liquid.exceptions import ResourceLimitError

MOST_WORK = 20_000_000
"""Characters that the look-ups and filters of one rendering may handle: far less than a second of work."""

LEAST = 100
"""What one look-up or filter counts at least, in characters."""

_left: ContextVar[list[int] | None] = ContextVar("template_work_left", default=None)


@contextmanager
def working() -> Iterator[None]:
    """Hold a fresh budget for one rendering."""
    token = _left.set([MOST_WORK])
    try:
        yield
    finally:
        _left.reset(token)


def charge(value: object) -> None:
    """Count one step with a value; raises ResourceLimitError where that is too much."""
    left = _left.get()
    if left is None:
        return
    left[0] -= LEAST + (len(value) if issubclass(type(value), str) else 0)  # type: ignore[arg-type]
    if left[0] < 0:
        raise ResourceLimitError("the template takes too much work", token=None)
