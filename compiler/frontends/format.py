"""What a source format is: all that the rest of rdc knows of one before its front end is imported."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from compiler.options import Option

if TYPE_CHECKING:
    from compiler.frontends.base import FrontEnd


class Format(Struct, frozen=True):
    """A source format.

    Attributes:
        name: That of its front end, and of its folder here.
        noun: What one of its documents is called in messages.
        summary: A line about it.
        suffixes: How the names of its files end.
        names: Whole names that its files may have too.
        module: Where its front end is.
        grammars: Its files in `grammars/`; none, if its syntax is that of YAML or JSON.
        options: What can be set for its documents.
        drafts: The module that writes scenarios, as `compiler/drafts.py` has it; "" if its documents have none.
    """

    name: str
    noun: str
    summary: str
    suffixes: tuple[str, ...]
    module: str
    grammars: tuple[str, ...] = ()
    options: tuple[Option[Any], ...] = ()
    names: tuple[str, ...] = ()
    drafts: str = ""

    def has(self, path: str) -> bool:
        """Whether a file is a document of this format by its name."""
        return path.endswith(self.suffixes) or path.rpartition("/")[2] in self.names

    @property
    def word(self) -> str:
        """What people call it on the command line."""
        return self.name.replace("_", "-")

    def load(self) -> FrontEnd:
        """The front end, imported when it is first needed."""
        module: FrontEnd = import_module(self.module)
        return module
