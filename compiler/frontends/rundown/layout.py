"""Read a document's layout from its blocks, and mark the text that may follow a body (V7)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from compiler.diagnostic import Diagnostic, Related
from compiler.frontends.rundown.blocks import Block, patterns
from compiler.frontends.rundown.meant import misplaced_item
from compiler.frontends.rundown.options import Layout
from compiler.frontends.rundown.syntax import EXECUTABLE
from compiler.regex import Regex
from compiler.source import Source

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
