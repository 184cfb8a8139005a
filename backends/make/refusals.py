"""The limits of Makefiles beyond unsupported features.

Inputs and secrets cannot have names with a meaning on make's command line (RD530).
"""

from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostic import Diagnostic
from compiler.ir import variables
from compiler.ir.features import Feature, features_of
from compiler.ir.program import Program
from compiler.ir.tasks import Agent, Parallel, Tool
from compiler.regex import Regex

OF_ALL = (
    *("ADOPT", "ANSWERS", "ASSUME", "BY", "EVENTS", "EXPIRE", "FILE", "JSON", "KEEP", "NOTE", "REPLY", "RERUN", "STEP"),
    "VALUE",
)
"""Accepted by every Makefile that calls the program."""

OF_OPERATORS = ("AGENT", "AGENT_MODEL", "ALL", "AS", "LOGS", "LOG_LIMIT", "NOTIFY")
"""Accepted by editions with all operator commands."""

OF_CALLS = (
    *("AGENT", "AGENTS", "AGENT_CALLS", "AGENT_MODEL", "AGENT_RETRIES", "AGENT_TIMEOUT", "BREAK"),
    *("MAX_STEPS", "OUT", "TOOLS"),
)
"""Accepted by Makefiles whose documents call agents or tools, or leave an artifact."""

OF_CONTRACT = ("EXECUTOR", "FROM", "GATE", "HUMAN", "MARKDOWN", "RUN_DIR", "TO", "TOOLS")
"""Accepted by Makefiles of specifications."""

_FIT = Regex(r"[A-Za-z_][A-Za-z0-9_-]*")
_RESERVED = frozenset({"AGENT", "EXECUTOR", "OUT", "PROMPTED", "RDC", "TASK", "TOOLS", "PYTHON"})
_RESERVED_BEGINNINGS = ("MAKE", "RDC_", "rdc_")


def controls(program: Program) -> frozenset[str]:
    """Return the names that a Makefile accepts besides its inputs, with any options."""
    return frozenset((*OF_ALL, *OF_OPERATORS, *_controls(program)))


def _controls(program: Program) -> Iterator[str]:
    features = features_of(program)
    if program.inputs:
        yield from ("INPUTS", "TASK", "TASK_FILE")
    if Feature.GATES in features:
        yield from ("GATE", "HUMAN")
    if program.contract is not None:
        yield from OF_CONTRACT
        return
    yield "PROMPTED"
    if program.artifact or any(isinstance(node.task, Agent | Parallel | Tool) for node in program.nodes):
        yield from OF_CALLS
    if Feature.PARALLEL in features:
        yield "JOBS"


def refusals(program: Program) -> Iterator[Diagnostic]:
    """Yield everything in a program that a Makefile cannot express (RD530)."""
    names = [("input", declared.name) for declared in program.inputs]
    names += [("secret", name) for name in program.secrets]
    reserved = controls(program) | _RESERVED
    for kind, name in names:
        is_taken = name in reserved or name.startswith(_RESERVED_BEGINNINGS) or variables.is_reserved(name)
        if is_taken or not _FIT.fullmatch(name):
            problem = f"the name of the {kind} `{name}` is reserved for make, its shell or rdc"
            remedy = f"rename the {kind}, for example to `topic`; use only letters, digits and `_`"
            yield Diagnostic("RD530", program.sources[0].path, None, problem, remedy)
