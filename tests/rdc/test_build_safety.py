"""`rdc build` on all cores, when things go wrong, and in random sequences of edits and kills."""

import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from hashlib import sha256
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
from tests.rdc.projects import RUNBOOK, Project, shop
from tests.support.cli import call, ended, environment, executed, fork, spawn

pytestmark = pytest.mark.process


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return shop(tmp_path)


def test_all_cores_give_what_one_gives(project: Project) -> None:
    for number in range(6):
        project.runbook(f"task-{number}", f"word-{number}")
    one = Project(project.root.parent / "one")
    for place in (project.root / "docs").iterdir():
        one.write(f"docs/{place.name}", place.read_text())
    assert project.build("-j", "4").err == one.build("-j", "1").err
    assert project.files() == one.files()


@pytest.mark.usefixtures("real_starts")
def test_a_worker_that_is_killed_is_told_in_a_line(project: Project) -> None:
    for number in range(4):
        project.runbook(f"task-{number}")
    code = (
        "import os, signal, rdc.build.compile as workers\n"
        "real = workers.compile_task\n"
        "def compile_task(root, task):\n"
        "    if task.source.endswith('task-3.runbook.md'): os.kill(os.getpid(), signal.SIGKILL)\n"
        "    return real(root, task)\n"
        "workers.compile_task = compile_task\n"
        "from rdc.cli import main\n"
        "raise SystemExit(main(['build', '-j', '2']))\n"
    )
    done = executed([sys.executable, "-c", code], cwd=project.root, env=environment()).exits(1)
    assert "a compiling process was killed" in done.err
    assert "Traceback" not in done.err
    assert project.build().code == 0


def test_a_full_disk_leaves_every_file_as_it_was(project: Project) -> None:
    project.build()
    project.runbook("deploy", "new")
    before = project.files()
    errors = project.root.parent / "errors"

    def act() -> int:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
        result = project.build()
        resource.setrlimit(resource.RLIMIT_FSIZE, resource.getrlimit(resource.RLIMIT_FSIZE)[1:] * 2)
        errors.write_text(result.err, encoding="utf-8")
        return result.code

    assert ended(fork(act)) == 1
    assert "error[RD511]: cannot write .github/workflows/deploy.yml: File too large" in errors.read_text("utf-8")
    assert project.files() == before
    assert project.build().err == "wrote .github/workflows/deploy.yml\n"


def test_a_damaged_cache_is_none_and_in_ci_one_of_the_repository_proves_nothing(project: Project) -> None:
    project.build()
    for damage in (b"", b"{", b'{"made_by": 3}', os.urandom(100)):
        (project.root / ".rdc_cache" / "build.json").write_bytes(damage)
        assert project.build().code == 0
        assert project.build("--check").code == 0
    evil = project.workflow("deploy").read_text() + "# and more\n"
    project.workflow("deploy").write_text(evil)
    book = project.root / ".rdc_cache" / "build.json"
    made = json.loads(book.read_bytes())
    path = ".github/workflows/deploy.yml"
    made["records"][path]["outputs"][path] = sha256(evil.encode()).hexdigest()
    book.write_text(json.dumps(made))
    assert "error[RD543]" in spawn("build", "--check", cwd=project.root, CI="true").exits(1).err


@contextmanager
def watching(project: Project, *words: str) -> Iterator[Iterator[str]]:
    """Give the lines of `rdc build --watch`, which Ctrl-C ends."""
    command = [sys.executable, "-m", "rdc", "build", "--watch", *words]
    options: dict[str, Any] = {"stderr": subprocess.PIPE, "text": True, "start_new_session": True}
    process = subprocess.Popen(command, cwd=project.root, env=environment(), **options)
    try:
        assert process.stderr is not None
        yield iter(process.stderr.readline, "")
    finally:
        os.killpg(process.pid, signal.SIGINT)
        process.wait(10)
    assert process.returncode == 0


def test_watch_builds_on_save_and_outlives_an_approval_and_a_missing_configuration(project: Project) -> None:
    project.build()
    project.write("docs/deploy.runbook.md", f"---\nrdc: {{github: {{secrets: [K]}}}}\n---\n{RUNBOOK.format('A', 'a')}")
    with watching(project, "--approve", "secret K") as lines:
        assert next(line for line in lines if "wrote rdc.lock" in line)
        (project.root / "rdc.toml").rename(project.root / "away.toml")
        assert next(line for line in lines if "builds nothing" in line)
        (project.root / "away.toml").rename(project.root / "rdc.toml")
        project.runbook("build", "saved")
        assert next(line for line in lines if "build.yml" in line) == "wrote .github/workflows/build.yml\n"
        assert "echo saved" in project.workflow("build").read_text()


def test_a_link_in_the_repository_leads_no_build_out_of_it(project: Project) -> None:
    outside = project.root.parent / "outside"
    outside.mkdir()
    marked = outside / "old.yml"
    marked.write_text("# Generated by rdc 0.1.0 from docs/gone.runbook.md\n")
    folder = project.root / ".github" / "workflows"
    folder.parent.mkdir()
    folder.symlink_to(outside)
    (project.root / ".rdc_cache").symlink_to(outside)
    result = project.build("--prune").exits(1)
    assert "cannot write .github/workflows/deploy.yml: it leads out of the project through a link" in result.err
    assert [path.name for path in outside.iterdir()] == ["old.yml"]


@pytest.mark.parametrize(
    ("source", "out"),
    [(".git.runbook.md", "{name}/hooks/post-checkout"), ("go.runbook.md", "hooks/post-checkout")],
    ids=["name", "link"],
)
def test_no_document_becomes_a_hook_of_git(tmp_path: Path, source: str, out: str) -> None:
    project = Project(tmp_path / "p", f'[[build]]\nsource = "{source}"\nto = "python"\nout = "{out}"\n')
    project.write(source, RUNBOOK.format("Go", "go"))
    hooks = project.root / ".git" / "hooks"
    hooks.mkdir()
    (project.root / "hooks").symlink_to(".git/hooks")
    result = project.build().exits(1)
    assert f"cannot write {out.format(name='.git')}: it is in the folder .git" in result.err
    assert list(hooks.iterdir()) == []


def test_deep_folders_and_many_stars_are_no_trouble(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = Project(tmp_path / "p", f'[[build]]\nsource = "{"**/" * 20}*.runbook.md"\nto = "make"\n')
    deep = "/".join("d" * 30)
    project.write(f"{deep}/go.runbook.md", RUNBOOK.format("Go", "go"))
    project.write(f"{deep}/other.md", "x")
    for depth in range(1_200):
        monkeypatch.chdir("e" if depth else project.root)
        Path("e").mkdir()
    monkeypatch.chdir(project.root)
    result = project.build()
    subprocess.run(["rm", "-r", "e"], check=True)  # pytest can't
    assert result.err == f"wrote {deep}/go.mk\nwrote rdc.lock\n"


NAMES = st.sampled_from(["build", "deploy", "check"])
WORDS = st.sampled_from(["one", "two", "three"])
PARTS = st.sampled_from(["near", "far"])

WRITES = ("replace", "fsync", "open", "mkdir", "unlink")
"""Every write of a build goes through one of these functions of `os`."""


def killed(at: int, root: Path) -> None:
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
    folder = Path(mkdtemp())
    try:
        project = Project(folder / "p")
        project.write(source, text)
        project.write("docs/parts/part.runbook.md", part)
        here = Path.cwd()
        os.chdir(project.root)
        try:
            path = f"out/{Path(source).name.removesuffix('.runbook.md')}.mk"
            (made,) = generate([open_file(source)], Settings(), load("make"), {}, [path]).products
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
        self.project.build("--prune").exits(0)

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
