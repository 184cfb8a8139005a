"""A report: sorted diagnostics without repetition, their sources, and the formats for people and tools."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module

from msgspec import Struct, field
from msgspec.structs import replace

from compiler.diagnostics.model import Diagnostic, Related, Severity, sort_key
from compiler.text.source import Source

FORMATS = {
    "text": "rdc.report.text",
    "json": "rdc.report.json",
    "sarif": "rdc.report.sarif",
    "github": "rdc.report.github",
}
"""The formats of a report. Each is a module with a function `render`."""


class Report(Struct, frozen=True):
    """Sorted diagnostics without repetition, and the sources by the diagnostics' paths.

    `facts` are other facts on documents for tools, by their keys in the JSON report.
    If `docs_url` is not empty, the report links to the pages of its diagnostics there.
    """

    diagnostics: tuple[Diagnostic, ...]
    sources: Mapping[str, Source]
    facts: Mapping[str, object] = field(default_factory=dict)
    docs_url: str = ""

    @classmethod
    def of(cls, diagnostics: Iterable[Diagnostic], sources: Mapping[str, Source]) -> Report:
        """Return the report of these diagnostics. Documents that include the same third document may repeat some."""
        return cls(tuple(sorted(dict.fromkeys(diagnostics), key=sort_key)), sources)

    def count(self, severity: Severity) -> int:
        """Return the number of diagnostics with this severity."""
        return sum(diagnostic.severity is severity for diagnostic in self.diagnostics)

    @property
    def files(self) -> int:
        """The number of files with findings."""
        return len({diagnostic.path for diagnostic in self.diagnostics})


def renamed(
    diagnostics: Iterable[Diagnostic], sources: Mapping[str, Source], name: Callable[[str], str]
) -> tuple[list[Diagnostic], dict[str, Source]]:
    """Return diagnostics and their sources with other paths: `name` returns the new path for an old one."""

    def named(places: Iterable[Related]) -> tuple[Related, ...]:
        return tuple(replace(near, path=name(near.path)) for near in places)

    moved = [replace(one, path=name(one.path), related=named(one.related), flow=named(one.flow)) for one in diagnostics]
    return moved, {name(path): source for path, source in sources.items()}


def render(report: Report, form: str) -> str:
    """Return the report in a format of `FORMATS`, without a final line break; "" if the format has no output."""
    text: str = import_module(FORMATS[form]).render(report)
    return text
