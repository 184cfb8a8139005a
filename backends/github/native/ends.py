"""The ends of a runbook as steps, one for each end, which show its message in the summary of the run (T-30).

An end without a message needs no step: a job completes if nothing in it fails, and stops at a node that fails.
"""

import shlex
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from backends.common.identifiers import SUMMARY
from backends.common.templates import render
from backends.github.native.nodes import title
from backends.github.workflow.document import all_of
from backends.github.workflow.filling import as_words, as_written, is_marked, uncertain
from backends.github.workflow.transitions import verdict_words
from backends.github.yaml.model import PLAIN_SHELL, WORDS, Step, compare
from backends.github.yaml.scalar import FILTERS, Expression, label
from backends.scheduling.condition import FALSE, TRUE, Condition, Literal, expression, some
from backends.scheduling.plan import Plan
from compiler.ir.program import Node
from compiler.ir.tasks import Ask, End, Shell

LONGEST_NAME = 300  # characters of a message in the name of its step; the script has the whole message

_SUMMARY = '>> "$GITHUB_STEP_SUMMARY"'
AS_TEXT = r"tr -s '\r\n' '\n' | sed 's/[][\\`*_<>|#&~!$]/\\&/g' | paste -sd ' ' -"
"""Writes any string as one line without syntax of Markdown or HTML."""

_SPECIAL = str.maketrans({character: f"\\{character}" for character in "\\`*_[]<>|#&~!${"})


class Reached(Struct, frozen=True):
    """An end with its word, the condition under which a job reaches it, and the node failures that lead to it."""

    node: Node
    word: str
    condition: Condition
    halts: Sequence[Literal]


class Ends(Struct, frozen=True):
    """Writes the ends that a job may reach.

    With `headed`, ends without a message have steps too, and ends are headings. `given` are the expressions of outputs,
    by their names; by default, outputs are variables of the job. Inputs always are.
    """

    plan: Plan
    headed: bool
    given: Mapping[str, str] = {}

    def steps(self) -> Iterator[Step]:
        """Yield the steps in document order."""
        for end in self._reached():
            message = self._message(end.node)
            if message or self.headed or (end.condition != FALSE and end.word == "STOP"):
                yield self._step(end, message)

    def _reached(self) -> Iterator[Reached]:
        plan, names = self.plan, self.plan.ids.nodes
        here = {names[place.name] for place in self.plan.places}
        home = {node.id: place for place in self.plan.places for node in place.nodes}
        for node in plan.program.nodes:
            if not isinstance(node.task, End):
                continue
            condition: Condition = FALSE
            place = home.get(node.id)
            if place:
                left = Literal(names[place.name], WORDS.next, "==", names[node.id])
                condition = left if place.kind == "loop" else plan.flow.reached[place.name]
            halts = [literal for literal in plan.flow.halts.get(node.id, ()) if literal.step in here]
            if halts or condition != FALSE:
                yield Reached(node, node.task.result.upper(), condition, halts)

    def _step(self, end: Reached, message: str) -> Step:
        word, is_of_loop = end.word, isinstance(message, Expression)
        env = {name: self.given.get(name, value) for name, value in uncertain(message).items()}
        lines = [_said(word, message, "### " if self.headed else ""), *(["exit 1"] if word == "STOP" else [])]
        return Step(
            name=word if is_of_loop or not message else label(f"{word}: {as_written(message)}", LONGEST_NAME),
            id=self.plan.ids.nodes[end.node.id],
            condition=_condition(end),
            env={"MESSAGE": message} if is_of_loop else env,
            run="\n".join(lines) + "\n" if lines[1:] else lines[0],
        )

    def _message(self, node: Node) -> str:
        """Return the message on one line: in a loop, the loop's output, which has the instance numbers."""
        assert isinstance(node.task, End)  # noqa: S101 (tells mypy)
        plan, names = self.plan, self.plan.ids.nodes
        loops = [place for place in self.plan.places if place.kind == "loop" and node in place.nodes]
        if loops and node.task.message:
            return Expression(f"${{{{ steps.{names[loops[0].name]}.outputs.message }}}}")
        return " ".join(str(node.task.message.known(plan.numbers(node))).split())


def _said(word: str, message: str, mark: str) -> str:
    """Return the line that shows an end. Neither its text nor a value can be syntax of bash or Markdown."""
    marked = AS_TEXT + (f" | sed 's/^/{mark}/'" if mark else "") + f" {_SUMMARY} # as one line of plain text"
    if isinstance(message, Expression):
        return f'echo "{word} $MESSAGE" | {marked}'
    if is_marked(message):
        return f"{_printing(as_words(f'{word} {message}'))} | {marked}"
    text = f"{mark}{word} {as_text(message)}".strip()
    return f"{_printing(as_words(text) if '$' in text or '`' in text else shlex.quote(text))} {_SUMMARY}"


def _printing(word: str) -> str:
    """Return the command that prints a word. Some `echo`s interpret backslashes."""
    return f"printf '%s\\n' {word}" if "\\" in word else f"echo {word}"


def _condition(end: Reached) -> str:
    reached = "" if end.condition == TRUE else expression(end.condition, compare)
    if not end.halts:
        return reached
    failed = f"failure() && {_operand(expression(some(*end.halts), compare))}"
    if end.condition == FALSE:
        return failed
    return f"success(){f' && {_operand(reached)}' if reached else ''} || {failed}"


def _operand(text: str) -> str:
    return f"({text})" if "||" in text else text


def as_text(text: str) -> str:
    """Return a line as Markdown that shows it as it is."""
    return text.translate(_SPECIAL)


def summary_step(plan: Plan, flow: str) -> Step:
    """Return the step that writes the run summary. `flow` is the graph as Mermaid, empty for none."""
    ids, nodes = plan.ids.nodes, [node for place in plan.places for node in place.nodes]
    yes_no = " ".join(ids[node.id] for node in nodes if verdict_words(node)[0] == "YES")
    titles = (f"{ids[node.id]} {shown_title(node)}" for node in nodes if isinstance(node.task, (Shell, Ask)))
    env = {"STEPS": "\n".join(titles) + "\n"}
    if yes_no:
        env["YES_NO"] = yes_no
    if flow:
        env["FLOW"] = flow
    return Step(
        name="Summary",
        id=SUMMARY,
        comments=("Shows the steps that ran as a table in the run summary.",),
        condition=all_of("!cancelled()"),
        shell=PLAIN_SHELL,
        env=env,
        run=render("github/summary.sh", FILTERS, yes_no=yes_no, flow=flow),
    )


def shown_title(node: Node) -> str:
    """Return a node's name for the summary table, as Markdown."""
    return as_text(title(node))
