"""Gets small public files that a signature refers to."""

from __future__ import annotations

import httpx

from domain.errors import Unavailable

LONGEST = 64 * 1024
"""Bytes of a file that are of interest."""

SECONDS = 5.0
"""The longest wait for one."""


def fetched(url: str) -> bytes:
    """Return what lies at a URL, without following it elsewhere; raises Unavailable where it cannot be had now."""
    try:
        answer = httpx.get(url, timeout=SECONDS, follow_redirects=False, trust_env=False)
    except httpx.HTTPError as error:
        raise Unavailable(f"{httpx.URL(url).host} cannot be reached: {type(error).__name__}") from None
    if answer.status_code != httpx.codes.OK or len(answer.content) > LONGEST:
        raise Unavailable(f"{httpx.URL(url).host} answered {answer.status_code}")
    return answer.content
