"""Which addresses may be called where somebody else names the URL: none inside our own network."""

from __future__ import annotations

import asyncio
import socket
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from urllib.parse import urlsplit

from domain.errors import InvalidInput

Address = IPv4Address | IPv6Address

_TRANSLATED = ip_network("64:ff9b::/96")
_TUNNELLED = ip_network("2002::/16")
_SHARED = ip_network("100.64.0.0/10")
_INSIDE = (".localhost", ".local", ".internal", ".home.arpa")


def is_public(address: Address) -> bool:
    """Say whether an address lies on the open internet; one that holds another is as public as that."""
    inner = _inner(address)
    if inner is not None:
        return is_public(inner)
    return address.is_global and not address.is_multicast and address not in _SHARED and not address.is_reserved


def _inner(address: Address) -> Address | None:
    if isinstance(address, IPv4Address):
        return None
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address in _TRANSLATED:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    if address in _TUNNELLED:
        return IPv4Address(int(address) >> 80 & 0xFFFFFFFF)
    return None


def require_callable(url: str, *, allow_private: bool) -> None:
    """Do nothing for a URL of somebody else that may be called, as far as it says so itself.

    That is https to a name or an address that is not inside a private network; both are free with `allow_private`.
    Where a name leads is looked up with each call. Raises InvalidInput that says what is wrong.
    """
    try:
        parts = urlsplit(url)
        scheme, host, _ = parts.scheme, (parts.hostname or "").rstrip("."), parts.port
    except ValueError:
        raise InvalidInput("is no URL") from None
    if not host or "@" in parts.netloc or not url.isprintable() or " " in url:
        raise InvalidInput("is no URL that may be called")
    if scheme not in (("https", "http") if allow_private else ("https",)):
        raise InvalidInput("is no https URL")
    if not allow_private and _is_inside(host):
        raise InvalidInput("leads into a private network")


def _is_inside(host: str) -> bool:
    """Say whether a host is inside a private network: by its address, however that is written, or by its name."""
    try:
        return not is_public(ip_address(host.partition("%")[0]))
    except ValueError:
        pass
    try:
        return not is_public(ip_address(socket.inet_aton(host)))
    except OSError:
        return "." not in host or host.endswith(_INSIDE)


async def addresses_of(host: str, port: int, *, allow_private: bool) -> list[str]:
    """Return where a host may be called at, in the order of preference.

    Raises InvalidInput where one of its addresses is private, and OSError where the name cannot be looked up.
    """
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = [str(entry[4][0]).partition("%")[0] for entry in found]
    if not allow_private and not all(is_public(ip_address(each)) for each in addresses):
        raise InvalidInput("leads into a private network")
    return list(dict.fromkeys(addresses))
