"""Build the syntax tree from the block tree, and parse headers, transitions and info strings."""

import re
from collections.abc import Sequence
from functools import cached_property

from msgspec.structs import replace

from compiler.diagnostics.model import Diagnostic, Edit, Fix
from compiler.frontends.rundown import Layout
from compiler.frontends.rundown.declarations.frontmatter import Frontmatter
from compiler.frontends.rundown.parse.blocks import Block
from compiler.frontends.rundown.parse.checklist import task_items
from compiler.frontends.rundown.parse.lines import Header, Kind, LineError
from compiler.frontends.rundown.parse.messages import (
    broken_duplicates,
    continued_transition,
    counted_in_words,
    header_diagnostic,
    tag_fix,
    transition_diagnostic,
)
from compiler.frontends.rundown.syntax import (
    EXECUTABLE,
    UNKNOWN,
    Code,
    Goto,
    Identifier,
    Reference,
    Runbook,
    Step,
    Stop,
    Substep,
    Transition,
    Word,
    spell,
)
from compiler.reading.comments import ignoring_lines
from compiler.reading.grammar import Node
from compiler.text.regex import Regex
from compiler.text.source import Source, Span

TOO_DEEP: dict[Kind, re.Pattern[str]] = {
    "step": Regex(r"(\d+|\{N\})\.(\d|\{n\})|[A-Za-z_]\w*\.(\w|\{n\})"),
    "substep": Regex(r"(\w+|\{N\})\.(\w+|\{n\})\.\w"),
}
"""Matches headers such as `## 1.2 Title` and `### 1.2.Lint`, whose last part belongs to the title by the grammar."""

SHORTENED = Regex(
    r"(?P<parent>(?:\w+|\{N\})\.)?(?:(?P<zeros>0+)(?P<number>\d+)|(?P<name>[A-Za-z_]\w*)(?P<rest>-\w[\w-]*))"
)
"""Matches headers such as `## Roll-back` and `## 01`, whose identifiers are shorter than written."""

_JUMP = Regex(
    r"\s*[-*+] (?:PASS|FAIL|YES|NO)\b.*\bGOTO (?:NEXT )?"
    r"(?P<parent>(?:\w+|\{N\})\.)?(?P<name>[A-Za-z_][\w-]*)(?=[.\s]|$)"
)
"""Matches a transition that jumps to a named step or substep."""

_JOINED = Regex(r"[:+|/=.]prompt$")


TEXTS = frozenset({"TEXT", "REMARK"})
"""The kinds of text, in a prompt and below a body."""


class TreeBuilder:
    """Build the syntax tree of one document and collect problems in its lines in `diagnostics`."""

    def __init__(self, source: Source, layout: Layout) -> None:
        self.source = source
        self._lines = source.lines
        self._ignoring = ignoring_lines(source)
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
            if not own and (lost := _lost_transitions(self.source, header.step, children)):
                self.diagnostics.append(lost)
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
            checklist=self._checklist(prompt, body, transitions),
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
            checklist=self._checklist(prompt, body, transitions),
        )

    def _parts(self, tree: Node) -> tuple[Block, Node, Node, Node, Sequence[Node]]:
        """Return header, prompt, body, transitions and substeps in the order of the chosen layout (V7)."""
        header, first, second, third, *substeps = tree.children
        if self.layout == "after-header":
            return header, second, third, first, substeps
        return header, first, second, third, substeps

    def _text(self, *parts: Node) -> str:
        """Return the source lines of a description or prompt, and of the text below the step's body."""
        return "\n\n".join(filter(None, map(self._lines_of, parts)))

    def _checklist(self, *parts: Node) -> tuple[str, ...]:
        """Return the items of all task lists in a step's text."""
        lists = (block for part in parts for block in part.children if block.type in TEXTS and block.info == "list")
        return tuple(item for block in lists for item in task_items(self._lines[block.line - 1 : block.end_line]))

    def _lines_of(self, tree: Node) -> str:
        blocks = [block for block in tree.children if block.type in TEXTS]
        if not blocks:
            return ""
        start, end = blocks[0].line, blocks[-1].end_line
        lines = self._lines[start - 1 : end]
        if self._ignoring:
            lines = tuple(line for number, line in enumerate(lines, start) if number not in self._ignoring)
        return "\n".join(lines).strip("\n").rstrip()

    def _header(self, block: Block, kind: Kind) -> Header:
        header = block.parsed
        if not isinstance(header, Header):
            assert isinstance(header, LineError)  # noqa: S101 (the grammar accepts only headers here)
            self.diagnostics.append(header_diagnostic(self.source, block, header, kind))
            return Header(UNKNOWN, None, "")
        if TOO_DEEP[kind].match(block.text):
            problem = f"this {kind} header has too many parts; the last one becomes part of the title"
            remedy = "use `###` for a substep, or put a space before the title"
            mark = self._lines[block.line - 1].find("#") + 1
            fix = Fix.by(Span(block.line, mark, block.line, mark), "#") if kind == "step" else None
            self.diagnostics.append(Diagnostic("RD034", self.source.path, block.span, problem, remedy, fix=fix))
        elif (short := SHORTENED.match(block.text)) and (kind == "substep" or not short["parent"]):
            self.diagnostics.append(self._shortened(block, short))
        return header

    def _shortened(self, block: Block, short: re.Match[str]) -> Diagnostic:
        written = short[0].removeprefix(short["parent"] or "")
        if short["name"]:
            meant = written.replace("-", "_")
            problem = f"the name ends at the hyphen: this step is `{short['name']}`, and the rest is its title"
            remedy = f"write `{meant}`, or put a space after `{short['name']}`"
        else:
            meant = short["number"]
            problem, remedy = f"a number has no leading zeros: `{written}` is read as `{meant}`", f"write `{meant}`"
        column = block.column + short.end() - len(written)
        edits = [Edit(Span(block.line, column, block.line, column + len(written)), meant)]
        if short["name"]:
            for name in (short["name"], written):
                edits += [Edit(span, meant) for span in self._jumps.get((short["parent"], name), ())]
        fix = Fix(tuple(edits), is_safe=not short["name"])
        return Diagnostic("RD139", self.source.path, block.span, problem, remedy, fix=fix)

    @cached_property
    def _jumps(self) -> dict[tuple[str | None, str], list[Span]]:
        places: dict[tuple[str | None, str], list[Span]] = {}
        for number, line in enumerate(self._lines, 1):
            if "GOTO" in line and (jump := _JUMP.match(line)):
                span = Span(number, jump.start("name") + 1, number, jump.end("name") + 1)
                places.setdefault((jump["parent"], jump["name"]), []).append(span)
        return places

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
        transition = block.parsed
        if not isinstance(transition, Transition):
            assert isinstance(transition, LineError)  # noqa: S101 (the grammar accepts only transitions here)
            self.diagnostics.append(transition_diagnostic(self.source, block, transition))
            return None
        if "RETRY" in block.text and (counted := counted_in_words(self.source, block)):
            self.diagnostics.append(counted)
        if "NEXT" in block.text and isinstance(transition.action, Goto) and "GOTO" not in block.text:
            problem = "NEXT without GOTO is read as GOTO NEXT"
            before = block.column + len(block.text) - len("NEXT")
            fix = Fix.by(Span(block.line, before, block.line, before), "GOTO ", is_safe=True)
            found = Diagnostic("RD042", self.source.path, block.span, problem, "write GOTO NEXT", fix=fix)
            self.diagnostics.append(found)
        return transition

    def _body(self, tree: Node) -> tuple[Code | None, tuple[Reference, ...]]:
        blocks = [block for block in tree.children if block.type not in TEXTS]
        if not blocks or blocks[0].type != "CODE":
            return None, tuple([Reference(block.text, block.span) for block in blocks])
        return self._code(blocks[0]), ()

    def _code(self, block: Block) -> Code:
        """Read the block's tag and flag: `prompt` is the only flag, and also a tag by itself (section 2)."""
        language, *flags = block.info.split() or [""]
        words = re.sub(r"[\W_]+", " ", block.info).strip().lower()
        tag = words.split(" ", 1)[0]
        is_joined = (
            flags != ["prompt"] and words.endswith(" prompt") and (tag in EXECUTABLE or _JOINED.search(language))
        )
        if is_joined or flags not in ([], ["prompt"]) or ";" in language or "," in language:
            problem = f"`{block.info}` is not a valid info string"
            remedy = "write one language; add `prompt` after a space to show the block instead of running it"
            fix = tag_fix(self.source, block.span.line, block.info, words, is_safe=True) if is_joined else None
            self.diagnostics.append(Diagnostic("RD046", self.source.path, block.span, problem, remedy, fix=fix))
        elif not flags and language not in EXECUTABLE and tag in EXECUTABLE and "session" not in words:
            problem = f"this block is shown, not run: the tag must be exactly `{tag}`, not `{language}`"
            remedy = f"write `{tag}` to run it, or `{tag} prompt` to show it"
            fix = tag_fix(self.source, block.span.line, language, tag)
            self.diagnostics.append(Diagnostic("RD047", self.source.path, block.span, problem, remedy, fix=fix))
        return Code(language, bool(flags), block.text, block.span)


def _step_transitions_below(children: tuple[Substep, ...]) -> tuple[tuple[Substep, ...], tuple[Transition, ...]]:
    """Move transitions with ALL or ANY from the last substep to its step (V8)."""
    if children[-1].runbooks:
        return children, ()
    last = children[-1]
    own = tuple(item for item in last.transitions if item.modifier)
    stored = tuple(item for item in last.transitions if not item.modifier)
    return (*children[:-1], replace(last, transitions=stored)), own


def _lost_transitions(source: Source, step: Identifier, children: Sequence[Substep]) -> Diagnostic | None:
    """Return the warning for transitions of the last of several substeps that were probably meant for the step (V8)."""
    # Only a transition for a failure makes a difference: a failure of another substep never reaches it.
    *others, last = children
    failed = next((item for item in last.transitions if not item.word.passes), None)
    if not others or failed is None or any(child.transitions or child.runbooks for child in others):
        return None
    action = failed.action
    is_usual = action == Stop() and not failed.retries
    is_within = isinstance(action, Goto) and action.target.step == step and action.target.child is not None
    is_question = last.code is None and any(item.word in {Word.YES, Word.NO} for item in last.transitions)
    if is_usual or is_within or is_question:
        return None
    name, first = spell(step), last.transitions[0].span
    problem = (
        f"these transitions belong only to substep {name}.{spell(last.id)}: after a failure of another, the run stops"
    )
    remedy = f"move them above substep {name}.{spell(children[0].id)}, so that they belong to step {name}"
    return Diagnostic("RD138", source.path, first, problem, remedy, fix=_above(source, children[0], last.transitions))


def _above(source: Source, child: Substep, transitions: Sequence[Transition]) -> Fix | None:
    """Return the fix that moves transitions above a substep, or None if they aren't on consecutive lines."""
    line, first, last = child.span.line, transitions[0].span.line, transitions[-1].span.line
    if last - first + 1 != len(transitions) or last == len(source.lines):
        return None
    moved = "\n".join(source.lines[first - 1 : last]) + "\n\n"
    is_blank = last + 1 < len(source.lines) and not source.lines[last].strip()
    return Fix((Edit(Span(line, 1, line, 1), moved), Edit(Span(first, 1, last + 1 + is_blank, 1), "")))
