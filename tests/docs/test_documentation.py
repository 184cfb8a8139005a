"""The generated pages are current, and pages name tests that exist. `test_pages.py` runs their commands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rdc.commands import COMMANDS
from tests.conftest import ROOT
from tools.reference.cli import with_code
from tools.reference.environment import INTERNAL, OF_PROGRAMS, OF_RDC, OF_STEPS, OF_WORKFLOWS, listed, named
from tools.regenerate import FILES

HELD = re.compile(r"`(?:(?P<file>[\w/]+\.py)|…)(?:::(?P<test>\w+))?`")
"""A test in the page of promises; `…` is the file that was named before."""


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_generated_files_are_current(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == FILES[path](), "run `make golden`"


def text(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def test_the_tests_that_hold_promises_are_there() -> None:
    file = ""
    named = list(HELD.finditer(text("docs/explanation/guarantees.md")))
    assert len(named) > 30
    for name in named:
        file = name["file"] or file
        assert (ROOT / "tests" / file).exists(), name[0]
        if name["test"]:
            assert f"def {name['test']}(" in text(f"tests/{file}"), name[0]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_documented(command: str) -> None:
    pages = ["README.md", *(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md"))]
    assert any(f"rdc {command}" in text(page) for page in pages)


def test_the_hooks_of_the_page_are_the_ones_of_the_project() -> None:
    hooks = re.findall(r"^- id: (.*)$", text(".pre-commit-hooks.yaml"), re.MULTILINE)
    assert re.findall(r"- id: (\S+)", text("docs/how-to/project.md")) == hooks


# --- The generated pages of the reference have all that they describe -------------------------------------------------


def test_every_variable_in_the_code_is_listed() -> None:
    unknown = {name: str(path.relative_to(ROOT)) for name, path in named().items() if name not in listed()}
    assert unknown == {}, "describe it in tools/reference/environment.py"


def test_every_listed_variable_of_rdc_is_in_the_code() -> None:
    ours = {name for name in listed() if "RDC_" in name}
    assert ours - named().keys() == set()
    assert INTERNAL.isdisjoint({*OF_STEPS, *OF_PROGRAMS, *OF_RDC, *OF_WORKFLOWS})


def test_every_variable_has_one_line_of_meaning() -> None:
    meanings = [
        *OF_RDC.values(),
        *OF_PROGRAMS.values(),
        *OF_WORKFLOWS.values(),
        *(meaning for _, meaning in OF_STEPS.values()),
    ]
    assert [text for text in meanings if not text.endswith(".") or "\n" in text] == []


def test_the_page_of_commands_has_a_section_for_each() -> None:
    page = (ROOT / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")
    assert [line.removeprefix("## rdc ") for line in page.splitlines() if line.startswith("## ")] == list(COMMANDS)


def test_options_in_help_become_code() -> None:
    assert with_code("use --fix, or `--diff -x` (--unsafe-fixes)") == "use `--fix`, or `--diff -x` (`--unsafe-fixes`)"
