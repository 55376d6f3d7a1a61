"""The collector of cycles, as a process of ours sets it."""

from __future__ import annotations

import gc

from adapters.memory import OBJECTS, collect_rarely


def test_cycles_are_looked_for_rarely_and_not_among_what_is_there_already() -> None:
    before = gc.get_threshold()
    try:
        collect_rarely()
        assert gc.get_threshold()[0] == OBJECTS
        assert gc.get_freeze_count() > 0
        assert gc.isenabled()
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
