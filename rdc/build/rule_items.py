"""The rules in `rdc.lock`: a line for each document that a rule applies to, with the steps that it guards.

The line `deploy.runbook.md rule approved "3 YES before 4" guards 4` certifies that rdc has proved the rule. A rule only
takes power away, so a new one needs no approval. One that is gone, has another sentence or guards fewer steps does.
"""

import json
from collections.abc import Container, Iterable, Iterator
from typing import NamedTuple

from compiler.ir.rules import Rule
from compiler.rules.model import RuleResult
from compiler.text.regex import Regex
from rdc.report.rules import guarded, name_of
from rdc.terminal.cells import visible

KIND = "rule "
GONE = f"no {KIND}"
"""The start of an item for a rule, and for the approval of its removal."""

_WORD = r'"(?:[^"\\]|\\.)*"|[^\s",\\]+'
_PLAIN = Regex(r'[^\s",\\#]+')
_ITEM = Regex(rf"rule (?P<name>{_WORD}) (?P<sentence>{_WORD}) guards (?P<steps>.*)")
_STEP = Regex(_WORD)


class Certificate(NamedTuple):
    """A line of the lock about a rule. `steps` are the guarded steps as the line shows them."""

    document: str
    name: str
    sentence: str
    steps: frozenset[str]


def rule_items(rules: Iterable[RuleResult]) -> list[str]:
    """Return the items of a document's rules, sorted, except rules that don't apply or are only tried."""
    return sorted(_item(name_of(one.declared), one.rule) for one in rules if one.rule and not one.declared.is_tried)


def _item(name: str, rule: Rule) -> str:
    return f"{KIND}{_word(name)} {_string(rule.sentence)} guards {', '.join(map(_word, guarded(rule.guards)))}"


def _string(text: str) -> str:
    return visible(json.dumps(text, ensure_ascii=False))


def _word(text: str) -> str:
    """Return a name or step as one word; as a JSON string if it has spaces, quotes, commas or invisible characters."""
    return text if _PLAIN.fullmatch(text) and text.isprintable() else _string(text)


def _certificates(lines: Iterable[tuple[str, str]]) -> Iterator[Certificate]:
    for path, item in lines:
        if found := _ITEM.fullmatch(item):
            steps = frozenset(step[0] for step in _STEP.finditer(found["steps"]))
            yield Certificate(path, found["name"], found["sentence"], steps)


def weaker(
    known: Iterable[tuple[str, str]], wanted: Iterable[tuple[str, str]], documents: Container[str]
) -> Iterator[tuple[str, str, str]]:
    """Yield the rules of these documents that are gone or weaker than in the present lock.

    Each has the document, the item that approves it, and the change. The lines are pairs of path and item.
    """
    now = {(one.document, one.name): one for one in _certificates(wanted)}
    for old in _certificates(known):
        new = now.get((old.document, old.name))
        if old.document in documents and (changed := _changed(old, new)):
            yield old.document, f"{GONE}{old.name}", changed


def _changed(old: Certificate, new: Certificate | None) -> str:
    """Return how a rule is weaker than it was, or ""."""
    if new is None:
        return f"it was {old.sentence}"
    if new.sentence != old.sentence:
        return f"it was {old.sentence}, and is now {new.sentence}"
    lost = sorted(old.steps - new.steps)
    return f"it no longer guards {', '.join(lost)}" if lost else ""
