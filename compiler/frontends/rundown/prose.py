"""Handle sections that are text instead of steps (option `prose`), and suggest the option if it fits."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from compiler.diagnostic import Diagnostic, sort_key
from compiler.frontends.rundown.blocks import Block
from compiler.frontends.rundown.numbering import heading_of
from compiler.frontends.rundown.syntax import Goto, Identifier, Runbook, Step, all_steps
from compiler.issues import Place
from compiler.regex import Regex
from compiler.source import Source
from compiler.suggestions import nearest_names

LEVELS = {"STEP": 2, "SUBSTEP": 3}
"""The levels of headings that can open a prose section."""

UNFIT = frozenset({"RD030", "RD032", "RD110", "RD112"})
"""Codes of errors that text in a step causes: deeper or unnumbered headings, and blocks in any order."""

COMPARED, LONGEST_COMPARED = 100, 100
"""The most headings to compare with a name, and their greatest length: comparing is slow."""


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


def unknown_sections(source: Source, blocks: Iterable[Block], names: Mapping[str, Place]) -> Iterator[Diagnostic]:
    """Warn about each name in the document's option that is not a heading."""
    if not names:
        return
    headings = [_spaced(block.text) for block in blocks if block.type in LEVELS]
    known = frozenset(headings)
    for name, place in names.items():
        if _spaced(name) not in known:
            problem = f"there is no heading `{name}` in this document"
            yield Diagnostic("RD119", source.path, place.span, problem, _nearest(_spaced(name), headings))


def _nearest(name: str, headings: Sequence[str]) -> str:
    remedy = "write the whole heading without `#`, in the same case"
    few = [heading for heading in headings if len(heading) <= LONGEST_COMPARED][:COMPARED]
    begins = [heading for heading in few if heading.lower().startswith(name.lower())]
    close = begins or nearest_names(name[:LONGEST_COMPARED], few, 1)
    return f"did you mean `{close[0]}`?" if close else remedy


def sections_of(marked: Iterable[Block]) -> tuple[str, ...]:
    """Return the headings of prose sections and of the sections within them."""
    prose = (block for block in marked if block.type == "PROSE" and not block.mark)
    return tuple(_spaced(block.text) for block in prose if block.info.startswith("##"))


def transitions_in_prose(source: Source, written: Sequence[Block], marked: Sequence[Block]) -> Iterator[Diagnostic]:
    """Warn about each item in a prose section that would be a transition in a step (G2).

    `written` has the same blocks before they were marked.
    """
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
