"""`rdc check`: reports errors in documents, and fixes them on request."""

from __future__ import annotations

from collections.abc import Sequence

import click
from msgspec.structs import replace

from compiler.driver import Compilation, Settings, compile_opened
from compiler.text.source import Source
from rdc.commands.common.documents import documents_argument, language_options, refuse_for_standard_output
from rdc.commands.common.reporter import Reporter, reporting_options
from rdc.documents.find import STANDARD_INPUT, open_documents
from rdc.output.target_options import check_tables
from rdc.rewrite.files import Rewrite, show_differences, write_rewrites
from rdc.rewrite.fixes import Fixed, fix_opened
from rdc.terminal.output import many, put


@click.command(name="check")
@documents_argument
@click.option("--no-link", is_flag=True, help="Don't require that included documents exist.")
@click.option("--fix", is_flag=True, help="Apply fixes that keep the meaning of the document.")
@click.option(
    "--unsafe-fixes", is_flag=True, help="With --fix or --diff: also apply fixes that may change the meaning."
)
@click.option("--diff", is_flag=True, help="Write nothing; show what --fix would change.")
@language_options
@reporting_options
def command(
    files: tuple[str, ...],
    reporter: Reporter,
    settings: Settings,
    *,
    no_link: bool,
    fix: bool,
    unsafe_fixes: bool,
    diff: bool,
) -> int:
    """Report all errors in documents.

    Without arguments, this checks all documents of the project, which is the nearest folder above with `.git` or
    `rdc.toml`. For a folder, it checks all documents in it, except hidden ones and those that git ignores. `-` reads
    standard input. With --fix, it writes the fixed document to standard output.

    Exit codes: 0 no errors, 1 errors (with --strict: or warnings), 2 usage error. Problems that --fix has fixed don't
    count.
    """
    settings = replace(settings, link=not no_link)
    if not (fix or diff):
        if unsafe_fixes:
            raise click.UsageError("--unsafe-fixes needs --fix or --diff", click.get_current_context())
        return _report([compile_opened(document, settings) for document in open_documents(files)], reporter)

    if diff:
        return _report(shown(files, settings, reporter, unsafe=unsafe_fixes), reporter)
    done = fixed(files, settings, reporter, unsafe=unsafe_fixes)
    if done is None:
        return 1
    compilations, messages = done
    status = _report(compilations, reporter)
    for message in messages:
        reporter.say(message)
    return status


def _report(compilations: Sequence[Compilation], reporter: Reporter) -> int:
    """Show the findings, and return the exit code."""
    report = reporter.gather(
        (
            found
            for one in compilations
            for found in (*one.diagnostics, *one.kept(check_tables(one.tables, one.program)))
        ),
        {path: source for compilation in compilations for path, source in compilation.sources.items()},
    )
    reporter.show(replace(report, facts=_facts(compilations)) if reporter.form == "json" else report)
    if reporter.form == "text" and not report.diagnostics:
        reporter.say(f"no problems in {many(len(compilations), 'file')}")
    return int(reporter.fails(report))


def _facts(compilations: Sequence[Compilation]) -> dict[str, object]:
    """Return the formats' facts on documents: by the format's name, or by its plural and path for several documents."""
    found: dict[str, dict[str, object]] = {}
    for one in compilations:
        if one.facts:
            found.setdefault(one.format, {})[one.path] = one.facts()
    if len(compilations) == 1:
        return {name: facts for name, by_path in found.items() for facts in by_path.values()}
    return {f"{name}s": by_path for name, by_path in found.items()}


Done = tuple[list[Compilation], list[str]]
"""The documents after fixing, and the success messages."""


def fixed(files: Sequence[str], settings: Settings, reporter: Reporter, *, unsafe: bool) -> Done | None:
    """Fix documents and write them. Report a failure and return None."""
    if STANDARD_INPUT in files:
        refuse_for_standard_output(files, reporter.form)
    results, rewrites = _tried(files, settings, unsafe=unsafe)
    messages = [f"fixed {many(one.count, 'problem')} in {one.opened.path}" for one in results if one.count]
    compilations = [one.compilation for one in results]
    if STANDARD_INPUT in files:
        source = results[0].opened.source
        if isinstance(source, Source):
            put(source.data)
        return compilations, messages
    if problem := write_rewrites(rewrites, "rdc check --fix"):
        reporter.show(reporter.gather([problem], {}))
        return None
    if rewrites:  # a document may include another fixed one
        compilations = [compile_opened(document, settings) for document in open_documents(files)]
    return compilations, messages


def shown(files: Sequence[str], settings: Settings, reporter: Reporter, *, unsafe: bool) -> list[Compilation]:
    """Show the fixes without applying them, and return the compilations of the unchanged documents."""
    results, rewrites = _tried(files, settings, unsafe=unsafe)
    show_differences(rewrites, is_text=reporter.form == "text")
    return [one.original for one in results]


def _tried(files: Sequence[str], settings: Settings, *, unsafe: bool) -> tuple[list[Fixed], list[Rewrite]]:
    """Return the documents after fixing, and rewrites for the changed ones. Nothing is written."""
    documents = open_documents(files)
    results = [fix_opened(document, settings, unsafe=unsafe) for document in documents]
    rewrites: list[Rewrite] = []
    for document, result in zip(documents, results, strict=True):
        old, new = document.source, result.opened.source
        if isinstance(old, Source) and isinstance(new, Source) and new.text != old.text:
            rewrites.append(Rewrite(old, document.path, new.text))
    return results, rewrites
