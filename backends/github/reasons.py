"""Why a run comes to a node or an end, in the document's words: `5 FAIL: GOTO Restore`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from backends.github.filling import as_written
from backends.github.question import verdict_words
from backends.github.scalar import comment, label
from compiler.ir.edges import Edge, words_of
from compiler.ir.program import Node, Program
from compiler.ir.tasks import Branch, End, Verdict

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
    """Return a transition as its author wrote it.

    If it follows from a step's transition, it starts with the step.
    """
    name = node.id.replace("/", " ") if isinstance(node.task, Branch) else f"{node.id} {_word(node, edge)}".strip()
    joined = ", " if edge.written and edge.written[0].step else ": "
    return joined.join(filter(None, (name, edge.label)))


def _word(node: Node, edge: Edge) -> str:
    """Return the outcome that an edge needs, in the document's words; "" for any."""
    words: Iterable[str] = words_of([edge])
    passed, failed = verdict_words(node)
    shown = {Verdict.PASS.value: passed, Verdict.FAIL.value: failed}
    return "".join(shown.get(word, word) for word in words)
