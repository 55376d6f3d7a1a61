"""What the web needs of one operator, built from its application once; nothing of it is global."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property

from adapters.application import Application
from adapters.web.access.doorkeeper import Doorkeeper
from adapters.web.access.sessions import Lifetime, Sessions
from adapters.web.access.throttle import Throttle
from adapters.web.access.tokens import TokenDesk
from adapters.web.access.users import UserDesk
from adapters.web.api.committing import Committer


@dataclass(eq=False)
class Reception:
    """An operator's application, with those who know who may use it; serves any thread."""

    application: Application

    @cached_property
    def tokens(self) -> TokenDesk:
        """Return who makes tokens and knows them."""
        return TokenDesk(self.application.log, self.application.clock)

    @cached_property
    def users(self) -> UserDesk:
        """Return who knows users and their passwords."""
        return UserDesk(self.application.log, self.application.clock)

    @cached_property
    def sessions(self) -> Sessions:
        """Return who knows who is signed in."""
        http = self.application.settings.http
        lifetime = Lifetime(timedelta(minutes=http.idle_minutes), timedelta(hours=http.session_hours))
        return Sessions(self.application.log, self.application.clock, lifetime)

    @cached_property
    def throttle(self) -> Throttle:
        """Return who makes guessing slow."""
        return Throttle(self.application.log, self.application.clock)

    @cached_property
    def doorkeeper(self) -> Doorkeeper:
        """Return who knows callers."""
        return Doorkeeper(self.tokens, self.sessions, self.application.clock)

    @cached_property
    def committer(self) -> Committer:
        """Return who commits events together."""
        return Committer(self.application, self.tokens)

    def close(self) -> None:
        """Let go of what was made."""
        self.committer.close()
