"""How rdc writes: words that no page and no line of code has, and words whose number only falls.

The list is beside the project. `python -m tests.docs.test_words` updates the numbers in `words.json`.
"""

import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.support.pages import Block, parts
from tools.regenerate import REFERENCE

LIST = ROOT.parent / "shared" / "prose" / "wordlist.tsv"
KNOWN = Path(__file__).with_name("words.json")
KINDS = {".py", ".md", ".jinja", ".sh", ".toml"}
MADE = ("golden/", ".github/rdc/", *(f"docs/reference/{name}.md" for name in REFERENCE))
"""Generated files. Their words are counted in the code that they come from."""

PAGES = ("README.md", "CONTRIBUTING.md", "docs/", "compiler/diagnostics/explanations/")

pytestmark = [pytest.mark.process, pytest.mark.skipif(not LIST.is_file(), reason=f"the word list is not at {LIST}")]


def words(kind: str) -> re.Pattern[str]:
    """The expression for all words of one class of the list."""
    rows = [line.split("\t") for line in LIST.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    return re.compile(rf"\b(?:{'|'.join(row[1] for row in rows if row[0] == kind)})(?!\w)")


def texts() -> dict[str, str]:
    """What people have written in the project, by path: no generated file, and not this test."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    paths = [path for path in listed.splitlines() if Path(path).suffix in KINDS and not path.startswith(MADE)]
    return {
        path: (ROOT / path).read_text(encoding="utf-8", errors="replace")
        for path in paths
        if not path.endswith("test_words.py") and (ROOT / path).is_file()
    }


def outside_blocks(path: str) -> str:
    rest = (part for part in parts(path) if not isinstance(part, Block))
    return "\n".join(part if isinstance(part, str) else part[0] for part in rest)


def to_review() -> dict[str, list[str]]:
    """The words of the class `review` in each page outside its blocks, and in each folder of code but the tests."""
    pattern, found = words("review"), dict[str, list[str]]()
    for path, text in texts().items():
        if not path.startswith("tests/"):
            is_page = path.startswith(PAGES)
            place = path if is_page else path.partition("/")[0]
            found.setdefault(place, []).extend(pattern.findall(outside_blocks(path) if is_page else text))
    return {place: each for place, each in sorted(found.items()) if each}


def test_the_number_of_words_to_review_only_falls() -> None:
    known: dict[str, int] = json.loads(KNOWN.read_text(encoding="utf-8"))
    risen = {place: Counter(found) for place, found in to_review().items() if len(found) > known.get(place, 0)}
    assert risen == {}, "write it as design/english.md does"


VAGUE = re.compile(r"\b(?:said|told|kept|says)\b")
"""Words that name nothing: write `output`, `message` or `stored`."""

MOST_VAGUE = 1_005


def test_no_line_has_a_word_that_is_ruled_out_and_fewer_have_one_that_names_nothing() -> None:
    pattern, written = words("auto"), texts()
    found = [
        f"{path}:{text.count(chr(10), 0, match.start()) + 1}: {match[0]}"
        for path, text in written.items()
        for match in pattern.finditer(text)
    ]
    assert found == []
    assert sum(len(VAGUE.findall(text)) for text in written.values()) <= MOST_VAGUE


if __name__ == "__main__":
    counted = {place: len(found) for place, found in to_review().items()}
    KNOWN.write_text(json.dumps(counted, indent=1) + "\n", encoding="utf-8")
    sys.exit(0)
