"""Rules by number: each number in the code is on a page, and each number on a page is in the code."""

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from compiler.diagnostics.model import CODES
from tests.conftest import ROOT
from tools.reference.rules import FORMATS, RUNTIME

PRODUCT = ("compiler", "backends", "rdc", "runtime_shim", "grammars")
SUFFIXES = (".py", ".lark", ".jinja")

NUMBER = r"(?:[BDEGIMPRVW]\d{1,2}|[OPT]-\d{1,2})"
CITED = re.compile(rf"(?<![\w$'/\\#+-])(?P<first>{NUMBER})(?: to (?P<last>{NUMBER}))?(?![\w-])")
"""A number, or the first and the last of a range."""

GONE = re.compile(r"\b[Rr]ules? [0-9]|(?<![\w-])(?:B-[0-9]|S[0-9])(?![\w-])")
"""Numbers that no page explains: the architecture's, the project's and those of scenarios."""

MOST = 3
"""How often product code cites a rule: where it implements the rule."""

RULES = [number for sections in (FORMATS, RUNTIME) for rules in sections.values() for number in rules]


def files(*folders: str) -> Iterator[Path]:
    """The code in some folders, without this module and the cases that tests found."""
    for folder in folders:
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in SUFFIXES and path.is_file() and path != Path(__file__) and "found" not in path.parts:
                yield path


def cited(text: str) -> Iterator[str]:
    """The rules that a text cites, with all of a range."""
    for match in CITED.finditer(text):
        first, last = match["first"], match["last"] or match["first"]
        family = first.rstrip("0123456789")
        assert last.startswith(family), match[0]
        start, end = (int(number.removeprefix(family)) for number in (first, last))
        yield from (f"{family}{number}" for number in range(start, end + 1))


@cache
def in_code(*folders: str) -> dict[str, Path]:
    """Each rule that the code in some folders cites, with a file that does."""
    return {number: path for path in files(*folders) for number in cited(path.read_text(encoding="utf-8"))}


def on_pages() -> set[str]:
    programs = (ROOT / "docs" / "reference" / "program-rules.md").read_text(encoding="utf-8")
    return {*RULES, *re.findall(r"\bI\d+\b", programs)}


def test_every_rule_in_the_code_is_on_a_page_and_the_other_way_around() -> None:
    assert on_pages() - in_code(*PRODUCT, "tests").keys() == set()
    assert {known.rule for known in CODES.values()} - on_pages() <= {"architecture"}
    unknown = {number: str(path) for number, path in in_code(*PRODUCT, "tests").items() if number not in on_pages()}
    assert unknown == {}, "describe it in tools/reference/rules.py"


def test_every_rule_has_one_number_and_one_line_and_no_number_is_of_another_kind() -> None:
    meanings = [text for sections in (FORMATS, RUNTIME) for rules in sections.values() for text in rules.values()]
    assert [number for number, times in Counter(RULES).items() if times > 1] == []
    assert [text for text in meanings if not text.endswith(".") or "\n" in text] == []
    lines = (
        f"{path.relative_to(ROOT)}:{at}: {line.strip()}"
        for path in files(*PRODUCT, "tests")
        for at, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if GONE.search(line)
    )
    assert list(lines) == [], "use words"


def test_the_product_cites_a_rule_only_where_it_implements_it() -> None:
    model = ROOT / "compiler" / "diagnostics" / "model.py"
    texts = (path.read_text(encoding="utf-8") for path in files(*PRODUCT) if path != model)
    times = Counter(match["first"] for text in texts for match in CITED.finditer(text) if match["first"][0] != "I")
    assert {number: count for number, count in times.items() if count > MOST} == {}
