"""What a real mail server gets: the bytes of mails, over encrypted connections, from who may log in."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from email.header import decode_header, make_header
from email.utils import getaddresses
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, Envelope, LoginPassword

from adapters.channels.email import Email
from domain.endings import Done, Misconfigured, Refused, TryLater
from tests.adapters.channels.certificates import write_certificate
from tests.adapters.channels.messages import message, opened

BREAKS = {
    "both": "Blue\r\nBcc: x@evil.example",
    "lf": "Blue\nBcc: x@evil.example",
    "cr": "Blue\rBcc: x@evil.example",
    "nul": "Blue\0Bcc: x@evil.example",
    "line separator": "Blue\u2028Bcc: x@evil.example",
    "next line": "Blue\x85Bcc: x@evil.example",
    "folded": "Blue\r\n\tBcc: x@evil.example",
    "encoded": "=?utf-8?q?Blue=0D=0ABcc:_x=40evil.example?=",
    "end of headers": "Blue\r\n\r\nBcc: x@evil.example",
}


@dataclass
class Mailbox:
    """Keeps what arrives."""

    mails: list[tuple[Any, list[Any], bytes]] = field(default_factory=list)

    async def handle_DATA(self, server: Any, session: Any, envelope: Envelope) -> str:  # noqa: N802
        assert isinstance(envelope.content, bytes)
        self.mails.append((envelope.mail_from, list(envelope.rcpt_tos), envelope.content))
        return "250 2.0.0 taken"


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


@contextmanager
def running(mailbox: Mailbox, **options: Any) -> Iterator[int]:
    controller = Controller(mailbox, hostname="127.0.0.1", port=free_port(), **options)
    controller.start()
    try:
        yield controller.port
    finally:
        controller.stop()


@pytest.fixture
def mailbox() -> Mailbox:
    return Mailbox()


@pytest.fixture
def email(mailbox: Mailbox) -> Iterator[Email]:
    with running(mailbox) as port:
        email = Email(host="127.0.0.1", port=port, tls="none", from_address="desk@example.org", timeout_seconds=2)
        yield email
        email.close()


@contextmanager
def from_somebody(email: Email, **settings: Any) -> Iterator[Email]:
    named = Email.model_validate({**email.model_dump(), **settings})
    yield named
    named.close()


def test_a_mail_reads_as_it_was_written(mailbox: Mailbox, email: Email) -> None:
    text = ".\r\n..two dots\n.one\nlong " + "word " * 300 + "\nfrom\nFrom me\n会議室 € \u0000=20="
    assert isinstance(email.send(message(text=text, subject="会議室 " * 30), "d1"), Done)
    [(sender, recipients, content)] = mailbox.mails
    mail = opened(content)
    assert (sender, recipients) == ("desk@example.org", ["mia@example.org"])
    assert (mail["From"], mail["To"], mail["Subject"]) == (
        "desk@example.org",
        "mia@example.org",
        ("会議室 " * 30).strip(),
    )
    assert mail["Message-ID"] == "<d1@example.org>"
    assert mail.get_content().splitlines() == text.replace("\0", "").splitlines()
    assert max(map(len, content.split(b"\r\n"))) <= 78
    assert b"\n" not in content.replace(b"\r\n", b"")


def test_html_stands_beside_the_text(mailbox: Mailbox, email: Email) -> None:
    email.send(message(html="<p>Guten Tag, <b>Zoë</b></p>"), "d1")
    mail = opened(mailbox.mails[0][2])
    plain, html = mail.iter_parts()
    assert (mail.get_content_type(), plain.get_content_type(), html.get_content_type()) == (
        "multipart/alternative",
        "text/plain",
        "text/html",
    )
    assert html.get_content().strip() == "<p>Guten Tag, <b>Zoë</b></p>"
    assert plain.get_content().splitlines() == ["Good morning", "会議室"]


def test_what_can_be_left_says_how(mailbox: Mailbox, email: Email) -> None:
    email.send(message(unsubscribe_url="https://example.org/u/t0k3n?x=1&y=" + "z" * 200), "d1")
    email.send(message(), "d2")
    first, second = (opened(content) for _, _, content in mailbox.mails)
    assert first["List-Unsubscribe"] == "<https://example.org/u/t0k3n?x=1&y=" + "z" * 200 + ">"
    assert first["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert second["List-Unsubscribe"] is None


@pytest.mark.parametrize("subject", BREAKS.values(), ids=BREAKS)
def test_k1_no_value_becomes_a_header(mailbox: Mailbox, email: Email, subject: str) -> None:
    with from_somebody(email, from_name=subject[:200]) as named:
        assert isinstance(named.send(message(subject=subject, text=subject, html=subject), "d1"), Done)
    [(_, recipients, content)] = mailbox.mails
    head = content.partition(b"\r\n\r\n")[0]
    mail = opened(content)
    assert recipients == ["mia@example.org"]
    assert (len(mail.get_all("Subject", [])), mail["Bcc"]) == (1, None)
    names = [line.partition(b":")[0].lower() for line in head.split(b"\r\n") if line[:1] not in b" \t"]
    assert b"bcc" not in names
    assert len(names) == len(set(names))
    if subject.startswith("=?"):
        assert mail["Subject"] == subject


@pytest.mark.parametrize("address", [f"mia@example.org{text[4:]}" for text in BREAKS.values() if "=?" not in text])
def test_k1_an_address_cannot_carry_a_header(mailbox: Mailbox, email: Email, address: str) -> None:
    ending = email.send(message(address=address), "d1")
    assert isinstance(ending, Refused)
    assert ending.error_class == "bad_address"
    assert mailbox.mails == []


@pytest.mark.parametrize("url", ["https://example.org/\r\nBcc: x@y.example", "https://example.org/>, <x", "ftp://ü/"])
def test_k10_a_url_cannot_carry_a_header(mailbox: Mailbox, email: Email, url: str) -> None:
    ending = email.send(message(unsubscribe_url=url), "d1")
    assert isinstance(ending, Refused)
    assert (ending.error_class, mailbox.mails) == ("content", [])


@pytest.mark.parametrize("locale", ["de\r\nBcc: x@y.example", "de-AT", ""])
def test_k10_a_language_cannot_carry_a_header(mailbox: Mailbox, email: Email, locale: str) -> None:
    email.send(message(locale=locale), "d1")
    assert opened(mailbox.mails[0][2])["Bcc"] is None


@pytest.mark.parametrize(
    "name",
    [
        'Zoë, "CEO" <x> ' + "Müller-Lüdenscheidt " * 9,
        'Plain, "quoted" <name@example.net>',
        "a" * 200,
        "Zo\u0065\u0308 会議室",
        "=?utf-8?q?evil?=",
        "x@example.net,y",
    ],
)
def test_k3_any_name_is_one_name(mailbox: Mailbox, email: Email, name: str) -> None:
    with from_somebody(email, from_name=name[:200]) as named:
        assert isinstance(named.send(message(), "d1"), Done)
    raw = message_from_bytes(mailbox.mails[0][2])["From"]
    [(written, address)] = getaddresses([raw])
    # The parser of the newer policy keeps the blank between two encoded words of a name (RFC 2047, 6.2).
    shown = str(make_header(decode_header(written.replace("\r\n", ""))))
    assert (shown, address) == (name[:200].strip(), "desk@example.org")


@pytest.mark.parametrize(
    "address",
    ["ü@example.com", "", "mia", "mia@", "@example.org", "a b@example.org", "mia@exa mple.org", "\ud800@x.org"],
)
def test_k3_an_address_that_no_server_takes_is_refused(mailbox: Mailbox, email: Email, address: str) -> None:
    ending = email.send(message(address=address), "d1")
    assert isinstance(ending, Refused)
    assert (ending.error_class, ending.suppresses) == ("bad_address", "address")
    assert address not in ending.reason or not address
    assert mailbox.mails == []


@pytest.mark.parametrize("address", ["a+b@x.local", "o'brien@localhost", "mia@8.example", "MIA@Example.ORG"])
def test_k3_addresses_of_any_network_are_taken(mailbox: Mailbox, email: Email, address: str) -> None:
    assert isinstance(email.send(message(address=address), "d1"), Done)
    assert mailbox.mails[0][1] == [address]


def test_k3_a_domain_in_any_script_is_written_in_ascii(mailbox: Mailbox, email: Email) -> None:
    assert isinstance(email.send(message(address="mia@bücher.example"), "d1"), Done)
    [(_, recipients, content)] = mailbox.mails
    assert recipients == ["mia@xn--bcher-kva.example"]
    assert opened(content)["To"] == "mia@xn--bcher-kva.example"


def test_k5_only_html_is_html(mailbox: Mailbox, email: Email) -> None:
    email.send(message(subject="O'Brien & Söhne: A<B", text="A<B & C"), "d1")
    mail = opened(mailbox.mails[0][2])
    assert mail["Subject"] == "O'Brien & Söhne: A<B"
    assert mail.get_content().strip() == "A<B & C"


def test_a_direction_that_is_turned_stays_out_of_headers(mailbox: Mailbox, email: Email) -> None:
    email.send(message(subject="\u202eRoom\u2066 1"), "d1")
    assert opened(mailbox.mails[0][2])["Subject"] == "Room 1"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return write_certificate(tmp_path_factory.mktemp("certificate"))


class TestEncryption:
    """STARTTLS, TLS and AUTH against a server that has them."""

    def channel(self, port: int, files: tuple[Path, Path], **settings: Any) -> Email:
        given = {"certificates": files[0], "from_address": "desk@example.org", "timeout_seconds": 2, **settings}
        return Email(host="127.0.0.1", port=port, **given)

    def context(self, files: tuple[Path, Path]) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*map(str, files))
        return context

    @pytest.mark.parametrize("password", ["right", "wrong"])
    def test_who_may_log_in_is_heard(self, mailbox: Mailbox, files: tuple[Path, Path], password: str) -> None:
        def allowed(server: Any, session: Any, envelope: Any, mechanism: str, data: Any) -> AuthResult:
            assert isinstance(data, LoginPassword)
            return AuthResult(success=(data.login, data.password) == (b"desk", b"right"), handled=False)

        options = {"tls_context": self.context(files), "auth_required": True, "authenticator": allowed}
        with running(mailbox, require_starttls=True, **options) as port:
            email = self.channel(port, files, username="desk", password=password)
            ending = email.send(message(), "d1")
            email.close()
        assert isinstance(ending, Done if password == "right" else Misconfigured)
        assert password not in repr(email)
        assert len(mailbox.mails) == (password == "right")

    def test_a_server_without_starttls_gets_nothing(self, mailbox: Mailbox, files: tuple[Path, Path]) -> None:
        with running(mailbox) as port:
            email = self.channel(port, files)
            assert isinstance(email.send(message(), "d1"), Misconfigured)
            email.close()
        assert mailbox.mails == []

    def test_a_certificate_that_nobody_vouches_for_is_not_believed(
        self, mailbox: Mailbox, files: tuple[Path, Path]
    ) -> None:
        with running(mailbox, tls_context=self.context(files)) as port:
            email = self.channel(port, files, certificates=None)
            assert isinstance(email.send(message(), "d1"), TryLater)
            email.close()
        assert mailbox.mails == []

    def test_tls_from_the_start(self, mailbox: Mailbox, files: tuple[Path, Path]) -> None:
        with running(mailbox, ssl_context=self.context(files)) as port:
            email = self.channel(port, files, tls="tls")
            assert isinstance(email.send(message(), "d1"), Done)
            email.close()
        assert len(mailbox.mails) == 1
