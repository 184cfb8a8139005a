"""The documentation is true: its generated pages are current, and its examples show what happens."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from rdc.commands import COMMANDS
from tests.conftest import ROOT
from tests.rdc.cli_support import call, spawn
from tests.regenerate import FILES

SHOWN = re.compile(r"^```console\n\$ rdc (?P<words>.*)\n(?P<output>(?:.*\n)*?)```$", re.MULTILINE)

HELD = re.compile(r"`(?:(?P<file>[\w/]+\.py)|…)(?:::(?P<test>\w+))?`")
"""A test in the page of promises; `…` is the file that was named before."""


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_generated_files_are_current(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == FILES[path](), "run `make golden`"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the runbooks of `docs/fmt.md` and the README, whose scenarios `docs/test.md` shows."""
    folder = tmp_path_factory.mktemp("documentation")
    (folder / "rdc.toml").touch()
    runbook = text("README.md").split("~~~markdown\n")[1].split("~~~")[0]
    (folder / "deploy.runbook.md").write_text(runbook, encoding="utf-8")
    untidy = text("docs/fmt.md").split("~~~markdown\n")[1].split("~~~")[0]
    (folder / "tidy.runbook.md").write_text(untidy, encoding="utf-8")
    return folder


def text(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


@pytest.mark.parametrize("page", ["docs/test.md", "docs/trace.md", "docs/fmt.md"])
def test_examples_show_what_happens(page: str, folder: Path) -> None:
    runbook = folder / "deploy.runbook.md"
    plain = runbook.read_text(encoding="utf-8")
    if "```yaml\n" in text(page):
        runbook.write_text(f"---\n{text(page).split('```yaml')[1].split('```')[0]}---\n{plain}", encoding="utf-8")
    shown = list(SHOWN.finditer(text(page)))
    assert shown
    for example in shown:
        said = call(*shlex.split(example["words"]), cwd=folder).out
        whole, dots, _ = example["output"].partition("...\n")
        assert said.startswith(whole) if dots else said == whole
    runbook.write_text(plain, encoding="utf-8")


def test_the_tests_that_hold_promises_are_there() -> None:
    file = ""
    named = list(HELD.finditer(text("docs/explanation/guarantees.md")))
    assert len(named) > 30
    for name in named:
        file = name["file"] or file
        assert (ROOT / "tests" / file).exists(), name[0]
        if name["test"]:
            assert f"def {name['test']}(" in text(f"tests/{file}"), name[0]


CONVERTED = {"deploy": ["--input", "VERSION=1.6.0"], "upgrade": ["--input", "HOST=web1"], "restart": []}
"""The runbooks of the page on converting, in its order, with what a run of each is given."""


def test_what_the_page_on_converting_shows_can_be_run(tmp_path: Path) -> None:
    (tmp_path / "rdc.toml").touch()
    (tmp_path / "answers").write_text("yes\n" * 3)
    shown = text("docs/migrating.md").split("~~~markdown\n")[1:]
    assert len(shown) == len(CONVERTED)
    for (name, given), block in zip(CONVERTED.items(), shown, strict=True):
        runbook = tmp_path / f"{name}.runbook.md"
        runbook.write_text(block.split("~~~")[0], encoding="utf-8")
        assert call("check", "--strict", runbook.name, cwd=tmp_path).code == 0
        done = spawn("run", runbook.name, "--answers", "answers", *given, cwd=tmp_path)
        assert "rdc: COMPLETE" in done.err, done.err


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_documented(command: str) -> None:
    pages = ["README.md", *(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md"))]
    assert any(f"rdc {command}" in text(page) for page in pages)
