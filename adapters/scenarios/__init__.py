"""Scenario files are run: each scenario on a fresh database, with a simulated clock and captured services.

`run_files` is the way in; what comes out of it are results that know their place and their differences.
"""

from __future__ import annotations

from adapters.scenarios.files import run_files
from adapters.scenarios.results import Result

__all__ = ["Result", "run_files"]
