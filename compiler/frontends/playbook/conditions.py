"""Handle markers that name an input without comparing it; only boolean inputs can be conditions (P14)."""

from __future__ import annotations

from compiler.frontends.playbook.directives import read_input
from compiler.frontends.playbook.lines import Line, Scanned


def with_conditions(scanned: Scanned) -> Scanned:
    """Return the lines with markers of non-boolean inputs as text; this needs all lines, as INPUTS may come last."""
    bare = [line for line in scanned.lines if _is_bare(line)]
    if not bare:
        return scanned
    inputs = (read_input(line) for line in scanned.lines if line.kind == "INPUT")
    booleans = {declared.name for declared in inputs if declared.type == "boolean"}
    odd = [line for line in bare if line.get("name") not in booleans]
    numbers = {line.number for line in odd}
    lines = [_text(line) if line.number in numbers else line for line in scanned.lines]
    return Scanned(lines, [*scanned.odd, *map(_text, odd)])


def _is_bare(line: Line) -> bool:
    return line.kind in ("IF", "ELIF") and line.found is not None and line.found["operator"] is None


def _text(line: Line) -> Line:
    return Line("TEXT", line.number, line.last, line.column)
