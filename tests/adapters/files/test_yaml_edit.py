"""One setting of a YAML file is changed, and nothing else."""

from __future__ import annotations

import pytest

from adapters.files.yaml_edit import rule_path, with_setting
from adapters.files.yaml_source import read_document, read_documents
from domain.errors import InvalidInput

RULES = """\
# first
rules:
- name: "A"   # quotes stay
  id:   a     # blanks stay
  enabled: true   # why
  where:
    - x.y is 1

  # a comment
- {id: b, when: x}
- id: c
  do: [
    one,
    two]
- enabled:
  id: d
"""


def edited(rule: str, key: str, value: str | int | bool, text: str = RULES) -> str:
    document = read_document(text, "rules.yaml")
    return with_setting(document, rule_path(document, rule), key, value)


def test_a_setting_is_changed_and_everything_else_stays() -> None:
    assert edited("a", "enabled", False) == RULES.replace("enabled: true ", "enabled: false ")
    assert edited("a", "name", "B c") == RULES.replace('"A"', '"B c"')
    assert edited("a", "name", "true") == RULES.replace('"A"', '"true"')
    assert edited("d", "enabled", True) == RULES.replace("- enabled:\n", "- enabled: true\n")


def test_a_setting_is_added_behind_what_is_on_one_line() -> None:
    assert edited("c", "enabled", False) == RULES.replace("- id: c\n", "- id: c\n  enabled: false\n")
    assert edited("b", "enabled", False) == RULES.replace("when: x}", "when: x, enabled: false}")
    assert edited("a", "version", 2) == RULES.replace("# why\n", "# why\n  version: 2\n")


def test_a_setting_is_added_before_what_is_on_many_lines() -> None:
    text = "rules:\n  - do: [\n      one]\n    id: >\n      a\n"
    document = read_document(text, "x")
    assert with_setting(document, ("rules", 0), "enabled", True) == text.replace("- do", "- enabled: true\n    do")


def test_braces_may_be_empty_and_the_last_line_without_an_end() -> None:
    assert with_setting(read_document("a: {}", "x"), ("a",), "b", 1) == "a: {b: 1}"
    assert with_setting(read_document("a: {b: }", "x"), ("a",), "b", 1) == "a: {b: 1 }"
    assert with_setting(read_document("a: {b}", "x"), ("a",), "b", 1) == "a: {b: 1}"
    assert with_setting(read_document("a: 1", "x"), (), "b", 2) == "a: 1\nb: 2"


def test_the_document_that_is_meant_is_changed() -> None:
    documents = read_documents("a: 1\n---\na: 2\n", "x")
    assert with_setting(documents[1], (), "a", 3) == "a: 1\n---\na: 3\n"


def test_an_edit_that_would_change_something_else_is_refused() -> None:
    document = read_document("a: &x {b: 1}\nc: *x\n", "x")
    with pytest.raises(InvalidInput, match=r"^x:1:4: b cannot be changed safely here"):
        with_setting(document, ("a",), "b", 2)


def test_a_rule_that_is_not_there_is_named() -> None:
    with pytest.raises(InvalidInput, match=r"rules.yaml: no rule is called e"):
        edited("e", "enabled", True)
    with pytest.raises(InvalidInput, match="no rule is called e"):
        edited("e", "enabled", True, text="other: 1")
