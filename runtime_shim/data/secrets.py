"""Secrets: environment variables that must be set, and whose values are kept and sent nowhere (I26)."""

import json
import os
import re
from collections.abc import Iterable
from typing import Any, Optional

from runtime_shim.engine.journal import Record
from runtime_shim.engine.lifecycle import Extension
from runtime_shim.engine.program import RefusedError, Table
from runtime_shim.engine.state import State
from runtime_shim.engine.walk import Registers

MASK = "***"
# What holds texts, of a record.
MASKED = ("title", "message", "how", "answer", "by", "note", "registers", "changed", "found")
DOING = ("run", "resume")  # the subcommands that may call something
AROUND_SECRETS = " \t\n\v\f\r"
SHORTEST = 4  # characters; what is shorter stands in too many words
CODES = re.compile(r"\\u[0-9a-f]{4}")
HTML = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&"}  # as writers of JSON for pages escape them


def secret_value(name: str) -> str:
    """Return the value of a secret without what stands around it: commands print it without that too."""
    return os.environ.get(name, "").strip(AROUND_SECRETS)


def unhidden(names: Iterable[str]) -> list[str]:
    """Return which secrets have values that cannot be hidden."""
    return [name for name in names if 0 < len(secret_value(name)) < SHORTEST]


def hidden_parts(names: Iterable[str]) -> Optional[re.Pattern[str]]:
    """Return the pattern of values, of their lines, and of both as they stand in JSON, the longest first."""
    found: set[str] = set()
    for value in map(secret_value, names):
        for part in {value, *(line.strip(AROUND_SECRETS) for line in value.split("\n"))}:
            found.update(_written(part) if len(part) >= SHORTEST else ())
    parts = map(re.escape, sorted(found, key=len, reverse=True))
    return re.compile("|".join(parts)) if found else None


def _written(part: str) -> set[str]:
    """Return a text as it is, and in the ways in which it is written in JSON, also within a string of JSON."""
    once = {part, *_escaped(part)}
    once |= {each.replace("/", "\\/") for each in once}
    once |= {each.translate(HTML) for each in once}
    once |= {CODES.sub(lambda found: "\\u" + found[0][2:].upper(), each) for each in once}
    return once.union(*map(_escaped, once))


def _escaped(part: str) -> set[str]:
    return {json.dumps(part, ensure_ascii=is_ascii)[1:-1] for is_ascii in (True, False)}


class Secrets(Extension):
    """Masks the values of secrets."""

    _pattern: Optional[re.Pattern[str]] = None

    @staticmethod
    def suits(program: Table) -> bool:
        """Tell whether the program has secrets, or its caller may name some."""
        return "secrets" in program or "contract" in program

    def _names(self) -> list[str]:
        return [*self.session.program.get("secrets", ()), *os.environ.get("RDC_SECRETS", "").split()]

    def registers(self, registers: Registers) -> Registers:
        """Refuse to begin where secrets are missing."""
        self.open()
        return registers

    def before_run(self, _state: Optional[State]) -> None:
        """Take the values."""
        self._pattern = hidden_parts(self._names())

    def open(self) -> None:
        """Refuse to call anything where secrets are missing or cannot be hidden, with all their names."""
        options = self.session.options
        if options.command not in DOING or options.dry_run:
            return
        again = f"then {options.command} again"
        if missing := [name for name in self.session.program.get("secrets", ()) if not secret_value(name)]:
            raise RefusedError(f"secrets are missing: {', '.join(missing)}; set these environment variables, {again}")
        if short := unhidden(self._names()):
            told = f"secrets cannot be hidden: {', '.join(short)}"
            raise RefusedError(f"{told}; set environment variables of at least four characters, {again}")

    def mask(self, text: str) -> str:
        """Return a text without them."""
        return self._pattern.sub(MASK, text) if self._pattern else text

    def record(self, record: Record) -> Record:
        """Return a record or an event without them."""
        return {key: self._in(value, key == "found") if key in MASKED else value for key, value in record.items()}

    def _in(self, value: Any, has_names: bool = False) -> Any:  # noqa: ANN401 (texts, by name or in lists)
        if isinstance(value, str):
            return self.mask(value)
        if isinstance(value, list):
            return [self._in(inner, has_names) for inner in value]
        if not hasattr(value, "items"):
            return value
        return {self.mask(name) if has_names else name: self._in(inner, has_names) for name, inner in value.items()}
