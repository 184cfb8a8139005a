"""The tasks of steps in the runtime's format."""

from __future__ import annotations

from typing import Any, assert_never

from compiler.ir.tasks import PASS_OR_FAIL, Agent, Ask, Branch, Gate, Parallel, Shell, Stage, Task, Tool, alphabet


def task_table(task: Task, original: Task) -> dict[str, Any]:
    """Return the keys of a task whose strings have marks; `words` only if they are not pass and fail.

    Args:
        task: The task with marks for its references.
        original: The task before that. The words of a select are its options as written.
    """
    if task.kind == "shell":  # most tasks are, and they have no other words
        return _shell(task)
    if task.kind == "end":
        return {"task": "end", "result": task.result, "message": str(task.message)}
    words = alphabet(original)
    kept = list(words) if words and words != PASS_OR_FAIL else []
    match task:
        case Ask():
            return _ask(task, list(words))
        case Agent():
            return {"task": "agent"} | _agent(task) | given(words=kept, report=task.report)
        case Tool(connection, tool, arguments, optional=is_optional):
            called: dict[str, Any] = {
                "task": "tool",
                "connection": connection,
                "tool": tool,
                "arguments": str(arguments),
            }
            return called | given(optional=is_optional)
        case Parallel(entries, check, unanimous=unanimous):
            called = {"task": "parallel", "entries": [_agent(entry) for entry in entries], "check": check}
            called |= {"failing": list(task.failing_words), "unanimous": list(unanimous)}
            return called | given(words=kept, report=task.report)
        case Gate(gate, reason):
            return {"task": "gate", "gate": gate} | given(reason=str(reason), words=kept)
        case Stage():
            return _stage(task)
        case Branch():
            return {"task": "branch"}
        case _:
            assert_never(task)


def _shell(task: Shell) -> dict[str, Any]:
    found: dict[str, Any] = {"task": "shell", "shell": task.interpreter}
    if prompt := str(task.prompt):
        found["prompt"] = prompt
    found["command"] = str(task.command)
    return found


def _stage(task: Stage) -> dict[str, Any]:
    found: dict[str, Any] = {"task": "stage", "stage": task.stage, "step": task.step}
    if task.stage == "tool":
        found["place"] = task.place
    return found | given(subject=task.subject, paths=list(map(str, task.paths)), checks=list(task.checks))


def _ask(task: Ask, words: list[str]) -> dict[str, Any]:
    shown = given(prompt=str(task.prompt), language=task.language, block=str(task.block or ""))
    match task.question:
        case "pass_fail" | "yes_no":
            return {"task": "ask", "question": task.question.replace("_", "/")} | shown
        case "input":
            return {"task": "input"} | shown | {"words": ["pass"]}
        case "confirm":
            return {"task": "confirm"} | shown | {"words": words}
        case "select":
            options = [str(option) for option in task.options]
            return {"task": "select"} | shown | {"words": words} | given(options=options if options != words else None)
        case _:
            assert_never(task.question)


def _agent(task: Agent) -> dict[str, Any]:
    """Return an agent, or an entry of a parallel task."""
    reading = task.reading
    return {"agent": task.agent, "prompt": str(task.prompt)} | given(
        context=task.context,
        keywords=list(reading.keywords),
        validation=reading.validation,
        excused=list(reading.excused),
        failing=list(reading.failing),
    )


def given(**fields: object) -> dict[str, Any]:
    """Return the fields with a value."""
    return {name: value for name, value in fields.items() if value}
