"""Write draft scenarios for runbooks; they go into the frontmatter and execute nothing."""

import posixpath
import shlex

from compiler.frontends.common.drafts import Draft, comment, scalar
from compiler.ir.paths import Path
from compiler.ir.program import Program
from compiler.ir.tasks import Ask
from compiler.scenarios.model import Scenario
from compiler.text.source import Source

_ANSWERS = {"pass": "yes", "fail": "no"}


def is_possible(_program: Program, _path: Path) -> bool:
    """Return whether a run can take a path: each step passes or fails."""
    return True


def script(program: Program, draft: Draft, document: str) -> list[str]:
    """Return the commands of a run, each with its step as a comment."""
    nodes = program.index()
    name = posixpath.basename(document)
    begin = shlex.join(["rd", "run", "--prompted", f"./{name}" if name.startswith("-") else name])
    lines = [f"  - {scalar(begin)}"]
    for made in draft.path.visits:
        task = nodes[made.step].task
        is_question = isinstance(task, Ask) and task.question == "yes_no"
        word = _ANSWERS[made.outcome.word] if is_question else made.outcome.word
        values = list(made.outcome.values)
        if isinstance(task, Ask) and task.value and word == "pass":
            values.append((task.value.name, made.outcome.text))
        given = (part for name, value in values for part in ("--value", f"{name}={value}"))
        titled = made.step if made.title in ("", made.step) else f"{made.step} {made.title}"
        lines.append(f"  - {scalar(shlex.join(['rd', word, *given]))}{comment(titled)}")
    return ["commands:", *lines]


def read(_source: Source, _program: Program) -> tuple[Scenario, ...] | None:
    """Return None: runbooks have no file for scenarios."""
    return None
