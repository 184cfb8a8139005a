"""A stub."""

from collections.abc import Iterator, Sequence

from compiler.diagnostics.model import Diagnostic
from compiler.ir.program import Program
from compiler.rules.model import RuleResult


def diagnostics(program: Program, results: Sequence[RuleResult]) -> Iterator[Diagnostic]:
    return iter(())
