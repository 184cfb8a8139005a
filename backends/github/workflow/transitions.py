"""The questions of nodes, and why a run comes to a node or an end, in the document's words: `5 FAIL: GOTO Restore`."""

from collections.abc import Iterator, Mapping

from backends.github.workflow.filling import as_written
from backends.github.yaml.scalar import comment, label
from compiler.ir.edges import words_of
from compiler.ir.program import Node, Program
from compiler.ir.tasks import Ask, End, Gate, Verdict

BINARY = frozenset({"pass_fail", "yes_no"})
"""The kinds of questions with two possible replies."""


def verdict_words(node: Node) -> tuple[str, str]:
    """Return the words for a node's outcomes: YES and NO if it asks for these, otherwise PASS and FAIL."""
    is_yes_no = isinstance(node.task, Ask) and node.task.question == "yes_no"
    return ("YES", "NO") if is_yes_no else ("PASS", "FAIL")


def example(program: Program) -> str:
    """Return a reply that the program accepts, or a name for one, with its node: `3 yes`, `3 the value`."""
    asking = (node for node in program.nodes if isinstance(node.task, (Ask, Gate)))
    return next((f"{label(node.id, 60)} {_reply(node)}" for node in asking), "pass")


def _reply(node: Node) -> str:
    task = node.task
    if not isinstance(task, Ask):
        return "approved"
    options = [label(str(option), 60) for option in (task.value or task).options]
    known = {"select": [*options, "an option"][0], "value": [*options, "the value"][0]}
    return {"confirm": "yes", "input": "some text", **known}.get(task.question, verdict_words(node)[0].lower())


def transitions_from(node: Node, nodes: Mapping[str, Node]) -> Iterator[str]:
    """Yield the transitions from a node, each as a comment: `PASS: CONTINUE`, `FAIL: STOP "It is broken"`."""
    passed, failed = verdict_words(node)
    shown = {Verdict.PASS.value: passed, Verdict.FAIL.value: failed}
    for edge in node.edges:
        word = "".join(shown.get(word, word) for word in words_of([edge]))
        if word and edge.label:
            end = nodes[edge.target].task
            is_shown = isinstance(end, End) and edge.label.upper() == end.result.upper()
            message = " ".join(as_written(str(end.message)).split()) if isinstance(end, End) and is_shown else ""
            yield comment(f"{word}: {edge.label}" + (f' "{message}"' if message else ""))
