"""The rules in `rdc.lock`: a line for each document that a rule applies to, with the steps that it guards.

The line `deploy.runbook.md rule approved "3 YES before 4" guards 4` certifies that rdc has proved the rule (P-18).
A rule only takes power away, so a new one needs no approval. One that is gone, has another sentence or guards fewer
steps does.
"""

import json
from collections.abc import Container, Iterable, Iterator

from compiler.rules.model import RuleResult
from compiler.text.regex import Regex
from rdc.report.rules import guarded
from rdc.terminal.cells import visible

KIND = "rule "
GONE = f"no {KIND}"
"""The start of an item for a rule, and for the approval of its removal."""

_PLAIN = Regex(r'[^\s",\\#]+')
_STEP = r'"(?:[^"\\]|\\.)*"|[^\s",\\]+'
_STEPS = Regex(_STEP)
_ITEM = Regex(rf"rule (?P<name>{_STEP}) (?P<sentence>{_STEP}) guards (?P<steps>.*)")

Lines = Iterable[tuple[str, str]]
"""Lines of a lock, as path and item."""


def rule_items(rules: Iterable[RuleResult]) -> list[str]:
    """Return the items of a document's rules, sorted, except rules that don't apply or are only tried."""
    found = [(one.declared.full_name, one.rule) for one in rules if one.rule and not one.declared.is_tried]
    parts = [(_word(name), _string(rule.sentence), map(_word, guarded(rule.guards))) for name, rule in found]
    return sorted(f"{KIND}{name} {sentence} guards {', '.join(steps)}" for name, sentence, steps in parts)


def _string(text: str) -> str:
    return visible(json.dumps(text, ensure_ascii=False))


def _word(text: str) -> str:
    """Return a name or step as one word; as a JSON string if it has spaces, quotes, commas or invisible characters."""
    return text if _PLAIN.fullmatch(text) and text.isprintable() else _string(text)


def _rules(lines: Lines) -> dict[tuple[str, str], tuple[str, set[str]]]:
    """Return the sentence and the guarded steps of each rule, by document and name."""
    found = ((path, match) for path, item in lines if (match := _ITEM.fullmatch(item)))
    return {(path, match["name"]): (match["sentence"], {*_STEPS.findall(match["steps"])}) for path, match in found}


def weaker(known: Lines, wanted: Lines, documents: Container[str]) -> Iterator[tuple[str, str, str]]:
    """Yield the rules of these documents that are gone or weaker than in the present lock.

    Each has the document, the item that approves it, and the change.
    """
    now = _rules(wanted)
    for (path, name), (sentence, steps) in _rules(known).items():
        after, left = now.get((path, name), ("", set[str]()))
        lost = ", ".join(sorted(steps - left))
        changed = f"it was {sentence}{f', and is now {after}' if after else ''}"
        if path in documents and (after != sentence or lost):
            yield path, f"{GONE}{name}", changed if after != sentence else f"it no longer guards {lost}"
