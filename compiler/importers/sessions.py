"""Find terminal sessions and commands that a page has in its text, without a block around them."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from msgspec.structs import replace

from compiler.importers.commands import is_command_span
from compiler.importers.markdown import Piece
from compiler.text.regex import Regex

_PROMPT = Regex(
    r"[ \t]*(?:[\w.-]+@[\w.-]+[ :~/\w.-]{0,60}[#$%]|\$|[\w-]{2,20}(?:=[#>]|>))[ \t]+[a-z./\\](?!\w+@)", re.IGNORECASE
)
_PROSE = Regex(r"(?i)[.:;,!?]$|\b(?:a|an|is|it|of|or|so|that|the|this|with|you|your|sure)\b")
_MARKUP = Regex(r"[`*]")


def with_sessions(pieces: Sequence[Piece]) -> tuple[Piece, ...]:
    """Return pieces with a code block for each session and command in a paragraph."""
    found: list[Piece] = []
    for piece in pieces:
        if piece.kind == "text" and piece.info == "Paragraph":
            above = found[-1].plain if found and found[-1].kind == "text" else ""
            found += _parts(piece, above)
        else:
            found.append(replace(piece, pieces=with_sessions(piece.pieces)) if piece.pieces else piece)
    return tuple(found)


def _parts(piece: Piece, above: str) -> Iterator[Piece]:
    lines = piece.text.split("\n")
    start = next((at for at, line in enumerate(lines) if _PROMPT.match(line)), len(lines))
    is_code = [at >= start for at in range(len(lines))]
    for at, line in enumerate(lines[:start]):
        before = lines[at - 1] if at else above
        is_below = before.rstrip().endswith(":") or (at > 0 and (is_code[at - 1] or line.startswith("sudo ")))
        is_code[at] = is_below and is_command_span(line) and not _PROSE.search(line.rstrip())
    if not any(is_code):
        yield piece
        return
    for is_block, group in groupby(range(len(lines)), is_code.__getitem__):
        first, *rest = group
        last = rest[-1] if rest else first
        text, top, end = "\n".join(lines[first : last + 1]), piece.line + first, piece.line + last
        plain = " ".join(_MARKUP.sub("", text).split())
        block = Piece("code", top, end, f"{text}\n")
        yield block if is_block else replace(piece, line=top, end=end, text=text, plain=plain)
