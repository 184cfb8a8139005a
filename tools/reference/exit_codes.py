"""The page of the exit codes, from the constants in the code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from types import ModuleType

import rdc.cli
import runtime_shim.engine.program
from backends.base import VerifyStatus
from rdc.commands import COMMANDS, load
from tools.reference.cli import with_code
from tools.reference.markdown import page, table

OF_RDC = {
    "EXIT_FINE": "The command did its work and found no errors.",
    "EXIT_FINDINGS": "The command found errors, or a file isn't up to date. With `--strict`, warnings count too. For "
    "`check`, `fmt`, `compile`, `test`, `trace` and `graph`, a document that doesn't exist is such an error.",
    "EXIT_USAGE": "Usage error: an unknown command or option, or, for other commands, a file that doesn't exist.",
    "EXIT_DEFECT": "A defect of rdc. Set `RDC_DEBUG=1` to see the traceback, and report it.",
    "EXIT_INTERRUPTED": "You pressed Ctrl-C.",
    "EXIT_PIPE": "The program that read the output stopped reading, for example `head`.",
}

OF_VERIFY = {
    "PROVEN": "rdc writes exactly these files.",
    "CHANGED": "A file was changed by hand.",
    "UNKNOWN": "rdc can't check a file: it doesn't exist, or rdc or this version didn't write it.",
    "SOURCE_MISSING": "The document that a file was compiled from is missing or has changed.",
}

OF_PROGRAMS = {
    "EXIT_COMPLETE": "The run finished with COMPLETE.",
    "EXIT_STOP": "The run finished with STOP.",
    "EXIT_REFUSED": "Error: an unknown option, a state directory that rdc can't read, an answer that doesn't fit, or "
    "an action that would break a rule.",
    "EXIT_WAITING": "The run waits for an answer or an approval, or a step would break a rule. Its output shows the "
    "commands to continue.",
    "EXIT_INTERRUPTED": "The run was interrupted. To continue, run `resume`.",
}

OF_WORKERS = """\
`status` and `start --wait` of a [worker program](../targets/dbos.md) also exit with 75 if the run was interrupted, and
with 3 if it is queued or running. A worker exits with 0 after a signal, and with 2 if it loses its database."""

OF_MAKE = """\
`make` ends with 0 for COMPLETE and with 2 for everything else. Its own last line, such as `Error 75`, has the exit code
from the table above."""


CODES = re.compile(r"Exit codes: (\S.*?)(?=\.(?: [A-Z]|$))")
"""The sentence of a command's help about its codes."""


def exit_codes() -> str:
    """Return the page: the codes of rdc, of `rdc verify`, of generated programs and of Makefiles."""
    head = ("exit code", "meaning")
    return page(
        "Exit codes",
        "## Commands of rdc",
        table(head, _rows(_constants(rdc.cli), OF_RDC)),
        "The codes of single commands:",
        table(("command", "exit codes"), list(_of_commands())),
        "## rdc verify",
        table(head, _rows({verdict.name: int(verdict) for verdict in VerifyStatus}, OF_VERIFY)),
        "## Generated programs and rdc run",
        table(head, _rows(_constants(runtime_shim.engine.program), OF_PROGRAMS)),
        OF_WORKERS,
        "## Makefiles",
        OF_MAKE,
    )


def _of_commands() -> Iterator[tuple[str, str]]:
    """Yield a row for each command whose help lists its codes."""
    for name in COMMANDS:
        found = CODES.search(" ".join((load(name).help or "").split()))
        if found:
            yield f"[`rdc {name}`](cli.md#rdc-{name})", with_code(found[1])


def _constants(module: ModuleType) -> dict[str, int]:
    return {name: value for name, value in vars(module).items() if name.startswith("EXIT_")}


def _rows(codes: dict[str, int], meanings: dict[str, str]) -> list[tuple[str, str]]:
    """Return a row for each code; raises `ValueError` if one has no meaning here, or a meaning no code."""
    if codes.keys() != meanings.keys():
        raise ValueError(f"describe exactly these exit codes: {', '.join(codes)}")
    return [(str(codes[name]), meanings[name]) for name in sorted(codes, key=codes.__getitem__)]
