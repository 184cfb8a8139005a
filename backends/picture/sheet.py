"""A picture with its title and origin, and the common parts of drawing targets."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from typing import Annotated, ClassVar
from urllib.parse import quote

from msgspec import Struct

from backends.base import MARK, Backend, Emission
from backends.command import canonical_command
from backends.options.fields import Check, Options, OptionsType
from backends.picture.captions import Lines
from backends.picture.picture import Picture, picture
from backends.remarks import printable
from compiler.ir.edges import Origin
from compiler.ir.features import Feature
from compiler.ir.program import Program, SourceFile
from compiler.regex import Regex
from compiler.version import __version__


class Sheet(Struct, frozen=True):
    """A picture, its title with `notes` below, and the documents that it is made from.

    `document` is the path of the main document. It is the first of the sources. In a comparison, the sources are the
    versions.
    """

    drawn: Picture
    title: str
    document: str
    sources: tuple[SourceFile, ...]
    notes: Lines = ()
    is_comparison: bool = False
    command: str = ""

    def head(self, shown: Callable[[str], str] = str) -> Iterator[str]:
        """Yield the lines that show the picture's origin. `shown` prepares a path for a comment."""
        first, *others = [f"{shown(printable(source.path))} (sha256 {source.sha256})" for source in self.sources]
        if self.is_comparison:
            yield f"{MARK} {__version__} from {' and '.join([first, *others])}."
            yield "Do not edit: run the comparison again."
            return
        yield f"{MARK} {__version__} from {first}."
        yield f"Do not edit: change {shown(printable(self.document))} and compile it again."
        for included in others:
            yield f"It includes {included}."
        if self.command:
            yield "To check this file, run `rdc verify FILE`. It was written by this command:"
            yield f"  {shown(self.command)}"


class PictureBackend(Backend[OptionsType]):
    """A target that draws. It supports everything that a program can have."""

    features: ClassVar[frozenset[Feature]] = frozenset(Feature)

    def render(self, program: Program, options: OptionsType) -> Emission:
        """Return the picture of the program."""
        title, document = program.title or program.name, program.sources[0].path
        drawn = picture(program)
        command = canonical_command(self.name, program, options)
        return self.draw(Sheet(drawn, title, document, program.sources, drawn.notes, command=command), options)

    @abstractmethod
    def draw(self, sheet: Sheet, options: OptionsType) -> Emission:
        """Return a picture of any origin."""


_WEB = Regex(r"https?://[A-Za-z0-9][A-Za-z0-9.:-]*(/[A-Za-z0-9._~%+=@:/-]*)?")


def _on_the_web(address: str) -> str:
    if not _WEB.fullmatch(address):
        raise ValueError("write a web address such as https://example.org/project/blob/main/")
    return address.rstrip("/") + "/"


class LinkOptions(Options, frozen=True):
    """`link-base`: the address that source paths are relative to. Boxes link to their source lines."""

    link_base: Annotated[
        str,
        Check(_on_the_web),
        "The web address (`http` or `https`) that source paths are relative to, such as "
        "`https://example.org/shop/blob/main/`. Boxes then link to their source lines "
        "(`…deploy.runbook.md#L7`).",
    ] = ""


def source_link(base: str, origin: Origin) -> str:
    """Return the address of a source line below a `link-base`. No target treats its characters specially."""
    return f"{base}{quote(origin.path)}#L{origin.span.line}"
