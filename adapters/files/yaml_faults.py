"""What the YAML parser stumbles over, said so that somebody who is no programmer can put it right."""

from __future__ import annotations

import re
from typing import Any

from adapters.files.source_text import SourceText
from domain.errors import InvalidInput

_REMEDIES: tuple[tuple[str, str], ...] = (
    (r"character '\\t' that cannot start", "a tab cannot stand here: indent with spaces"),
    (r"character '(.)' that cannot start", "a text that begins with {} needs quotes"),
    (r"mapping values are not allowed", "a text with a colon and a space in it needs quotes"),
    (r"while scanning a quoted scalar", "the quotes that begin here are never closed"),
    (
        r"unknown escape character",
        "this backslash means nothing in double quotes: write \\\\, or single quotes",
    ),
    (r"expected ',' or '\]'", "the list in square brackets needs a comma here, or is not closed"),
    (r"expected ',' or '\}'", "the mapping in braces needs a comma here, or is not closed"),
    (r"while parsing a flow node", "a value is missing here; is a bracket or a brace not closed?"),
    (r"expected <block end>", "the indentation does not fit the lines above"),
    (r"could not find expected ':'", "a key without a colon, or a line that is indented wrongly"),
    (r"expected alphabetic or numeric", "a text that begins with & or * needs quotes"),
)


def explained(source: SourceText, error: Any) -> InvalidInput:
    """Return the error for a document that is no YAML, with its place and what to do."""
    told = f"{error.context or ''}: {error.problem or 'this is not YAML'}"
    at_context = "quoted scalar" in told and "end of stream" in told
    mark = error.context_mark if at_context else error.problem_mark or error.context_mark
    index = mark.index if mark is not None else 0
    for pattern, remedy in _REMEDIES:
        found = re.search(pattern, told)
        if found:
            return source.refuse(index, remedy.format(*found.groups()))
    return source.refuse(index, f"this is not YAML: {error.problem or error.context}")
