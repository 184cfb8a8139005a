"""One name for each thing: names that are gone appear nowhere, by folder.

What the issues on Make and GitHub delete keeps old names inside; only what users see of it is renamed (`INNER`).
"""

import re
import subprocess
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

from tests.conftest import ROOT

pytestmark = pytest.mark.process

PUBLIC = {
    r"RDC_UNITS?": "RDC_STEP, RDC_STEPS",
    r"\bUNITS?=": "STEP=",
    r"\bunit_(?:started|finished|title)\b": "step_started, step_finished, step_title",
    r"['\"]units?['\"]": "step in events and status, node in journals, nodes in programs",
    r"^\s*(?:rdc: *\{)?units: *(?:\{.*)?$": "steps:",
    r"^ *(?:rdc: *\{)?values: *\[": "outputs:",
    r"['\"]of['\"]: *['\"]value['\"]|Keep\([^()]+, ['\"]value['\"]": "the output of a name",
    r"Feature\.VALUES": "Feature.OUTPUTS",
    r"\bRESULT=|given_RESULT": "REPLY=",
    r"['\"]walks?['\"]: \[|--walks\b": "paths, --paths",
    r"\brdc_form=\d": "the only format is number 1",
    r"(?i)\bstate[- ]folders?\b": "state directory",
    r"--ways\b": "--drivers",
}
"""What users see: patterns of old names, and today's."""

INNER = {
    r"(?i)\brehears": "mock run, preview",
    r"(?i)(?<![a-z[])units?(?![a-z])": "step, node or stage",  # `[Unit]` is systemd's
    r"\bWalks?\b(?! (?:through|to|without|over))|\b(?:the|all|a|each|every|these|those) walks?\b": "Path, paths",
    r"\b_?Ways?\b|\bWAYS\b|\bways? = |\bways?\(|possible_ways|[/.]ways\b": "transition, path, driver",
    r"(?i)\bmistakes?\b": "error",
    r"(?i)(?<!_)\bblanks?\b(?! (?:lines?|ones?)\b)": "space",
    r"\brdc_unit\b": "rdc_node",
}
"""What developers see."""

FINE = re.compile(
    r"(?i)unit[ -_]tests?\b|TIME_UNITS|junit|unittest|CodeUnits|unit_1\b|\[:blank:\]|_blank|not blank|is blank"
    r"|blank = |, blank,|if blank\b|blank lines"
)
"""What only looks like an old name."""

DELETED = re.compile(r"runtime_shim/legacy/|backends/github/(?:routed|runtime|calls)\.py|golden/")
"""What the issues on the engine, Make and GitHub delete, and what is generated from it."""

DOCUMENTS = re.compile(
    r"examples/.*\.(?:md|yaml|yml|sh|txt)|tests/(?:fuzzing|differential)/(?:corpus|found)/.*|docs/.*\.svg|requirements[-\w]*\.lock"
)
"""Documents of users, and inputs as they were found: their words are not rdc's."""

HERE = Path(__file__).relative_to(ROOT).as_posix()


@cache
def files() -> Mapping[str, str]:
    """The text files of the project, but those about old names."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, check=True, text=True).stdout
    others = {HERE, "tests/rdc/test_former_names.py", "compiler/text/suggestions.py"}
    names = [name for name in listed.splitlines() if name not in others and (ROOT / name).is_file()]
    return {name: (ROOT / name).read_text(encoding="utf-8", errors="replace") for name in names}


ASSERTIONS = re.compile(r"\\b|\(\?<?![^()]*(?:\([^()]*\)[^()]*)?\)|^\(\?i\)")
"""What a pattern says about the text around a name."""


def rough(pattern: str) -> str:
    """Return a pattern that finds at least as much and begins with a letter, which is looked for much faster."""
    return ASSERTIONS.sub("", pattern)


def found(patterns: Mapping[str, str]) -> Iterator[str]:
    known = [
        (re.compile(rough(pattern), re.MULTILINE), pattern.startswith("(?i)"), re.compile(pattern, re.MULTILINE), today)
        for pattern, today in patterns.items()
    ]
    for name, text in files().items():
        if DOCUMENTS.fullmatch(name) or (patterns is INNER and DELETED.match(name)):
            continue
        lower = text.lower()
        for first, is_any_case, old, today in known:
            if not first.search(lower if is_any_case else text) or not old.search(text):
                continue
            for number, line in enumerate(text.splitlines(), 1):
                if old.search(line) and old.search(FINE.sub("", line)):
                    yield f"{name}:{number}: {line.strip()[:100]} -> {today}"


def test_no_old_name_is_left_and_one_would_be_noticed() -> None:
    assert [*found(PUBLIC), *found(INNER)] == []
    for old in ("RDC_UNIT=1", "{'unit': 1}", "make answer UNIT=1 RESULT=yes", "  values: [id]"):
        patterns = [pattern for pattern in PUBLIC if re.search(pattern, old, re.MULTILINE)]
        assert patterns
        assert all(re.search(rough(pattern), old, re.MULTILINE) for pattern in patterns)
