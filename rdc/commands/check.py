"""`rdc check`: reports errors in documents, and fixes them on request."""

import os
from collections.abc import Sequence

import click
from msgspec.structs import replace

from compiler.driver import Settings, compile_opened
from compiler.frontends import all_options
from compiler.project.configuration import read_configuration
from compiler.project.project import project_around
from compiler.text.source import Source
from rdc.api import Checked, checked
from rdc.commands.common.documents import (
    documents_argument,
    language_options,
    open_documents,
    refuse_for_standard_output,
)
from rdc.commands.common.reporter import Reporter, reporting_options
from rdc.documents.find import STANDARD_INPUT
from rdc.report.rules import listing, plain, unmatched, useless
from rdc.terminal.output import many, put


@click.command(name="check")
@documents_argument
@click.option("--no-link", is_flag=True, help="Don't require that included documents exist.")
@click.option("--fix", is_flag=True, help="Apply fixes that keep the meaning of the document.")
@click.option(
    "--unsafe-fixes", is_flag=True, help="With --fix or --diff: also apply fixes that may change the meaning."
)
@click.option("--diff", is_flag=True, help="Write nothing; show what --fix would change.")
@click.option("--rules", is_flag=True, help="List each rule with its verdict and the steps that it guards.")
@language_options
@reporting_options
def command(
    files: tuple[str, ...], reporter: Reporter, settings: Settings, *, no_link: bool, rules: bool, **fixing: bool
) -> int:
    """Report all errors in documents.

    Without arguments, this checks all documents of the project, which is the nearest folder above with `.git` or
    `rdc.toml`. For a folder, it checks all documents in it, except hidden and ignored ones. `-` reads
    standard input. With --fix, it writes the fixed document to standard output.

    Exit codes: 0 no errors, 1 errors (with --strict: or warnings), 2 usage error. Problems that --fix has fixed don't
    count.
    """
    settings = replace(settings, link=not no_link)
    if rules and (reporter.form not in {"text", "json"} or any(fixing.values())):
        raise click.UsageError("--rules only lists rules, as text or JSON; remove --fix, --diff and other formats")
    if not (fixing["fix"] or fixing["diff"]):
        if fixing["unsafe_fixes"]:
            raise click.UsageError("--unsafe-fixes needs --fix or --diff")
        documents = [checked(compile_opened(document, settings)) for document in open_documents(files)]
        return _report(documents, reporter, whole=not files, rules=rules)

    done = _fixed(files, settings, reporter, unsafe=fixing["unsafe_fixes"], diff=fixing["diff"])
    if done is None:
        return 1
    documents, messages = done
    status = _report(documents, reporter, whole=not files)
    for message in messages:
        reporter.say(message)
    return status


def _report(documents: Sequence[Checked], reporter: Reporter, *, whole: bool, rules: bool = False) -> int:
    """Show the findings, also on the `whole` project, and the `rules` if wanted. Return the exit code."""
    found = [each for one in documents for each in one.diagnostics]
    sources = {path: source for one in documents for path, source in one.sources.items()}
    if whole and all(one.program or one.rules for one in documents):  # a document with an error in a rule also counts
        configuration = read_configuration(project_around(os.path.realpath(os.curdir)), all_options())
        found += useless(configuration.rules, (each for one in documents for each in unmatched(one.rules)))
        sources |= configuration.sources
    facts = _facts(documents) if reporter.form == "json" else {}
    listed = [(one.path, result) for one in documents for result in one.rules] if rules else []
    if rules and reporter.form == "json":
        facts["rules"] = [plain(path, result) for path, result in listed]
    elif listed:
        put(listing(listed))
    is_failed = reporter.report(found, sources, facts)
    if reporter.form == "text" and not found:
        reporter.say(f"no problems in {many(len(documents), 'file')}")
    return int(is_failed)


def _facts(documents: Sequence[Checked]) -> dict[str, object]:
    """Return the formats' facts on documents: by the format's name, or by its plural and path for several documents."""
    found: dict[str, dict[str, object]] = {}
    for one in documents:
        if one.facts:
            found.setdefault(one.format, {})[one.path] = one.facts()
    if len(documents) == 1:
        return {name: facts for name, by_path in found.items() for facts in by_path.values()}
    return {f"{name}s": by_path for name, by_path in found.items()}


def _fixed(
    files: Sequence[str], settings: Settings, reporter: Reporter, *, unsafe: bool, diff: bool
) -> tuple[list[Checked], list[str]] | None:
    """Fix documents and write them, or show the fixes. Return the documents with messages, or None after a failure."""
    from rdc.rewrite.files import (  # noqa: PLC0415 (few ask for fixes)
        fix_documents,
        show_differences,
        write_rewrites,
    )

    if STANDARD_INPUT in files and not diff:
        refuse_for_standard_output(files, reporter.form)
    results, rewrites = fix_documents(open_documents(files), settings, unsafe=unsafe)
    if diff:
        show_differences(rewrites, is_text=reporter.form == "text")
        return [checked(one.original) for one in results], []
    messages = [f"fixed {many(one.count, 'problem')} in {one.opened.path}" for one in results if one.count]
    documents = [checked(one.compilation) for one in results]
    if STANDARD_INPUT in files:
        source = results[0].opened.source
        if isinstance(source, Source):
            put(source.data)
        return documents, messages
    if problem := write_rewrites(rewrites, "rdc check --fix"):
        reporter.report([problem], {})
        return None
    if rewrites:  # a document may include another fixed one
        documents = [checked(compile_opened(document, settings)) for document in open_documents(files)]
    return documents, messages
