"""`rdc build` on all cores, and when things go wrong: killed workers, full disks, links, damaged caches."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest

from tests.rdc.projects import RUNBOOK, Project
from tests.support.cli import ended, environment, fork, spawn

pytestmark = pytest.mark.process


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path / "shop")
    for name in ("build", "deploy"):
        made.runbook(name)
    return made


def test_all_cores_give_what_one_gives(project: Project) -> None:
    for number in range(12):
        project.runbook(f"task-{number}", f"word-{number}")
    one = Project(project.root.parent / "one")
    for place in (project.root / "docs").iterdir():
        one.write(f"docs/{place.name}", place.read_text())
    assert project.build("-j", "4").err == one.build("-j", "1").err
    assert project.files() == one.files()


def test_a_worker_that_is_killed_is_told_in_a_line(project: Project) -> None:
    for number in range(8):
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
    command = [sys.executable, "-c", code]
    done = subprocess.run(
        command, cwd=project.root, env=environment(), capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 1
    assert "a compiling process was killed" in done.stderr
    assert "Traceback" not in done.stderr
    assert project.build().code == 0


def test_a_folder_without_permission_is_told_and_nothing_is_lost(project: Project) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may write anywhere")
    project.build()
    project.runbook("deploy", "new")
    folder = project.root / ".github" / "workflows"
    folder.chmod(0o500)
    try:
        result = project.build()
    finally:
        folder.chmod(0o700)
    assert result.code == 1
    assert "error[RD511]" in result.err
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


def test_a_cache_that_is_damaged_is_none(project: Project) -> None:
    project.build()
    for damage in (b"", b"{", b'{"made_by": 3}', os.urandom(100)):
        (project.root / ".rdc_cache" / "build.json").write_bytes(damage)
        assert project.build().code == 0
        assert project.build("--check").code == 0


def test_in_ci_a_cache_that_came_with_the_repository_proves_nothing(project: Project) -> None:
    project.build()
    evil = project.workflow("deploy").read_text() + "# and more\n"
    project.workflow("deploy").write_text(evil)
    book = project.root / ".rdc_cache" / "build.json"
    made = json.loads(book.read_bytes())
    made["records"][".github/workflows/deploy.yml"]["outputs"][".github/workflows/deploy.yml"] = sha256(
        evil.encode()
    ).hexdigest()
    book.write_text(json.dumps(made))
    result = spawn("build", "--check", cwd=project.root, CI="true")
    assert result.code == 1
    assert "error[RD543]" in result.err


def test_watch_builds_again_on_save(project: Project) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "rdc", "build", "--watch"],
        cwd=project.root,
        env=environment(),
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        assert process.stderr is not None
        lines = iter(process.stderr.readline, "")
        assert next(line for line in lines if "rdc.lock" in line)
        project.runbook("deploy", "saved")
        assert next(line for line in lines if "deploy.yml" in line) == "wrote .github/workflows/deploy.yml\n"
        assert "echo saved" in project.workflow("deploy").read_text()
    finally:
        os.killpg(process.pid, signal.SIGINT)
        process.wait(10)
    assert process.returncode == 0


def test_watch_outlives_an_approval_and_a_missing_configuration(project: Project) -> None:
    project.build()
    project.write(
        "docs/deploy.runbook.md", f"---\nrdc: {{github: {{secrets: [KEY]}}}}\n---\n{RUNBOOK.format('A', 'a')}"
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "rdc", "build", "--watch", "--approve", "secret KEY"],
        cwd=project.root,
        env=environment(),
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        assert process.stderr is not None
        lines = iter(process.stderr.readline, "")
        assert next(line for line in lines if "wrote rdc.lock" in line)
        (project.root / "rdc.toml").rename(project.root / "away.toml")
        assert next(line for line in lines if "builds nothing" in line)
        (project.root / "away.toml").rename(project.root / "rdc.toml")
        project.runbook("build", "saved")
        assert next(line for line in lines if "build.yml" in line) == "wrote .github/workflows/build.yml\n"
    finally:
        os.killpg(process.pid, signal.SIGINT)
        process.wait(10)
    assert process.returncode == 0


def test_a_link_in_the_repository_leads_no_build_out_of_it(project: Project) -> None:
    outside = project.root.parent / "outside"
    outside.mkdir()
    marked = outside / "old.yml"
    marked.write_text("# Generated by rdc 0.1.0 from docs/gone.runbook.md\n")
    folder = project.root / ".github" / "workflows"
    folder.parent.mkdir()
    folder.symlink_to(outside)
    (project.root / ".rdc_cache").symlink_to(outside)
    result = project.build("--prune")
    assert result.code == 1
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
    result = project.build()
    assert result.code == 1
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
