"""Callbacks of whoever knows a secret."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import Field, SecretStr

from adapters.callbacks import CallbackProvider, Item, Post, callback_providers, require_bearer
from adapters.callbacks.plain_reports import items_of, receipts_of
from automations.notifications.callbacks import Receipt

Secret = Annotated[SecretStr, Field(min_length=16)]
"""A text that nobody guesses."""


@callback_providers.register("generic")
class Generic(CallbackProvider):
    """Takes reports in plain JSON from services that can send a header with a secret, and sign nothing."""

    EXAMPLE: ClassVar[Mapping[str, Any]] = {"secret": "sixteen characters or more"}

    secret: Secret
    """What a post shows in its header."""

    header: Annotated[str, Field(pattern=r"^[a-z0-9-]{1,64}$")] = "authorization"
    """The header that holds it, as `Bearer …` or plainly."""

    def authenticate(self, post: Post) -> None:
        """Check the secret."""
        require_bearer(post, self.secret.get_secret_value(), self.header)

    def items(self, post: Post) -> list[Item]:
        """Return the reports of the body."""
        return items_of(post)

    def receipts(self, content: str) -> list[Receipt]:
        """Return what a report says."""
        return receipts_of(content)
