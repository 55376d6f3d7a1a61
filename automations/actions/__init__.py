"""What a rule can do: one module for each action.

An action is a frozen model of its settings as a rule writes them, a docstring that becomes its manual page,
and the method `command`, which says what its service is asked to do for one candidate.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict

from automations.fact_catalogue import FactCatalogue
from automations.ports import FactSource
from automations.registry import Registry
from domain.commands import Command
from domain.errors import Mistake


class Action(BaseModel):
    """The base of every action; `OPERATION` is what it asks of its service, such as `tasks.create`."""

    model_config = ConfigDict(frozen=True, extra="forbid", serialize_by_alias=True)

    NAME: ClassVar[str]
    OPERATION: ClassVar[str]

    def command(self, facts: FactSource, at: datetime) -> Command:
        """Return what the service is asked to do.

        `at` is the instant of the claim in the zone of the entity's space, the same on every attempt: what
        is due some days from now counts from it. Raises `SettingUnfit` for a setting that does not come to
        a value that its service could use.
        """
        raise NotImplementedError

    def check(self, settings: Mapping[str, Any], catalogue: FactCatalogue) -> Iterable[Mistake]:
        """Return what is wrong with the settings, where only these facts can be named.

        The templates in them, and the facts that instants name, are checked for every action alike.
        """
        return ()


actions: Registry[Action] = Registry("action", __name__)
"""Every action by its name."""
