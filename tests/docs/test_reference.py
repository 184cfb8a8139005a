"""The generated pages of the reference have all that they describe."""

from __future__ import annotations

from rdc.commands import COMMANDS
from tests.conftest import ROOT
from tools.reference.cli import with_code
from tools.reference.environment import INTERNAL, OF_PROGRAMS, OF_RDC, OF_STEPS, OF_WORKFLOWS, listed, named


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
