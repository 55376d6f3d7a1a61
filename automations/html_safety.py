"""Whether HTML that was filled in does nothing but show text, pictures and links.

Values are escaped where they stand, which is not enough inside of a link or of an attribute without quotes. So
the result is looked at: links lead to a few schemes, and nothing can run.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser

SCHEMES = frozenset({"http", "https", "mailto", "tel", "cid"})
"""Where links and pictures may lead; what has no scheme stays in the message."""

_LINKS = frozenset({"href", "src", "action", "formaction", "background", "poster", "cite", "longdesc", "xlink:href"})
_FORBIDDEN = frozenset({"script", "iframe", "object", "embed", "base", "form"})
_SCHEME = re.compile(r"\s*([^/?#:]*):", re.ASCII)
_IGNORED = re.compile("[\0-\x20\x7f-\xa0\u2028\u2029]+")


def unsafe_in(html: str) -> str | None:
    """Return what makes HTML unsafe, in words without any value of it, or None."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return reader.fault


class _Reader(HTMLParser):
    fault: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _FORBIDDEN:
            self.fault = f"the element <{tag}> has no place in a message"
        for name, value in attrs:
            self.fault = self.fault or _attribute_fault(name, value or "")


def _attribute_fault(name: str, value: str) -> str | None:
    if name.startswith("on"):
        return "an attribute that runs something has no place in a message"
    if name == "srcset" and ":" in value:
        return "srcset has no place in a message: use src"
    if name not in _LINKS:
        return None
    # Browsers pass over blanks and control characters, wherever they stand in a scheme.
    found = _SCHEME.match(_IGNORED.sub("", value))
    if found is None or found[1].casefold() in SCHEMES:
        return None
    return f"{name} leads to something that is no {', '.join(sorted(SCHEMES))}"
