"""The questions of nodes, and why a run comes to a node or an end, in the document's words: `5 FAIL: GOTO Restore`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from backends.github.filling import as_written
from backends.github.scalar import comment, label
from compiler.ir.edges import Edge, words_of
from compiler.ir.program import Node, Program
from compiler.ir.tasks import Ask, Branch, End, Gate, Verdict


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


MOST = 5

LONGEST_MESSAGE = 60
"""Characters of a message in a comment. The end's step has the whole message."""


def transitions_to(program: Program, *nodes: Node) -> Iterator[str]:
    """Yield the transitions to some nodes, each as a comment. Only the first ones are shown."""
    targets = {node.id for node in nodes}
    found = dict.fromkeys(
        f"{_said(node, edge)}"
        for node in program.nodes
        for edge in node.edges
        if edge.target in targets and node.id not in targets
    )
    for said in list(found)[:MOST]:
        yield comment(said)
    if len(found) > MOST:
        yield f"and {len(found) - MOST} more"


def transitions_from(node: Node, nodes: Mapping[str, Node]) -> Iterator[str]:
    """Yield the transitions from a node, each as a comment: `PASS: CONTINUE`, `FAIL: STOP "It is broken"`."""
    for edge in node.edges:
        word = _word(node, edge)
        if word and edge.label:
            yield comment(f"{word}: {edge.label}{_message(edge, nodes[edge.target])}")


def _message(edge: Edge, target: Node) -> str:
    """Return an end's message, for display after the transition's word."""
    if not isinstance(target.task, End) or edge.label.upper() != target.task.result.upper() or not target.task.message:
        return ""
    return f' "{label(" ".join(as_written(str(target.task.message)).split()), LONGEST_MESSAGE)}"'


def _said(node: Node, edge: Edge) -> str:
    """Return a transition as its author wrote it. If it follows from a step's transition, it starts with the step."""
    name = node.id.replace("/", " ") if isinstance(node.task, Branch) else f"{node.id} {_word(node, edge)}".strip()
    joined = ", " if edge.written and edge.written[0].step else ": "
    return joined.join(filter(None, (name, edge.label)))


def _word(node: Node, edge: Edge) -> str:
    """Return the outcome that an edge needs, in the document's words; "" for any."""
    words: Iterable[str] = words_of([edge])
    passed, failed = verdict_words(node)
    shown = {Verdict.PASS.value: passed, Verdict.FAIL.value: failed}
    return "".join(shown.get(word, word) for word in words)
