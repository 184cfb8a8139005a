"""Build the syntax tree from the block tree, and parse headers, transitions and info strings."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec.structs import replace

from compiler.diagnostic import Diagnostic, Fix
from compiler.frontends.rundown.blocks import Block
from compiler.frontends.rundown.frontmatter import Frontmatter
from compiler.frontends.rundown.lines import Header, Kind, LineError, parse_header, parse_transition
from compiler.frontends.rundown.messages import (
    broken_duplicates,
    continued_transition,
    counted_in_words,
    header_problem,
    tag_fix,
    transition_problem,
)
from compiler.frontends.rundown.options import Layout
from compiler.frontends.rundown.syntax import (
    EXECUTABLE,
    UNKNOWN,
    Code,
    Reference,
    Runbook,
    Step,
    Substep,
    Transition,
)
from compiler.grammar import Node
from compiler.regex import Regex
from compiler.source import Source, Span

TOO_DEEP: dict[Kind, re.Pattern[str]] = {
    "step": Regex(r"(\d+|\{N\})\.(\d|\{n\})"),
    "substep": Regex(r"(\d+|\{N\})\.(\d+|\{n\})\.\d"),
}
"""Matches headers such as `## 1.2 Title` and `### 1.2.3 Title`, whose title starts with a number by the grammar."""

BARE_NEXT = Regex(r":\s*(RETRY\s+(\d+\s+)?)?NEXT$")
"""Matches an action that is only NEXT (G4)."""


TEXTS = frozenset({"TEXT", "REMARK"})
"""The kinds of text, in a prompt and below a body."""


class TreeBuilder:
    """Build the syntax tree of one document and collect problems in its lines in `diagnostics`."""

    def __init__(self, source: Source, layout: Layout) -> None:
        self.source = source
        self._lines = source.lines
        self._ignoring = source.ignoring_lines
        self.layout = layout
        self.diagnostics: list[Diagnostic] = []

    def runbook(self, tree: Node, frontmatter: Frontmatter) -> Runbook:
        """Return the syntax tree of the whole document."""
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
        children = tuple([self._substep(substep) for substep in substeps])
        own = self._transitions(transitions)
        if children and self.layout == "after-body":
            children, moved = _step_transitions_below(children)
            own += moved
        code, runbooks = self._body(body)
        return Step(
            id=header.step,
            title=header.title,
            prompt=self._text(prompt, body, transitions),
            code=code,
            runbooks=runbooks,
            substeps=children,
            transitions=own,
            span=first.span,
        )

    def _substep(self, tree: Node) -> Substep:
        first, prompt, body, transitions, _ = self._parts(tree)
        header = self._header(first, "substep")
        code, runbooks = self._body(body)
        return Substep(
            parent=header.step,
            id=UNKNOWN if header.child is None else header.child,
            title=header.title,
            prompt=self._text(prompt, body, transitions),
            code=code,
            runbooks=runbooks,
            transitions=self._transitions(transitions),
            span=first.span,
        )

    def _parts(self, tree: Node) -> tuple[Block, Node, Node, Node, Sequence[Node]]:
        """Return header, prompt, body, transitions and substeps in the order of the chosen layout (V7)."""
        header, first, second, third, *substeps = tree.children
        if self.layout == "after-header":
            return header, second, third, first, substeps
        return header, first, second, third, substeps

    def _text(self, *parts: Node) -> str:
        """Return the source lines of a description or prompt, and of the text below the step's body (V7)."""
        return "\n\n".join(filter(None, map(self._lines_of, parts)))

    def _lines_of(self, tree: Node) -> str:
        """Return the source lines from the first to the last block of text."""
        blocks = [block for block in tree.children if block.type in TEXTS]
        if not blocks:
            return ""
        start, end = blocks[0].line, blocks[-1].end_line
        lines = self._lines[start - 1 : end]
        if self._ignoring:
            lines = tuple(line for number, line in enumerate(lines, start) if number not in self._ignoring)
        return "\n".join(lines).strip("\n").rstrip()

    def _header(self, block: Block, kind: Kind) -> Header:
        try:
            header = parse_header(block.text, kind)
        except LineError as error:
            self.diagnostics.append(header_problem(self.source, block, error, kind))
            return Header(UNKNOWN, None, "")
        if TOO_DEEP[kind].match(block.text):
            problem = f"this {kind} header has too many numbers; the last one becomes part of the title"
            remedy = "use `###` for a substep, or put a space before a title that starts with a number"
            mark = self._lines[block.line - 1].find("#") + 1
            fix = Fix.by(Span(block.line, mark, block.line, mark), "#") if kind == "step" else None
            self.diagnostics.append(Diagnostic("RD034", self.source.path, block.span, problem, remedy, fix=fix))
        return header

    def _transitions(self, tree: Node) -> tuple[Transition, ...]:
        blocks = [block for block in tree.children if block.type not in TEXTS]
        if not blocks:
            return ()
        parsed = [self._transition(block) for block in blocks]
        read = tuple([transition for transition in parsed if transition])
        if len(read) < len(parsed):
            self.diagnostics += broken_duplicates(self.source, zip(blocks, parsed, strict=True))
        return read

    def _transition(self, block: Block) -> Transition | None:
        if block.end_line > block.line:
            self.diagnostics.append(continued_transition(self.source, block))
        try:
            transition = parse_transition(block.text, block.line, block.column)
        except LineError as error:
            self.diagnostics.append(transition_problem(self.source, block, error))
            return None
        if "RETRY" in block.text and (counted := counted_in_words(self.source, block)):
            self.diagnostics.append(counted)
        if "NEXT" in block.text and BARE_NEXT.search(block.text):
            problem = "NEXT without GOTO is read as GOTO NEXT"
            before = block.column + len(block.text) - len("NEXT")
            fix = Fix.by(Span(block.line, before, block.line, before), "GOTO ", is_safe=True)
            found = Diagnostic("RD042", self.source.path, block.span, problem, "write GOTO NEXT", fix=fix)
            self.diagnostics.append(found)
        return transition

    def _body(self, tree: Node) -> tuple[Code | None, tuple[Reference, ...]]:
        """Return the step's code block, or its runbooks."""
        blocks = [block for block in tree.children if block.type not in TEXTS]
        if not blocks or blocks[0].type != "CODE":
            return None, tuple([Reference(block.text, block.span) for block in blocks])
        return self._code(blocks[0]), ()

    def _code(self, block: Block) -> Code:
        if block.info in EXECUTABLE:
            return Code(block.info, False, block.text, block.span)
        language, *flags = block.info.split() or [""]
        return self._tagged(block, language, flags)

    def _tagged(self, block: Block, language: str, flags: Sequence[str]) -> Code:
        """Read the block's tag and flag: `prompt` is the only flag, and also a tag by itself (section 2)."""
        if flags not in ([], ["prompt"]) or ";" in language or "," in language:
            problem = f"`{block.info}` is not a valid info string"
            remedy = "write one language; add `prompt` after a space to show the block instead of running it"
            self.diagnostics.append(Diagnostic("RD046", self.source.path, block.span, problem, remedy))
        elif not flags and language not in EXECUTABLE and language.lower() in EXECUTABLE:
            problem = f"this block is shown, not run: the tag `{language}` must be lowercase to run"
            remedy = f"write `{language.lower()}` to run it, or `{language.lower()} prompt` to show it"
            fix = tag_fix(self.source, block.span.line, language, language.lower())
            self.diagnostics.append(Diagnostic("RD047", self.source.path, block.span, problem, remedy, fix=fix))
        return Code(language, bool(flags), block.text, block.span)


def _step_transitions_below(
    children: tuple[Substep, ...],
) -> tuple[tuple[Substep, ...], tuple[Transition, ...]]:
    """Move transitions with ALL or ANY from the last substep to its step (V8)."""
    if children[-1].runbooks:
        return children, ()
    last = children[-1]
    own = tuple(item for item in last.transitions if item.modifier)
    kept = tuple(item for item in last.transitions if not item.modifier)
    return (*children[:-1], replace(last, transitions=kept)), own
