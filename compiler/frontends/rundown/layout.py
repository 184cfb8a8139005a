"""Read a document's layout from its blocks, and mark the text that may follow a body (V7)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from compiler.diagnostic import Diagnostic, Related
from compiler.frontends.rundown.blocks import Block
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

_ORDER = Regex(r"(?P<first>T+C+)|C+T+")
"""Matches the parts of a step that decides the layout: its transitions before its content, or after it."""

_CLOSING = Regex(r" {0,3}(?:</[A-Za-z][\w-]{0,99}\s{0,9}>\s*)+")
"""Matches an HTML block that is only closing tags."""

_WORD = Regex(r"\w+")


class Layouts(Struct, frozen=True):
    """The first step with its transitions directly after the header, and the first with them after the body.

    Each is the step's header and its first block of the other kind, or empty.
    """

    after_header: tuple[Block, ...] = ()
    after_body: tuple[Block, ...] = ()

    @property
    def layout(self) -> Layout:
        """The document's layout; a document that mixes both is read in the default one."""
        return "after-header" if self.after_header and not self.after_body else "after-body"

    def mixed(self, source: Source) -> Diagnostic | None:
        """Return the error for a document that mixes both layouts, or None."""
        if not self.after_header or not self.after_body:
            return None
        (first, content), (second, transition) = self.after_header, self.after_body
        problem = (
            f"`{first.text}` has its transitions directly after the header, "
            f"but `{second.text}` has them at the end of the step"
        )
        remedy = f"write the transitions of all steps in the same place{OFFER}"
        related = Related(source.path, transition.span, f"the transitions of `{second.text}` are here")
        return Diagnostic("RD113", source.path, content.span, problem, remedy, (related,))


def layouts_of(source: Source, blocks: Iterable[Block]) -> Layouts:
    """Return which layouts the steps of a document have."""
    found: dict[bool, tuple[Block, ...]] = {}
    for header, *content in _steps(blocks):
        parts = "".join(_parts(source, content))
        if order := _ORDER.fullmatch(parts):
            is_first = bool(order["first"])
            found.setdefault(is_first, (header, content[parts.index("C" if is_first else "T")]))
    return Layouts(found.get(True, ()), found.get(False, ()))


def _parts(source: Source, content: Iterable[Block]) -> Iterator[str]:
    """Yield T for each transition of a step, also for one with an unfit outcome, and C for anything else."""
    part = ""
    for block in content:
        is_transition = block.type == "TRANSITION" or (part == "T" and misplaced_item(source, block) is not None)
        part = "T" if is_transition else "C"
        yield part


def _steps(blocks: Iterable[Block]) -> Iterator[list[Block]]:
    """Yield the blocks of each step and substep, with its header."""
    step: list[Block] = []
    for block in blocks:
        if block.type in HEADERS:
            if step:
                yield step
            step = [block]
        elif step and block.type != "LATER":
            step.append(block)
    if step:
        yield step


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
    return is_html and _CLOSING.fullmatch("\n".join(source.lines[block.line - 1 : block.end_line])) is not None


def _announces(source: Source, block: Block, following: Sequence[Block]) -> bool:
    """Return whether a paragraph introduces a block that is only shown, such as the expected output."""
    if block.info != "paragraph" or not following or following[0].type != "CODE":
        return False
    words = _WORD.findall(following[0].info.lower())
    runs = bool(words) and words[0] in EXECUTABLE and "session" not in words
    last = source.lines[block.end_line - 1].rstrip().rstrip("*_")
    return not runs and "prompt" not in words and last.endswith((":", "："))
