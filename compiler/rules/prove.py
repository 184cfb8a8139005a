"""A stub."""

from collections.abc import Iterable

from compiler.ir.program import Program
from compiler.ir.rules import Rule
from compiler.rules.model import Proof, Status


def prove(program: Program, rules: Iterable[Rule]) -> tuple[Proof, ...]:
    return tuple(Proof(Status.HOLDS) for _ in rules)
