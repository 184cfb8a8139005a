"""What commands that draw share: formats, the options that choose among them, and where pictures go."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec import Struct
from msgspec.structs import replace

from rdc.commands.delivery import print_one, write_files
from rdc.commands.reporter import Command, Reporter
from rdc.terminal import is_terminal

if TYPE_CHECKING:
    from rdc.documents import Found
    from rdc.drawing.draw import Form
    from rdc.generation import Generation, Product


class Format(Struct, frozen=True):
    """What a format is made of: a target, the options of it that matter, and what is drawn of that, if anything is.

    What `prints` goes to standard output if no file is named.
    """

    target: str
    suffix: str
    options: tuple[str, ...] = ()
    drawn: Form | None = None
    prints: bool = False


PICTURES: Mapping[str, Format] = {
    "svg": Format("dot", ".svg", ("link-base", "theme"), "svg"),
    "png": Format("dot", ".png", ("theme",), "png"),
    "dot": Format("dot", ".dot", ("link-base", "theme")),
    "mermaid": Format("mermaid", ".mmd", ("link-base",)),
}


class Wish(Struct, frozen=True):
    """What the command line asks for: a format, where it goes, and the options of its target."""

    form: Format
    out: str | None
    options: Mapping[str, str]
    force: bool

    @property
    def is_printed(self) -> bool:
        """Whether it goes to standard output."""
        return self.out == "-" or (self.out is None and self.form.prints)

    def deliver(
        self, documents: Sequence[Found], made: Generation, reporter: Reporter, *, has_marks: bool = False
    ) -> int:
        """Draw what was generated, if the format is a picture, and print or write it; gives the exit code.

        Args:
            documents: The pictures are written beside them if nothing else is asked for.
            made: What the target wrote for them.
            reporter: Shows the findings.
            has_marks: Whether the picture may show what changed.
        """
        made = self._drawn(documents, made, has_marks)
        if self.is_printed:
            return print_one(documents[0].path, made, reporter)
        from rdc.layout import lay_out  # noqa: PLC0415 (the compiler is slow to import)
        from rdc.outputs import plan  # noqa: PLC0415

        layout = lay_out(plan(documents, self.out, self.form.suffix), made.products, executable=False)
        return write_files(made, layout, reporter, force=self.force)

    def _drawn(self, documents: Sequence[Found], made: Generation, has_marks: bool) -> Generation:
        if self.form.drawn is None:
            return made
        from compiler.diagnostic import Diagnostic  # noqa: PLC0415 (the compiler is slow to import)
        from rdc.drawing.draw import draw  # noqa: PLC0415
        from rdc.drawing.renderer import DrawingError  # noqa: PLC0415

        products: list[Product | None] = []
        diagnostics = list(made.diagnostics)
        for found, product in zip(documents, made.products, strict=True):
            picture = None
            if product:
                try:
                    adapts, dot = "theme" not in self.options, product.data.decode()
                    picture = replace(product, data=draw(dot, self.form.drawn, adapts=adapts, has_marks=has_marks))
                except DrawingError as error:
                    diagnostics.append(Diagnostic("RD514", found.path, None, str(error), error.advice))
            products.append(picture)
        return replace(made, products=tuple(products), diagnostics=tuple(diagnostics))


_LINK_BASE = click.option(
    "--link-base", metavar="URL", help="Link to source lines; URL is where source paths count from."
)
_THEME = click.option(
    "--theme",
    type=click.Choice(["light", "dark"]),
    help="The colors. Without it an SVG takes those of the page that shows it, and all else is light.",
)
_FORCE = click.option("--force", is_flag=True, help="Overwrite a file that rdc did not generate.")


def picture_options(formats: Mapping[str, Format], usual: str) -> Callable[[Command], Command]:
    """Give a command the options of pictures; it gets them as its argument `wish`.

    Args:
        formats: Those that it knows, by name.
        usual: The one that is taken if there is no `--format` and OUT has no ending.
    """
    endings = {Path(form.suffix).suffix or form.suffix: name for name, form in formats.items()} | {".gv": "dot"}

    def decorate(command: Command) -> Command:
        @_format_option(formats, usual)
        @_output_option(formats)
        @_LINK_BASE
        @_THEME
        @_FORCE
        @functools.wraps(command)
        def wrapped(
            *,
            wanted: str | None,
            out: str | None,
            link_base: str | None,
            theme: str | None,
            force: bool,
            **rest: object,
        ) -> int:
            name = wanted or _format_of(out, endings) or usual
            given = {"link-base": link_base, "theme": theme}
            options = {option: value for option, value in given.items() if value is not None}
            wish = Wish(formats[name], out, options, force)
            _refuse_useless(name, wish)
            return command(wish=wish, **rest)

        return wrapped

    return decorate


def _format_of(out: str | None, endings: Mapping[str, str]) -> str | None:
    """The format that the ending of an output stands for; None where there is no ending. A folder has none."""
    ending = "" if out is None or out.endswith("/") or Path(out).is_dir() else Path(out).suffix
    if not ending:
        return None
    if ending.lower() not in endings:
        *others, last = endings
        context = click.get_current_context()
        problem = f"-o {out}: {context.info_name} cannot write {ending} files"
        raise click.UsageError(f"{problem}; use {', '.join(others)} or {last}, or choose with --format", context)
    return endings[ending.lower()]


def _format_option(formats: Mapping[str, Format], usual: str) -> Callable[[Command], Command]:
    says = f"What to write, whatever the ending of OUT. Without it that ending tells; without either, it is {usual}."
    return click.option("--format", "wanted", type=click.Choice(list(formats)), help=says)


def _output_option(formats: Mapping[str, Format]) -> Callable[[Command], Command]:
    printed = " and ".join(name for name, form in formats.items() if form.prints)
    place = f"Without it {printed} go to standard output, and pictures stand" if printed else "Without it it stands"
    says = f"The file or folder to write; - for standard output. {place} beside the document."
    return click.option("-o", "--output", "out", metavar="OUT", type=click.Path(), help=says)


def _refuse_useless(name: str, wish: Wish) -> None:
    context = click.get_current_context()
    for option in wish.options:
        if option not in wish.form.options:
            raise click.UsageError(f"--{option} means nothing to --format {name}", context)
    if wish.out == "-" and wish.form.drawn == "png" and is_terminal():
        raise click.UsageError("a PNG is nothing for a terminal: name a file with -o", context)
