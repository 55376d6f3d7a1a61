"""Notices of mail servers (RFC 3464) and of complaints (RFC 5965) that somebody posts (delivery trial C11)."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from pydantic import SecretStr

from adapters.callbacks import NotAuthentic, Post
from adapters.callbacks.mail import Mail
from automations.notifications.callbacks import Receipt
from domain.errors import InvalidInput

AT = datetime(2026, 8, 8, 12, tzinfo=UTC)
MAIL = Mail(secret=SecretStr("sixteen characters"))
NOTICE = """\
From: MAILER-DAEMON@mx.example.net
To: desk@example.org
Date: Sat, 08 Aug 2026 11:59:00 +0200
Message-ID: <notice-1@mx.example.net>
MIME-Version: 1.0
Content-Type: multipart/report; report-type=delivery-status; boundary="b"

--b
Content-Type: text/plain

Something about your message.

--b
Content-Type: message/delivery-status

Reporting-MTA: dns; mx.example.net

Original-Recipient: rfc822;mia@example.org
Final-Recipient: rfc822;mia.forwarded@example.com
Action: {action}
Status: {status}
Diagnostic-Code: smtp; 550 mia.forwarded@example.com is unknown

--b
Content-Type: {kind}

From: desk@example.org
To: mia@example.org
Message-ID: <delivery-0123@example.org>
Subject: Good morning

--b--
"""


def read(action: str, status: str, kind: str = "text/rfc822-headers") -> list[Receipt]:
    return receipts(NOTICE.format(action=action, status=status, kind=kind))


def receipts(text: str) -> list[Receipt]:
    [item] = MAIL.items(Post.of({}, text.replace("\n", "\r\n").encode(), "", AT))
    return MAIL.receipts(item.content)


@pytest.mark.parametrize("kind", ["message/rfc822", "text/rfc822-headers"])
def test_a_failure_names_the_delivery_and_the_address_that_we_wrote_to(kind: str) -> None:
    [receipt] = read("failed", "5.1.1", kind)
    assert (receipt.kind, receipt.bounce, receipt.detail) == ("bounced", "hard", "5.1.1")
    assert (receipt.delivery, receipt.address) == ("delivery-0123", "mia@example.org")
    assert receipt.told_at == "2026-08-08T11:59:00+02:00"


def test_c11_a_delay_is_no_bounce() -> None:
    [receipt] = read("delayed", "4.4.1")
    assert receipt.kind == "delayed"


@pytest.mark.parametrize(
    ("action", "status", "expected"),
    [
        ("failed", "5.2.1", [("bounced", "hard")]),
        ("failed", "5.2.2", [("bounced", "soft")]),
        ("failed", "5.7.1", [("bounced", "soft")]),
        ("failed", "4.4.7", [("bounced", "soft")]),
        ("delivered", "2.0.0", [("delivered", "soft")]),
        ("relayed", "2.0.0", []),
        ("expanded", "2.0.0", []),
    ],
)
def test_action_and_status_say_what_happened(action: str, status: str, expected: list[tuple[str, str]]) -> None:
    assert [(receipt.kind, receipt.bounce) for receipt in read(action, status)] == expected


def test_a_complaint_is_one() -> None:
    text = NOTICE.format(action="", status="", kind="text/rfc822-headers")
    feedback = "Feedback-Type: abuse\nOriginal-Rcpt-To: <mia@example.org>\n"
    start, end = text.index("Reporting-MTA"), text.rindex("--b\nContent-Type")
    text = text[:start].replace("message/delivery-status", "message/feedback-report") + feedback + "\n" + text[end:]
    [receipt] = receipts(text)
    assert (receipt.kind, receipt.delivery, receipt.address) == ("complained", "delivery-0123", "mia@example.org")


def test_the_same_notice_is_the_same_report() -> None:
    post = Post.of({}, NOTICE.encode(), "", AT)
    assert [item.id for item in MAIL.items(post)] == ["<notice-1@mx.example.net>"]


@pytest.mark.parametrize("body", [b"", b"From: mia\n\nHello", b"\xff\xfe\x00", b"Content-Type: multipart/report\n\n"])
def test_a_mail_that_is_no_notice_is_kept_and_means_nothing(body: bytes) -> None:
    [item] = MAIL.items(Post.of({}, body, "", AT))
    with pytest.raises(InvalidInput, match="no notice"):
        MAIL.receipts(item.content)


def test_n15_only_who_knows_the_secret_may_post_mails() -> None:
    MAIL.authenticate(Post.of({"Authorization": "Bearer sixteen characters"}, b"", "", AT))
    with pytest.raises(NotAuthentic):
        MAIL.authenticate(Post.of({"Authorization": "Bearer guess"}, b"", "", AT))
