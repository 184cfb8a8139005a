"""From the parse tree of the blocks to the syntax tree; headers, transitions and info strings are parsed on the way."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from compiler.diagnostic import Diagnostic
from compiler.frontends.rundown.blocks import Block
from compiler.frontends.rundown.frontmatter import Frontmatter
from compiler.frontends.rundown.lines import Header, Kind, LineError, parse_header, parse_transition
from compiler.frontends.rundown.messages import (
    broken_duplicates,
    continued_transition,
    counted_in_words,
    header_problem,
    transition_problem,
)
from compiler.frontends.rundown.options import Layout
from compiler.frontends.rundown.syntax import (
    EXECUTABLE,
    UNKNOWN,
    Code,
    Goto,
    Reference,
    Runbook,
    Step,
    Substep,
    Target,
    Transition,
)
from compiler.grammar import Node
from compiler.regex import Regex
from compiler.source import Source, Span

TOO_DEEP: dict[Kind, re.Pattern[str]] = {
    "step": Regex(r"(\d+|\{N\})\.(\d|\{n\})"),
    "substep": Regex(r"(\d+|\{N\})\.(\d+|\{n\})\.\d"),
}
"""Headers such as `## 1.2 Title` and `### 1.2.3 Title`, whose title begins with a number by the grammar."""

BARE_NEXT = Regex(r":\s*(RETRY\s+(\d+\s+)?)?NEXT$")
"""An action that is only NEXT (G4)."""


class TreeBuilder:
    """Builds the syntax tree of one document and collects what is wrong inside its lines in `diagnostics`."""

    def __init__(self, source: Source, layout: Layout) -> None:
        self.source = source
        self.layout = layout
        self.diagnostics: list[Diagnostic] = []

    def runbook(self, tree: Node, frontmatter: Frontmatter) -> Runbook:
        """The syntax tree of a whole document."""
        title, description, *steps = tree.children
        return Runbook(
            "" if title is None else " ".join(title.text.split()),
            self._text(description),
            frontmatter.values,
            tuple(self._step(step) for step in steps),
            frontmatter.scenarios,
            declared=frontmatter.declared,
        )

    def _step(self, tree: Node) -> Step:
        first, prompt, body, transitions, substeps = self._parts(tree)
        header = self._header(first, "step")
        children = tuple(self._substep(substep) for substep in substeps)
        own = self._transitions(transitions)
        if self.layout == "after-body":
            children, moved = _step_transitions_below(children)
            own += moved
        return Step(
            id=header.step,
            title=header.title,
            prompt=self._text(prompt),
            code=self._code(body),
            runbooks=_references(body),
            substeps=children,
            transitions=own,
            span=first.span,
        )

    def _substep(self, tree: Node) -> Substep:
        first, prompt, body, transitions, _ = self._parts(tree)
        header = self._header(first, "substep")
        return Substep(
            parent=header.step,
            id=UNKNOWN if header.child is None else header.child,
            title=header.title,
            prompt=self._text(prompt),
            code=self._code(body),
            runbooks=_references(body),
            transitions=self._transitions(transitions),
            span=first.span,
        )

    def _parts(self, tree: Node) -> tuple[Block, Node, Node, Node, Sequence[Node]]:
        """Header, prompt, body, transitions and substeps of a step, in whichever layout it is written (V7)."""
        header, first, second, third, *substeps = tree.children
        if self.layout == "after-header":
            first, second, third = second, third, first
        return header, first, second, third, substeps

    def _text(self, tree: Node) -> str:
        """The lines from the first to the last block of a prompt or description, as they stand in the source."""
        if not tree.children:
            return ""
        start, end = tree.children[0].line, tree.children[-1].end_line
        return "\n".join(self.source.lines[start - 1 : end]).strip("\n").rstrip()

    def _header(self, block: Block, kind: Kind) -> Header:
        try:
            header = parse_header(block.text, kind)
        except LineError as error:
            self.diagnostics.append(header_problem(self.source, block, error, kind))
            return Header(UNKNOWN, None, "")
        if TOO_DEEP[kind].match(block.text):
            problem = f"this {kind} header has one number more than a {kind} has; it is taken as part of the title"
            remedy = "use `###` for a substep; put a space before a title that begins with a number"
            self.diagnostics.append(Diagnostic("RD034", self.source.path, block.span, problem, remedy))
        return header

    def _transitions(self, tree: Node) -> tuple[Transition, ...]:
        blocks = tree.children
        parsed = [self._transition(block) for block in blocks]
        self.diagnostics += broken_duplicates(self.source, zip(blocks, parsed, strict=True))
        return tuple(transition for transition in parsed if transition)

    def _transition(self, block: Block) -> Transition | None:
        if block.end_line > block.line:
            self.diagnostics.append(continued_transition(self.source, block))
        try:
            transition = parse_transition(block.text)
        except LineError as error:
            self.diagnostics.append(transition_problem(self.source, block, error))
            return None
        if counted := counted_in_words(self.source, block):
            self.diagnostics.append(counted)
        if BARE_NEXT.search(block.text):
            problem = "a bare NEXT is taken as GOTO NEXT"
            self.diagnostics.append(Diagnostic("RD042", self.source.path, block.span, problem, "write GOTO NEXT"))
        return _moved(transition, block.line, block.column)

    def _code(self, tree: Node) -> Code | None:
        block = next((block for block in tree.children if block.type == "CODE"), None)
        if block is None:
            return None
        language, *flags = block.info.split() or [""]
        return self._tagged(block, language, flags)

    def _tagged(self, block: Block, language: str, flags: Sequence[str]) -> Code:
        """The block's tag and flag; the only flag is `prompt`, and `prompt` alone is a tag (section 2)."""
        if flags not in ([], ["prompt"]) or re.search(r"[;,]", language):
            problem = f"`{block.info}` is not a valid info string"
            remedy = "write one language, and `prompt` after a space if the block is only to be shown"
            self.diagnostics.append(Diagnostic("RD046", self.source.path, block.span, problem, remedy))
        elif not flags and language not in EXECUTABLE and language.lower() in EXECUTABLE:
            problem = f"a block tagged `{language}` is shown, not run: tags are matched exactly"
            remedy = f"write `{language.lower()}` to run it, or `{language.lower()} prompt` to show it"
            self.diagnostics.append(Diagnostic("RD047", self.source.path, block.span, problem, remedy))
        return Code(language, bool(flags), block.text, block.span)


def _references(tree: Node) -> tuple[Reference, ...]:
    blocks: Iterable[Block] = tree.children
    return tuple(Reference(block.text, block.span) for block in blocks if block.type == "RUNBOOK")


def _step_transitions_below(
    children: tuple[Substep, ...],
) -> tuple[tuple[Substep, ...], tuple[Transition, ...]]:
    """Takes the step's own transitions from below its last substep: those with an explicit ALL or ANY (V8)."""
    if not children or children[-1].runbooks:
        return children, ()
    last = children[-1]
    own = tuple(item for item in last.transitions if item.modifier)
    kept = tuple(item for item in last.transitions if not item.modifier)
    return (*children[:-1], replace(last, transitions=kept)), own


def _moved(transition: Transition, line: int, column: int) -> Transition:
    """A transition whose span counts from its own text, put at its place in the document."""

    def move(span: Span) -> Span:
        return Span(line, span.column + column, line, span.end_column + column)

    action = transition.action
    if isinstance(action, Goto):
        target = action.target
        action = Goto(Target(target.next, target.step, target.child, move(target.span)))
    return Transition(transition.word, transition.modifier, transition.retries, action, move(transition.span))
