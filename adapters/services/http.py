"""The operator's own services over HTTP; what they answer is described in `docs/reference/service-api.md`."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import ClassVar
from urllib.parse import quote

import structlog

from adapters.channels.replies.http import Answer
from adapters.channels.wire.http_lines import HttpLine, Post
from adapters.services.http_answers import ending_of_call, ending_of_look_up, read_object
from adapters.services.outside_settings import OutsideService
from automations.notifications.channels import CallEnding
from automations.ports import Call
from domain.commands import Command
from domain.decisions import access, billing, memberships, tasks
from domain.endings import Done, Refused, TryLater, Unknown

ANSWERS: Mapping[str, Collection[str]] = MappingProxyType(
    {
        operation.command.OPERATION: operation.answer
        for module in (billing, access, tasks, memberships)
        for operation in module.OPERATIONS
    }
)
"""What each operation that can be served over HTTP answers, by its name."""

logger = structlog.get_logger(__name__)


class HttpService:
    """One service of the operator; serves any thread, and ends every call within its timeout."""

    operations: ClassVar[Mapping[str, Collection[str]]] = ANSWERS

    def __init__(self, name: str, settings: OutsideService) -> None:
        self.name = name
        self.honours_keys = settings.honours_keys
        self._settings = settings
        self._base = settings.base_url.rstrip("/")
        self._token = settings.token.get_secret_value()
        self._line = HttpLine(settings.timeout_seconds, connections=settings.connections)

    def perform(self, command: Command, call: Call) -> CallEnding:
        """Post a command, and return how the call ended."""
        names = self.operations.get(command.OPERATION)
        if names is None or command.service != self.name:
            return Refused(reason=f"the service {self.name} has no operation {command.OPERATION}", at_fault="rule")
        url = f"{self._base}{path_of(command.OPERATION)}"
        content = command.model_dump_json(exclude_none=True).encode()
        answer = self._answer(Post(url, content, self._headers(call)))
        if not isinstance(answer, Answer):
            return answer
        ending = ending_of_call(answer, call.at, names, honours_keys=self.honours_keys)
        if isinstance(ending, Done) and not ending.result:
            logger.warning("service.answered-without-ids", service=self.name, operation=command.OPERATION, key=call.key)
        return ending

    def close(self) -> None:
        """Let go of all connections."""
        self._line.close()

    def _answer(self, post: Post) -> Answer | CallEnding:
        answer = self._line.call(post)
        return self._without_secret(answer) if isinstance(answer, Answer) else answer

    def _headers(self, call: Call) -> dict[str, str]:
        known = {"authorization": f"Bearer {self._token}"} if self._token else {}
        named = {"idempotency-key": call.key, "semel-attempt": str(call.attempt)}
        return {"content-type": "application/json", "accept": "application/json", **named, **known}

    def _without_secret(self, answer: Answer) -> Answer:
        """Return an answer without its body where that says our token: endings stand in the log."""
        said = json.dumps(read_object(answer.body), ensure_ascii=False)
        return replace(answer, body=b"") if self._token and self._token in said else answer


class AskedHttpService(HttpService):
    """A service that does not honour keys, but can be asked what became of one."""

    def look_up(self, command: Command, call: Call) -> CallEnding | None:
        """Ask what became of a request; a call that gets no answer has changed nothing."""
        url = f"{self._base}/requests/{quote(call.key, safe='')}"
        answer = self._answer(Post(url, b"", self._headers(call), method="GET"))
        if not isinstance(answer, Answer):
            in_doubt = isinstance(answer, Unknown)
            return TryLater(reason="the service cannot be asked what became of it") if in_doubt else answer
        return ending_of_look_up(answer, call.at, self.operations.get(command.OPERATION, ()))


def path_of(operation: str) -> str:
    """Return the path of an operation below the base of its service."""
    return "/" + operation.replace(".", "/")
