"""Text templates in Liquid, over the same facts as conditions: strict, bounded, and checked when saved.

A missing value fails the rendering unless the `default` filter supplies one. Nothing in a template can read
the clock, files or other templates, and no control character gets out. In HTML every value is escaped, and what
comes of it can run nothing; in texts and subjects values stand as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from io import StringIO
from types import MappingProxyType
from typing import Any

from liquid import BoundTemplate, Environment, Mode, RenderContext, StrictDefaultUndefined
from liquid.exceptions import LiquidError
from liquid.output import LimitedStringIO
from liquid.static_analysis import Variable
from liquid.utils import ReadOnlyChainMap

from automations.fact_catalogue import ROOTS, FactCatalogue, UnknownFact
from automations.html_safety import unsafe_in
from automations.ports import FactSource
from automations.registry import nearest
from automations.template_budget import charge, working
from automations.template_facts import FactNode
from automations.template_filters import bounded, filters, locale_of
from automations.visible_text import many_lines, one_line
from domain.errors import InvalidInput, Mistake
from domain.text_values import shown

LONGEST_TEMPLATE = 20_000
"""Characters of one template."""

LONGEST_OUTPUT = 100_000
"""Bytes that one template can render to."""

MOST_ROUNDS = 1_000
"""Rounds of a loop, inner ones counted."""

_TAGS_WITHOUT = ("include", "render")
_FILTERS_WITHOUT = ("safe", "escapejs")
_PARTS_OF_VALUES = frozenset({"size", "first", "last"})
_FAILURES = (LiquidError, ArithmeticError, LookupError, TypeError, ValueError, RecursionError)


class _Missing(StrictDefaultUndefined):
    """A value that is not there: an error, except for `default`."""

    def __init__(self, name: str, *, token: Any, obj: object = None, hint: str | None = None) -> None:
        path, bracket, _ = (hint or name).removesuffix(" is undefined").strip("'").partition("[")
        path += "[…]" if bracket else ""  # what stands in brackets may be a value, and personal
        super().__init__(name, token=token, hint=f"{path} is missing: supply a value with | default:")


class _Context(RenderContext):
    """What a template sees. Liquid's own `now` and `today` are left out: they read the clock."""

    locale: str = "en"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.scope = ReadOnlyChainMap(self.locals, self.globals, self.counters)

    def get(self, path: list[object], **how: Any) -> object:
        """Look a name up, which counts as work."""
        found = super().get(path, **how)
        charge(found)
        return found


class _Template(BoundTemplate):
    context_class = _Context


class _Environment(Environment):
    """Liquid with limits, without other templates, and with filters for money, dates and times."""

    template_class = _Template
    block_nesting_limit = 20
    context_depth_limit = 20
    loop_iteration_limit = MOST_ROUNDS
    local_namespace_limit = LONGEST_OUTPUT
    output_stream_limit = LONGEST_OUTPUT

    def setup_tags_and_filters(self, *, extra: bool = False) -> None:
        super().setup_tags_and_filters(extra=extra)
        for name in _TAGS_WITHOUT:
            del self.tags[name]
        for name in _FILTERS_WITHOUT:
            self.filters.pop(name, None)
        self.filters.update(filters())
        self.filters = {name: bounded(function) for name, function in self.filters.items()}


_ENVIRONMENT = _Environment(tolerance=Mode.STRICT, undefined=_Missing, strict_filters=True)
_HTML = _Environment(tolerance=Mode.STRICT, undefined=_Missing, strict_filters=True, autoescape=True)


def is_template(text: str) -> bool:
    """Say whether a text has anything to fill in."""
    return "{{" in text or "{%" in text


def check(text: str, catalogue: FactCatalogue | None = None) -> list[Mistake]:
    """Return what is wrong with a template: its form, names of facts and of filters, each with its place.

    Without a `catalogue` any fact may be named, as in a template that serves many triggers.
    """
    if len(text) > LONGEST_TEMPLATE:
        return [_too_long(text)]
    if not is_template(text):
        return []
    try:
        template = _parsed(text)
        found = template.analyze()
    except _FAILURES as error:
        return [_mistake(error)]
    mistakes = [
        Mistake((), f"no filter is called {shown(name)}{nearest(name, _ENVIRONMENT.filters)}", span.index)
        for name, spans in found.filters.items()
        if name not in _ENVIRONMENT.filters
        for span in spans
    ]
    if catalogue is not None:
        mistakes += (fault for named in found.globals.values() for one in named for fault in _fault(one, catalogue))
    return sorted(mistakes, key=lambda mistake: mistake.offset)


def render(
    text: str,
    facts: FactSource,
    locale: str = "en",
    *,
    lines: bool = False,
    beside: Mapping[str, object] = MappingProxyType({}),
) -> str:
    """Return the text filled in for a locale, or raise InvalidInput with what stood in the way.

    `beside` are values that can be named beside the facts, such as `payload`.

    Line breaks survive only where `lines` are asked for; anywhere else they would let a value end a header
    or a title. Other control characters never pass. Messages never repeat a value, which may be personal.
    """
    filled = _filled(_ENVIRONMENT, text, facts, locale, beside)
    return many_lines(filled) if lines else one_line(filled)


def render_html(
    text: str, facts: FactSource, locale: str = "en", *, beside: Mapping[str, object] = MappingProxyType({})
) -> str:
    """Return HTML filled in for a locale, every value escaped; raises InvalidInput also where it is unsafe."""
    html = many_lines(_filled(_HTML, text, facts, locale, beside))
    fault = unsafe_in(html)
    if fault is not None:
        raise InvalidInput(fault)
    return html


def _filled(environment: _Environment, text: str, facts: FactSource, locale: str, beside: Mapping[str, object]) -> str:
    """Return the text filled in; nothing of one rendering is left for the next."""
    if len(text) > LONGEST_TEMPLATE:
        raise InvalidInput([_too_long(text)])
    if not is_template(text):
        return text
    try:
        template = _parsed(text, environment)
        roots = {**{root: FactNode(root, facts) for root in ROOTS}, **beside}
        context = _Context(template, globals=roots)
        context.locale = str(locale_of(locale))
        output: StringIO = LimitedStringIO(limit=LONGEST_OUTPUT)
        with working():
            template.render_with_context(context, output)
        return output.getvalue()
    except _FAILURES as error:
        raise InvalidInput([_mistake(error)]) from None


@lru_cache(maxsize=2048)
def _parsed(text: str, environment: _Environment = _ENVIRONMENT) -> BoundTemplate:
    return environment.from_string(text)


def _too_long(text: str) -> Mistake:
    return Mistake((), f"a template has at most {LONGEST_TEMPLATE} characters, this one has {len(text)}")


def _mistake(error: BaseException) -> Mistake:
    if isinstance(error, RecursionError):
        return Mistake((), "the template nests too deeply")
    if not isinstance(error, LiquidError):
        return Mistake((), f"the template cannot be worked out: {type(error).__name__}")
    token = error.token
    return Mistake((), str(error.message or "is not Liquid"), max(token.start_index, 0) if token else 0)


def _fault(variable: Variable, catalogue: FactCatalogue) -> Iterator[Mistake]:
    segments = variable.segments
    named = [str(part) for part in segments if isinstance(part, str)]
    whole = len(named) == len(segments)
    path = ".".join(named[: _first_unnamed(segments)])
    if path in catalogue or (named[-1] in _PARTS_OF_VALUES and path.rpartition(".")[0] in catalogue):
        return
    if catalogue.has_below(path):
        if whole:
            yield Mistake((), f"{path} is no value: name a fact below it", variable.span.index)
        return
    try:
        catalogue.find(path)
    except UnknownFact as error:
        yield Mistake((), str(error), variable.span.index)


def _first_unnamed(segments: list[Any]) -> int:
    return next((index for index, part in enumerate(segments) if not isinstance(part, str)), len(segments))
