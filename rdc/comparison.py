"""The comparison of two versions of a document: as text, as data, and as a picture."""

from __future__ import annotations

from backends.picture.difference import difference
from backends.picture.naming import one_line
from backends.picture.overlay import LEGEND, overlay
from backends.picture.picture import picture
from backends.picture.sheet import Sheet
from compiler.ir.program import SourceFile
from rdc.changes import Version, as_json, as_text, changed_settings


class Comparison:
    """Two versions, and the changes from the old one to the new one."""

    def __init__(self, old: Version, new: Version) -> None:
        self.old, self.new = old, new
        self._pictures = picture(old.program), picture(new.program)
        self.found = difference(*self._pictures)
        self.settings = changed_settings(old, new)

    def __bool__(self) -> bool:
        """Return whether the flow or a setting changed."""
        return bool(self.found or self.settings)

    def sheet(self) -> Sheet:
        """Return the picture of both versions."""
        drawn = overlay(*self._pictures, self.found)
        settings = [one_line(str(setting)) for setting in self.settings]
        legend = LEGEND if self.found else "the flow is the same" if settings else "nothing changed"
        notes = (f"{one_line(self.old.path)} → {one_line(self.new.path)}", legend, *settings)
        new = self.new.program
        sources = tuple(SourceFile(one.path, one.program.sources[0].sha256) for one in (self.old, self.new))
        return Sheet(drawn, new.title or new.name, new.sources[0].path, sources, notes, is_comparison=True)

    def text(self) -> str:
        """Return the changes for people."""
        return as_text(self.found, self.settings, self.old, self.new)

    def json(self) -> str:
        """Return the changes for tools."""
        return as_json(self.found, self.settings, self.old, self.new, self._origin())

    def file(self) -> str:
        """Return the text, below a line with its origin."""
        return f"# {self._origin()}\n{self.text()}"

    def _origin(self) -> str:
        return " ".join(self.sheet().head())
