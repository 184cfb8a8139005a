"""The blocks of a runbook as markdown-it-py sees them, which the tests hold against those that rdc reads."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import zip_longest

from markdown_it import MarkdownIt
from markdown_it.token import Token as MarkdownToken
from msgspec.structs import replace

from compiler.frontends.rundown.parse.blocks import Block, patterns, read_blocks
from compiler.text.source import Source

DECIDED = re.compile(r"\[[^\]]*\]:|[\v\f\x1c-\x1f\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]")
"""Definitions of links, and what only Python takes for white space: markdown-it-py reads both differently."""

INDENTED = re.compile(r"^(?: {4,}| {0,3}\t).*\n?", re.MULTILINE)
"""Lines that go on lazily with a paragraph in a list, which markdown-it-py ends at some of them."""

LINES = (
    *("# a", "## 1. B", "### 1.1 C", "#### x", "##", "## a ##", "  ## x", "    code", "\tcode", "a\n===", "b\n---"),
    *("===", "```", "```bash", "  ```sh x", "~~~", "~~~~ y", "``` a`b", "  ```", "```\t", "***", "_ _ _", "---"),
    *("- ***", "- PASS: CONTINUE", "- FAIL: STOP", "- a.runbook.md", "- a.runbook.md x", "* x", "+ y", "-", "- "),
    *("-\tx", "- - a", "-\n\n  a", " - x", "   + z", "    - no", "\t- x", "- # h", "- ```", "- > q", "- <!-- x -->"),
    *("- `PASS: a`", "- \\- x", "- **PASS**: x", "- PASS : x", "1. one", "2) two", "10. x", "  - inner", "      para"),
    *("> quote", "> ```", "text", "text two  ", "<!-- c -->", "<!--", "-->", "<div>", "</div>", "<b>x</b>", "<pre>"),
    *("</pre>", "<script>", "</style>", "<?php", "?>", "<![CDATA[", "]]>", "<!X", "<a href='x'>", "", "", "", "   "),
    *("\0", "é ü", "- \U0001f600: x"),
)
"""What random documents consist of."""


def differences(text: str) -> list[tuple[object, object]]:
    """What rdc reads differently from markdown-it-py, which is nothing but where the specification decides for rdc."""
    found = compared(text)
    if not found or DECIDED.search(text):
        return []
    return compared(INDENTED.sub("", text)) if INDENTED.search(text) else found


def compared(text: str) -> list[tuple[object, object]]:
    """The blocks of a text that rdc and markdown-it-py read differently, each beside the other."""
    source = Source.from_text("a.runbook.md", text.replace("\0", "\ufffd"))
    pairs = zip_longest(map(row, read_blocks(source, 1)), map(row, blocks(source)))
    return [(ours, theirs) for ours, theirs in pairs if ours != theirs]


def row(block: Block) -> object:
    """A block without what nobody asks of it: how a block of code ends that is open, white space behind a text,
    and what its text says."""
    text = block.text if block.type == "CODE" and block.closed else block.text.rstrip()
    return replace(block, text=text, end_line=block.end_line if block.closed else 0, parsed=None)


@cache
def _markdown() -> MarkdownIt:
    markdown = MarkdownIt("commonmark")
    markdown.core.ruler.enableOnly(["normalize", "block"])
    return markdown


def blocks(source: Source) -> Iterator[Block]:
    tokens = _markdown().parse("\n".join(source.lines))
    for index, token in enumerate(tokens):
        if token.level == 0 and token.nesting >= 0:
            block = _block(source, tokens, index)
            if block:
                yield block
        elif token.level == 1 and token.type == "list_item_open" and token.markup not in {".", ")"}:
            yield _item(source, tokens, index)


def _block(source: Source, tokens: Sequence[MarkdownToken], index: int) -> Block | None:
    """The block that a top-level Markdown block stands for; a bullet list stands for its items."""
    token = tokens[index]
    if token.type == "heading_open":
        return _heading(source, token, tokens[index + 1].content)
    if token.type == "fence":
        return _fence(source, token)
    # A rule or a comment is neither prompt nor body, and may stand anywhere.
    if token.type in {"bullet_list_open", "hr"} or (
        token.type == "html_block" and patterns()["COMMENT"].fullmatch(token.content)
    ):
        return None
    return _text(source, token)


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
    fence = rf" {{0,3}}{token.markup}{token.markup[0]}*[ \t]*"
    closed = end - start > 1 and re.fullmatch(fence, source.lines[end - 1]) is not None
    column = len(line) - len(line.lstrip()) + 1
    return Block("CODE", start + 1, end, column, token.content, token.info.strip(), token.markup, closed)


def _item(source: Source, tokens: Sequence[MarkdownToken], index: int) -> Block:
    """An item of a list, classified by itself (G2): one list may hold text, runbooks and transitions."""
    line, end_line = _place(source, tokens[index])
    text = tokens[index + 2].content if tokens[index + 1].type == "paragraph_open" else ""
    first = text.split("\n", 1)[0]
    text_line = _text_line(source, tokens[index + 1], first) if text else line  # which may be below the bullet
    column = _column(source, text_line, first)
    if patterns()["TRANSITION"].match(text):
        return Block("TRANSITION", text_line, end_line, column, first)
    if text_line == end_line and patterns()["RUNBOOK"].fullmatch(text):
        return Block("RUNBOOK", text_line, end_line, column, text)
    if text_line > line:  # the block begins at the bullet
        column, first = source.line_span(line).column, source.lines[line - 1].strip()
    return Block("TEXT", line, end_line, column, first, "list")
