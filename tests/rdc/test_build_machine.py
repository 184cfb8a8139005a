"""Random sequences of edits, builds and kills against a model: what the next build leaves is always right."""

from __future__ import annotations

import os
import re
import shutil
import signal
from collections.abc import Callable
from functools import cache
from itertools import count
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from backends.registry import load
from compiler.driver import Settings, open_file
from rdc.output.generate import generate
from tests.rdc.projects import RUNBOOK, Project
from tests.support.cli import call, ended, fork

pytestmark = pytest.mark.process

NAMES = st.sampled_from(["build", "deploy", "check"])
WORDS = st.sampled_from(["one", "two", "three"])
PARTS = st.sampled_from(["near", "far"])

WRITES = ("replace", "fsync", "open", "mkdir", "unlink")
"""Every write of a build goes through one of these functions of `os`."""


def killed(at: int, root: Path) -> None:
    """Build, and die before the write of this number."""
    left = count(at, -1)

    def dying(real: Callable[..., Any]) -> Callable[..., Any]:
        def called(*words: Any, **named: Any) -> Any:
            if next(left) <= 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*words, **named)

        return called

    for name in WRITES:
        setattr(os, name, dying(getattr(os, name)))
    call("build", "-j", "1", "-q", cwd=root)


@cache
def compiled(source: str, text: str, part: str) -> bytes:
    """What a document becomes, compiled in a folder of its own."""
    folder = Path(mkdtemp())
    try:
        project = Project(folder / "p")
        project.write(source, text)
        project.write("docs/parts/part.runbook.md", part)
        here = Path.cwd()
        os.chdir(project.root)
        try:
            (made,) = generate([open_file(source)], Settings(), load("make"), {}).products
        finally:
            os.chdir(here)
        assert made is not None
        return made.data
    finally:
        shutil.rmtree(folder)


class Builds(RuleBasedStateMachine):
    """A project, and what it should be: the text of each document, and the text of the part that some include."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(mkdtemp())
        entry = '[[build]]\nsource = "docs/*.runbook.md"\nto = "make"\nout = "out/{name}.mk"\n'
        self.project = Project(self.folder / "p", entry)
        self.texts: dict[str, str] = {}
        self.part = ""
        self.change_part("near")

    def teardown(self) -> None:
        shutil.rmtree(self.folder)

    @rule(word=PARTS)
    def change_part(self, word: str) -> None:
        self.part = RUNBOOK.format("Part", word)
        self.project.write("docs/parts/part.runbook.md", self.part)

    @rule(name=NAMES, word=WORDS)
    def write(self, name: str, word: str) -> None:
        self._write(name, RUNBOOK.format(name.title(), word))

    @rule(name=NAMES)
    def include(self, name: str) -> None:
        self._write(name, "## 1. Both\n\n- parts/part.runbook.md\n")

    def _write(self, name: str, text: str) -> None:
        self.texts[name] = text
        self.project.write(f"docs/{name}.runbook.md", text)

    @rule(name=NAMES)
    def remove(self, name: str) -> None:
        if self.texts.pop(name, None) is not None:
            (self.project.root / "docs" / f"{name}.runbook.md").unlink()

    @rule(name=NAMES)
    def edit_output(self, name: str) -> None:
        path = self.project.root / "out" / f"{name}.mk"
        if path.exists():
            path.write_text(path.read_text() + "# by hand\n")

    @rule(name=NAMES)
    def remove_output(self, name: str) -> None:
        (self.project.root / "out" / f"{name}.mk").unlink(missing_ok=True)

    @rule()
    def remove_cache(self) -> None:
        shutil.rmtree(self.project.root / ".rdc_cache", ignore_errors=True)

    @precondition(lambda self: self.texts)
    @rule(at=st.integers(0, 40))
    def build_is_killed(self, at: int) -> None:
        ended(fork(lambda: killed(at, self.project.root)))

    @precondition(lambda self: self.texts)
    @rule()
    def two_builds_at_once(self) -> None:
        children = [fork(lambda: self.project.build("-q", "-j", "1").code) for _ in range(2)]
        assert [ended(child) for child in children] == [0, 0]

    @precondition(lambda self: self.texts)
    @rule()
    def build(self) -> None:
        self._approved()
        wanted = self._wanted()
        assert {path.stem: path.read_bytes() for path in (self.project.root / "out").iterdir()} == wanted
        assert self.project.build("--check").code == 0
        assert self.project.build().err == f"{len(wanted)} file{'s' * (len(wanted) > 1)} up to date\n"

    def _approved(self) -> None:
        result = self.project.build("--prune")
        assert result.code == 0, result.err

    @precondition(lambda self: self.texts)
    @rule()
    def check_tells_whether_all_is_right(self) -> None:
        folder = self.project.root / "out"
        there = {path.stem: path.read_bytes() for path in folder.iterdir()} if folder.exists() else {}
        result = self.project.build("--check")
        about_files = re.findall(r"^(?!rdc\.lock)\S+: error", result.err, re.MULTILINE)
        assert bool(about_files) == (there != self._wanted()), result.err

    def _wanted(self) -> dict[str, bytes]:
        return {name: compiled(f"docs/{name}.runbook.md", text, self.part) for name, text in self.texts.items()}

    @invariant()
    def nothing_is_half_written(self) -> None:
        folder = self.project.root / "out"
        for path in folder.iterdir() if folder.exists() else ():
            assert path.suffix == ".mk", path
            assert path.read_bytes().removesuffix(b"# by hand\n").endswith(b"\n")
            assert path.stat().st_size > 5_000


TestBuilds = Builds.TestCase
TestBuilds.settings = settings(max_examples=12, stateful_step_count=30, deadline=None)
