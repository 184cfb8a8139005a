"""A picture with what stands around it, and what the targets that draw have in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from typing import ClassVar

from msgspec import Struct

from backends.base import MARK, Backend, Emission
from backends.command import canonical_command
from backends.options.fields import OptionsType
from backends.picture.captions import Lines
from backends.picture.picture import Picture, picture
from compiler.ir.features import Feature
from compiler.ir.program import Program, SourceFile
from compiler.version import __version__


class Sheet(Struct, frozen=True):
    """A picture, its title with lines below it (`notes`), and the documents that it was made from.

    `document` is the path of the one that most of it stands in. It is the first of the sources; where two versions are
    compared, the sources are these versions.
    """

    drawn: Picture
    title: str
    document: str
    sources: tuple[SourceFile, ...]
    notes: Lines = ()
    is_comparison: bool = False
    command: str = ""

    def head(self, shown: Callable[[str], str] = str) -> Iterator[str]:
        """Lines that say where it comes from; `shown` lets a path stand in a comment."""
        first, *others = [f"{shown(_printable(source.path))} (sha256 {source.sha256})" for source in self.sources]
        if self.is_comparison:
            yield f"{MARK} {__version__} from {' and '.join([first, *others])}."
            yield "Do not edit: compare them again."
            return
        yield f"{MARK} {__version__} from {first}."
        yield f"Do not edit: change {shown(_printable(self.document))} and compile it again."
        for included in others:
            yield f"It includes {included}."
        if self.command:
            yield "`rdc verify FILE` proves this file. The command:"
            yield f"  {shown(self.command)}"


class PictureBackend(Backend[OptionsType]):
    """A target that draws, which carries all that a program can have."""

    features: ClassVar[frozenset[Feature]] = frozenset(Feature)

    def render(self, program: Program, options: OptionsType) -> Emission:
        """The picture of the program."""
        title, document = program.title or program.name, program.sources[0].path
        drawn = picture(program)
        command = canonical_command(self.name, program, options)
        return self.draw(Sheet(drawn, title, document, program.sources, drawn.notes, command=command), options)

    @abstractmethod
    def draw(self, sheet: Sheet, options: OptionsType) -> Emission:
        """A picture, whatever it was made from."""


def _printable(path: str) -> str:
    """A path without line breaks, which would end a comment."""
    return "".join(character if character.isprintable() else " " for character in path)
