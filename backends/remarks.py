"""What whoever reads a generated file is told of its steps: what stands above a command, what a placeholder means."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from compiler.ir.program import Node, Program, Register, texts_of
from compiler.ir.tasks import Agent

MOST = 8
"""So many lines are shown; the document has all of them."""


def remarks(node: Node) -> list[str]:
    """The first lines of the prompt of a command that are not blank."""
    task = node.task
    if task.kind != "shell" or not task.prompt.parts:
        return []
    lines = [line for line in str(task.prompt).splitlines() if line.strip()]
    return lines if len(lines) <= MOST else [*lines[:MOST], "…"]


def comment(text: str, longest: int = 200) -> str:
    """A text that can stand in a comment: on one line, of a bearable length, without characters that do not print."""
    shown = text[:longest]
    if not shown.isprintable():
        shown = "".join(character if character.isprintable() else " " for character in shown)
    return shown + "…" if len(text) > longest else shown


def shells(program: Program) -> list[str]:
    """The shells by which the commands of a program run."""
    return sorted({node.task.interpreter for node in program.nodes if node.task.kind == "shell"})


def listed(things: Sequence[str]) -> str:
    """Things one after the other, as a sentence has them: `make, bash and python3`."""
    return f"{', '.join(things[:-1])} and {things[-1]}" if things[1:] else "".join(things)


def of_contexts(program: Program, where: str) -> Iterator[str]:
    """A sentence on what stands above prompts, if there is anything (I31)."""
    if program.contexts:
        yield f"A prompt starts with the outputs of earlier steps that its `context` lists: see {where}."


def of_placeholders(nodes: Iterable[Node], registers: Iterable[Register]) -> Iterator[str]:
    """A sentence on what becomes of the placeholders in the texts of some nodes; nothing where they have none (M5)."""
    instances = {register.name for register in registers if register.role == "instance"}
    if not instances:
        return
    texts = (text for node in nodes for text in (node.title, *texts_of(node)))
    found = {item.written for text in texts for item in text.references if item.register in instances}
    if found:
        yield f"{listed([f'`{name}`' for name in sorted(found)])} in a text is the number of the instance."


_SECONDS = ("timeout", "delay", "pause")
"""The settings of a step that are times."""


def of_settings(program: Program, lines: Sequence[str]) -> Iterator[str]:
    """Sentences on what the author's part takes for granted: seconds, variables, what an agent's answer can do.

    `lines` is the author's part as it is written: it says which settings there are.
    """
    text = "\n".join(lines)
    if times := [f"`{name}`" for name in _SECONDS if _is_setting(name, r"\d", text)]:
        yield f"{listed(times)} {'are' if times[1:] else 'is'} in seconds."
    if _is_setting("timeout", "", text):
        yield "A step that takes longer than its `timeout` is ended, and fails."
    if _is_setting("backoff", "", text):
        yield "The `delay` before a further attempt is multiplied by `backoff` each time."
    if "$RDC_ATTEMPT" in text or "${RDC_ATTEMPT" in text:
        yield "In a command, `$RDC_ATTEMPT` is the number of the attempt, from 1."
    if secrets := [f"`{name}`" for name in program.secrets]:
        are, each = ("secrets", "them") if secrets[1:] else ("secret", "it")
        yield f"Set the {are} {listed(secrets)} in the environment, to at least four characters. Commands get {each}."
        yield "rdc's own files and messages show *** instead, but not what commands print or write."
    yield from _of_agents(program)
    if "placeholders=" in text or "contexts=" in text:
        yield "A placeholder lists its value, the text before it and after it, and the text where it has no value."


def _is_setting(name: str, value: str, text: str) -> bool:
    """Whether a line of a text begins with a setting; most texts have none of that name, which is soon seen."""
    return f"{name}=" in text and bool(re.search(rf"^ *{name}={value}", text, re.MULTILINE))


def _of_agents(program: Program) -> Iterator[str]:
    """Sentences on who answers prompts, and what becomes of an answer (W9, W10)."""
    tasks = [entry for node in program.nodes for entry in getattr(node.task, "entries", (node.task,))]
    agents = [task for task in tasks if type(task) is Agent]
    if agents and program.limit:
        yield "A run stops after `limit` steps; gates do not count. `resume --max-steps NUMBER` continues it."
    if agents:
        yield "`--agent COMMAND` or RDC_AGENT names the command that gets each prompt on its standard input."
        yield "Without one, each prompt waits until a person gives the reply with `answer`."
    if any(task.reading.keywords for task in agents):
        yield "A keyword counts where an answer has it as a whole word. The last line that has one decides."
    for word in sorted({word for task in agents for word in task.reading.excused}):
        yield f"An answer with {word} ends the run as COMPLETE at any step: this is a rule of the format."
