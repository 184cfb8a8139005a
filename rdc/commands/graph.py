"""`rdc graph`: a document becomes a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rdc.commands.delivery import generated
from rdc.commands.language import language_options
from rdc.commands.pictures import PICTURES, Format, Wish, picture_options
from rdc.commands.reporter import Reporter, strictness_options
from rdc.commands.target import find_target

if TYPE_CHECKING:
    from compiler.driver import Settings

FORMATS = {**PICTURES, "json": Format("json", ".json")}


@click.command(name="graph")
@click.argument("file", type=click.Path())
@picture_options(FORMATS, "svg")
@language_options
@strictness_options
def command(file: str, wish: Wish, settings: Settings, reporter: Reporter) -> int:
    """Draw the flow of a document.

    SVG and PNG are drawn by Graphviz: the one on this machine, or the one that comes with rdc's extra `graph`.
    """
    made = generated([file], settings, find_target(wish.form.target, wish.options))
    return wish.deliver(file, made, reporter)
