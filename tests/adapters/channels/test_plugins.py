"""Channels that need nobody outside: the inbox, the outbox folder, and the one that only keeps messages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from adapters.channels.capture import Capture
from adapters.channels.in_app import InApp
from adapters.channels.outbox import Outbox
from domain.endings import Done, Misconfigured, Refused
from tests.adapters.channels.messages import message, opened


def test_the_inbox_has_nobody_to_call() -> None:
    assert InApp().send(message("in_app"), "d1") == Done()


def test_an_email_in_the_outbox_opens_in_any_mail_program(tmp_path: Path) -> None:
    outbox = Outbox(folder=tmp_path)
    assert isinstance(outbox.send(message(), "d1"), Done)
    mail = opened((tmp_path / "email" / "d1.eml").read_bytes())
    assert (mail["To"], mail["Subject"]) == ("mia@example.org", "Zoë's room")
    assert mail.get_content().splitlines() == ["Good morning", "会議室"]


def test_an_email_in_the_outbox_has_its_html_beside_the_text(tmp_path: Path) -> None:
    Outbox(folder=tmp_path).send(message(html="<b>Zoë</b>"), "d1")
    mail = opened((tmp_path / "email" / "d1.eml").read_bytes())
    assert [part.get_content().splitlines()[0] for part in mail.iter_parts()] == ["Good morning", "<b>Zoë</b>"]


def test_the_same_key_writes_the_same_file(tmp_path: Path) -> None:
    outbox = Outbox(folder=tmp_path)
    for _ in range(2):
        outbox.send(message("sms"), "d1")
    [path] = (tmp_path / "sms").iterdir()
    assert json.loads(path.read_text())["text"] == "Good morning\n会議室"


def test_an_address_that_breaks_a_header_is_refused(tmp_path: Path) -> None:
    broken = message(address="mia@example.org\nBcc: x@example.org")
    assert isinstance(Outbox(folder=tmp_path).send(broken, "d1"), Refused)
    assert not (tmp_path / "email").exists()


def test_a_folder_that_cannot_be_is_our_own_fault(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert isinstance(Outbox(folder=tmp_path / "file").send(message(), "d1"), Misconfigured)


@pytest.mark.parametrize("in_file", [True, False])
def test_captured_messages_are_kept_once_for_each_key(tmp_path: Path, in_file: bool) -> None:
    path = tmp_path / "captured.jsonl" if in_file else None
    capture = Capture(path=path)
    for key in ("d1", "d2", "d1"):
        assert capture.send(message(), key) == Done(result={"provider_message_id": key})
    assert len(capture.messages) == 2
    Capture(path=path).send(message(), "d1")
    if path is not None:
        assert [json.loads(line)["key"] for line in path.read_text().splitlines()] == ["d1", "d2"]
