"""The texts of units as they are put to people and agents."""

from __future__ import annotations

from compiler.ir.program import Ask, End, Node, Shell


def question(node: Node, *, last_line: bool = False) -> str:
    """The prompt of a unit that asks, with its code block and what may be answered, as Markdown; else nothing.

    `last_line` says that only the last line of a long answer counts.
    """
    task = node.task
    if not isinstance(task, Ask):
        return ""
    words = "YES or NO" if task.question == "yes_no" else "PASS or FAIL"
    parts = [task.prompt]
    if task.block is not None:
        fence = "```"
        while fence in task.block:
            fence += "`"
        parts.append(f"{fence}{task.language}\n{task.block}\n{fence}")
    parts.append(f"End your answer with a line that is just {words}." if last_line else f"Answer {words}.")
    return "\n\n".join(part for part in parts if part) + "\n"


def text_of(node: Node) -> str:
    """All of a unit's texts in which placeholders are replaced (M5), its title aside."""
    match node.task:
        case Shell(command=command):
            return command
        case Ask(prompt=prompt, block=block):
            return f"{prompt}\n{block or ''}"
        case End(message=message):
            return message
        case _:
            return ""
