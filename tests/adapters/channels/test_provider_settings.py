"""Which channels there are by the settings: those that are set up, and the outbox in place of the others."""

from __future__ import annotations

from pathlib import Path

import pytest

from adapters.callbacks.twilio import Twilio
from adapters.channels import channels
from adapters.channels.email import Email
from adapters.channels.outbox import Outbox
from adapters.channels.sms import Sms
from adapters.channels.web_push import WebPush
from adapters.channels.webhook import Webhook
from adapters.providers import callbacks_of, calls_of, channels_of, reported_channels
from adapters.settings import read_settings
from automations.notifications.type_reading import CHANNELS
from domain.errors import InvalidInput

FILE = """
[email]
host = "smtp.example.org"
from_address = "desk@example.org"
password = "from the file"
connections = 3

[sms]
account = "AC1"
token = "t"
sender = "Desk"
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_without_settings_everything_lies_in_the_outbox() -> None:
    found = channels_of(read_settings())
    assert {name for name, channel in found.items() if isinstance(channel, Outbox)} == {
        "email",
        "sms",
        "web_push",
        "webhook",
        "capture",
    }
    assert found.keys() == CHANNELS, "a type may name a channel that nobody has"
    assert calls_of(found).width("email") == 1


def test_the_file_sets_channels_up_and_variables_win(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "semel.toml").write_text(FILE)
    monkeypatch.setenv("SEMEL_EMAIL__PASSWORD", "from the variable")
    monkeypatch.setenv("SEMEL_EMAIL__PORT", "2525")
    monkeypatch.setenv("SEMEL_WEBHOOK__URL", "https://example.org/hook")
    monkeypatch.setenv("SEMEL_WEBHOOK__SECRET", str(Webhook.EXAMPLE["secret"]))
    found = channels_of(read_settings())
    email = found["email"]
    assert isinstance(email, Email)
    assert (email.host, email.port, email.password.get_secret_value()) == (
        "smtp.example.org",
        2525,
        "from the variable",
    )
    assert isinstance(found["sms"], Sms)
    assert isinstance(found["webhook"], Webhook)
    assert isinstance(found["web_push"], Outbox)
    assert calls_of(found).width("email") == 3


@pytest.mark.parametrize("name", ["email", "sms", "web_push", "webhook"])
def test_the_example_of_the_manual_is_enough(folder: Path, name: str) -> None:
    lines = [f"{setting} = {value!r}" for setting, value in channels[name].EXAMPLE.items()]
    text = "\n".join([f"[{name}]", *lines]).replace('"the account\'s token"', '"token"')
    (folder / "semel.toml").write_text(text)
    assert isinstance(channels_of(read_settings())[name], (Email, Sms, WebPush, Webhook))


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("[email]\nhost = 'x'\n", "email.from_address"),
        ("[email]\nhost = 'x'\nfrom_address = 'ü@x.example'\n", "email.from_address"),
        ("[email]\nhost = 'x'\nfrom_address = 'a@x.example'\ntypo = 1\n", "email.typo"),
        ("[webhook]\nurl = 'https://x.example/'\nsecret = 'hush'\n", "webhook.secret"),
        ("[sms]\naccount = 'AC1'\ntoken = 'hush'\n", "sms"),
    ],
)
def test_every_mistake_is_told_where_it_is_and_no_secret_with_it(folder: Path, text: str, where: str) -> None:
    (folder / "semel.toml").write_text(text)
    with pytest.raises(InvalidInput) as caught:
        read_settings()
    assert where in str(caught.value)
    assert "hush" not in str(caught.value)


def test_an_sms_service_reports_to_the_public_url_and_signs_with_its_token(folder: Path) -> None:
    (folder / "semel.toml").write_text('public_url = "https://semel.example.org/"\n' + FILE)
    settings = read_settings()
    sms, twilio = channels_of(settings)["sms"], callbacks_of(settings)["twilio"]
    assert isinstance(sms, Sms)
    assert sms.status_url == "https://semel.example.org/v1/callbacks/twilio"
    assert isinstance(twilio, Twilio)
    assert (twilio.url, twilio.token) == (sms.status_url, sms.token)
    assert reported_channels(settings) == {"sms"}


def test_without_a_public_url_nobody_reports_anything(folder: Path) -> None:
    (folder / "semel.toml").write_text(FILE)
    assert callbacks_of(read_settings()) == {}


def test_who_reports_is_set_in_tables_of_their_own_and_notices_of_mail_servers_promise_nothing(folder: Path) -> None:
    (folder / "semel.toml").write_text('[callbacks.mail]\nsecret = "sixteen characters"\n')
    assert list(callbacks_of(read_settings())) == ["mail"]
    assert reported_channels(read_settings()) == frozenset()
