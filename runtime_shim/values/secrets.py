"""Secrets: required environment variables, shown as *** in all that a run keeps and prints."""

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Callable

from runtime_shim.engine.journal import Record
from runtime_shim.engine.program import UsageError
from runtime_shim.engine.session import Extension
from runtime_shim.engine.state import State

# The fields of a record that hold text.
MASKED = (
    *("title", "message", "how", "answer", "by", "note", "registers", "changed"),
    *("reply", "text", "items", "remarks", "reason", "notify"),
)
AROUND_SECRETS = " \t\n\v\f\r"  # commands may print a secret without it
SHORTEST = 4  # characters; shorter ones are part of too many words
HEX = "[0-9a-fA-F]"
ESCAPES = rf'\\(?:u[dD][89abAB]{HEX}{{2}}\\u[dD][c-fC-F]{HEX}{{2}}|u{HEX}{{4}}|["/\\bfnrt])'  # of JSON
Spans = list[tuple[int, int]]


def secret_values(names: Iterable[str]) -> list[str]:
    """Return the values of variables as UTF-8, as logs and answers are read in any locale."""
    found = (os.environb.get(os.fsencode(name), b"") for name in names)
    return [value.decode("utf-8", "surrogateescape") for value in found]


def masking(values: Iterable[str]) -> Callable[[str], str]:
    """Return the function that hides values and their lines in a text, plain and as in JSON, also twice."""
    plain = {part.strip(AROUND_SECRETS) for value in values for part in (value, *value.split("\n"))}
    given = plain.union(re.sub("[\udc80-\udcff]", "\ufffd", part) for part in plain)  # bytes that are not UTF-8
    parts = [part for part in given if len(part) >= SHORTEST]

    def mask(text: str) -> str:
        found, once = _found(text, parts), text
        places: Sequence[int] = range(len(text) + 1)
        for _ in range(2):
            if "\\" in once:
                places, once = [places[place] for place in _places(once)], unescaped(once)
                found += [(places[start], places[end]) for start, end in _found(once, parts)]
        return _hidden(text, sorted(found))

    return mask if parts else str


def unescaped(text: str) -> str:
    """Return a text without the escapes of JSON."""
    return re.sub(ESCAPES, lambda found: str(json.loads(f'"{found.group()}"')), text)


def _places(text: str) -> list[int]:
    inner = {place for found in re.finditer(ESCAPES, text) for place in range(found.start() + 1, found.end())}
    return [place for place in range(len(text) + 1) if place not in inner]


def _found(text: str, parts: Iterable[str]) -> Spans:
    """Return the places of parts, which may overlap each other and themselves."""
    spans = []
    for part in parts:
        start = text.find(part)
        while start >= 0:
            spans.append((start, start + len(part)))
            start = text.find(part, start + 1)
    return spans


def _hidden(text: str, spans: Spans) -> str:
    """Return a text with *** instead of spans; overlapping ones become one."""
    pieces, end = [], 0
    for start, until in spans:
        if start >= end:
            pieces += [text[end:start], "***"]
        end = max(end, until)
    return "".join([*pieces, text[end:]])


def in_strings(change: Callable[[str], str], value: Any) -> Any:  # any JSON value
    """Return a JSON value with its strings changed, but not the keys of objects."""
    if isinstance(value, (list, tuple)):
        return [in_strings(change, item) for item in value]
    if isinstance(value, Mapping):
        return {key: in_strings(change, item) for key, item in value.items()}
    return change(value) if isinstance(value, str) else value


def masked(mask: Callable[[str], str], record: Record) -> Record:
    """Return a record without secrets in its texts."""
    return {key: in_strings(mask, value) if key in MASKED else value for key, value in record.items()}


class Secrets(Extension):
    """Masks the values of secrets."""

    _masked: Callable[[str], str] = staticmethod(str)

    def prepare(self) -> None:
        """Read the secrets, including those the caller names."""
        names = [*self.session.program.get("secrets", []), *os.environ.get("RDC_SECRETS", "").split()]
        self._read = {name: os.environ.get(name, "") for name in names}  # in the locale, as words of the command line
        self._masked = masking([*secret_values(names), *self._read.values()])

    def before_run(self, _state: "State | None") -> None:
        """Refuse to run if a secret cannot be hidden."""
        options, needed = self.session.options, self.session.program.get("secrets", [])
        values = {name: value.strip(AROUND_SECRETS) for name, value in self._read.items()}
        if options.command not in ("run", "resume", "retry") or options.dry_run:  # calls nothing
            return
        missing = [name for name in needed if not values[name]]
        short = [name for name, value in values.items() if 0 < len(value) < SHORTEST]
        for wrong, how in ((missing, "are missing"), (short, "are too short to hide")):
            if wrong:
                remedy = "set these environment variables to at least four characters"
                raise UsageError(f"secrets {how}: {', '.join(wrong)}; {remedy}, then {options.command} again")

    def mask(self, text: str) -> str:
        """Return a text without secrets."""
        return self._masked(text)

    def record(self, record: Record) -> Record:
        """Return a record or an event without secrets."""
        return masked(self.mask, record)
