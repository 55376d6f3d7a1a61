"""Whoever sets a provider up learns from the log which one was refused and why, and nothing of what was posted."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import pytest
import structlog
from pydantic import SecretStr

from adapters import logs
from adapters.callbacks import CallbackProvider
from adapters.callbacks.amazon import Amazon
from adapters.callbacks.generic import Generic
from adapters.callbacks.mail import Mail
from adapters.callbacks.receiving import CallbackDoor
from adapters.callbacks.standard import Standard
from adapters.callbacks.twilio import Twilio

OURS = "the secret that is ours"
GUESS = "guess-of-mia@example.org"
AT = datetime(2026, 8, 8, 12, tzinfo=UTC)
PROVIDERS: dict[str, CallbackProvider] = {
    "generic": Generic(secret=SecretStr(OURS)),
    "mail": Mail(secret=SecretStr(OURS)),
    "twilio": Twilio(token=SecretStr(OURS)),
    "standard": Standard.model_validate(Standard.EXAMPLE),
    "amazon": Amazon.model_validate(Amazon.EXAMPLE),
}
NOTICE = {"Type": "Notification", "Signature": GUESS, "TopicArn": GUESS, "SigningCertURL": f"https://{GUESS}"}
FORGED = {
    "Authorization": f"Bearer {GUESS}",
    "X-Twilio-Signature": GUESS,
    "webhook-id": GUESS,
    "webhook-timestamp": str(int(AT.timestamp())),
    "webhook-signature": GUESS,
}


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    """What was configured before."""
    before = structlog.get_config()
    yield
    structlog.configure(**before)


@pytest.mark.parametrize("headers", [FORGED, {**FORGED, "webhook-timestamp": GUESS}, {}], ids=["forged", "odd", "none"])
@pytest.mark.parametrize("provider", sorted(PROVIDERS))
@pytest.mark.parametrize("body", [json.dumps(NOTICE), f"From={GUESS}"], ids=["json", "form"])
def test_a_refusal_names_the_provider_and_the_reason_and_nothing_that_was_posted(
    provider: str, headers: Mapping[str, str], body: str, capsys: pytest.CaptureFixture[str]
) -> None:
    logs.configure()
    log: Any = None  # nothing is kept of what is refused
    answer = CallbackDoor(log, PROVIDERS).receive(provider, headers, body.encode(), f"https://x.example/{GUESS}", AT)
    [line] = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert answer.status in (401, 403)
    assert (line["event"], line["provider"], line["reason"]) == ("callback.refused", provider, answer.reason)
    assert answer.reason
    assert not any(each in json.dumps(line) for each in (GUESS, OURS))
