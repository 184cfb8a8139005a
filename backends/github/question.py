"""The questions of nodes, as people and agents get them."""

from __future__ import annotations

from backends.github.scalar import comment, label
from compiler.ir.program import Node, Program
from compiler.ir.tasks import Ask, Gate


def verdict_words(node: Node) -> tuple[str, str]:
    """Return the words for a node's outcomes: YES and NO if it asks for these (M3), otherwise PASS and FAIL."""
    is_yes_no = isinstance(node.task, Ask) and node.task.question == "yes_no"
    return ("YES", "NO") if is_yes_no else ("PASS", "FAIL")


def example(program: Program) -> str:
    """Return a reply that the program accepts, with its node: `3 yes`."""
    asking = (node for node in program.nodes if isinstance(node.task, (Ask, Gate)))
    return next((f"{label(node.id, 60)} {_reply(node)}" for node in asking), "pass")


def _reply(node: Node) -> str:
    task = node.task
    if not isinstance(task, Ask):
        return "approved"
    options = [label(str(option), 60) for option in task.options]
    return {"confirm": "yes", "input": "some text", "select": [*options, "an option"][0]}.get(
        task.question, verdict_words(node)[0].lower()
    )


def question(node: Node, *, last_line: bool = False) -> str:
    """Return a node's question as Markdown, with its code block and possible replies; "" if it asks nothing.

    `last_line` means that only the last line of a long reply counts.
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


_BY_PEOPLE = "in the input `answers` or in a run that continues this one."
BY_PEOPLE = f"A person answers, {_BY_PEOPLE}"


def by_people(node: Node) -> str:
    """Return who answers a node, with its possible replies unless any text will do."""
    if not isinstance(node.task, Ask) or node.task.question not in {"confirm", "select"}:
        return BY_PEOPLE
    if node.task.question == "confirm":
        return f"A person answers yes or no, {_BY_PEOPLE}"
    options = ", ".join(f'"{option}"' for option in node.task.options)
    return f"A person chooses one of {comment(options)}, {_BY_PEOPLE}"
