"""The task of a run: `--task` and `--task-file` give the input of that name (W15)."""

import types

from runtime_shim.data.inputs import GIVES
from runtime_shim.engine.command_line import OPTIONS
from runtime_shim.engine.program import RefusedError
from runtime_shim.tasks.files import read_text

TASK_INPUT = "task"


def task_of(options: types.SimpleNamespace) -> dict[str, str]:
    """Return the task, if one of the two options gives it."""
    choices = [
        options.task,
        options.task_file,
        next((word for word in options.input if word.startswith(f"{TASK_INPUT}=")), None),
    ]
    if len(choices) - choices.count(None) > 1:
        raise RefusedError("the task is given twice: --task, --task-file and --input task= are one")
    if options.task is not None:
        return {TASK_INPUT: options.task}
    return {TASK_INPUT: read_text(options.task_file)} if options.task_file is not None else {}


GIVES.append(task_of)
OPTIONS += [
    ("run", "--task", "TEXT", "what is to be done"),
    ("run", "--task-file", "FILE", "the same, from a file"),
]
