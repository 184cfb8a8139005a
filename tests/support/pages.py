"""Pages as tests read them: the files, commands and outputs of a page, its prose and its links."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from tests.conftest import ROOT

FENCE = re.compile(r"^(?P<indent> *)(?P<fence>~~~+|```+(?=[^`]*$))(?P<info>.*)$")
DIRECTIVE = re.compile(r"^ *<!-- (?P<kind>run|file|not run): (?P<text>.*?) -->$")
TITLE = re.compile(r'\btitle="([^"]+)"')
FROM = re.compile(r"(?P<name>\S+) from (?P<page>\S+)")
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
LINK = re.compile(r"\]\(([^()\s]+)\)")


@dataclass(frozen=True)
class Block:
    """A fenced block: the line of its fence, its info string and its content without indentation."""

    line: int
    info: str
    text: str
    skipped: bool

    @property
    def kind(self) -> str:
        """The language of the block."""
        return self.info.split()[0] if self.info.split() else ""

    @property
    def title(self) -> str:
        """The file that the block is written to, or an empty string."""
        found = TITLE.search(self.info)
        return found[1] if found else ""


@dataclass(frozen=True)
class Command:
    """A command of a page with the output that the page shows."""

    line: int
    command: str
    output: str


@dataclass(frozen=True)
class File:
    """A file that a page writes."""

    line: int
    name: str
    text: str


def names() -> list[str]:
    """The pages: README.md and everything below docs/."""
    return ["README.md", *sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md"))]


@cache
def text(page: str) -> str:
    """The text of a page."""
    return (ROOT / page).read_text(encoding="utf-8")


def parts(page: str) -> Iterator[Block | re.Match[str] | str]:
    """The fenced blocks, directives and other lines of a page, in order."""
    lines, number, skipped = text(page).splitlines(), 0, False
    while number < len(lines):
        fence, start = FENCE.match(lines[number]), number
        number += 1
        if not fence:
            directive = DIRECTIVE.match(lines[start])
            skipped = bool(directive and directive["kind"] == "not run") or (skipped and not lines[start].strip())
            yield directive or lines[start]
            continue
        closing, indent = fence["fence"], len(fence["indent"])
        body: list[str] = []
        while not re.fullmatch(rf" *{closing}[{closing[0]}]* *", lines[number]):
            assert number < len(lines) - 1, f"line {start + 1}: the block is not closed"
            body.append(lines[number][indent:] + "\n")
            number += 1
        number += 1
        yield Block(start + 1, fence["info"].strip(), "".join(body), skipped)
        skipped = False


def blocks(page: str) -> list[Block]:
    """The fenced blocks of a page."""
    return [part for part in parts(page) if isinstance(part, Block)]


def actions(page: str) -> Iterator[Command | File]:
    """The files and commands of a page, hidden ones included, in order."""
    line = 0
    for part in parts(page):
        if isinstance(part, Block):
            line = part.line
            if part.title:
                yield File(line, part.title, part.text)
            elif part.kind == "console" and not part.skipped:
                yield from commands(part)
        elif isinstance(part, re.Match) and part["kind"] == "run":
            yield Command(line, part["text"], "...\n")
        elif isinstance(part, re.Match) and part["kind"] == "file":
            yield File(line, *titled(part["text"]))


def titled(words: str) -> tuple[str, str]:
    """The name and text of a file that another page shows; `words` is `NAME from PAGE`."""
    wanted = FROM.fullmatch(words)
    assert wanted, f"write `<!-- file: NAME from PAGE -->`, not {words!r}"
    for block in blocks(wanted["page"]):
        if block.title == wanted["name"]:
            return block.title, block.text
    raise AssertionError(f"{wanted['page']} has no block with the title {wanted['name']!r}")


def commands(block: Block) -> Iterator[Command]:
    """The commands of a console block; a command goes on after a backslash at the end of its line."""
    shown = re.split(r"^\$ ", block.text, flags=re.MULTILINE)
    assert not shown[0], f"line {block.line}: a console block starts with `$ `"
    line = block.line
    for each in shown[1:]:
        command = re.match(r"(?:.*\\\n)*.*\n", each)
        assert command
        yield Command(line + 1, command[0].rstrip("\n"), each[command.end() :])
        line += each.count("\n")


def prose(page: str) -> str:
    """What is left of a page without its fenced blocks and comments."""
    return COMMENT.sub("", "\n".join(part for part in parts(page) if isinstance(part, str)))


def anchors(page: str) -> set[str]:
    """The anchors of the headings of a page, as GitHub makes them."""
    found: set[str] = set()
    for heading in re.findall(r"^#{1,6} (.*)$", prose(page), re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
        anchor = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        number = 0
        while (name := f"{anchor}-{number}" if number else anchor) in found:
            number += 1
        found.add(name)
    return found


def broken_links(page: str) -> list[str]:
    """The relative links of a page that lead nowhere."""
    targets = LINK.findall(re.sub(r"`[^`]*`", "", prose(page)))
    return [target for target in targets if not re.match(r"[a-z]+:", target) and not leads_somewhere(page, target)]


def leads_somewhere(page: str, target: str) -> bool:
    """Whether a relative link has its file and, in a page, its heading."""
    name, _, anchor = target.partition("#")
    path = (ROOT / page).parent / name if name else ROOT / page
    is_anchored = bool(anchor) and path.suffix == ".md"
    return path.exists() and (not is_anchored or anchor in anchors(path.resolve().relative_to(ROOT).as_posix()))
