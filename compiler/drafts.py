"""Draft scenarios as lines of YAML for an author to edit (`rdc test --init`)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import Protocol

from msgspec import Struct

from compiler.frontends.base import Format
from compiler.ir.paths import Path
from compiler.ir.program import Program
from compiler.regex import Regex
from compiler.scenarios import Result, Scenario
from compiler.source import Source

MADE_UP = "made up"
"""The comment on a value that the document doesn't determine."""

_PLAIN = Regex(r"[A-Za-z][\w./×-]*(?:,? [\w./×-]+)*")
_TAKEN = frozenset({"yes", "no", "on", "off", "true", "false", "null", "y", "n"})
"""Words that YAML reads as other values."""

_UNSAFE = Regex("[^\t\x20-\x7e\x85\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")


class Draft(Struct, frozen=True):
    """A scenario for one path of a program. The values of `made_up` inputs are only examples."""

    name: str
    description: str
    inputs: Mapping[str, str]
    made_up: frozenset[str]
    path: Path
    ends: Result


class Writer(Protocol):
    """The functions of a format's module for draft scenarios."""

    def is_possible(self, program: Program, path: Path) -> bool:
        """Return whether there are answers that lead along a path."""

    def script(self, program: Program, draft: Draft, document: str) -> list[str]:
        """Return the keys that describe a run, as lines of YAML."""

    def read(self, source: Source, program: Program) -> tuple[Scenario, ...] | None:
        """Return the scenarios in a companion file, or None if it has errors."""


def writer_of(form: Format) -> Writer | None:
    """Return the writer of a format, or None if its documents have no scenarios."""
    if not form.drafts:
        return None
    module: Writer = import_module(form.drafts)
    return module


def entry(program: Program, draft: Draft, document: str, writer: Writer) -> list[str]:
    """Return a scenario as lines of YAML."""
    lines = [f"description: {scalar(draft.description)}"]
    if draft.inputs:
        lines.append("inputs:")
        lines += (
            f"  {scalar(name)}: {scalar(value)}{comment(MADE_UP if name in draft.made_up else '')}"
            for name, value in draft.inputs.items()
        )
    lines += [*writer.script(program, draft, document), f"result: {draft.ends}"]
    return [f"{scalar(draft.name)}:", *indented(lines)]


def scalar(text: str) -> str:
    """Return a YAML string, quoted unless it is certainly read as a string."""
    if _PLAIN.fullmatch(text) and text.lower() not in _TAKEN:
        return text
    if text.isprintable() and ('"' in text or "\\" in text):
        return "'" + text.replace("'", "''") + "'"
    quoted = json.dumps(text, ensure_ascii=False)
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", quoted)


def comment(text: str) -> str:
    """Return a comment for the end of a line, or "" without text."""
    line = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return f"  # {line}" if line else ""


def indented(lines: Sequence[str], by: int = 2) -> Iterator[str]:
    """Yield indented lines."""
    return (f"{' ' * by}{line}" for line in lines)
