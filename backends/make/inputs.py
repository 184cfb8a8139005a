"""Inputs of a program as variables that make is given on its command line (I8)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from backends.make.blocks import Words
from backends.make.identifiers import Identifiers
from backends.make.texts import visible
from compiler.ir.program import Input, Program
from compiler.ir.tasks import Agent, Parallel, Tool

_FIT = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
CONTROLS = ("AGENT", "ANSWERS", "ASSUME", "HUMAN", "INPUTS", "RERUN", "REPLY", "STEP", "TOOLS")
"""What the driver is told as NAME=VALUE."""

OF_CALLS = (
    *("AGENTS", "AGENT_CALLS", "AGENT_MODEL", "AGENT_RETRIES", "AGENT_TIMEOUT", "BREAK", "EXECUTOR", "EXPIRE", "FILE"),
    "MOCK",
)
"""What the driver of a program that calls agents or tools is told besides; it takes no EXECUTOR and no EXPIRE."""

OF_OPERATOR = ("ALL", "AS", "BY", "KEEP", "NOTE", "NOTIFY", "PROMPTED", "VALUE")
"""What the operator's part of the driver is told."""

OF_CONTRACT = (
    *("ADOPT", "ANSWERS", "ASSUME", "BY", "EXECUTOR", "GATE", "HUMAN", "INPUTS", "MOCK", "NOTE", "RERUN", "REPLY"),
    *("STEP", "TOOLS"),
)
"""What a program with a contract is told, besides its inputs."""

NOT_OF_CONTRACT = ("AS", "BREAK", "EXPIRE", "NOTIFY", "PROMPTED")
"""What other Makefiles are told, and that of a program with a contract refuses: ignored, it would mislead."""

TASK = "task"
"""The input that is what a run is to do."""

_RESERVED = frozenset(
    {
        *CONTROLS,
        *OF_OPERATOR,
        *("EXECUTOR", "MOCK", "OUT", "RDC", "TASK"),
        *("SHELL", "CURDIR", "SUFFIXES", "VPATH", "GPATH", "MFLAGS", "GNUMAKEFLAGS"),
        *("PATH", "HOME", "IFS", "ENV", "PWD", "OLDPWD", "CDPATH", "TMPDIR", "LANG", "BASH_ENV", "OPTIND", "PPID"),
        *("PS1", "PS2", "PS4", "USER", "LOGNAME", "TERM", "PYTHONPATH", "PYTHONHOME"),
    }
)
_RESERVED_BEGINNINGS = ("MAKE", "RDC_", "rdc_", "LC_", "LD_", "DYLD_")


def calls(program: Program) -> bool:
    """Whether a program has agents or tools."""
    return any(isinstance(node.task, Agent | Parallel | Tool) for node in program.nodes)


def controls(program: Program) -> tuple[str, ...]:
    """What the driver of a program is told as NAME=VALUE, inputs aside."""
    if program.contract is not None:
        return OF_CONTRACT
    found = [*CONTROLS, *(OF_CALLS if calls(program) else ()), *(["OUT"] if program.artifact else [])]
    found += ["JOBS"] if any(isinstance(node.task, Parallel) for node in program.nodes) else []
    found += ["MAX_STEPS"] if has_steps(program) else []
    found += ["TASK", "TASK_FILE"] if has_task(program) else []
    return tuple(found)


def has_steps(program: Program) -> bool:
    """Whether an operator may say how many steps a run does."""
    return program.limit is not None and calls(program)


def has_task(program: Program) -> bool:
    """Whether a run has a task."""
    return any(declared.name == TASK for declared in program.inputs) and calls(program)


def is_reserved(name: str, program: Program) -> bool:
    """Whether make or rdc gives a name a meaning, or make could not be given it."""
    if name in controls(program):
        return True
    return name in _RESERVED or name.startswith(_RESERVED_BEGINNINGS) or not _FIT.fullmatch(name)


def input_rows(program: Program, names: Identifiers, words: Words) -> Iterator[str]:
    """What RDC_NODES says of inputs: slot, variable, type, whether one has to be given, and its rules."""
    for number, declared in enumerate(program.inputs, 1):
        given = "required" if declared.required else "optional"
        about_it = words.quoted(visible(about(declared)))
        slot = names.registers[declared.name]
        yield f"input {declared.name} {slot} {variable(number)} {declared.type} {given} {about_it}"
        if declared.default is not None:
            yield f"  default {words.quoted(declared.default)}"
        yield from (f"  option {words.quoted(option)}" for option in declared.options)
        if declared.name == TASK and has_task(program):
            yield f"  task {variable(number)}"
        if declared.pattern is not None:
            yield f"  pattern {words.quoted(json.dumps([declared.type, declared.options, declared.pattern]))}"


def about(declared: Input) -> str:
    """What `make help` says of an input."""
    says = [declared.description] if declared.description else []
    if declared.options:
        says.append(f"one of {', '.join(declared.options)}")
    elif declared.type != "string":
        says.append(declared.type)
    if declared.default is not None:
        says.append(f"{declared.default} if it is not given")
    elif not declared.required:
        says.append("may be left out")
    return "; ".join(says)


def variable(number: int) -> str:
    """What the driver is given the value of an input as."""
    return f"input_{number}"
