"""A picture with its title and origin, and the common parts of drawing targets."""

from abc import abstractmethod
from collections.abc import Callable, Iterator
from typing import Annotated, ClassVar, Literal, TypeVar
from urllib.parse import quote

from msgspec import Struct
from pydantic import AfterValidator, Field

from backends.base import MARK, Backend, Emission, about_option
from backends.common.command import canonical_command
from backends.common.remarks import printable
from backends.options.model import Options
from backends.picture.captions import Lines
from backends.picture.model import Picture, picture
from compiler.ir.edges import Origin
from compiler.ir.features import Feature
from compiler.ir.program import Program, SourceFile
from compiler.text.regex import Regex
from compiler.version import __version__


class Sheet(Struct, frozen=True):
    """A picture, its title with `notes` below, and the documents that it is made from.

    `document` is the path of the main document. It is the first of the sources. A comparison has no command, and its
    sources are the versions. Without a command, `remade` is the way to make the picture again.
    """

    drawn: Picture
    title: str
    document: str
    sources: tuple[SourceFile, ...]
    notes: Lines = ()
    command: str = ""
    remade: str = "run the comparison again"

    def head(self, shown: Callable[[str], str] = str) -> Iterator[str]:
        """Yield the lines that show the picture's origin. `shown` prepares a path for a comment."""
        first, *others = [f"{shown(printable(source.path))} (sha256 {source.sha256})" for source in self.sources]
        if not self.command:
            yield f"{MARK} {__version__} from {' and '.join([first, *others])}."
            yield f"Do not edit: {self.remade}."
            return
        yield f"{MARK} {__version__} from {first}."
        yield f"Do not edit: change {shown(printable(self.document))} and compile it again."
        for included in others:
            yield f"It includes {included}."
        yield "To check this file, run `rdc verify FILE`. It was written by this command:"
        yield f"  {shown(self.command)}"


_WEB = Regex(r"https?://[A-Za-z0-9][A-Za-z0-9.:-]*(/[A-Za-z0-9._~%+=@:/-]*)?")


def _on_the_web(address: str) -> str:
    if not _WEB.fullmatch(address):
        raise ValueError("write a web address such as https://example.org/project/blob/main/")
    return address.rstrip("/") + "/"


class PictureOptions(Options):
    """Options of all targets that draw."""

    link_base: Annotated[str, AfterValidator(_on_the_web)] = Field(
        default="",
        description="The web address (`http` or `https`) that source paths are relative to, such as "
        "`https://example.org/shop/blob/main/`. Boxes then link to their source lines (`…deploy.runbook.md#L7`).",
    )
    legend: bool = Field(default=True, description="Whether the picture explains its shapes, colors and lines.")
    boxes: Literal["stages", "steps"] = Field(
        default="stages",
        description="The boxes of a step specification: one for each stage, or one for each step and each gate.",
    )


PictureOptionsType = TypeVar("PictureOptionsType", bound=PictureOptions)


class PictureBackend(Backend[PictureOptionsType]):
    """A target that draws. It supports everything that a program can have."""

    features: ClassVar[frozenset[Feature]] = frozenset(Feature)

    def render(self, program: Program, options: PictureOptionsType) -> Emission:
        """Return the picture of the program."""
        title, document = program.title or program.name, program.sources[0].path
        folds = options.boxes == "steps"
        if folds and program.stepspec is None:
            problem = "`--steps` and `boxes: steps` are only for step specifications"
            remedy = "leave it out: each box of this picture is a step already"
            return Emission(None, (about_option(program, ("boxes",), "RD501", problem, remedy),))
        drawn = picture(program, folds=folds)
        command = canonical_command(self.name, program, options)
        return self.draw(Sheet(drawn, title, document, program.sources, drawn.notes, command=command), options)

    @abstractmethod
    def draw(self, sheet: Sheet, options: PictureOptionsType) -> Emission:
        """Return a picture of any origin."""


def source_link(base: str, origin: Origin) -> str:
    """Return the address of a source line below a `link-base`. No target treats its characters specially."""
    return f"{base}{quote(origin.path)}#L{origin.span.line}"
