"""Whether committed output is still what would be generated."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import unified_diff

from compiler.diagnostic import Diagnostic
from rdc.outputs import Output
from rdc.reporting.cells import visible


@dataclass(frozen=True)
class Difference:
    """An output that is not up to date: the finding, and a unified diff to what it should be ("" without a file)."""

    finding: Diagnostic
    diff: str


def compare(output: Output, data: bytes) -> Difference | None:
    """The difference between the file of an output and what it should hold; None if there is none."""
    try:
        present = output.place.read_bytes()
    except FileNotFoundError:
        return Difference(_finding(output, f"{output.path} does not exist"), "")
    except OSError as error:
        return Difference(_finding(output, f"cannot read {output.path}: {error.strerror}"), "")
    if present == data:
        return None
    message = (
        f"{output.path} is not what rdc generates from {output.source}: it was edited, its source or rdc changed, "
        "or the project has another root"
    )
    path = visible(output.path)
    lines = unified_diff(_lines(present), _lines(data), path, f"{path} (as generated)", lineterm="")
    return Difference(_finding(output, message), "\n".join(visible(line) for line in lines))


def _finding(output: Output, message: str) -> Diagnostic:
    return Diagnostic("RD512", output.path, None, message, "compile it again without --check")


def _lines(data: bytes) -> list[str]:
    return data.decode(errors="replace").split("\n")
