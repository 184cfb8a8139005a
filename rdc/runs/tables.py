"""The table of a program, which `rdc run` runs, and which its records refer to."""

from backends.python.step_calls import author_calls
from compiler.ir.program import Program
from compiler.passes import optimize
from runtime_shim.engine.program import Table


def table_of(program: Program) -> Table:
    """Return the table that a Python program of a document would build."""
    return author_calls(optimize(program)).built()
