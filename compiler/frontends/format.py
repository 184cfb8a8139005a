"""Describe a source format with everything that is needed before importing its front end."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from compiler.options import Option

if TYPE_CHECKING:
    from compiler.frontends.base import Formatter, FrontEnd


class Format(Struct, frozen=True):
    """A source format.

    Attributes:
        name: The name of its front end and of its folder here.
        noun: The name of a document in messages.
        summary: A one-line description.
        suffixes: The extensions of its files.
        names: Other full file names.
        module: The module of its front end.
        grammars: Its files in `grammars/`; empty if its syntax is YAML or JSON.
        options: The options of its documents.
        formatter: The module of its `format_document`; by default, that of its front end.
        drafts: The module that drafts scenarios, as described in `compiler/drafts.py`, or "" without scenarios.
    """

    name: str
    noun: str
    summary: str
    suffixes: tuple[str, ...]
    module: str
    grammars: tuple[str, ...] = ()
    options: tuple[Option[Any], ...] = ()
    names: tuple[str, ...] = ()
    formatter: str = ""
    drafts: str = ""

    def has(self, path: str) -> bool:
        """Return whether a file has a name of this format."""
        return path.endswith(self.suffixes) or path.rpartition("/")[2] in self.names

    @property
    def word(self) -> str:
        """The format's name on the command line."""
        return self.name.replace("_", "-")

    def load(self) -> FrontEnd:
        """Return the front end, importing it on first use."""
        module: FrontEnd = import_module(self.module)
        return module

    def load_formatter(self) -> Formatter:
        """Return the module that formats its documents, which only a few commands import."""
        module: Formatter = import_module(self.formatter or self.module)
        return module
