"""Programs in whose place nothing of the document is executed: each command only says what it is told to."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from compiler.ir.program import Program
from compiler.ir.semantics import Outcome
from compiler.ir.tasks import Agent, Ask, Parallel, Shell, Tool
from compiler.ir.texts import text
from compiler.scenarios import Said

# Takes the first line of the outcomes away, gives the outputs in the file that it names, and says what stood there.
_SCRIPT = """\
cd -- "$(dirname -- "$0")" || exit
read -r outcome values < outcomes
sed 1d outcomes > rest && mv rest outcomes
[ -z "$values" ] || cat "$values" >> "$RDC_OUTPUT"
[ "$outcome" = pass ]
"""


def with_stand_ins(program: Program, folder: Path, outcomes: Sequence[Outcome]) -> Program:
    """The same program with commands that have these outcomes one after the other; they keep them in the folder."""
    lines = [outcome.word for outcome in outcomes]
    for number, outcome in enumerate(outcomes):
        if outcome.values:
            said = "".join(f"{name}={value}\n" for name, value in outcome.values)
            (folder / f"values.{number}").write_bytes(said.encode())
            lines[number] += f" values.{number}"
    (folder / "outcomes").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    script = folder / "stand-in.sh"
    script.write_text(_SCRIPT, encoding="utf-8")
    command = text(shlex.join(["sh", str(script)]))
    nodes = tuple(
        replace(node, task=replace(node.task, command=command)) if isinstance(node.task, Shell) else node
        for node in program.nodes
    )
    return replace(program, nodes=nodes)


# --- Agents, tools and texts -----------------------------------------------------------------------------------------

_CALLEE = """#!/bin/sh
# Says what the scenario has for the next call of a step; where it has nothing, the call fails.
cat > /dev/null
cd "$(dirname "$0")" || exit 1
case ${RDC_STEP-} in
%s
*) exit 1 ;;
esac
printf . >> "calls.$step"
number=$(($(wc -c < "calls.$step")))
[ -f "said.$step.$number" ] && exec cat "said.$step.$number"
"""


def with_answers(folder: Path, said: Sequence[Said]) -> str:
    """A command that stands for all agents and tools: it says for each step its answers, and fails for None.

    Those of several steps may be asked for at the same time.
    """
    own = folder / "callee"
    own.mkdir()
    steps: dict[str, list[Said]] = {}
    for one in said:
        steps.setdefault(one.step, []).append(one)
    for place, answers in enumerate(steps.values()):
        for number, one in enumerate(answers, 1):
            if one.text is not None:
                (own / f"said.{place}.{number}").write_bytes(one.text.encode())
    script = own / "say.sh"
    cases = "\n".join(f"{shlex.quote(step)}) step={place} ;;" for place, step in enumerate(steps))
    script.write_text(_CALLEE % cases, encoding="utf-8")
    return shlex.join(["sh", str(script)])


def calls(program: Program) -> bool:
    """Whether a program calls agents or tools."""
    return any(isinstance(node.task, Agent | Parallel | Tool) for node in program.nodes)


def speaks(program: Program) -> bool:
    """Whether replies may be texts, which no word stands for: agents, tools and other questions than runbooks have."""
    asked = (node.task.question for node in program.nodes if isinstance(node.task, Ask))
    return calls(program) or any(question in ("input", "select", "confirm") for question in asked)
