"""Sections that are text and no steps, by the option `prose`, and the advice to use it where it fits."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from compiler.diagnostic import Diagnostic, sort_key
from compiler.frontends.rundown.blocks import Block
from compiler.frontends.rundown.numbering import heading_of
from compiler.frontends.rundown.syntax import Goto, Identifier, Runbook, Step, all_steps
from compiler.options import Place
from compiler.regex import Regex
from compiler.source import Source

LEVELS = {"STEP": 2, "SUBSTEP": 3}
"""The levels of the headings that can open a section of prose."""

UNFIT = frozenset({"RD030", "RD032", "RD110", "RD112"})
"""What text is told that stands in a step: deeper headings, headings without a number, blocks and text in any order."""

COMPARED, LONGEST_COMPARED = 100, 100
"""How many headings, up to which length, a name is compared with: comparing is slow."""


MEANT_AS_NUMBER = Regex(r"[0-9{]")
"""The beginning of a heading that could not be read but was surely to be a step."""


def mark_prose(blocks: list[Block], names: Iterable[str]) -> list[Block]:
    """The blocks, with the kind PROSE for all of a section that the option names, its heading included.

    Where it names none they are the same list.
    A section goes on to the next heading of its own level or above. The title of the document is never part of one.
    """
    headings = frozenset(map(_spaced, names))
    if not headings:
        return blocks
    marked: list[Block] = []
    section = 0  # the level of the heading that opened the section of prose, 0 outside of one
    for block in blocks:
        level = LEVELS.get(block.type, 0)
        if level and (not section or level <= section):
            section = level if _spaced(block.text) in headings else 0
        marked.append(replace(block, type="PROSE") if section and block.type != "TITLE" else block)
    return marked


def unknown_sections(source: Source, blocks: Iterable[Block], names: Mapping[str, Place]) -> Iterator[Diagnostic]:
    """A warning for each name in the document's own option that is no heading of it."""
    if not names:
        return
    headings = [_spaced(block.text) for block in blocks if block.type in LEVELS]
    known = frozenset(headings)
    for name, place in names.items():
        if _spaced(name) not in known:
            problem = f"no heading of this document is `{name}`"
            yield Diagnostic("RD119", source.path, place.span, problem, _nearest(_spaced(name), headings))


def _nearest(name: str, headings: Sequence[str]) -> str:
    from difflib import get_close_matches  # noqa: PLC0415 (only for an error)

    remedy = "`prose` takes whole headings without their marks, in the same letters"
    few = [heading for heading in headings if len(heading) <= LONGEST_COMPARED][:COMPARED]
    begins = [heading for heading in few if heading.lower().startswith(name.lower())]
    close = begins or get_close_matches(name[:LONGEST_COMPARED], few, 1)
    return f"did you mean `{close[0]}`? {remedy}" if close else remedy


def sections_of(marked: Iterable[Block]) -> tuple[str, ...]:
    """The headings of the sections that were marked as prose, and those of sections in them."""
    prose = (block for block in marked if block.type == "PROSE" and not block.mark)
    return tuple(_spaced(block.text) for block in prose if block.info.startswith("##"))


def transitions_in_prose(source: Source, written: Sequence[Block], marked: Sequence[Block]) -> Iterator[Diagnostic]:
    """A warning for each item in a section of prose that would be a transition in a step (G2).

    `written` has the same blocks as they were before they were marked.
    """
    if written == marked:
        return
    for before, block in zip(written, marked, strict=True):
        if block.type == "PROSE" and before.type == "TRANSITION":
            problem = f"`{block.text}` is text, since the option `prose` names this section"
            remedy = "remove it, or take the section out of the option if it is a step"
            yield Diagnostic("RD043", source.path, block.span, problem, remedy)


def prose_advice(heading: str) -> str:
    """The advice to make a section prose."""
    import json  # noqa: PLC0415 (only for an error)

    name = json.dumps(_spaced(heading), ensure_ascii=False)
    return f"if `## {heading}` is text and not a step, say so in the frontmatter: `rdc: {{prose: [{name}]}}`"


def may_be_prose(step: Step, targets: frozenset[Identifier]) -> bool:
    """Whether a step has no place in the flow: it has no number and no transition, and no GOTO names it."""
    own = step.transitions or any(substep.transitions for substep in step.substeps)
    return isinstance(step.id, str) and step.id not in targets and not own


def jump_targets(runbook: Runbook) -> frozenset[Identifier]:
    """The steps that GOTOs name."""
    actions = (transition.action for step in all_steps(runbook) for transition in step.transitions)
    return frozenset(action.target.step for action in actions if isinstance(action, Goto) and action.target.step)


def advise_prose(source: Source, runbook: Runbook, found: list[Diagnostic]) -> list[Diagnostic]:
    """The findings; the first about the form of a section that may be prose says how to make it so."""
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
