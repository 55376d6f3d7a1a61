"""The rules of a scenario, at its beginning and as its timeline changes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from automations.authoring import AuthoredRule, authored_form, read_rule, read_rules
from automations.mistakes import Path
from automations.registry import nearest
from automations.scenario import ArchiveRule, SaveRule, SwitchRule
from automations.scenarios.parts import Part, Reading
from domain.errors import InvalidInput
from domain.text_values import shown

READY = ("reminders",)
"""Ready rules that a scenario sees without defining them."""

RulesAt = Callable[[str], tuple[AuthoredRule, ...]]
"""Reads the file of rules of a path; raises InvalidInput."""


@dataclass(slots=True)
class RuleReader:
    """Reads rules, and remembers each as it was last written, so that a change can be part of a wording."""

    reading: Reading
    rules_at: RulesAt
    known: dict[str, AuthoredRule] = field(default_factory=dict)
    all_read: bool = True

    def read(self, data: object, path: Path) -> tuple[AuthoredRule, ...]:
        """Return the rules that the scenario begins with: a list, or the path of a file."""
        if data is None:
            return ()
        try:
            rules = self.rules_at(data) if isinstance(data, str) else read_rules(data, path)
        except InvalidInput as error:
            self._keep(error, path if isinstance(data, str) else ())
            return ()
        self.known |= {authored.rule.id: authored for authored in rules}
        return rules

    def change(self, data: object, path: Path) -> SaveRule | SwitchRule | ArchiveRule | None:
        """Return what a step does to a rule: it is switched, archived, changed, or new."""
        part = self.reading.part(data, path, "a rule is given as {id: …, enabled: …}, as {archive: …} or as a wording")
        if part is None:
            return None
        if "archive" in part.data:
            return self._archived(part)
        if set(part.data) == {"id", "enabled"}:
            return self._switched(part)
        return self._saved(part)

    def check_names(self) -> None:
        """Keep a mistake for each rule that is expected somewhere and stands nowhere."""
        if not self.all_read:
            return
        for path, rule in self.reading.named_rules:
            if rule not in self.known and rule not in READY:
                self._unknown(path, rule)

    def _archived(self, part: Part) -> ArchiveRule | None:
        part.only(("archive",))
        rule = part.text("archive", required=True)
        return ArchiveRule(rule) if self._is_known((*part.path, "archive"), rule) else None

    def _switched(self, part: Part) -> SwitchRule | None:
        rule, enabled = part.text("id", required=True), part.flag("enabled", default=True)
        if not self._is_known((*part.path, "id"), rule):
            return None
        self.known[rule] = AuthoredRule(self.known[rule].rule, enabled)
        return SwitchRule(rule, enabled)

    def _saved(self, part: Part) -> SaveRule | None:
        try:
            authored = read_rule(self._completed(part.data), part.path)
        except InvalidInput as error:
            self._keep(error, ())
            return None
        self.known[authored.rule.id] = authored
        return SaveRule(authored)

    def _completed(self, data: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return a wording; a part of one is completed from the rule as it was written last."""
        identifier = data.get("id")
        before = self.known.get(identifier) if isinstance(identifier, str) else None
        if before is None or {"when", "do"} <= set(data):
            return data
        form = authored_form(before.rule, enabled=before.enabled)
        if data.get("when", form["when"]) != form["when"]:
            form = {name: value for name, value in form.items() if name not in ("before", "after", "once")}
        return {**form, **data}

    def _is_known(self, path: Path, rule: str) -> bool:
        if not rule or rule in self.known:
            return bool(rule)
        if self.all_read:
            self._unknown(path, rule)
        return False

    def _unknown(self, path: Path, rule: str) -> None:
        self.reading.mistakes.add(path, f"no rule is called {shown(rule)}{nearest(rule, self.known)}")

    def _keep(self, error: InvalidInput, below: Path) -> None:
        self.all_read = False
        self.reading.mistakes.extend(error.mistakes, below)
