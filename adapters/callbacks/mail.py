"""Callbacks that are mails: notices of delivery (RFC 3464) and of complaints (RFC 5965)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from email import message_from_bytes, message_from_string
from email.message import Message
from email.utils import parseaddr, parsedate_to_datetime
from typing import Any, ClassVar

from adapters.callbacks import CallbackProvider, Item, Post, callback_providers, require_bearer
from adapters.callbacks.generic import Secret
from adapters.channels.replies.smtp import Reply, ending_of_reply
from automations.notifications.callbacks import Kind, Receipt, code_of
from domain.endings import Refused
from domain.errors import InvalidInput
from domain.ids import digest

_KINDS: Mapping[str, Kind] = {"failed": "bounced", "delayed": "delayed", "delivered": "delivered"}


@callback_providers.register("mail")
class Mail(CallbackProvider):
    """Takes notices of mail servers, as your mail server gets them for the sender's address: have it post each here.

    The body is the mail itself (`message/rfc822`). The secret proves who passes a notice on, and not who wrote it:
    whoever knows the sender's address can. So a notice counts only for the delivery whose mail it returns, and for
    the address that this went to. A notice of a delay is no bounce. A server that delivers says nothing, so that
    silence means nothing here.
    """

    TELLS_OF_DELIVERY: ClassVar[bool] = False
    EXAMPLE: ClassVar[Mapping[str, Any]] = {"secret": "sixteen characters or more"}

    secret: Secret
    """What a post shows in the header Authorization."""

    def authenticate(self, post: Post) -> None:
        """Check the secret."""
        require_bearer(post, self.secret.get_secret_value())

    def items(self, post: Post) -> list[Item]:
        """Return the one report: a mail is known by its Message-ID."""
        named = str(message_from_bytes(post.body).get("Message-ID", "")).strip()
        content = post.body.decode("ascii", "surrogateescape").encode("utf-8", "replace").decode("utf-8", "replace")
        return [Item(named or digest(content), content)]

    def receipts(self, content: str) -> list[Receipt]:
        """Return what a notice says about each recipient of a mail that it returns.

        Raises InvalidInput for a mail that is no notice, and for a notice that returns none.
        """
        notice = message_from_string(content)
        parts = {part.get_content_type(): part for part in notice.walk()}
        status, feedback = parts.get("message/delivery-status"), parts.get("message/feedback-report")
        if status is None and feedback is None:
            raise InvalidInput("this mail is no notice of delivery")
        named = _own_id(parts)
        if not named:
            raise InvalidInput("this notice returns no mail of ours, so that nothing follows from it")
        about: dict[str, Any] = {"delivery": named, "told_at": _time_of(notice)}
        if feedback is not None:
            return list(_complaints(feedback, about))
        return [receipt for block in _blocks(status)[1:] for receipt in _receipts(block, about)]


def _receipts(block: Message, about: Mapping[str, Any]) -> Iterator[Receipt]:
    kind = _KINDS.get(str(block.get("Action", "")).strip().casefold())
    if kind is None:
        return
    code = code_of(str(block.get("Status", "")).partition(" ")[0])
    hard = kind == "bounced" and _condemns(code)
    yield Receipt(kind, address=_recipient(block), bounce="hard" if hard else "soft", detail=code, **about)


def _complaints(feedback: Message, about: Mapping[str, Any]) -> Iterator[Receipt]:
    for block in _blocks(feedback):
        if str(block.get("Feedback-Type", "")).strip().casefold() == "abuse":
            address = parseaddr(str(block.get("Original-Rcpt-To", "")))[1]
            yield Receipt("complained", address=address, **about)


def _condemns(code: str) -> bool:
    """Say whether a status is about the address; the reply of a mail server that has it would say so too."""
    ending = ending_of_reply("recipient", Reply(550, code)) if code.startswith("5.") else None
    return isinstance(ending, Refused) and ending.suppresses == "address"


def _recipient(block: Message) -> str:
    """Return the address that we wrote to, which need not be the one that a mail was passed on to."""
    told = block.get("Original-Recipient") or block.get("Final-Recipient") or ""
    kind, _, address = str(told).partition(";")
    return parseaddr(address)[1] if kind.strip().casefold() == "rfc822" else ""


def _own_id(parts: Mapping[str, Message]) -> str:
    """Return the delivery that the returned mail, or its headers, names in its Message-ID."""
    returned = parts.get("message/rfc822")
    original: Any = returned.get_payload(0) if returned is not None and returned.is_multipart() else None
    if original is None and "text/rfc822-headers" in parts:
        original = message_from_string(str(parts["text/rfc822-headers"].get_payload()))
    named = str(original.get("Message-ID", "")) if original is not None else ""
    return named.strip("<> \r\n").partition("@")[0]


def _blocks(part: Message | None) -> list[Message]:
    """Return the blocks of fields of a part that is a list of them."""
    found: Any = part.get_payload() if part is not None else []
    if isinstance(found, str):
        return [message_from_string(found)]
    return [block for block in found if isinstance(block, Message)]


def _time_of(notice: Message) -> str:
    try:
        return parsedate_to_datetime(str(notice.get("Date", ""))).isoformat()
    except (ValueError, TypeError, IndexError):
        return ""
