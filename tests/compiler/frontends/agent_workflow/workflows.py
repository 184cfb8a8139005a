"""Short-hands for tests over agent workflows."""

from pathlib import Path
from textwrap import dedent

from compiler.driver import Compilation, compile_file
from compiler.ir.answers import of_agent, of_parallel
from compiler.ir.program import Program
from compiler.ir.semantics import Machine, Outcome, State
from compiler.ir.tasks import Agent, Parallel
from tests.support.documents import finding

NAME = "main.workflow.yaml"


def compiled(folder: Path, text: str | bytes, name: str = NAME) -> Compilation:
    """What becomes of a workflow in a folder of its own."""
    (folder / "rdc.toml").touch()
    (folder / name).write_bytes(dedent(text).encode() if isinstance(text, str) else text)
    return compile_file(str(folder / name))


def steps(folder: Path, text: str) -> Compilation:
    """What becomes of a workflow with these steps; the first of them stands in line 3."""
    return compiled(folder, f"name: a workflow\nsteps:\n{dedent(text).lstrip(chr(10))}")


def findings(compilation: Compilation) -> list[str]:
    """The findings as `CODE line:column`, in order."""
    return [finding(item) for item in compilation.diagnostics]


def program_of(compilation: Compilation) -> Program:
    """The program of a workflow, which must have no errors."""
    assert compilation.program, [item.message for item in compilation.diagnostics]
    return compilation.program


def answered(machine: Machine, state: State, *answers: str | None) -> State:
    """Where a run goes on when the agents of a step say this; None for no answer."""
    task = machine.nodes[state.node].task
    given = [None if answer is None else answer.encode() for answer in answers]
    outcome: Outcome
    if isinstance(task, Agent):
        outcome = of_agent(task, given[0])
    else:
        assert isinstance(task, Parallel)
        outcome = of_parallel(task, given)
    return machine.advance(state, outcome).state


def prompt(machine: Machine, state: State, index: int = 0) -> str:
    """What an agent of a step is told."""
    task = machine.nodes[state.node].task
    if isinstance(task, Parallel):
        task = task.entries[index]
    assert isinstance(task, Agent)
    return machine.text(state, task.prompt)


def end(machine: Machine, state: State) -> str:
    """How a run has ended, with its message; "" where it goes on."""
    found = machine.end(state)
    return f"{found.result} {found.message}".strip() if found else ""
