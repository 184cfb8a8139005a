"""The rules that a path breaks, and where."""

from collections.abc import Iterable, Iterator

from msgspec import Struct

from compiler.ir.paths import Path, visit
from compiler.ir.program import Program
from compiler.ir.rules import Event, Rule
from compiler.ir.semantics import Machine
from compiler.rules.model import RuleResult
from compiler.rules.watch import BROKEN, Watch
from rdc.report.rules import guarded, name_of


class BrokenRule(Struct, frozen=True):
    """A rule that a path breaks `after` a number of visits, by an event."""

    name: str
    rule: Rule
    event: Event
    after: int

    def __str__(self) -> str:
        """Return `3 breaks rule approved: 2 YES before 3`."""
        (subject,) = guarded([self.event])
        return f"{subject} breaks rule {self.name}: {self.rule.sentence}"


def broken_rules(program: Program, path: Path, results: Iterable[RuleResult]) -> list[BrokenRule]:
    """Return the rules that a path without jumps breaks, in the order of the path."""
    found = (each for result in results if result.rule for each in _first(program, path, result, result.rule))
    return sorted(found, key=lambda one: one.after)


def _first(program: Program, path: Path, result: RuleResult, rule: Rule) -> Iterator[BrokenRule]:
    """Yield the first breach of a rule, if there is one."""
    machine, watch = Machine(program), Watch(program, rule)
    state = machine.start(dict(path.inputs))
    value = watch.visited(machine, None, state, watch.before)
    for after, made in enumerate((*path.visits, None)):
        if value == BROKEN and watch.event:
            yield BrokenRule(name_of(result.declared), rule, watch.event, after)
            return
        if made:
            again, state = visit(machine, state, made.outcome)
            value = watch.visited(machine, again, state, value)
