"""Safe fixes of random documents: the program stays, nothing else is dropped, and a second run has nothing to do."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from compiler.diagnostics.model import Edit
from compiler.driver import Opened, Settings, compile_opened, open_file
from compiler.frontends import FRONT_ENDS
from compiler.ir.serialize import to_json
from compiler.text.source import Source
from rdc.rewrite import fixes as fixing
from rdc.rewrite.fixes import edited, fix_opened
from tests.support.cli import ROOT
from tools.explanations import BLOCK

DOCUMENTS, SHARES = 500, 5
SMALL = 12_000
"""In characters: a document that is longer has nothing more to offer."""

SLIPS = [
    (r"GOTO NEXT\b", "NEXT"), (r"\bPASS:", "pass:"), (r"\bFAIL:", "Fail:"), (r"\bPASS:", "PASS ALL:"),
    (r"CONTINUE", "continue"), (r"```bash", "```Bash"), (r"(RETRY \d)", r"\1 times,"), (r"^- ", "* "), (r"^## ", "##"),
    (r"GOTO (\d)", r"GOTO step \1"), (r"STEP", "Step"), (r"\(string\)", "(sting)"), (r"\(boolean\)", "(bolean)"),
    (r"\{([a-z_]+)\}", r"{{\1}}"), (r"name:", "nmae:"), (r"next:", "nxt:"), (r"`endif`", "`Endif`"), (r"``$", ""),
    (r' == "true"', ""), (r'^(\s*"\w+": [^{\[\n]+,)$', r"\1\n\1"), (r"\]$", ",]"), (r"@", "@@"), (r"L2", "L2/L1"),
]  # fmt: skip


def corpus() -> list[tuple[str, str]]:
    """The names and texts of the examples, and of the documents on the pages of diagnostics."""
    suffixes = tuple(suffix for form in FRONT_ENDS.values() for suffix in form.suffixes)
    paths = sorted(path for path in (ROOT / "examples").rglob("*") if path.name.endswith(suffixes))
    found = [(path.name, path.read_text(encoding="utf-8")) for path in paths]
    pages = sorted((ROOT / "compiler" / "explanations").glob("*.md"))
    shown = (match for page in pages for match in BLOCK.finditer(page.read_text(encoding="utf-8")) if match["name"])
    found += [(match["name"], match["text"]) for match in shown if match["name"].endswith(suffixes)]
    return [(name, text) for name, text in found if len(text) < SMALL]


def mutated(text: str, chance: random.Random) -> str:
    """The text with a few slips."""
    for _ in range(chance.randint(0, 3)):
        lines = text.split("\n")
        at = chance.randrange(len(lines))
        match chance.randint(0, 7):
            case 0:
                lines.insert(at, lines[at])
            case 1:
                lines[at] = lines[at].swapcase()
            case 2 if len(lines[at]) > 1:
                cut = chance.randrange(len(lines[at]))
                lines[at] = lines[at][:cut] + lines[at][cut + 1 :]
            case 3:
                lines[at] += chance.choice([" ", "\t", "\u00a0", "\U0001f600", "\r"])
            case _:
                slip, wrong = chance.choice([pair for pair in SLIPS if re.search(pair[0], text, re.MULTILINE)] or SLIPS)
                text = re.sub(slip, wrong, text, count=chance.randint(1, 2), flags=re.MULTILINE)
                continue
        text = "\n".join(lines)
    return text.replace("\n", chance.choice(["\n", "\n", "\r\n", "\r"]))


def without_places(value: Any) -> Any:
    """A program as JSON without what says where it was written."""
    if isinstance(value, dict):
        names = value.keys() - {"origin", "origins", "sources", "span"}
        return {name: without_places(value[name]) for name in names}
    return [without_places(item) for item in value] if isinstance(value, list) else value


def documents(share: int, folder: Path) -> Iterator[Opened]:
    chance, known = random.Random(share), corpus()
    for number in range(DOCUMENTS // SHARES):
        name, text = chance.choice(known)
        path = folder / str(number) / name
        path.parent.mkdir(parents=True)
        mark = b"\xef\xbb\xbf" if chance.random() < 0.1 else b""
        path.write_bytes(mark + mutated(text, chance).encode())
        yield open_file(str(path))


def watched(source: Source, edits: Sequence[Edit]) -> Source:
    """The source after edits, which keep every line that they do not touch, in order."""
    result = edited(source, edits)
    touched = {line for edit in edits for line in range(edit.span.line, edit.span.end_line + 1)}
    lines = iter(result.lines)
    kept = [line for number, line in enumerate(source.lines, 1) if number not in touched]
    assert all(line in lines for line in kept)
    return result


@pytest.mark.parametrize("share", range(SHARES))
def test_safe_fixes(share: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fixing, "edited", watched)
    settings, fixed = Settings(link=False), 0
    for opened in documents(share, tmp_path):
        before = compile_opened(opened, settings)
        once = fix_opened(opened, settings)
        if before.program:
            assert once.compilation.program
            programs = (json.loads(to_json(one)) for one in (before.program, once.compilation.program))
            assert without_places(next(programs)) == without_places(next(programs)), opened.path
        again = fix_opened(once.opened, settings)
        assert again.count == 0, opened.path
        assert again.opened.source == once.opened.source
        fixed += once.count
        fix_opened(opened, settings, unsafe=True)
    assert fixed > 5


@pytest.mark.parametrize("share", range(SHARES))
def test_unsafe_fixes_keep_a_document_that_compiles(share: int, tmp_path: Path) -> None:
    settings, fixed = Settings(link=False), 0
    for opened in documents(share, tmp_path):
        before = compile_opened(opened, settings)
        after = fix_opened(opened, settings, unsafe=True)
        assert before.program is None or after.compilation.program
        fixed += after.count
    assert fixed > 10
