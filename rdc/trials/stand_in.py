"""Programs that execute nothing of the document: each command only returns given outcomes."""

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

# Takes the first line of the outcomes, writes the outputs in its file, and returns its outcome.
_SCRIPT = """\
cd -- "$(dirname -- "$0")" || exit
read -r outcome values < outcomes
sed 1d outcomes > rest && mv rest outcomes
[ -z "$values" ] || cat "$values" >> "$RDC_OUTPUT"
[ "$outcome" = pass ]
"""


def with_stand_ins(program: Program, folder: Path, outcomes: Sequence[Outcome]) -> Program:
    """Return the program with commands that return these outcomes in order. They are stored in the folder."""
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
# Prints the scenario's next answer for a step. Without an answer, the call fails.
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
    """Return a command that replaces all agents and tools: it prints each step's answers, and fails for None.

    Several steps may call it at the same time.
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
    """Return whether a program calls agents or tools."""
    return any(isinstance(node.task, Agent | Parallel | Tool) for node in program.nodes)


def speaks(program: Program) -> bool:
    """Return whether replies may be free text, as for agents, tools, and some questions."""
    asked = (node.task.question for node in program.nodes if isinstance(node.task, Ask))
    return calls(program) or any(question in ("input", "select", "confirm") for question in asked)
