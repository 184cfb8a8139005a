"""Common to commands that draw: formats, their options, and the places of pictures."""

import functools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import click
from msgspec import Struct

from rdc.commands.common.deliver import print_one, write_files
from rdc.commands.common.reporter import Command, Reporter
from rdc.documents.find import Found
from rdc.draw.graphviz import Form
from rdc.output.deliver import drawn
from rdc.output.generate import Generation
from rdc.output.layout import lay_out
from rdc.output.paths import plan
from rdc.terminal.output import is_terminal


class Format(Struct, frozen=True):
    """A format: its target, the relevant options, and the form of the drawing, if any.

    A format that `prints` goes to standard output unless a file is named.
    """

    target: str
    suffix: str
    options: tuple[str, ...] = ()
    drawn: Form | None = None
    prints: bool = False


PICTURES: Mapping[str, Format] = {
    "svg": Format("dot", ".svg", ("link-base", "theme", "legend", "boxes"), "svg"),
    "png": Format("dot", ".png", ("theme", "legend", "boxes"), "png"),
    "dot": Format("dot", ".dot", ("link-base", "theme", "legend", "boxes")),
    "mermaid": Format("mermaid", ".mmd", ("link-base", "legend", "boxes")),
}


class PictureChoice(Struct, frozen=True):
    """The choices of the command line: a format, its place, and the options of its target."""

    form: Format
    out: str | None
    options: Mapping[str, str]
    force: bool

    @property
    def is_printed(self) -> bool:
        """Whether the output goes to standard output."""
        return self.out == "-" or (self.out is None and self.form.prints)

    def deliver(self, documents: Sequence[Found], made: Generation, reporter: Reporter) -> int:
        """Draw the outputs if the format is a picture, and print or write them. Return the exit code."""
        if self.form.drawn:
            made = drawn(made, [found.path for found in documents], self.form.drawn, self.options.get("theme"))
        if self.is_printed:
            return print_one(documents[0].path, made, reporter)
        layout = lay_out(plan(documents, self.out, self.form.suffix), made.products, executable=False)
        return write_files(made, layout, reporter, force=self.force)


_LINK_BASE = click.option("--link-base", metavar="URL", help="Link to source lines. Source paths are relative to URL.")
_THEME = click.option(
    "--theme",
    type=click.Choice(["light", "dark"]),
    help="The colors. By default, an SVG adapts to its page, and other formats are light.",
)
_LEGEND = click.option("--no-legend", is_flag=True, help="Leave out the legend.")
_STEPS = click.option("--steps", is_flag=True, help="Draw one box for each step of a step specification.")
_FORCE = click.option("--force", is_flag=True, help="Overwrite files that rdc did not generate.")


def picture_options(formats: Mapping[str, Format], usual: str) -> Callable[[Command], Command]:
    """Add the options of pictures to a command, which gets them as its argument `picture`; `usual` is the default."""
    endings = {Path(form.suffix).suffix or form.suffix: name for name, form in formats.items()} | {".gv": "dot"}

    def decorate(command: Command) -> Command:
        @_format_option(formats, usual)
        @_output_option(formats)
        @_LINK_BASE
        @_THEME
        @_LEGEND
        @_STEPS
        @_FORCE
        @functools.wraps(command)
        def wrapped(
            *,
            wanted: str | None,
            out: str | None,
            link_base: str | None,
            theme: str | None,
            no_legend: bool,
            steps: bool,
            force: bool,
            **rest: object,
        ) -> int:
            name = wanted or _format_of(out, endings) or usual
            legend, boxes = "false" if no_legend else None, "steps" if steps else None
            given = {"link-base": link_base, "theme": theme, "legend": legend, "boxes": boxes}
            options = {option: value for option, value in given.items() if value is not None}
            picture = PictureChoice(formats[name], out, options, force)
            _refuse_useless(name, picture)
            return command(picture=picture, **rest)

        return wrapped

    return decorate


def _format_of(out: str | None, endings: Mapping[str, str]) -> str | None:
    """Return the format for an output's extension, or None without an extension. A folder has none."""
    ending = "" if out is None or out.endswith("/") or Path(out).is_dir() else Path(out).suffix
    if not ending:
        return None
    if ending.lower() not in endings:
        *others, last = endings
        context = click.get_current_context()
        problem = f"-o {out}: {context.info_name} cannot write {ending} files"
        raise click.UsageError(f"{problem}; use {', '.join(others)} or {last}, or set --format")
    return endings[ending.lower()]


def _format_option(formats: Mapping[str, Format], usual: str) -> Callable[[Command], Command]:
    text = f"The format. By default, the extension of OUT decides; without an extension, it is {usual}."
    return click.option("--format", "wanted", type=click.Choice(list(formats)), help=text)


def _output_option(formats: Mapping[str, Format]) -> Callable[[Command], Command]:
    printed = " and ".join(name for name, form in formats.items() if form.prints)
    place = f"{printed} go to standard output, and pictures are" if printed else "the file is"
    text = f"The output file or folder; - for standard output. By default, {place} written next to the document."
    return click.option("-o", "--output", "out", metavar="OUT", type=click.Path(), help=text)


def _refuse_useless(name: str, picture: PictureChoice) -> None:
    for option in picture.options:
        if option not in picture.form.options:
            flag = {"legend": "no-legend", "boxes": "steps"}.get(option, option)
            raise click.UsageError(f"--{flag} has no effect on --format {name}; remove it")
    if picture.out == "-" and picture.form.drawn == "png" and is_terminal():
        raise click.UsageError("a terminal cannot show a PNG; choose a file with -o")
