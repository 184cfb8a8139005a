"""The words, links and code lines of a page or a draft, read with another Markdown parser than the product's."""

import re
from collections import Counter
from collections.abc import Iterator

from markdown_it import MarkdownIt
from markdown_it.token import Token
from msgspec import Struct, field

_VALUES = re.compile(r"'\"\$\w+\"'|\"\$\w+\"|\$\{\w+\}|\$\w+|\{\{\w+\}\}|<[^<>\n]+>|\bYOUR_\w+")
_WORD = re.compile(r"[^\W_]+")
_PROMPT = re.compile(r"^(?:\s*[$%❯➜>]\s+)+")
_FRONTMATTER = re.compile(r"\A(---|\+\+\+)\n(?:.*?\n)??\1\n", re.DOTALL)
_SHOWN = re.compile(r"^(?:name|description):(.*)", re.MULTILINE)
_KEY = re.compile(r"^[\w-]+[ \t]*[:=]", re.MULTILINE)


class Content(Struct):
    """Everything that a reader sees."""

    code: list[str] = field(default_factory=list)
    words: Counter[str] = field(default_factory=Counter)
    links: set[str] = field(default_factory=set)


def content(text: str, *, is_draft: bool = False) -> Content:
    """Read a document; of a draft, without the comments of rdc."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    found = Content()
    head = _FRONTMATTER.match(text)
    if head and _KEY.search(head[0]):
        text = text[head.end() :]
        found.words.update({*words(" ".join(_SHOWN.findall(head[0]) if is_draft else _KEY.split(head[0])))})
    if is_draft:
        text = re.sub(r"(?m)^<!-- rdc: .*-->$", "", text)
    environment: dict[str, dict[str, dict[str, str]]] = {}
    for token in _all(MarkdownIt("commonmark").parse(text, environment)):
        if token.type in {"fence", "code_block"}:
            found.code += [line for line in token.content.split("\n") if line.strip()]
        elif token.type in {"text", "code_inline", "html_inline", "html_block"}:
            found.words.update(words(token.content))
        target = token.attrGet("href") or token.attrGet("src")
        if target:
            found.links.add(str(target))
    found.links |= {one["href"] for one in environment.get("references", {}).values()}
    return found


def words(text: str) -> list[str]:
    """Return the words of a text in lowercase."""
    return [word.lower() for word in _WORD.findall(text)]


def plain(line: str) -> str:
    """Return a code line without its prompt, with one character for each value that a person gives."""
    return "".join(_VALUES.sub("\0", _PROMPT.sub("", line, count=1)).split()).replace('"\0"', "\0")


def normal(link: str) -> str:
    """Return a link as the parser writes it."""
    return MarkdownIt().normalizeLink(link)


def _all(tokens: list[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from _all(token.children or [])
