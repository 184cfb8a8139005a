"""`rdc trace`: shows the path for given outcomes, or all paths, without running anything."""

from typing import Any

import click

from compiler.analyses.coverage import coverage
from compiler.analyses.enumeration import enumerate_paths
from compiler.driver import Compilation, Settings, compile_file
from compiler.ir.paths import Path, usual_limit, walk
from compiler.ir.program import Program
from compiler.ir.semantics import Machine
from compiler.scenarios.outcomes import OutcomesError, decided_by, read_outcomes
from rdc.commands.common.documents import language_options
from rdc.commands.common.reporter import Reporter, strictness_options
from rdc.report.rules import broken_rules, despite_rules
from rdc.terminal.output import many, put
from rdc.trace import json, text
from rdc.trace.text import show_facts, show_inputs, with_examples
from runtime_shim.values.fitting import unfit

MOST_PATHS = 100


@click.command(name="trace")
@click.argument("file", type=click.Path())
@click.option(
    "--outcomes",
    metavar="TEXT",
    help='Outcomes of steps, such as "1.1=fail,fail,pass 2=fail". The last outcome of a step is repeated.',
)
@click.option(
    "--otherwise",
    type=click.Choice(["pass", "fail"]),
    default="pass",
    show_default=True,
    help="The outcome of steps that --outcomes does not name.",
)
@click.option(
    "--input",
    "inputs",
    multiple=True,
    metavar="NAME=VALUE",
    help="The value of an input. By default, the input's default.",
)
@click.option(
    "--all", "every", is_flag=True, help="Show all paths, shortest first, and the transitions that no path takes."
)
@click.option(
    "--paths", type=click.IntRange(1), default=MOST_PATHS, show_default=True, help="The most paths that --all lists."
)
@click.option(
    "--visits",
    type=click.IntRange(1),
    help="The most steps of a path. The default is 1000, or the number of steps in a longer document.",
)
@click.option("--format", "output", type=click.Choice(["text", "json"]), default="text", show_default=True)
@language_options
@strictness_options
def command(
    file: str,
    paths: int,
    visits: int | None,
    output: str,
    settings: Settings,
    reporter: Reporter,
    *,
    every: bool,
    **given: Any,  # noqa: ANN401 (click passes them)
) -> int:
    """Show the path of a run without running it.

    Without --all, this is one path: each step passes, except those that --outcomes names.
    """
    if every and (given["outcomes"] is not None or given["inputs"]):
        what = "--input" if given["inputs"] else "--outcomes"
        raise click.UsageError(f"--all tries all outcomes and inputs; remove {what}")
    compilation = despite_rules(compile_file(file, settings))
    if not reporter.accepts([compilation]) or compilation.program is None:
        return 1
    limit = visits or usual_limit(compilation.program)
    if every:
        shown = _every(compilation.program, paths, limit, output)
    else:
        try:
            decide = decided_by(read_outcomes(given["outcomes"] or "", compilation.program), given["otherwise"])
        except OutcomesError as error:
            raise click.UsageError(f"--outcomes: {error}") from None
        inputs = _inputs(given["inputs"], compilation.program)
        path = walk(Machine(compilation.program), decide, limit, with_examples(compilation.program, inputs))
        shown = _one(compilation, compilation.program, path, inputs, output)
    put(shown)
    return 0


def _one(compilation: Compilation, program: Program, path: Path, inputs: dict[str, str], output: str) -> str:
    """Return the path for the given outcomes, with the rules that it breaks."""
    if output == "json":
        return json.write(program, [path], complete=False)
    opening = [*show_inputs(program, inputs, dict(path.inputs)), *show_facts(program)]
    visits = text.show_visits(program, path, broken=broken_rules(program, path, compilation.rules))
    return "\n".join([*opening, *visits, f"=> {text.show_end(Machine(program), path)}"])


def _inputs(words: tuple[str, ...], program: Program) -> dict[str, str]:
    """Return the inputs of the command line, which must be valid (I8)."""
    known = {declared.name: declared for declared in program.inputs}
    found: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or name not in known:
            problem = f"there is no input '{name}'" if equals else f"'{word}' is not NAME=VALUE"
            listed = f"the inputs are {', '.join(known)}" if known else "the document has no inputs"
            raise click.UsageError(f"--input: {problem}; {listed}")
        declared = known[name]
        if problem := unfit(value, declared.type, declared.options, declared.pattern):
            raise click.UsageError(f"--input: {name}: {problem}")
        found[name] = value
    return found


def _every(program: Program, most: int, limit: int, output: str) -> str:
    found = enumerate_paths(program, most, limit)
    covered = coverage(program, found.paths)
    if output == "json":
        return json.write(program, found.paths, complete=found.is_complete, found=covered)
    lines = text.show_paths(Machine(program), found.paths)
    count = many(len(lines), "path")
    summary = f"{count} in total" if found.is_complete else f"{count}, shortest first; there may be more"
    return "\n".join([*lines, summary, *text.show_coverage(program, covered)])
