"""What goes wrong is told in words that hold no personal value: reasons are recorded in events that nobody erases."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import Any

import pytest

from automations.conditions import compiled
from automations.fact_catalogue import FactCatalogue
from automations.operators import operators
from automations.preparing import made
from automations.telling import told, told_error
from automations.templates import _ENVIRONMENT, render
from automations.triggers import triggers
from automations.verdicts import Truth, Verdict
from domain.commands import Command
from domain.condition_tree import Leaf
from domain.endings import Refused
from domain.errors import InvalidInput
from tests.automations.worlds import book, rule_of, scene

SECRET = "Zquux the Secret"
PERSONAL = ("member.name", "member.company", "member.phone", "member.extra.badge")
VALUES = {**dict.fromkeys(PERSONAL, SECRET), "member.tags": (SECRET, "b"), "booking.attendees": 4}
OPERANDS = ("member.name", "member.tags", "member.email", "booking.attendees", "1", "'x'")


class Facts:
    """A member whose name must not be told (implements `ports.FactSource`)."""

    def value(self, path: str) -> object | None:
        return VALUES.get(path)

    def reference(self, path: str) -> str | None:
        return f"here/{path}" if path in PERSONAL else None


def faults_of(templates: Iterator[str]) -> list[str]:
    found = []
    for template in templates:
        try:
            render(template, Facts())
        except InvalidInput as error:
            found.append(f"{template}: {error}")
    return found


def filtered() -> Iterator[str]:
    for name, value in product(_ENVIRONMENT.filters, OPERANDS):
        yield f"{{{{ {value} | {name} }}}}"
        for argument in OPERANDS:
            yield f"{{{{ {value} | {name}: {argument} }}}}"
            yield f"{{{{ {value} | upcase | {name}: {argument}, 'x' }}}}"


def tagged() -> Iterator[str]:
    for first, sign, second in product(OPERANDS, ("==", "<", ">=", "contains"), OPERANDS):
        yield f"{{% if {first} {sign} {second} %}}x{{% endif %}}"
    for value in OPERANDS:
        yield f"{{% for x in {value} %}}{{{{ x.y }}}}{{% endfor %}}"
        yield f"{{% for x in (1..{value}) %}}x{{% endfor %}}"
        yield f"{{% for x in member.tags limit: {value} %}}x{{% endfor %}}"
        yield f"{{% assign z = {value} %}}{{{{ z[member.name] }}}}{{{{ z.a }}}}"
        yield f"{{{{ member[{value}] }}}}"
        yield f"{{{{ member.tags[{value}].b }}}}"


@pytest.mark.parametrize("templates", [filtered, tagged])
def test_no_template_repeats_a_value_in_what_it_says(templates: Any) -> None:
    faults = faults_of(templates())
    assert len(faults) > 50
    # Each fault begins with its template, which names facts and holds no value.
    assert [each for each in faults if "zquux" in each.lower()] == []


def verdicts() -> Iterator[Verdict]:
    catalogue: FactCatalogue = triggers["booking.created"].catalogue()
    for name, value in product(operators, (None, "x", "4", SECRET[:3], ("x", "y"))):
        for fact in PERSONAL:
            try:
                check = compiled(Leaf(fact, name, value), catalogue)
            except (InvalidInput, ValueError):
                continue
            yield check(Facts())


def test_no_condition_keeps_a_personal_value() -> None:
    found = list(verdicts())
    assert {each.truth for each in found} >= {Truth.TRUE, Truth.FALSE}
    for each in found:
        kept = f"{told(each)} {[reason.to_json() for reason in each.reasons]}"
        assert SECRET not in kept


def test_of_an_error_that_is_not_our_own_only_its_type_is_told() -> None:
    for kind in (ValueError, KeyError, RuntimeError):
        assert told_error(kind(SECRET)) == kind.__name__

    def fail() -> Command:
        raise ValueError(SECRET)

    assert made(fail) == Refused(reason="ValueError", at_fault="rule")


def test_a_command_that_refuses_its_values_does_not_repeat_them() -> None:
    from automations.actions import actions

    ledger = scene()
    ledger.tell("member.changed", member_id="m1", name=f"{SECRET} {'x' * 9_990}", company=f"{SECRET}\0")
    fact = book(ledger)
    situation = ledger.situation(fact.stream, fact)
    step = rule_of("booking.created").rule.do[0]
    for title in ("{{ member.name }} {{ member.name }}", "{{ member.company }}", "{{ member.name | slice: 'x' }}"):
        settings = step.settings | {"title": title}
        action = actions["create_task"].model_validate(settings)
        found = made(partial(action.command, situation, fact.at))
        assert SECRET not in (found.reason if isinstance(found, Refused) else "")
