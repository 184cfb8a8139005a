"""From Markdown to the tokens of `grammars/rundown.lark`: which block is a header, a body, a transition, or text.

markdown-it-py finds CommonMark's block structure (D2); inline parsing is switched off, since rdc reads lines as they
stand. Only blocks at the top level count, so nothing inside a quote or a code block is ever a header or a transition.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token as MarkdownToken

from compiler.source import Source, Span


class Block(NamedTuple):
    """One token of the block grammar.

    `type`, as Lark calls it, is a terminal of the grammar, or HEADING for a heading that is none of them; `text` is the
    heading's or item's text or the code; `info` is a code block's info string, a heading's marker, or for text "list",
    "paragraph". `line` to `end_line` (inclusive, counted from 1) is where it stands, `column` where its text begins;
    `mark` is the fence of a code block, and `closed` false for a code block or a comment that runs to the end of the
    document.
    """

    type: str
    line: int
    end_line: int
    column: int
    text: str = ""
    info: str = ""
    mark: str = ""
    closed: bool = True

    @property
    def span(self) -> Span:
        """The place of the block's text, on its first line."""
        width = len(self.text.split("\n", 1)[0]) if self.type != "CODE" else 3
        return Span(self.line, self.column, self.line, self.column + max(width, 1))


TRANSITION = re.compile(r"(PASS|FAIL|YES|NO)([ \t]+(ALL|ANY))?[ \t]*:")
"""What makes a list item a transition (G2)."""

REFERENCE = re.compile(r"\S+\.runbook\.md")
"""What makes a list item a nested runbook."""

COMMENT = re.compile(r"\s*(?:<!--(?:(?!-->).)*-->\s*)+", re.DOTALL)


@cache
def _markdown() -> MarkdownIt:
    markdown = MarkdownIt("commonmark")
    markdown.core.ruler.enableOnly(["normalize", "block"])
    return markdown


def read_blocks(source: Source, first_line: int) -> Iterator[Block]:
    """The blocks of a source from line `first_line` on, in order; what stands before is frontmatter."""
    text = "\n" * (first_line - 1) + "\n".join(source.lines[first_line - 1 :])
    tokens = _markdown().parse(text)
    for index, token in enumerate(tokens):
        if token.level == 0 and token.nesting >= 0:
            block = _block(source, tokens, index)
            if block:
                yield block
        elif token.level == 1 and token.type == "list_item_open" and not _in_ordered_list(token):
            yield _item(source, tokens, index)


def _block(source: Source, tokens: Sequence[MarkdownToken], index: int) -> Block | None:
    """The block that a top-level Markdown block stands for; a bullet list stands for its items."""
    token = tokens[index]
    if token.type == "heading_open":
        return _heading(source, token, tokens[index + 1].content)
    if token.type == "fence":
        return _fence(source, token)
    # A rule or a comment is neither prompt nor body, and may stand anywhere.
    if token.type in {"bullet_list_open", "hr"} or (token.type == "html_block" and COMMENT.fullmatch(token.content)):
        return None
    return _text(source, token)


def _in_ordered_list(item: MarkdownToken) -> bool:
    return item.markup in {".", ")"}


def _place(source: Source, token: MarkdownToken) -> tuple[int, int]:
    """The first and the last line of a Markdown token, blank lines at its end left out."""
    start, end = token.map or (0, 1)
    while end > start + 1 and not source.lines[end - 1].strip():
        end -= 1
    return start + 1, end


def _text_line(source: Source, token: MarkdownToken, text: str) -> int:
    """The line in which the text of a token begins: markdown-it-py leaves out a form feed above it, say."""
    line, end_line = _place(source, token)
    return next((number for number in range(line, end_line + 1) if text in source.lines[number - 1]), line)


def _column(source: Source, line: int, text: str) -> int:
    """Where a text begins in its line; at the first character if tabs were expanded in between."""
    return max(source.lines[line - 1].find(text), 0) + 1


def _text(source: Source, token: MarkdownToken) -> Block:
    line, end_line = _place(source, token)
    span = source.line_span(line)
    info = {"ordered_list_open": "list", "paragraph_open": "paragraph"}.get(token.type, "")
    is_comment = token.type == "html_block" and token.content.lstrip().startswith("<!--")
    closed = not is_comment or "-->" in token.content
    return Block("TEXT", line, end_line, span.column, source.lines[line - 1].strip(), info, closed=closed)


def _heading(source: Source, token: MarkdownToken, text: str) -> Block:
    kinds = {"h1": "TITLE", "h2": "STEP", "h3": "SUBSTEP"}
    line, end_line = _place(source, token)
    underlined = token.markup in {"=", "-"}
    kind = kinds.get(token.tag, "HEADING")
    if underlined and kind != "TITLE":
        kind = "HEADING"
    first = text.split("\n", 1)[0]
    line = _text_line(source, token, first)
    return Block(kind, line, end_line, _column(source, line, first), text, token.markup)


def _fence(source: Source, token: MarkdownToken) -> Block:
    start, end = token.map or (0, 1)
    line = source.lines[start]
    closing = source.lines[end - 1].strip() if end - start > 1 else ""
    closed = closing.startswith(token.markup) and not closing.strip(token.markup[0])
    column = len(line) - len(line.lstrip()) + 1
    return Block("CODE", start + 1, end, column, token.content, token.info.strip(), token.markup, closed)


def _item(source: Source, tokens: Sequence[MarkdownToken], index: int) -> Block:
    """An item of a list, classified by itself (G2): one list may hold text, runbooks and transitions."""
    line, end_line = _place(source, tokens[index])
    text = tokens[index + 2].content if tokens[index + 1].type == "paragraph_open" else ""
    first = text.split("\n", 1)[0]
    text_line = _text_line(source, tokens[index + 1], first) if text else line  # which may be below the bullet
    column = _column(source, text_line, first)
    if TRANSITION.match(text):
        return Block("TRANSITION", text_line, end_line, column, first)
    if text_line == end_line and REFERENCE.fullmatch(text):
        return Block("RUNBOOK", text_line, end_line, column, text)
    if text_line > line:  # the block begins at the bullet
        column, first = source.line_span(line).column, source.lines[line - 1].strip()
    return Block("TEXT", line, end_line, column, first, "list")
