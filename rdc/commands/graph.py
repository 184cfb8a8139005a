"""`rdc graph`: draws documents as pictures."""

import click

from compiler.driver import Settings
from rdc.commands.common.deliver import generated
from rdc.commands.common.documents import documents_of, language_options, refuse_output
from rdc.commands.common.pictures import PICTURES, Format, PictureChoice, picture_options
from rdc.commands.common.reporter import Reporter, strictness_options
from rdc.commands.common.target import find_target

FORMATS = {**PICTURES, "json": Format("json", ".json")}


@click.command(name="graph")
@click.argument("files", metavar="FILE|DIR...", nargs=-1, required=True, type=click.Path())
@picture_options(FORMATS, "svg")
@language_options
@strictness_options
def command(files: tuple[str, ...], picture: PictureChoice, settings: Settings, reporter: Reporter) -> int:
    """Draw the flow of documents.

    For a folder, this draws all documents in it, except hidden ones and those that git ignores. `-o OUT/` keeps the
    subfolders and creates missing ones. If a document has an error, nothing is written.

    Graphviz draws SVG and PNG: the one on this machine, or the one in rdc's extra `graph`.
    """
    documents = documents_of(files)
    refuse_output(documents, picture.out)
    made = generated(documents, settings, find_target(picture.form.target, picture.options))
    return picture.deliver(documents, made, reporter)
