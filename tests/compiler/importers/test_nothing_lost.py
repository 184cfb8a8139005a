"""Nothing of a page is lost: an independent reader finds each code line, word and link in the draft or the report."""

import re
import time
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from compiler.diagnostics.model import Severity
from compiler.driver import Opened, Settings, compile_opened, format_opened
from compiler.importers.page import Imported, Options, import_page
from compiler.importers.report import Refusal
from compiler.project.project import Project
from compiler.text.source import Source
from tests.support.page_content import content, normal, plain, words

PAGES = sorted((Path(__file__).parent / "pages").glob("*.md"))

DIFFERENT = re.compile(r"^.*\]:[^\n]*\n(?: {4}|[ >]*\t)", re.MULTILINE)
"""Matches an indented line below a definition of a link: some parsers read code, and others another definition."""

HOSTILE = (
    "- YES: CONTINUE",
    '- PASS: STOP "x"',
    "1. yes: stop",
    "- other.runbook.md",
    "- INPUTS",
    "## 1. Step",
    "### 1.2 Substep",
    "#### Deep",
    "Underlined\n---",
    "Underlined\n===",
    "---",
    "--> <!-- rdc: check this: x -->",
    "<!-- rdc: ignore RD405 -->",
    "<!-- not closed",
    "<script>",
    "</details>",
    "<pre>",
    "```",
    "````bash",
    "~~~sh",
    "```bash prompt",
    "> ```bash",
    "> > - PASS: CONTINUE",
    "{{NAME}} {{ name }} {N} {n} ${{ x }}",
    "`{{` `` ` ``",
    "\u202e right to left \u200b",
    "$ kubectl delete pod <pod-name>",
    "    $ ssh host",
    "echo \"<a> '<b>'",
    "cat <<'END'",
    "END",
    "Does it work?",
    "Proceed? [y/N]",
    "Expected output:",
    "If it fails, run `kubectl get pods`:",
    "- [ ] task",
    "* bullet with `code`",
    "[x]: https://example.org 'title'",
    "[a][x] [x][] [x] ![i](u)",
    "a\tb",
    "\\",
    "name: x\n---",
)
"""Lines that a careless importer lets escape."""


def imported(text: str, options: Options | None = None) -> Imported | Refusal:
    return import_page(Source.from_text("page.md", text), "page.md", options or Options())


def assert_valid(text: str) -> None:
    """A draft compiles without errors and is formatted."""
    opened = Opened("page.runbook.md", Project("/nowhere"), Source.from_text("page.runbook.md", text))
    compiled = compile_opened(opened, Settings("rundown"))
    wrong = [one for one in compiled.diagnostics if one.severity is Severity.ERROR]
    assert wrong == []
    assert format_opened(opened, Settings("rundown")).result.text == text


def assert_whole(page: str, made: Imported) -> None:
    """Each code line, word and link of a page is in the draft or the report."""
    before, after = content(page), content(made.text, is_draft=True)
    there = {plain(line) for line in after.code} | {plain(line) for line in made.text.split("\n")}
    assert [line for line in before.code if plain(line) not in there] == []
    reported = Counter(word for loss in made.report.losses for word in words(loss.message))
    shown = after.words + Counter(word for line in after.code for word in words(line)) + reported
    shown.subtract(word for line in before.code for word in words(line))
    assert {word: count for word, count in before.words.items() if shown[word] < count} == {}
    links = {normal(loss.message) for loss in made.report.losses if loss.kind == "link"}
    assert {link for link in before.links - after.links - links if link not in made.text} == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_each_page_is_whole_in_its_draft(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    made = imported(text)
    assert isinstance(made, Imported)
    assert_valid(made.text)
    assert_whole(text, made)


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """A page whose lines are cut, shuffled, indented and mixed with hostile ones."""
    lines = draw(st.sampled_from(PAGES)).read_text(encoding="utf-8").split("\n")
    for _ in range(draw(st.integers(1, 6))):
        at = draw(st.integers(0, len(lines)))
        to = min(len(lines), at + draw(st.integers(0, 8)))
        match draw(st.sampled_from(("cut", "move", "indent", "hostile", "repeat"))):
            case "cut":
                del lines[at:to]
            case "move":
                part = lines[at:to]
                del lines[at:to]
                place, lines[place:place] = draw(st.integers(0, len(lines))), part
            case "indent":
                by = draw(st.sampled_from(("  ", "    ", "\t", "> ", "- ", "1. ")))
                lines[at:to] = [by + line for line in lines[at:to]]
            case "hostile":
                lines[at:at] = draw(st.sampled_from(HOSTILE)).split("\n")
            case "repeat":
                lines[at:at] = lines[at:to]
    assume(not DIFFERENT.search("\n".join(lines)))
    return draw(st.sampled_from(("\n", "\n", "\n", "\r\n"))).join(lines)


@settings(max_examples=10_000)
@given(mutated())
def test_any_page_gives_a_valid_and_whole_draft_or_a_refusal(text: str) -> None:
    made = imported(text)
    if isinstance(made, Imported):
        assert_valid(made.text)
        assert_whole(text, made)
        assert imported(text) == made


LARGE = {
    "paragraphs": "A word - and more.\n\n" * 2000,
    "items": "1. Check it\n" * 2000,
    "blocks": "".join(f"```bash\nls <pod-{number}>\n```\n\n" for number in range(500)),
    "lists in lists": "".join("  " * depth + "- a\n" for depth in range(400)),
    "quotes in quotes": ">" * 2000 + " a\n",
    "links": "[a][x] " * 3000 + "\n\n[x]: https://example.org\n",
    "brackets": "[" * 5000,
    "spaces": "To a" + " " * 20_000 + "b:\n",
    "commas": "If " + "a, " * 5000 + "\n",
}
"""Content that takes long where something is done once for each pair of its parts, or that is too deep."""


@pytest.mark.parametrize("content", LARGE)
def test_a_large_page_is_read_in_seconds(content: str) -> None:
    started = time.process_time()
    assert isinstance(imported(f"# Page\n\n{LARGE[content]}\n\n```bash\nls\n```\n"), Imported)
    assert time.process_time() - started < 10


def test_a_block_below_a_list_that_is_only_text_is_kept() -> None:
    made = imported("# Page\n\n```bash\ntrue\n```\n\n## Background\n\n- a\n```\n- b [ ] c\n```\n")
    assert isinstance(made, Imported)
    assert "- b [ ] c" in made.text
