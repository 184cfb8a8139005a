"""Inputs of a program as variables that make is given on its command line (I8)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from backends.make.names import Names
from backends.make.texts import block
from compiler.ir.program import Input, Program

_FIT = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
CONTROLS = ("AGENT", "ANSWERS", "ASSUME", "HUMAN", "INPUTS", "RERUN", "RESULT", "TOOLS", "UNIT")
"""What the driver is told as NAME=VALUE."""

_RESERVED = frozenset(
    {
        *CONTROLS,
        *("EXECUTOR", "MOCK", "TASK"),
        *("SHELL", "CURDIR", "SUFFIXES", "VPATH", "GPATH", "MFLAGS", "GNUMAKEFLAGS"),
        *("PATH", "HOME", "IFS", "ENV", "PWD", "OLDPWD", "CDPATH", "TMPDIR", "LANG", "BASH_ENV", "OPTIND", "PPID"),
        *("PS1", "PS2", "PS4", "USER", "LOGNAME", "TERM", "PYTHONPATH", "PYTHONHOME"),
    }
)
_RESERVED_BEGINNINGS = ("MAKE", "RDC_", "rdc_", "LC_", "LD_", "DYLD_")


@dataclass(frozen=True, slots=True)
class Given:
    """An input in the templates: its identifier, name and type, its slot, and the blocks with its rules."""

    variable: str
    name: str
    type: str
    slot: str
    default: str
    missing: str
    options: tuple[str, ...]
    pattern: str


def is_reserved(name: str) -> bool:
    """Whether make or rdc gives a name a meaning, or make could not be given it."""
    return name in _RESERVED or name.startswith(_RESERVED_BEGINNINGS) or not _FIT.fullmatch(name)


def inputs_of(program: Program, names: Names) -> list[Given]:
    """The inputs for the templates."""
    return [
        Given(
            variable=_variable(number),
            name=declared.name,
            type=declared.type,
            slot=names.slots[declared.name],
            default="no" if declared.default is None else "yes",
            missing="required" if declared.required else "optional",
            options=tuple(f"option_{_variable(number)}_{index}" for index, _ in enumerate(declared.options, 1)),
            pattern="" if declared.pattern is None else f"rule_{_variable(number)}",
        )
        for number, declared in enumerate(program.inputs, 1)
    ]


def input_blocks(program: Program) -> Iterator[str]:
    """The texts that belong to inputs: defaults, options and patterns."""
    for number, declared in enumerate(program.inputs, 1):
        name = _variable(number)
        if declared.default is not None:
            yield from block(f"default_{name}", declared.default)
        for index, option in enumerate(declared.options, 1):
            yield from block(f"option_{name}_{index}", option)
        if declared.pattern is not None:
            yield from block(f"rule_{name}", json.dumps([declared.type, declared.options, declared.pattern]))


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


def _variable(number: int) -> str:
    return f"input_{number}"
