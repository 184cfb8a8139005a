"""Small workflows written by hand, and how tests run and store workflows."""

import textwrap
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from compiler.ir.program import Program
from tests.backends.github import routed
from tests.backends.github.routed import compiled
from tests.support.actions_engine import EngineRun

Engine = Callable[..., EngineRun]
Clean = Callable[[str], None]
"""Has the linters look at a workflow, of which they must find nothing."""

HEAD = "on:\n  workflow_dispatch:\n"
MATRIX = """\
one:
  name: ${{ matrix.entry }} (${{ matrix.agent }}) of ${{ strategy.job-total }}
  strategy:
    fail-fast: false
    matrix:
      include:
        - {entry: 0, agent: a b}
        - {entry: 1, agent: "${{ 'c' }}"}
  steps:
    - {id: a, if: "contains(fromJSON('[0]'), matrix.entry)", run: 'true'}
    - {id: b, run: "test ! -e here -a $GITHUB_RUN_ATTEMPT -gt ${{ matrix.entry }} && touch here"}
two:
  needs: one
  if: "!cancelled()"
  steps:
    - {id: c, if: "needs.one.result == 'success'", run: 'true'}
"""


def steps(text: str) -> str:
    body = textwrap.indent(textwrap.dedent(text), "      ")
    return f"{HEAD}jobs:\n  one:\n    runs-on: ubuntu-latest\n    steps:\n{body}"


def jobs(text: str) -> str:
    """A workflow of these jobs, in blocks or each on a line; one without steps has a step that does nothing."""
    lines = []
    for line in textwrap.dedent(text).strip().splitlines():
        name, is_flow, rest = line.partition(": {")
        if is_flow and not line.startswith(" "):
            own = "" if "steps: " in rest else "steps: [], "
            lines.append(f"  {name}: {{runs-on: ubuntu-latest, {own}{rest}")
            continue
        lines.append(f"  {line}")
        if not line.startswith(" "):
            lines.append("    runs-on: ubuntu-latest")
    whole = "\n".join(lines)
    return f"{HEAD}jobs:\n{whole}\n".replace("steps: []", "steps: [{run: 'true'}]")


def run(folder: Path, workflow: str, number: int = 1, **more: Any) -> EngineRun:
    """Run a workflow whose commands write to the folder `$FOLDER`."""
    return routed.run(folder, workflow, None, number, **more)


def succeeded(
    folder: Path, made: Program, clean: Clean, options: Mapping[str, object] | None = None, **more: Any
) -> EngineRun:
    """Run the workflow of a program, which has native steps alone."""
    workflow = compiled(made, options)
    assert "CALL" not in workflow
    clean(workflow)
    done = run(folder, workflow, **more)
    assert done.conclusion == "success", done.log
    return done


def shown(folder: Path) -> list[str]:
    """The parts of the file `$FOLDER/shown`, each of which ends with `|`."""
    path = folder / "shown"
    return path.read_bytes().decode().split("|")[:-1] if path.exists() else []
