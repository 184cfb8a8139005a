"""The pages of the diagnostics: each example gives its diagnostic, each repair takes it away.

A page has blocks between lines of `~~~~`: with a file name they are files; a `console` block has the commands to run in
their folder, each after a `$ `. Without one, `rdc check` is run on the first file. The repair starts from the files of
the example, and from what its commands have made.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from compiler.diagnostic import CODES, Severity
from tests.rdc.cli_support import ROOT, call, environment

PAGES = ROOT / "compiler" / "explanations"
SECTIONS = ["What it means", "Why it matters", "Example", "Fix"]

BLOCK = re.compile(r"^~~~~(?P<kind>\w+)(?: (?P<name>\S+))?\n(?P<text>.*?)^~~~~$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Section:
    """A section of a page: the files that it shows, and the commands in it."""

    files: dict[str, str]
    commands: list[str]


def page(code: str) -> str:
    return (PAGES / f"{code}.md").read_text(encoding="utf-8")


def prose(code: str) -> str:
    """A page without its blocks."""
    return BLOCK.sub("", page(code))


def section(code: str, name: str) -> Section:
    """The blocks of a section."""
    text = page(code)
    start = text.index(f"\n## {name}\n")
    blocks = [match for match in BLOCK.finditer(text) if match.start() > start]
    if name == "Example":
        blocks = [match for match in blocks if match.start() < text.index("\n## Fix\n")]
    files = {match["name"]: match["text"] for match in blocks if match["name"]}
    lines = [line for match in blocks if match["kind"] == "console" for line in match["text"].splitlines()]
    commands = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
    assert files or commands, f"{code}: {name} has nothing to run"
    return Section(files, commands or [f"rdc check {next(iter(files))}"])


def run(shown: Section, folder: Path) -> tuple[int, str]:
    """Write the files and run the commands; gives the last exit code and all that was said."""
    for name, text in shown.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    if len(shown.commands) == 1 and re.fullmatch(r"rdc [\w ./-]+", shown.commands[0]):
        result = call(*shlex.split(shown.commands[0])[1:], cwd=folder)
        return result.code, result.out + result.err
    variables = environment()
    done = subprocess.run(
        ["bash", "-c", "\n".join(shown.commands)],
        cwd=folder,
        env={**variables, "PATH": f"{Path(sys.executable).parent}:{variables['PATH']}"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout.decode()


@pytest.mark.share(6)
@pytest.mark.parametrize("code", CODES)
def test_example_and_repair(code: str, tmp_path: Path) -> None:
    exit_code, said = run(section(code, "Example"), tmp_path)
    assert f"[{code}]" in said
    assert exit_code == (1 if CODES[code].severity is Severity.ERROR else 0), said
    exit_code, said = run(section(code, "Fix"), tmp_path)
    assert f"[{code}]" not in said, said
    assert "error[" not in said, said
    assert exit_code == 0, said


@pytest.mark.parametrize("code", CODES)
def test_page_has_its_form(code: str) -> None:
    known = CODES[code]
    lines = prose(code).splitlines()
    assert lines[0] == f"# {code}: {known.name.replace('-', ' ')}"
    assert lines[2] == f"## {SECTIONS[0]}"
    assert [line.removeprefix("## ") for line in lines if line.startswith("## ")] == SECTIONS
    assert not [line for line in lines if line.startswith("~~~")], "a block that is not closed"
    parts = re.split(r"^## [\w ]+\n", prose(code), flags=re.MULTILINE)
    assert parts[1].strip(), "what it is"
    assert parts[2].strip(), "why it matters"
    assert parts[4].strip(), "what to do"
