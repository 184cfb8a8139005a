"""What is reported: diagnostics, each once and in order, with the sources that they point into."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct, field

from compiler.diagnostic import Diagnostic, Severity, sort_key
from compiler.source import Source


class Report(Struct, frozen=True):
    """Sorted diagnostics without repetition, and the sources by the paths that the diagnostics use.

    `facts` is what formats tell other tools of documents beside that, by its key in the report for machines.
    If `docs_url` is not empty, the report links to the pages of its diagnostics there.
    """

    diagnostics: tuple[Diagnostic, ...]
    sources: Mapping[str, Source]
    facts: Mapping[str, object] = field(default_factory=dict)
    docs_url: str = ""

    @classmethod
    def of(cls, diagnostics: Iterable[Diagnostic], sources: Mapping[str, Source]) -> Report:
        """The report of these; two documents that include a third both bring the diagnostics of the third."""
        return cls(tuple(sorted(dict.fromkeys(diagnostics), key=sort_key)), sources)

    def count(self, severity: Severity) -> int:
        """How many diagnostics have this severity."""
        return sum(diagnostic.severity is severity for diagnostic in self.diagnostics)

    @property
    def files(self) -> int:
        """How many files have findings."""
        return len({diagnostic.path for diagnostic in self.diagnostics})
