"""Condition trees at work: compiled once, asked for every candidate, and written as sentences for people.

Every leaf is looked at, so that every value seen is kept, unless a look is brief. Three-valued logic (Kleene)
joins the answers; a fault counts only where the outcome is not certain without it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from automations.condition_reading import check_tree, operator_of
from automations.fact_catalogue import FactCatalogue
from automations.operators import operators
from automations.ports import FactSource
from automations.sentences import sentence_of
from automations.verdicts import NO_CONDITION, Reason, Truth, Verdict, seen_as_json
from domain.condition_tree import AllOf, AnyOf, Leaf, Not, Tree
from domain.errors import InvalidInput


class Check(Protocol):
    """Looks at the facts of one candidate."""

    def __call__(self, facts: FactSource, *, brief: bool = False) -> Verdict:
        """Return the verdict; a brief look ends where nothing that follows could change a no."""
        ...


_TRUE, _FALSE = Truth.TRUE, Truth.FALSE

_Answer = tuple[Truth, Reason]
_Node = Callable[[FactSource, list[Reason]], _Answer]


def compiled(tree: Tree | None, catalogue: FactCatalogue) -> Check:
    """Return the check of a tree, ready to be asked many times.

    Raises `InvalidInput` if the tree names a fact or an operator that does not exist any more: the rule is
    broken, which is not the same as not matching.
    """
    if tree is None:
        return _unconditional
    mistakes = check_tree(tree, catalogue)
    if mistakes:
        raise InvalidInput(mistakes)
    parts = tree.parts if isinstance(tree, AllOf) else (tree,)
    nodes = [_node(part, catalogue) for part in parts]

    def check(facts: FactSource, *, brief: bool = False) -> Verdict:
        reasons: list[Reason] = []
        answers: list[_Answer] = []
        for node in nodes:
            answer = node(facts, reasons)
            if brief and answer[0] is _FALSE:
                return Verdict(_FALSE, tuple(reasons), answer[1])
            answers.append(answer)
        truth, decisive = _decisive(answers, _ALL)
        return Verdict(truth, tuple(reasons), decisive)

    return check


def _unconditional(facts: FactSource, *, brief: bool = False) -> Verdict:
    return NO_CONDITION


def written(tree: Tree) -> Any:
    """Return a tree as people write it: sentences in groups; an outermost `all` is a plain list."""
    if isinstance(tree, AllOf):
        return [_part_written(part) for part in tree.parts]
    return [_part_written(tree)]


def _part_written(tree: Tree) -> Any:
    match tree:
        case Leaf():
            return sentence_of(tree)
        case Not(part):
            return {"not": _part_written(part)}
        case AllOf(parts):
            return {"all": [_part_written(part) for part in parts]}
        case AnyOf(parts):
            return {"any": [_part_written(part) for part in parts]}


def _node(tree: Tree, catalogue: FactCatalogue) -> _Node:
    match tree:
        case Leaf():
            return _leaf(tree, catalogue)
        case Not(part):
            return _opposite(_node(part, catalogue))
        case AllOf(parts):
            return _group([_node(part, catalogue) for part in parts], _ALL)
        case AnyOf(parts):
            return _group([_node(part, catalogue) for part in parts], _ANY)


def _leaf(leaf: Leaf, catalogue: FactCatalogue) -> _Node:
    path, name, value = leaf.fact, leaf.operator, leaf.value
    fact = catalogue.find(path)
    test = operator_of(name, leaf).test(fact)
    asks_missing, personal = operators[name].ANSWERS_MISSING, fact.personal

    def look(facts: FactSource, reasons: list[Reason]) -> _Answer:
        seen = facts.value(path)
        note = ""
        if seen is None and not asks_missing:
            truth, note = Truth.UNKNOWN, "missing"
        else:
            answer = test(seen)
            if answer is True:
                truth = _TRUE
            elif answer is False:
                truth = _FALSE
            else:
                truth, note = answer
        reference = facts.reference(path) if personal else None
        kept = seen_as_json(seen) if reference is None else None
        reason = Reason(path, name, value, kept, truth, note, reference)
        reasons.append(reason)
        return truth, reason

    return look


_ALL = (Truth.FALSE, Truth.FAULT, Truth.UNKNOWN)
"""What decides a group `all`, the first of these that any part answers; else it is true."""

_ANY = (Truth.TRUE, Truth.FAULT, Truth.UNKNOWN)
"""The same for `any`; else it is false."""

_OPPOSITE = {Truth.TRUE: Truth.FALSE, Truth.FALSE: Truth.TRUE}


def _group(nodes: Sequence[_Node], deciding: Sequence[Truth]) -> _Node:
    def look(facts: FactSource, reasons: list[Reason]) -> _Answer:
        return _decisive([node(facts, reasons) for node in nodes], deciding)

    return look


def _decisive(answers: Sequence[_Answer], deciding: Sequence[Truth]) -> _Answer:
    for truth in deciding:
        for answer in answers:
            if answer[0] is truth:
                return answer
    return answers[0]


def _opposite(node: _Node) -> _Node:
    def look(facts: FactSource, reasons: list[Reason]) -> _Answer:
        truth, decisive = node(facts, reasons)
        return _OPPOSITE.get(truth, truth), decisive

    return look
