"""The texts of nodes as they are put to people and agents."""

from __future__ import annotations

from backends.github.scalar import comment, label
from compiler.ir.program import Node, Program
from compiler.ir.tasks import Ask, Gate


def verdict_words(node: Node) -> tuple[str, str]:
    """The words for the outcomes of a node: YES and NO where that is the question (M3), else PASS and FAIL."""
    is_yes_no = isinstance(node.task, Ask) and node.task.question == "yes_no"
    return ("YES", "NO") if is_yes_no else ("PASS", "FAIL")


def example(program: Program) -> str:
    """An answer that a program takes, with the node that it is for: `3 yes`."""
    asking = (node for node in program.nodes if isinstance(node.task, (Ask, Gate)))
    return next((f"{label(node.id, 60)} {_reply(node)}" for node in asking), "pass")


def _reply(node: Node) -> str:
    task = node.task
    if not isinstance(task, Ask):
        return "approved"
    options = [label(str(option), 60) for option in task.options]
    return {"confirm": "yes", "input": "a text", "select": [*options, "an option"][0]}.get(
        task.question, verdict_words(node)[0].lower()
    )


def question(node: Node, *, last_line: bool = False) -> str:
    """The prompt of a node that asks, with its code block and what may be answered, as Markdown; else nothing.

    `last_line` says that only the last line of a long answer counts.
    """
    task = node.task
    if not isinstance(task, Ask):
        return ""
    words = " or ".join(verdict_words(node))
    parts = [str(task.prompt)]
    if task.block is not None:
        block, fence = str(task.block), "```"
        while fence in block:
            fence += "`"
        parts.append(f"{fence}{task.language}\n{block}\n{fence}")
    parts.append(f"End your answer with a line that is just {words}." if last_line else f"Answer {words}.")
    return "\n\n".join(part for part in parts if part) + "\n"


_BY_PEOPLE = "by the input `answers` or in a run that goes on with this one."
BY_PEOPLE = f"A person answers, {_BY_PEOPLE}"


def by_people(node: Node) -> str:
    """Who answers a node, and what may be said where a text is not free."""
    if not isinstance(node.task, Ask) or node.task.question not in {"confirm", "select"}:
        return BY_PEOPLE
    if node.task.question == "confirm":
        return f"A person says yes or no, {_BY_PEOPLE}"
    options = ", ".join(f'"{option}"' for option in node.task.options)
    return f"A person chooses one of {comment(options)}, {_BY_PEOPLE}"
