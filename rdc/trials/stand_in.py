"""Programs in whose place nothing of the document is executed: each command only says what it is told to."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from compiler.ir.program import Program
from compiler.ir.tasks import Shell, Verdict
from compiler.ir.texts import text

# Takes the first line of the outcomes away, and says what stood there.
_SCRIPT = """\
cd -- "$(dirname -- "$0")" || exit
outcome=$(head -n 1 outcomes)
sed 1d outcomes > rest && mv rest outcomes
[ "$outcome" = pass ]
"""


def with_stand_ins(program: Program, folder: Path, outcomes: Sequence[Verdict]) -> Program:
    """The same program with commands that have these outcomes one after the other; they keep them in the folder."""
    (folder / "outcomes").write_text("".join(f"{outcome}\n" for outcome in outcomes), encoding="utf-8")
    script = folder / "stand-in.sh"
    script.write_text(_SCRIPT, encoding="utf-8")
    command = text(shlex.join(["sh", str(script)]))
    nodes = tuple(
        replace(node, task=replace(node.task, command=command)) if isinstance(node.task, Shell) else node
        for node in program.nodes
    )
    return replace(program, nodes=nodes)
