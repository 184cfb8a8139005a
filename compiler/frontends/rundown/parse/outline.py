"""Scan a source into frontmatter and blocks, the same in both layouts, and settle its outline."""

import json
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from msgspec import Struct
from msgspec.structs import replace

from compiler.diagnostics.issues import OptionSource
from compiler.diagnostics.model import Diagnostic, Fix, Related, sort_key
from compiler.frontends.rundown import PROSE, Layout
from compiler.frontends.rundown.declarations.frontmatter import Frontmatter, read_frontmatter
from compiler.frontends.rundown.parse.blocks import Block, patterns, read_blocks
from compiler.frontends.rundown.parse.lines import parse_header
from compiler.frontends.rundown.parse.messages import heading_of
from compiler.frontends.rundown.parse.suspects import misplaced_item
from compiler.frontends.rundown.syntax import EXECUTABLE, Goto, Identifier, Runbook, Step, all_steps
from compiler.text.regex import Regex
from compiler.text.source import Source, Span
from compiler.text.suggestions import LONGEST_COMPARED, nearest_name


class Scanned(Struct, frozen=True):
    """A document before parsing: `written` blocks, `blocks` with marked prose, and the `outline` to parse."""

    source: Source
    frontmatter: Frontmatter
    written: list[Block]
    blocks: list[Block]
    outline: list[Block]
    diagnostics: tuple[Diagnostic, ...]


def scan(source: Source, prose: Mapping[str, OptionSource] = MappingProxyType({})) -> Scanned:
    """Return a document's frontmatter and blocks; `prose` applies if the document names no prose sections."""
    return source.once(("blocks", *prose), lambda: _scan(source, prose))


def _scan(source: Source, prose: Mapping[str, OptionSource]) -> Scanned:
    frontmatter, found = read_frontmatter(source)
    own = PROSE.first(frontmatter.options.values)
    written = list(read_blocks(source, frontmatter.next_line))
    blocks = mark_prose(written, prose if own is None else own)
    outline, problems = settle_outline(source, blocks)
    return Scanned(source, frontmatter, written, blocks, mark_remarks(source, outline), (*found, *problems))


STEP_AS_TITLE = Regex(r"(\d+|\{N\})[.:)](\s|$)|\{N\}|\d+ *[—→-] ")
"""Matches an H1 that was meant as a step header (D4)."""


def settle_outline(source: Source, blocks: Iterable[Block]) -> tuple[list[Block], list[Diagnostic]]:
    """Return the blocks with at most one title, at the front, and without headings that the grammar cannot use.

    Everything before the first step is the description (D5). Prose sections below it are left out.
    """
    found: list[Diagnostic] = []
    title: list[Block] = []
    rest: list[Block] = []
    steps = False
    for written in blocks:
        block = written
        if (not block.closed or block.type in {"TITLE", "HEADING"}) and (problem := _diagnostic(source, block)):
            found.append(problem)
            if problem.code == "RD021":
                block = replace(block, type="STEP", parsed=parse_header(block.text, "step"))
        if block.type == "TITLE":
            found += _title_diagnostics(source, block, title, steps)
            title = title or [block]
        elif block.type != "HEADING" and not (steps and block.type == "PROSE"):
            steps = steps or block.type == "STEP"
            rest.append(block if steps or block.type == "SUBSTEP" else replace(block, type="TEXT"))
    return title + rest, found


def _diagnostic(source: Source, block: Block) -> Diagnostic | None:
    if block.closed:
        return _heading_diagnostic(source, block)
    if block.mark:
        problem = "this code block is not closed, so it includes everything below it"
        remedy = f"close it with {block.mark} on a separate line"
        if number := _line_like_a_fence(source, block):
            remedy = f"remove the invisible character from the closing fence in line {number}"
        return Diagnostic("RD045", source.path, block.span, problem, remedy, fix=_closing(source, block, number))
    problem = "this comment is not closed, so it includes everything below it"
    return Diagnostic("RD048", source.path, block.span, problem, "close it with `-->`")


def _closing(source: Source, block: Block, number: int) -> Fix:
    if number:
        return Fix.by(Span(number, 1, number, len(source.lines[number - 1]) + 1), block.mark, is_safe=True)
    last, end = len(source.lines), len(source.lines[-1]) + 1
    is_safe = not any(map(_OWN.match, source.lines[block.line :]))
    text = f"{block.mark}\n" if end == 1 else f"\n{block.mark}\n"
    return Fix.by(Span(last, end, last, end), text, is_safe=is_safe)


_OWN = Regex(r" {0,3}(?:#{2,3}\s|[-*+]\s+(?:PASS|FAIL|YES|NO)\b|`{3}|~{3})")
"""Matches a line that is rarely part of a code block."""


def _line_like_a_fence(source: Source, block: Block) -> int:
    """Return the line of a closing fence with invisible characters beside its marks, or 0."""
    numbers = range(block.line + 1, len(source.lines) + 1)
    lines = ((number, source.lines[number - 1]) for number in numbers)
    marks = ((number, "".join(filter(str.isprintable, line)).strip()) for number, line in lines if line[:1] != "\t")
    alike = (number for number, text in marks if text.startswith(block.mark) and not text.strip(block.mark[0]))
    return next((number for number in alike if not source.lines[number - 1].startswith(" " * 4)), 0)


def _heading_diagnostic(source: Source, block: Block) -> Diagnostic | None:
    if block.type == "TITLE" and STEP_AS_TITLE.match(block.text):
        problem = "this looks like a step, but a level-1 heading is the title"
        mark = source.lines[block.line - 1].find("#") + 1
        fix = Fix.by(Span(block.line, mark, block.line, mark), "#") if mark else None
        return Diagnostic(
            "RD021", source.path, block.span, problem, "use `##` for a step, `###` for a substep", fix=fix
        )
    if block.type != "HEADING":
        return None
    if block.info == "-":
        problem = "this text is a heading, because there is a line of dashes directly below it"
        remedy = "put a blank line above the dashes, or write a step header with `##`"
        fix = Fix.by(Span(block.end_line, 1, block.end_line, 1), "\n")
        return Diagnostic("RD033", source.path, block.span, problem, remedy, fix=fix)
    problem = f"level-{len(block.info)} heading; a runbook only has steps (`##`) and substeps (`###`)"
    return Diagnostic("RD030", source.path, block.span, problem, "make it a substep or plain text")


def _title_diagnostics(source: Source, block: Block, title: list[Block], steps: bool) -> Iterator[Diagnostic]:
    if title:
        problem = f"second title; the first one is in line {title[0].line}"
        yield Diagnostic("RD020", source.path, block.span, problem, "use `##` for a step, or make it plain text")
    elif steps:
        problem = "the title comes after the first step"
        yield Diagnostic("RD022", source.path, block.span, problem, "move it to the top of the document")


OFFER = "; `rdc fmt` does this for you"
"""The end of a remedy that formatting applies; it is left out where formatting would refuse the document."""


def without_offer(found: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    """Yield the diagnostics of a document that `rdc fmt` refuses."""
    return (replace(item, help=item.help.replace(OFFER, "")) if OFFER in item.help else item for item in found)


HEADERS, BODIES = frozenset({"STEP", "SUBSTEP"}), frozenset({"CODE", "RUNBOOK"})

_DECIDING = Regex("H(?:(?P<first>T+)C+|(?P<last>C+)T+)(?=H|$)")
"""Matches a step that decides the layout: its transitions are all before its other content, or all after it."""

_WORD = Regex(r"\w+")


Deciding = Mapping[str, tuple[Block, Block]]
"""The first step with its transitions `first`, and the first with them `last`: its header, and where the parts meet."""


def deciding_steps(source: Source, blocks: Iterable[Block]) -> Deciding:
    """Return the steps that decide a document's layout."""
    known = [block for block in blocks if block.type != "LATER"]
    found: dict[str, tuple[Block, Block]] = {}
    for match in _DECIDING.finditer("".join(_letters(source, known))):
        order = match.lastgroup or ""
        found.setdefault(order, (known[match.start()], known[match.end(order)]))
    return found


def _letters(source: Source, blocks: Iterable[Block]) -> Iterator[str]:
    """Yield H for a header, T for a transition, also for one with an unfit outcome, and C for other content."""
    letter = ""
    for block in blocks:
        if block.type in HEADERS:
            letter = "H"
        elif block.type != "TRANSITION" and not (letter == "T" and misplaced_item(source, block)):
            letter = "C"
        else:
            letter = "T"
        yield letter


def layout_of(deciding: Deciding) -> Layout:
    """Return a document's layout; one that mixes both is read in the default one."""
    return "after-header" if list(deciding) == ["first"] else "after-body"


def mixed_layouts(source: Source, deciding: Deciding) -> Diagnostic | None:
    """Return the error for a document that mixes both layouts, or None."""
    if len(deciding) < 2:
        return None
    (first, content), (last, transition) = deciding["first"], deciding["last"]
    problem = f"`{first.text}` has its transitions directly after the header, but `{last.text}` has them at its end"
    related = Related(source.path, transition.span, f"the transitions of `{last.text}` are here")
    remedy = f"write the transitions of all steps in the same place{OFFER}"
    return Diagnostic("RD113", source.path, content.span, problem, remedy, (related,))


def mark_remarks(source: Source, blocks: Sequence[Block]) -> list[Block]:
    """Return the blocks, with the kind REMARK for the text that may follow a body.

    It is the closing line of an HTML block, or one paragraph that ends in a colon with a block that is only shown.
    """
    marked = list(blocks)
    kinds: list[str] = []  # of the step's earlier blocks, each once
    for index, block in enumerate(blocks):
        if block.type == "TEXT" and kinds and marked[index] is block:
            is_after = not BODIES.isdisjoint(kinds)
            if (is_after or kinds == ["TEXT", "TRANSITION"]) and _is_closing(source, block):
                marked[index] = replace(block, type="REMARK")
            elif is_after and _announces(source, block, blocks[index + 1 : index + 2]):
                marked[index : index + 2] = (replace(item, type="REMARK") for item in blocks[index : index + 2])
        if block.type in HEADERS:
            kinds = []
        elif marked[index].type not in kinds:
            kinds.append(marked[index].type)
    return marked


def _is_closing(source: Source, block: Block) -> bool:
    is_html = not block.info and source.lines[block.line - 1].lstrip().startswith("</")
    return is_html and bool(patterns()["REMARK"].fullmatch("\n".join(source.lines[block.line - 1 : block.end_line])))


def _announces(source: Source, block: Block, following: Sequence[Block]) -> bool:
    """Return whether a paragraph introduces a block that is only shown, such as the expected output."""
    if block.info != "paragraph" or not following or following[0].type != "CODE":
        return False
    words = _WORD.findall(following[0].info.lower())
    runs = bool(words) and words[0] in EXECUTABLE and "session" not in words
    last = source.lines[block.end_line - 1].rstrip().rstrip("*_")
    return not runs and "prompt" not in words and last.endswith((":", "："))


LEVELS = {"STEP": 2, "SUBSTEP": 3}
"""The levels of headings that can open a prose section."""

UNFIT = frozenset({"RD030", "RD032", "RD110", "RD112"})
"""Codes of errors that text in a step causes: deeper or unnumbered headings, and blocks in any order."""

COMPARED = 100  # the most headings to compare with a name, since comparing is slow


MEANT_AS_NUMBER = Regex(r"[0-9{]")
"""Matches the start of an unreadable heading that was certainly meant as a step."""


def mark_prose(blocks: list[Block], names: Iterable[str]) -> list[Block]:
    """Return the blocks, with the kind PROSE for each section that the option names, including its heading.

    Without names, the result is the same list. A section ends at the next heading of its level or above. The document's
    title is never part of a section.
    """
    headings = frozenset(map(_spaced, names))
    if not headings:
        return blocks
    marked: list[Block] = []
    section = 0  # the level of the heading that opened the prose section, 0 outside a section
    for block in blocks:
        level = LEVELS.get(block.type, 0)
        if level and (not section or level <= section):
            section = level if _spaced(block.text) in headings else 0
        marked.append(replace(block, type="PROSE") if section and block.type != "TITLE" else block)
    return marked


def unknown_sections(
    source: Source, blocks: Iterable[Block], names: Mapping[str, OptionSource]
) -> Iterator[Diagnostic]:
    """Warn about each name in the document's option that is not a heading."""
    if not names:
        return
    headings = [_spaced(block.text) for block in blocks if block.type in LEVELS]
    known = frozenset(headings)
    for name, place in names.items():
        if _spaced(name) not in known:
            problem = f"there is no heading `{name}` in this document"
            remedy = "write the whole heading without `#`, in the same case"
            if meant := _nearest_heading(_spaced(name), headings):
                remedy = f"did you mean `{meant}`?"
            yield Diagnostic("RD119", source.path, place.span, problem, remedy)


def _nearest_heading(name: str, headings: Sequence[str]) -> str:
    few = [heading for heading in headings if len(heading) <= LONGEST_COMPARED][:COMPARED]
    begins = (heading for heading in few if heading.lower().startswith(name.lower()))
    return next(begins, "") or nearest_name(name[:LONGEST_COMPARED], few)


def sections_of(marked: Iterable[Block]) -> tuple[str, ...]:
    """Return the headings of prose sections and of the sections within them."""
    prose = (block for block in marked if block.type == "PROSE" and not block.mark)
    return tuple(_spaced(block.text) for block in prose if block.info.startswith("##"))


def transitions_in_prose(source: Source, written: Sequence[Block], marked: Sequence[Block]) -> Iterator[Diagnostic]:
    """Warn about each item in a prose section that was a transition before it was marked."""
    if written == marked:
        return
    for before, block in zip(written, marked, strict=True):
        if block.type == "PROSE" and before.type == "TRANSITION":
            problem = f"`{block.text}` is text, because the option `prose` names this section"
            remedy = "remove it, or remove the section from the option if it is a step"
            yield Diagnostic("RD043", source.path, block.span, problem, remedy)


def prose_advice(heading: str) -> str:
    """Return the suggestion to make a section prose."""
    name = json.dumps(_spaced(heading), ensure_ascii=False)
    return f"if `## {heading}` is text, not a step, name it in the frontmatter: `rdc: {{prose: [{name}]}}`"


def may_be_prose(step: Step, targets: frozenset[Identifier]) -> bool:
    """Return whether a step has no number, no transitions, and no GOTO to it."""
    own = step.transitions or any(substep.transitions for substep in step.substeps)
    return isinstance(step.id, str) and step.id not in targets and not own


def jump_targets(runbook: Runbook) -> frozenset[Identifier]:
    """Return the steps that are the target of a GOTO."""
    actions = (transition.action for step in all_steps(runbook) for transition in step.transitions)
    return frozenset(action.target.step for action in actions if isinstance(action, Goto) and action.target.step)


def advise_prose(source: Source, runbook: Runbook, found: list[Diagnostic]) -> list[Diagnostic]:
    """Add the suggestion to use `prose` to the first problem of each section that may be text."""
    if all(item.code not in UNFIT for item in found):
        return found
    targets = jump_targets(runbook)
    begins = [step.span.line for step in runbook.steps]
    unadvised = {index for index, step in enumerate(runbook.steps) if may_be_prose(step, targets)}
    result: list[Diagnostic] = []
    for item in sorted(found, key=sort_key):
        index = bisect_right(begins, item.span.line) - 1 if item.span and item.code in UNFIT else -1
        heading = heading_of(source, runbook.steps[index]) if index in unadvised else ""
        unadvised.discard(index)
        if heading and not MEANT_AS_NUMBER.match(heading):
            result.append(replace(item, help=f"{item.help}; {prose_advice(heading)}"))
        else:
            result.append(item)
    return result


def _spaced(text: str) -> str:
    return " ".join(text.split())
