"""Read a JSON or YAML document as a JSON value, with the places of its parts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import isfinite
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from compiler.diagnostics.model import Diagnostic, Fix
from compiler.reading.json import BrokenJsonError, lay_out, load_json
from compiler.text.files import LARGEST_VALUE
from compiler.text.regex import Regex
from compiler.text.source import KeyPath, Lines, Repeated, Source, Span, nearest

if TYPE_CHECKING:
    from compiler.reading.yaml import Reading, UnreadableError


DEEPEST = 32  # the deepest nesting of collections: reading recurses, and documents are never this deep


class Data(Struct, frozen=True):
    """A mapping that was read, with its values, places and duplicate keys; `yaml` is None for JSON."""

    values: dict[str, Any]
    spans: Mapping[KeyPath, Span]
    repeated: tuple[Repeated, ...] = ()
    yaml: Reading | None = None

    @property
    def as_written(self) -> dict[str, Any]:
        """The values, with scalars of YAML as their author wrote them."""
        return self.yaml.as_written if self.yaml else self.values


_HALF = Regex("[\ud800-\udfff]")


class BrokenDataError(ValueError):
    """The text cannot be read; `span` is the place of the error, or None for the whole file."""

    def __init__(self, problem: str, remedy: str, span: Span | None) -> None:
        super().__init__(problem)
        self.help = remedy
        self.span = span
        self.fix: Fix | None = None

    def finding(self, code: str, source: Source, noun: str) -> Diagnostic:
        """Return the diagnostic for the file, which messages call by this noun."""
        problem = re.sub("^it ", f"the {noun} ", str(self))
        return Diagnostic(code, source.path, self.span, problem, self.help, fix=self.fix)


def read_data(source: Source, list_key: str = "") -> Data:
    """Return the value of a document, with a list below `list_key`; raise `BrokenDataError` if it is invalid."""
    data = _read(source, list_key)
    _refuse_others(data, source)
    return data


def _read(source: Source, list_key: str) -> Data:
    is_json = source.path.endswith(".json")
    if is_json or source.text.lstrip()[:1] in ("{", "["):
        try:
            return _read_json(source, list_key)
        except BrokenJsonError as error:
            if is_json:
                span = None if error.position is None else Lines(source.text).span(error.position, error.position + 1)
                broken = BrokenDataError(f"it is not valid JSON: {error}", error.help, span)
                broken.fix = Fix.by(span, "", is_safe=True) if span and error.is_surplus else None
                raise broken from None
    return _read_yaml(source, list_key)


def _read_json(source: Source, list_key: str) -> Data:
    value = load_json(source.text)
    layout = lay_out(source.text, deepest=DEEPEST)
    if layout.depth > DEEPEST:
        raise BrokenDataError(f"it is nested more than {DEEPEST} levels deep", "look for a missing bracket", None)
    if layout.count > LARGEST_VALUE:
        raise BrokenDataError(f"it has more than {LARGEST_VALUE:,} values", "split it into several files", None)
    above: KeyPath = ()
    if list_key and isinstance(value, list):
        value, above = {list_key: value}, (list_key,)
    if not isinstance(value, dict):
        raise BrokenDataError("it must be a mapping of names to values", "write an object", source.line_span(1))
    spans = {(*above, *path): span for path, span in (layout.values | layout.keys).items()}
    return Data(value, spans, tuple(Repeated((*above, *one.path), one.span, one.first) for one in layout.repeated))


def _read_yaml(source: Source, list_key: str) -> Data:
    from compiler.reading.yaml import UnreadableError, read_mapping  # noqa: PLC0415 (it imports PyYAML)

    try:
        reading = read_mapping("\n".join(source.lines), 1, list_key)
        return Data(reading.with_dates_as_texts, reading.spans, reading.repeated, reading)
    except UnreadableError as error:
        raise unreadable(source, error) from None


def unreadable(source: Source, error: UnreadableError) -> BrokenDataError:
    """Return the error for text that is not valid YAML."""
    line = min(error.line, len(source.lines))
    return BrokenDataError(f"it is not valid YAML: {error}", error.help, source.line_span(line))


def _refuse_others(data: Data, source: Source) -> None:
    """Reject values that JSON or a UTF-8 file cannot hold, such as bytes, infinity and unpaired surrogates."""
    pending: list[tuple[KeyPath, Any]] = [((), data.values)]
    while pending:
        path, value = pending.pop()
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            problem = _text_issue(key) if isinstance(key, str) else ""
            if len(path) >= DEEPEST:
                problem = f"it is nested more than {DEEPEST} levels deep"
            if isinstance(inner, (dict, list)):
                pending.append(((*path, str(key)), inner))
            elif not problem:
                problem = _issue(inner)
            if problem:
                span = nearest(data.spans, (*path, str(key))) or source.line_span(1)
                raise BrokenDataError(problem, "use a string, a number, true, false, a list or a mapping", span)


def _issue(value: object) -> str:
    if isinstance(value, str):
        return _text_issue(value)
    if isinstance(value, float):
        return "" if isfinite(value) else "a number is infinite or not a number"
    return "" if value is None or isinstance(value, int) else "JSON has no such kind of value"


def _text_issue(text: str) -> str:
    if "\0" in text:
        return "a string contains a NUL character"
    return "a string contains an unpaired surrogate" if not text.isascii() and _HALF.search(text) else ""
