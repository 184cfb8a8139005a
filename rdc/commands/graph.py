"""`rdc graph`: a document becomes a picture."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from rdc.commands.delivery import generated, print_one, write_files
from rdc.commands.language import language_options
from rdc.commands.reporter import Reporter, strictness_options
from rdc.commands.target import find_target
from rdc.terminal import is_terminal

if TYPE_CHECKING:
    from compiler.driver import Settings
    from rdc.drawing.draw import Form
    from rdc.generation import Generation


class Picture(NamedTuple):
    """What a format is made of: a target, the options of it that matter, and what is drawn of that, if anything is."""

    target: str
    options: tuple[str, ...]
    drawn: Form | None = None


FORMATS: Mapping[str, Picture] = {
    "svg": Picture("dot", ("link-base", "theme"), "svg"),
    "png": Picture("dot", ("theme",), "png"),
    "dot": Picture("dot", ("link-base", "theme")),
    "mermaid": Picture("mermaid", ("link-base",)),
    "json": Picture("json", ()),
}

SUFFIXES = {".svg": "svg", ".png": "png", ".dot": "dot", ".gv": "dot", ".mmd": "mermaid", ".json": "json"}


@click.command(name="graph")
@click.argument("file", type=click.Path())
@click.option(
    "--format",
    "wanted",
    type=click.Choice(list(FORMATS)),
    help="What to write, if the ending of OUT does not tell; without either, svg.",
)
@click.option(
    "-o",
    "--output",
    "out",
    metavar="OUT",
    type=click.Path(),
    help="The file or folder to write; - for standard output. Without it the picture stands beside FILE.",
)
@click.option("--link-base", metavar="URL", help="Link to source lines; URL is where source paths count from.")
@click.option(
    "--theme",
    type=click.Choice(["light", "dark"]),
    help="The colours. Without it an SVG takes those of the page that shows it, and all else is light.",
)
@click.option("--force", is_flag=True, help="Overwrite a file that rdc did not generate.")
@language_options
@strictness_options
def command(
    file: str,
    wanted: str | None,
    out: str | None,
    settings: Settings,
    reporter: Reporter,
    *,
    force: bool,
    **options: str | None,
) -> int:
    """Draw the flow of a document.

    SVG and PNG are drawn by Graphviz: the one on this machine, or that which `rdc[graph]` brings.
    """
    form = wanted or SUFFIXES.get(Path(out or "").suffix, "svg")
    given = {name.replace("_", "-"): value for name, value in options.items() if value is not None}
    _refuse_useless(given, form)
    if out == "-" and form == "png" and is_terminal():
        raise click.UsageError("a PNG is nothing for a terminal: name a file with -o", click.get_current_context())
    made = generated([file], settings, find_target(FORMATS[form].target, given))
    made = _draw(file, made, form, adapts="theme" not in given)
    if out == "-":
        return print_one(made, reporter)
    from rdc.outputs import plan  # noqa: PLC0415 (the compiler is slow to import)

    suffix = next(ending for ending, name in SUFFIXES.items() if name == form)
    return write_files(made, plan([file], out, suffix), reporter, executable=False, force=force)


def _refuse_useless(options: Iterable[str], form: str) -> None:
    for name in options:
        if name not in FORMATS[form].options:
            raise click.UsageError(f"--{name} means nothing to --format {form}", click.get_current_context())


def _draw(file: str, made: Generation, form: str, *, adapts: bool) -> Generation:
    """What was generated, drawn if the format is a picture."""
    drawn, (text,) = FORMATS[form].drawn, made.files
    if drawn is None or text is None:
        return made
    from compiler.diagnostic import Diagnostic  # noqa: PLC0415 (the compiler is slow to import)
    from rdc.drawing.draw import draw  # noqa: PLC0415
    from rdc.drawing.renderer import DrawingError  # noqa: PLC0415

    try:
        return replace(made, files=(draw(text.decode(), drawn, adapts=adapts),))
    except DrawingError as error:
        finding = Diagnostic("RD514", file, None, str(error), error.advice)
        return replace(made, files=(None,), diagnostics=(*made.diagnostics, finding))
