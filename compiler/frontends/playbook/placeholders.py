"""Placeholders in a playbook's text: `{{name}}`, `{{name:type}}`, `{{name:type:default}}` (P9)."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator

from compiler.frontends.playbook.syntax import Playbook, Step, every_step
from compiler.ir.texts import Part, Reference, Text, joined
from compiler.regex import Regex

PLACEHOLDER = Regex(r"\{\{([A-Za-z_][A-Za-z0-9_]*)(?::([^{}]*))?\}\}")
"""Matches a placeholder; a number is not a name, so `{{1}}` is text."""

_STRING = Regex(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_FIELD = Regex(r"\s*:")


def with_references(written: str, names: Collection[str]) -> Text:
    """Return text with its placeholders replaced by references, in one pass.

    `names` are the names that may have a value. Any other name gets its default, or stays as text without one.
    """
    return joined(list(_parts(written, names)))


def _parts(written: str, names: Collection[str]) -> Iterator[Part]:
    end = 0
    for found in PLACEHOLDER.finditer(written):
        yield written[end : found.start()]
        name, rest = found[1], found[2] or ""
        _, has_default, default = rest.partition(":")
        missing = default if has_default else found[0]
        yield Reference(name, found[0], missing) if name in names or has_default else missing
        end = found.end()
    yield written[end:]


def names_of(playbook: Playbook) -> frozenset[str]:
    """Return the names that placeholders can use: inputs, named outputs and replies (P9)."""
    names = {item.name for item in playbook.inputs}
    for step in every_step(playbook):
        names |= {step.output.name} if step.output else set()
        names |= {reply_slot(step)} if step.elicit else set()
    return frozenset(names)


def reply_slot(step: Step) -> str:
    """Return the slot of a step's reply."""
    return f"__elicit_step_{step.number}"


def arguments_with_references(written: str, names: Collection[str]) -> Text:
    """Return a tool's JSON arguments with references in its strings, but not in its field names."""
    parts: list[Part] = []
    end = 0
    for found in _STRING.finditer(written):
        parts.append(written[end : found.start()])
        end = found.end()
        is_field = _FIELD.match(written, end) is not None
        parts += [found[0]] if is_field or "{" not in found[0] else _string(json.loads(found[0]), names)
    return joined([*parts, written[end:]])


def _string(value: str, names: Collection[str]) -> list[Part]:
    inside = with_references(value, names).parts
    return ['"', *(_escaped(part) if isinstance(part, str) else part for part in inside), '"']


def _escaped(text: str) -> str:
    """Return text escaped for a JSON string; an unpaired surrogate stays an escape."""
    is_whole = not any("\ud800" <= character <= "\udfff" for character in text)
    return json.dumps(text, ensure_ascii=not is_whole)[1:-1]
