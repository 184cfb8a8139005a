"""The generated pages are current, and pages name tests that exist. `test_pages.py` runs their commands."""

import json
import re
from pathlib import Path

import pytest

from backends.registry import BACKENDS
from rdc.commands import COMMANDS
from rdc.commands.schema import SCHEMAS
from runtime_shim.targets.make import RENAMED
from runtime_shim.tasks.recipes import RECIPES
from tests.conftest import ROOT
from tests.support.cli import call
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


def test_every_command_is_documented() -> None:
    pages = [text("README.md"), *(path.read_text(encoding="utf-8") for path in (ROOT / "docs").rglob("*.md"))]
    assert [command for command in COMMANDS if not any(f"rdc {command}" in page for page in pages)] == []
    sections = [line for line in text("docs/reference/cli.md").splitlines() if line.startswith("## ")]
    assert [line.removeprefix("## rdc ") for line in sections] == list(COMMANDS)


def test_the_hooks_of_the_page_are_the_ones_of_the_project() -> None:
    hooks = re.findall(r"^- id: (.*)$", text(".pre-commit-hooks.yaml"), re.MULTILINE)
    assert re.findall(r"- id: (\S+)", text("docs/how-to/project.md")) == hooks


def test_every_variable_in_the_code_is_listed_with_a_line_of_meaning() -> None:
    unknown = {name: str(path.relative_to(ROOT)) for name, path in named().items() if name not in listed()}
    assert unknown == {}, "describe it in tools/reference/environment.py"
    assert {name for name in listed() if "RDC_" in name} - named().keys() == set()
    assert INTERNAL.isdisjoint({*OF_STEPS, *OF_PROGRAMS, *OF_RDC, *OF_WORKFLOWS})
    meanings = [meaning for table in (OF_RDC, OF_PROGRAMS, OF_WORKFLOWS) for meaning in table.values()]
    meanings += [meaning for _, meaning in OF_STEPS.values()]
    assert [text for text in meanings if not text.endswith(".") or "\n" in text] == []


def test_tables_have_all_that_the_code_has(tmp_path: Path) -> None:
    keys = json.loads(SCHEMAS["project"].text())["properties"].keys() - BACKENDS.keys()
    assert [key for key in keys if not re.search(rf"[`\[]{key}[`\]]", text("docs/how-to/project.md"))] == []
    assert [name for name in RENAMED if f"{name}=" not in text("docs/targets/make.md")] == []
    rows = {f"| `{recipe.name}` | `{recipe.command.replace('{model}', '')}` |" for recipe in RECIPES}
    assert rows <= {*text("docs/how-to/agents.md").splitlines()}
    findings = next(line for line in text("docs/reference/exit-codes.md").splitlines() if line.startswith("| 1 | "))
    for name in ("check", "fmt", "compile", "test", "trace", "graph", "run", "status", "import", "verify", "mock"):
        words = (name, "missing.runbook.md", *(("--to", "make") if name == "compile" else ()))
        assert call(*words, cwd=tmp_path).code == (1 if f"`{name}`" in findings else 2), name


def test_options_in_help_become_code() -> None:
    assert with_code("use --fix, or `--diff -x` (--unsafe-fixes)") == "use `--fix`, or `--diff -x` (`--unsafe-fixes`)"
    assert re.findall('`--[a-z-]+` ["A-Z]', text("docs/reference/cli.md")) == [], "put the whole command in backticks"
    assert re.findall(r"\| `(?:False|Sentinel.*)` \|", text("docs/reference/cli.md")) == [], "show only real defaults"
