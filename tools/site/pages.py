"""The pages of the site: the files that they are made of, and their Markdown as the generator takes it.

GitHub and the generator read Markdown a little differently, so the pages are written for GitHub and changed here.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from compiler.diagnostics.model import CODES

ROOT = Path(__file__).parents[2]
EXPLANATIONS = "compiler/diagnostics/explanations"
OTHERS = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changes.md",
    "examples/README.md": "examples.md",
    "docs/reference/diagnostics.md": "diagnostics/index.md",
}
"""Pages that have another path on the site. The README is its home."""

LINK = re.compile(
    r"(?P<code>`+)(?:(?!(?P=code)).)+?(?P=code)"
    r"|(?P<picture>!?)\[(?P<words>(?:[^\[\]]|\[[^\]]*\])*)\]\((?P<path>[^()\s#]*)(?P<anchor>#[^()\s]*)?\)",
    re.DOTALL,
)
"""A link. Code matches too, because it contains no links."""

FENCE = re.compile(r" *(`{3,}|~{3,})([^`]*)$")
ITEM = re.compile(r"( *)([-*+]|\d+\.)( +)")
COMMENT = re.compile(r"<!--.*-->$")
NAMED_FENCE = re.compile(r"^(~{4,})(\w+) ([^\s=]+)$", re.MULTILINE)
CODE = re.compile(r"`[^`]+`")
TAB = 4
"""The indentation that the generator wants for each level of a list."""


def places() -> dict[str, str]:
    """Return the paths on the site by those in the project; schemas and pictures are copied as they are."""
    docs = (path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "docs").rglob("*")) if path.is_file())
    own = {path: path.removeprefix("docs/") for path in docs}
    return own | OTHERS | {f"{EXPLANATIONS}/{code}.md": f"diagnostics/{code}.md" for code in CODES}


def made() -> Iterator[tuple[str, bytes]]:
    """Yield each file of the site with its content."""
    known = places()
    for source, place in known.items():
        content = (ROOT / source).read_bytes()
        yield place, converted(source, content.decode(), known).encode() if place.endswith(".md") else content


def converted(source: str, text: str, known: dict[str, str]) -> str:
    """Return a page of the project as a page of the site."""
    if source.startswith(f"{EXPLANATIONS}/"):
        text = _explanation(Path(source).stem, text)
    parts: list[str] = []
    for is_code, lines in groupby(_indented(text), key=itemgetter(1)):
        part = "\n".join(line for line, _ in lines)
        parts.append(part if is_code else LINK.sub(lambda link: _linked(link, source, known), part))
    return "\n".join(parts) + "\n"


def _explanation(code: str, text: str) -> str:
    """Return the explanation of a code with its name and severity below the title, and files with their titles."""
    title, _, rest = text.partition("\n")
    known = CODES[code]
    facts = f'<p class="facts"><span class="{known.severity}">{known.severity}</span> <code>{known.name}</code></p>'
    return f"{title}\n\n{facts}\n" + NAMED_FENCE.sub(r'\1\2 title="\3"', rest)


def _linked(link: re.Match[str], source: str, known: dict[str, str]) -> str:
    """Return a link for the site. A link to a file that the site doesn't have becomes its words."""
    path, anchor = link["path"], link["anchor"] or ""
    if link["code"] or not path or "://" in path or path.startswith("mailto:"):
        return link[0]
    target = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
    if target in known:
        here = posixpath.dirname(known[source])
        return f"{link['picture']}[{link['words']}]({posixpath.relpath(known[target], here or '.')}{anchor})"
    return link["words"] if (ROOT / target).exists() else link[0]  # the generator reports it


def _indented(text: str) -> Iterator[tuple[str, bool]]:
    """Yield each line, empty for a comment, with lists as the generator wants them, and whether the line is code."""
    levels: list[int] = []
    fence, before = "", ""
    for line in text.rstrip("\n").split("\n"):
        depth = len(line) - len(line.lstrip())
        if fence:
            yield " " * TAB * len(levels) + line[min(levels[-1] if levels else 0, depth) :] if line else "", True
            if re.fullmatch(rf" *{fence}{fence[0]}* *", line):
                fence = ""
            continue
        while levels and line and depth < levels[-1]:
            levels.pop()
        item, opening = ITEM.match(line), FENCE.match(line)
        if item and before and not levels and not ITEM.match(before):
            yield "", False
        inner = " " * (TAB * len(levels) + depth - (levels[-1] if levels else 0))
        if item:
            levels.append(item.end())
        fence = opening[1] if opening else ""
        yield "" if COMMENT.match(line) else inner + _cells(line.lstrip()) if line else "", bool(opening)
        before = line


def _cells(line: str) -> str:
    """Return a line without backslashes before the pipes in code, which the generator would show in a table."""
    return CODE.sub(lambda code: code[0].replace("\\|", "|"), line) if line.startswith("|") else line
