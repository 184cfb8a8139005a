"""`rdc graph`: draws documents as pictures."""

import shlex
from collections.abc import Mapping, Sequence

import click

from backends.base import Emission
from backends.picture.sheet import PictureBackend
from compiler.driver import Compilation, Settings, compile_file
from compiler.ir.program import Program
from compiler.project.options import Making
from compiler.rules.model import RuleResult
from rdc.commands.common.deliver import generated
from rdc.commands.common.documents import documents_of, language_options, refuse_output
from rdc.commands.common.pictures import PICTURES, Format, PictureChoice, picture_options
from rdc.commands.common.reporter import Reporter, strictness_options
from rdc.commands.common.target import Target, find_target, misuse_told
from rdc.documents.find import Found
from rdc.draw.rules import rule_sheet
from rdc.output.generate import Generation, emitted
from rdc.output.paths import plan
from rdc.report.rules import despite_rules
from rdc.terminal.output import UnknownWordError

FORMATS = {**PICTURES, "json": Format("json", ".json")}


@click.command(name="graph")
@click.argument("files", metavar="FILE|DIR...", nargs=-1, required=True, type=click.Path())
@click.option(
    "--rule",
    metavar="NAME",
    help="Mark the steps that open the rule, and the steps that it guards. Number the path that breaks it, if any.",
)
@picture_options(FORMATS, "svg")
@language_options
@strictness_options
def command(
    files: tuple[str, ...], rule: str | None, picture: PictureChoice, settings: Settings, reporter: Reporter
) -> int:
    """Draw the flow of documents.

    For a folder, this draws all documents in it, except hidden and ignored ones. `-o OUT/` keeps the subfolders.
    Missing folders are created. If a document has an error, nothing is written. With --rule, broken rules are no
    errors.

    Graphviz draws SVG and PNG: the one on this machine, or the one in rdc's extra `graph`.
    """
    documents = documents_of(files)
    refuse_output(documents, picture.out)
    target = find_target(picture.form.target, picture.options)
    places = [] if picture.is_printed else [one.path for one in plan(documents, picture.out, picture.form.suffix)]
    made = generated(documents, settings, target, places) if rule is None else _ruled(documents, rule, settings, target)
    return picture.deliver(documents, made, reporter)


def _ruled(documents: Sequence[Found], name: str, settings: Settings, target: Target) -> Generation:
    """Return the picture of one document with a rule. Without a program, the document's errors are the reason."""
    backend = target.backend
    if not isinstance(backend, PictureBackend):
        raise click.UsageError("--rule needs a picture; choose svg, png, dot or mermaid with --format")
    if len(documents) > 1:
        raise click.UsageError(f"--rule draws one document, but you gave {len(documents)}")
    compilation = despite_rules(compile_file(documents[0].path, settings))

    def emit(program: Program, options: Mapping[str, object], _: Making) -> Emission:
        given = backend.options.validated(options)
        return backend.draw(rule_sheet(program, _chosen(compilation, name), folds=given.boxes == "steps"), given)

    with misuse_told(backend):
        return emitted(compilation, backend, target.options, emit)


def _chosen(compilation: Compilation, name: str) -> RuleResult:
    """Return the rule with a name. An unknown one is a usage error."""
    known = {result.declared.full_name: result for result in compilation.rules}
    if name not in known:
        raise UnknownWordError("rule", name, known, f"rdc check --rules {shlex.quote(compilation.path)}")
    return known[name]
