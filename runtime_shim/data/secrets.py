"""Secrets: required environment variables, shown as *** in all that a run keeps and prints (I26)."""

import json
import os
import re
from collections.abc import Collection
from typing import Any, Optional

from runtime_shim.engine.journal import Record
from runtime_shim.engine.lifecycle import Extension
from runtime_shim.engine.program import RefusedError
from runtime_shim.engine.state import State

# The fields of a record that hold text.
MASKED = ("title", "message", "how", "answer", "by", "note", "registers", "changed")
AROUND_SECRETS = " \t\n\v\f\r"  # commands may print a secret without it
SHORTEST = 4  # characters; shorter ones are part of too many words
CODES = r"\\u[0-9a-f]{4}"
HTML = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&"}  # as JSON in pages is escaped


def hidden_parts(values: Collection[str]) -> Optional[re.Pattern[str]]:
    """Return a pattern for the values and their lines, plain and as in JSON, the longest first."""
    parts = [part.strip(AROUND_SECRETS) for value in values for part in (value, *value.split("\n"))]
    found = {each for part in parts if len(part) >= SHORTEST for each in _written(part)}
    return re.compile("|".join(map(re.escape, sorted(found, key=len, reverse=True)))) if found else None


def _written(part: str) -> set[str]:
    """Return a text plain and as JSON may escape it, also twice."""
    once = {part, *_escaped(part)}
    once |= {each.replace("/", "\\/") for each in once}
    once |= {each.translate(HTML) for each in once}
    once |= {re.sub(CODES, lambda found: "\\u" + found[0][2:].upper(), each) for each in once}
    return once.union(*map(_escaped, once))


def _escaped(part: str) -> set[str]:
    return {json.dumps(part, ensure_ascii=is_ascii)[1:-1] for is_ascii in (True, False)}


class Secrets(Extension):
    """Masks the values of secrets."""

    _pattern: Optional[re.Pattern[str]] = None

    def before_run(self, _state: Optional[State]) -> None:
        """Read the secrets, including those the caller names; refuse to run if one cannot be hidden."""
        options, needed = self.session.options, self.session.program.get("secrets", [])
        names = [*needed, *os.environ.get("RDC_SECRETS", "").split()]
        values = {name: os.environ.get(name, "").strip(AROUND_SECRETS) for name in names}
        self._pattern = hidden_parts(values.values())
        if options.command not in ("run", "resume") or options.dry_run:  # calls nothing
            return
        missing = [name for name in needed if not values[name]]
        short = [name for name, value in values.items() if 0 < len(value) < SHORTEST]
        for wrong, how in ((missing, "are missing"), (short, "are too short to hide")):
            if wrong:
                remedy = "set these environment variables to at least four characters"
                raise RefusedError(f"secrets {how}: {', '.join(wrong)}; {remedy}, then {options.command} again")

    def mask(self, text: str) -> str:
        """Return a text without secrets."""
        return self._pattern.sub("***", text) if self._pattern else text

    def record(self, record: Record) -> Record:
        """Return a record or an event without secrets."""
        return {key: self._in(value) if key in MASKED else value for key, value in record.items()}

    def _in(self, value: Any) -> Any:  # noqa: ANN401 (a string or a dict)
        if hasattr(value, "items"):
            return {name: self._in(inner) for name, inner in value.items()}
        return self.mask(value) if isinstance(value, str) else value
