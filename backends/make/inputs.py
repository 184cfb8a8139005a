"""The names that mean something on make's command line, which no input or secret can have (RD530)."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.ir.features import Feature, features_of
from compiler.ir.program import Program
from compiler.ir.tasks import Agent, Parallel, Tool
from compiler.regex import Regex

OF_ALL = (
    *("ADOPT", "ANSWERS", "ASSUME", "BY", "EVENTS", "FILE", "JSON", "KEEP", "NOTE", "REPLY", "RERUN", "STEP"),
    "VALUE",
)
"""What every Makefile takes that calls the program."""

OF_OPERATORS = ("AGENT", "AGENT_MODEL", "ALL", "AS", "LOGS", "LOG_LIMIT", "NOTIFY")
"""What the editions take that have all that operators ask for."""

OF_CALLS = (
    *("AGENT", "AGENTS", "AGENT_CALLS", "AGENT_MODEL", "AGENT_RETRIES", "AGENT_TIMEOUT", "BREAK", "EXPIRE", "MOCK"),
    *("MAX_STEPS", "OUT", "TOOLS"),
)
"""What a Makefile of a document takes that calls agents or tools, or leaves an artifact."""

OF_CONTRACT = ("EXECUTOR", "FROM", "GATE", "HUMAN", "MARKDOWN", "MOCK", "RUN_DIR", "TO", "TOOLS")
"""What a Makefile of a specification takes."""

_FIT = Regex(r"[A-Za-z_][A-Za-z0-9_-]*")
_RESERVED = frozenset(
    {
        *("AGENT", "EXECUTOR", "MOCK", "OUT", "PROMPTED", "RDC", "TASK", "TOOLS", "PYTHON"),
        *("SHELL", "CURDIR", "SUFFIXES", "VPATH", "GPATH", "MFLAGS", "GNUMAKEFLAGS"),
        *("PATH", "HOME", "IFS", "ENV", "PWD", "OLDPWD", "CDPATH", "TMPDIR", "LANG", "BASH_ENV", "OPTIND", "PPID"),
        *("PS1", "PS2", "PS4", "USER", "LOGNAME", "TERM", "PYTHONPATH", "PYTHONHOME"),
    }
)
_RESERVED_BEGINNINGS = ("MAKE", "RDC_", "rdc_", "LC_", "LD_", "DYLD_")


def controls(program: Program) -> frozenset[str]:
    """The names that a Makefile of a program takes besides its inputs, whatever its options are."""
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


def is_reserved(name: str, program: Program) -> bool:
    """Whether make or rdc gives a name a meaning, or make could not be given it."""
    if name in controls(program) or name in _RESERVED:
        return True
    return name.startswith(_RESERVED_BEGINNINGS) or not _FIT.fullmatch(name)
