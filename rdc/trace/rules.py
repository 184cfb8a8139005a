"""The rules that a path breaks, and where."""

from collections.abc import Iterable, Iterator

from compiler.ir.paths import Path, visit
from compiler.ir.program import Program
from compiler.ir.semantics import Machine
from compiler.rules.model import RuleResult
from compiler.rules.watch import BROKEN, Watch
from rdc.report.rules import guarded, name_of

Broken = tuple[int, str]
"""The number of visits before a breach, and the breach in words: `3 breaks rule approved: 2 YES before 3`."""


def broken_rules(program: Program, path: Path, results: Iterable[RuleResult]) -> list[Broken]:
    """Return the first breach of each rule that a path without jumps breaks, in the order of the path."""
    return sorted(found for result in results for found in _first(program, path, result))


def _first(program: Program, path: Path, result: RuleResult) -> Iterator[Broken]:
    if result.rule is None:
        return
    machine, watch = Machine(program), Watch(program, result.rule)
    state = machine.start(dict(path.inputs))
    value = watch.visited(machine, None, state, watch.before)
    for after, made in enumerate((*path.visits, None)):
        if value == BROKEN and watch.event:
            (subject,) = guarded([watch.event])
            yield after, f"{subject} breaks rule {name_of(result.declared)}: {result.rule.sentence}"
        if value == BROKEN or made is None:
            return
        again, state = visit(machine, state, made.outcome)
        value = watch.visited(machine, again, state, value)
