"""An output of several files: the main one and its companions are written, checked and refused together."""

import ctypes
import errno
import json
import os
import re
import signal
import struct
import subprocess
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from backends.base import MARK, Companion, Emission
from backends.options.paths import check_path
from backends.registry import BACKENDS
from rdc.output.layout import beside
from tests.rdc import sample_target
from tests.support.cli import GOOD, MISSING_TITLE, UNKNOWN_TARGET, Result, call, document, ended, fork

pytestmark = pytest.mark.process

TO = ("compile", "--to", "pair")
BOTH = ("-O", "program=../tools/a.sh", "-O", "runtime=../tools/shared.txt")
MAIN = (*TO, "a.runbook.md", "-o", "flows/a.sh", *BOTH)
OTHER = GOOD.replace("# Deploy", "# Another")


@pytest.fixture(autouse=True)
def _pair(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(BACKENDS, "pair", sample_target.PAIR_PATH)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with two runbooks and two folders for what is made of them, in a folder with other things."""
    root = tmp_path / "project"
    document(root, "a.runbook.md", GOOD)
    document(root, "b.runbook.md", OTHER)
    for name in ("flows", "tools", ".git"):
        (root / name).mkdir()
    return root


def made(root: Path) -> dict[str, str]:
    files = [path for path in root.rglob("*") if path.is_file() and path.suffix != ".md"]
    return {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in sorted(files)}


def refused(result: Result, code: str, *words: str) -> None:
    """See that it is refused with one finding, in these words."""
    assert (result.code, result.out) == (1, ""), result
    assert re.findall(r"error\[(\w+)\]", result.err) == [code], result.err
    for word in words:
        assert word in result.err


def test_all_files_are_written_listed_and_work_together(project: Path) -> None:
    result = call(*MAIN, cwd=project)
    assert (result.code, result.out, result.err) == (0, "", "wrote flows/a.sh, tools/a.sh and tools/shared.txt\n")
    assert list(made(project)) == ["flows/a.sh", "tools/a.sh", "tools/shared.txt"]
    modes = {name: os.access(project / name, os.X_OK) for name in made(project)}
    assert modes == {"flows/a.sh": True, "tools/a.sh": True, "tools/shared.txt": False}
    done = subprocess.run([project / "flows/a.sh"], capture_output=True, text=True, check=True)
    assert done.stdout == f"# {MARK}\nhello\nDeploy\n"
    before = (project / "tools/a.sh").stat()
    assert call(*MAIN, cwd=project).err == "flows/a.sh, tools/a.sh and tools/shared.txt are up to date\n"
    result = call(*MAIN, "-O", "greeting=good day", cwd=project)
    assert result.err == "flows/a.sh is up to date\ntools/a.sh is up to date\nwrote tools/shared.txt\n"
    after = (project / "tools/a.sh").stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


def test_without_o_companions_stand_beside_the_document_which_may_name_them(project: Path) -> None:
    result = call(*TO, "project/a.runbook.md", "-O", "runtime=tools/x.txt", cwd=project.parent)
    assert result.err == "wrote project/a.sh and project/tools/x.txt\n"
    document(project, "a.runbook.md", f"---\nrdc:\n  pair: {{runtime: shared.txt}}\n---\n{GOOD}")
    assert call(*TO, "a.runbook.md", cwd=project).err.endswith("wrote shared.txt\n")


@pytest.mark.parametrize("out", ["flows", "flows/"])
def test_several_sources_share_a_companion(project: Path, out: str) -> None:
    words = (*TO, "a.runbook.md", "b.runbook.md", "-o", out, "-O", "runtime=shared.txt")
    result = call(*words, cwd=project)
    written = "wrote flows/a.sh and flows/shared.txt\nwrote flows/b.sh and flows/shared.txt\n"
    assert (result.code, result.err) == (0, written)
    document(project, "flows/shared.txt", f"# {MARK}\nedited\n")
    assert call(*words, "--check", cwd=project).exits(1).out.count("-edited") == 1


@pytest.mark.parametrize("broken", [UNKNOWN_TARGET, MISSING_TITLE])
def test_a_document_with_findings_keeps_all_companions_from_being_written(project: Path, broken: str) -> None:
    document(project, "b.runbook.md", broken)
    words = (*TO, "--strict", "a.runbook.md", "b.runbook.md", "-o", "flows", "-O", "runtime=shared.txt")
    assert call(*words, cwd=project).code == 1
    assert made(project) == {}


def test_standard_output_takes_one_file(project: Path) -> None:
    result = call(*TO, "a.runbook.md", "-o", "-", *BOTH, cwd=project)
    refused(result, "RD526", "files ../tools/a.sh and ../tools/shared.txt", "choose the main file with -o")
    result = call(*TO, "a.runbook.md", "-o", "-", "-O", "runtime=shared.txt", cwd=project)
    refused(result, "RD526", "needs the companion file shared.txt, but")
    assert made(project) == {}
    assert call(*TO, "a.runbook.md", "-o", "-", cwd=project).code == 0


def test_a_foreign_companion_is_not_overwritten_without_force(project: Path) -> None:
    document(project, "tools/shared.txt", "mine\n")
    refused(call(*MAIN, cwd=project), "RD510", "tools/shared.txt was not generated", "option `runtime`", "--force")
    assert made(project) == {"tools/shared.txt": "mine\n"}
    assert call(*MAIN, "--force", cwd=project).code == 0
    assert "hello" in made(project)["tools/shared.txt"]


def test_folders_of_companions_are_made(project: Path) -> None:
    words = (*TO, "a.runbook.md", "-O", "runtime=tools/new/er/x.txt", "-O", "program=new.d/a.sh")
    assert "tools/new/er/x.txt does not exist" in call(*words, "--check", cwd=project).exits(1).err
    assert not (project / "tools/new").exists(), "`--check` writes nothing"
    assert call(*words, cwd=project).code == 0
    assert list(made(project)) == ["a.sh", "new.d/a.sh", "tools/new/er/x.txt"]
    assert call(*words, "--check", cwd=project).code == 0
    assert call(*TO, "a.runbook.md", "-o", "made/a.sh", "-O", "runtime=../newer/x.txt", cwd=project).code == 0
    assert (project / "newer/x.txt").is_file()


def test_a_folder_is_not_left_behind_by_a_failure(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "fsync", broken)
    refused(call(*TO, "a.runbook.md", "-O", "runtime=tools/new/x.txt", cwd=project), "RD511", os.strerror(errno.EIO))
    assert list((project / "tools").iterdir()) == []


def test_a_folder_at_the_end_of_a_link_is_made_within_the_project_only(project: Path) -> None:
    (project / "inside").symlink_to("tools/new")
    (project / "outside").symlink_to("../new")
    refused(call(*TO, "a.runbook.md", "-O", "runtime=outside/x.txt", cwd=project), "RD524")
    assert not (project.parent / "new").exists()
    assert call(*TO, "a.runbook.md", "-O", "runtime=inside/x.txt", cwd=project).code == 0
    assert (project / "tools/new/x.txt").exists()
    document(project.parent, "free/a.runbook.md", GOOD)
    free = (*TO, "free/a.runbook.md", "-O")
    assert call(*free, "runtime=below/x.txt", cwd=project.parent).code == 0, "without a project it stays in the folder"
    refused(call(*free, "runtime=../x.txt", cwd=project.parent), "RD524")
    assert not (project.parent / "x.txt").exists()


@pytest.mark.parametrize(("path", "words"), [("a.runbook.md/x/x.txt", "is not a folder"), ("dir.d", "it is a folder")])
def test_a_companion_that_cannot_be_written(project: Path, path: str, words: str) -> None:
    (project / "dir.d").mkdir()
    refused(call(*TO, "a.runbook.md", "-O", f"runtime={path}", cwd=project), "RD511", words)
    refused(call(*TO, "a.runbook.md", "-o", "x" * 300, cwd=project), "RD511", "too long")
    refused(call(*TO, "--force", "a.runbook.md", "-O", "runtime=a.runbook.md", cwd=project), "RD510", "is a source")
    assert (made(project), (project / "a.runbook.md").read_text()) == ({}, GOOD)


def powerless(*words: str, cwd: Path) -> Result:
    """Call rdc as somebody for whom the rights of files count: root gives up what lets it pass."""
    found = cwd.parent / "found"

    def act() -> None:
        if os.geteuid() == 0:
            capset = getattr(ctypes.CDLL(None), "capset", None)
            version_of_linux, of_this_process = 0x20080522, 0
            if not capset or capset(struct.pack("=Ii", version_of_linux, of_this_process), bytes(24)):
                os._exit(77)
        result = call(*words, cwd=cwd)
        found.write_text(json.dumps([result.code, result.out, result.err]), encoding="utf-8")

    if ended(fork(act)) == 77:
        pytest.skip("root can write everywhere")
    return Result(*json.loads(found.read_text(encoding="utf-8")))


def test_a_folder_that_is_read_only(project: Path) -> None:
    (project / "tools").chmod(0o555)
    refused(powerless(*MAIN, cwd=project), "RD511", "cannot write tools: it is read-only")
    new = "runtime=tools/new/x.txt"
    refused(powerless(*TO, "a.runbook.md", "-O", new, cwd=project), "RD511", "cannot write tools/new: it is read-only")
    (project / "tools").chmod(0o755)
    assert made(project) == {}
    assert call(*MAIN, cwd=project).code == 0


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("/tmp/x.py", "absolute"),
        ("a\\x.py", "backslash"),
        *((path, "at the start") for path in ("a/../x.py", "../a/../../x.py")),
        *(
            (path, "needs a file extension")
            for path in ("", ".", "..", "../..", "a.d/", ".bashrc", "../.git/hooks/pre")
        ),
        *((path, "invisible character") for path in ("a\n.py", "a\0.py", "\u202egnp.py", "\udc80.py")),
        *((path, "too long") for path in ("x" * 198 + ".py", "a/" * 600 + "x.py")),
    ],
)
def test_a_path_that_is_refused(path: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        check_path(path)
    with pytest.raises(ValueError, match=problem):
        Companion(path, f"# {MARK}\n", "option")


def test_a_path_that_is_accepted_and_where_it_leads() -> None:
    for path in ("x.py", "../rdc/x.py", "../../x.tar.gz", "./x.py", "büro/ä b.py", ".github/x.yml", "~/x.py"):
        assert check_path(path) == path
    assert beside("a.yml", "x.py") == "x.py"
    assert beside("a/b/c.yml", "../d/x.py") == "a/d/x.py"
    assert beside("a/b/c.yml", "../../../x.py") == "../x.py"
    assert beside("../c.yml", "../x.py") == "../../x.py"
    assert beside("/a/c.yml", "../x.py") == "/x.py"
    assert beside("a/../c.yml", "../x.py") == "a/../../x.py"
    assert beside("a/c.yml", "./b//x.py") == "a/b/x.py"


def test_a_wrong_path_is_found_at_its_option_and_cannot_write_on_the_terminal(project: Path) -> None:
    assert call(*TO, "a.runbook.md", "-O", "runtime=/tmp/x.txt", cwd=project).code == 2
    document(project, "rdc.toml", '[pair]\nruntime = "/tmp/x.txt"\n')
    result = call(*TO, "a.runbook.md", cwd=project)
    refused(result, "RD501", "`runtime`: the path is absolute")
    assert result.err.startswith("rdc.toml:2:")
    document(project, "rdc.toml", "")
    document(project, "a.runbook.md", f'---\nrdc:\n  pair: {{runtime: "x\\e]0;y\\a.txt"}}\n---\n{GOOD}')
    result = call(*TO, "a.runbook.md", cwd=project)
    refused(result, "RD013", "an invisible character")
    assert "\x1b" not in result.err


@pytest.mark.parametrize(
    "path", ["../../secret.txt", "../link/secret.txt", "../link.txt", "../.git/config.txt", "../.GIT/config.txt"]
)
def test_a_companion_stays_in_the_project_of_the_main_file(project: Path, path: str) -> None:
    outside = document(project.parent, "secret.txt", f"# {MARK}\nsecret\n")
    (project / ".git/config.txt").write_text("secret")
    (project / ".GIT").mkdir(exist_ok=True)
    (project / "link").symlink_to("..")
    (project / "link.txt").symlink_to("../secret.txt")
    words = (*TO, "--force", "a.runbook.md", "-o", "flows/a.sh")
    refused(call(*words, "-O", f"runtime={path}", cwd=project), "RD524", "`runtime`", "flows/a.sh")
    call(*words, cwd=project)
    refused(call(*words, "-O", f"runtime={path}", "--check", cwd=project), "RD524", "`runtime`", "flows/a.sh")
    assert outside.read_text() == f"# {MARK}\nsecret\n"
    assert (project / ".git/config.txt").read_text() == "secret"


def test_a_shared_companion_with_different_contents(project: Path) -> None:
    for name in "ab":
        head = f"---\nrdc:\n  pair: {{runtime: shared.txt, greeting: {name}}}\n---\n"
        document(project, f"{name}.runbook.md", head + GOOD)
    problem = "error[RD525]: a.runbook.md and b.runbook.md both need shared.txt, with different content"
    for check in ((), ("--check",)):
        assert problem in call(*TO, "a.runbook.md", "b.runbook.md", *check, cwd=project).exits(1).err
        assert made(project) == {}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["runtime=a.sh"], "which is the main file itself"),
        (["runtime=../flows/a.sh"], "which is the main file itself"),
        (["runtime=b.sh"], "which is the main file of b.runbook.md"),
        (["runtime=linked.sh"], "which is the main file of b.runbook.md"),
        (["runtime=x.txt", "program=../flows/x.txt"], "the options `program` and `runtime` both name flows/x.txt"),
    ],
)
def test_two_things_in_one_place(project: Path, options: list[str], words: str) -> None:
    (project / "flows/linked.sh").symlink_to("b.sh")
    given = [word for option in options for word in ("-O", option)]
    result = call(*TO, "--force", "a.runbook.md", "b.runbook.md", "-o", "flows", *given, cwd=project)
    assert (result.code, words in result.err, "error[RD525]" in result.err) == (1, True, True)
    assert made(project) == {}


def changed(project: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Compile, change the document and what it shows; gives the files as they are, and as they are to be."""
    words = (*MAIN, "-O", "greeting=x")
    call(*MAIN, cwd=project)
    old = made(project)
    document(project, "a.runbook.md", GOOD.replace("# Deploy", "# Install"))
    call(*words, cwd=project)
    new = made(project)
    for name, text in old.items():
        (project / name).write_text(text, encoding="utf-8")
    assert not old.items() & new.items()
    return old, new


def test_a_full_disk_leaves_every_file_as_it_was(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old, _ = changed(project)
    for turn in range(1, 4):
        synced = count(1)

        def full(_: int, synced: Iterator[int] = synced, turn: int = turn) -> None:
            assert {name: text for name, text in made(project).items() if ".rdc-" not in name} == old
            if next(synced) == turn:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", full)
            refused(call(*MAIN, "-O", "greeting=x", cwd=project), "RD511", "No space left", "nothing was written")
        assert made(project) == old


def test_what_was_written_before_a_failure_is_told(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old, new = changed(project)
    replace, turns = Path.replace, count(1)

    def failing(self: Path, target: Path) -> Path:
        if next(turns) == 3:
            raise OSError(errno.EPERM, os.strerror(errno.EPERM))
        return replace(self, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", failing)
        result = call(*MAIN, "-O", "greeting=x", cwd=project)
    refused(result, "RD511", "cannot write flows/a.sh", "already written: tools/a.sh and tools/shared.txt")
    assert made(project) == {**new, "flows/a.sh": old["flows/a.sh"]}


@pytest.mark.parametrize("fresh", [True, False], ids=["fresh", "again"])
def test_a_kill_at_any_moment_leaves_no_main_file_without_its_companions(project: Path, *, fresh: bool) -> None:
    old, new = changed(project)
    for turn in count():
        for name, text in old.items():
            (project / name).unlink() if fresh else (project / name).write_text(text, encoding="utf-8")
        ended = killed(turn, *MAIN, "-O", "greeting=x", cwd=project)
        for path in project.rglob(".rdc-*"):
            path.unlink()
        found = made(project)
        assert found.items() <= {*new.items(), *(() if fresh else old.items())}
        if "flows/a.sh" in found:
            assert set(found) == set(new)
            if found["flows/a.sh"] == new["flows/a.sh"]:
                assert found == new
        if ended == 0:
            break
        assert ended == -signal.SIGKILL
        assert call(*MAIN, "-O", "greeting=x", cwd=project).code == 0
        assert made(project) == new
    assert turn == 3


def killed(turn: int, *words: str, cwd: Path) -> int:
    """Call rdc in a fork that is killed before the rename of that turn; gives what the process ended with."""

    def act() -> int:
        turns = count()

        def hook(event: str, _: object) -> None:
            if event == "os.rename" and next(turns) == turn:
                os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(hook)
        return call(*words, cwd=cwd).code

    return ended(fork(act))


def test_companions_last_on_the_disk_before_the_main_file(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    happened: list[str] = []
    replace, fsync = Path.replace, os.fsync

    def replacing(self: Path, target: Path) -> Path:
        happened.append(f"rename {target.relative_to(project)}")
        return replace(self, target)

    def syncing(descriptor: int) -> None:
        found = os.fstat(descriptor)
        names = [name for name in ("flows", "tools") if os.path.samestat((project / name).stat(), found)]
        happened.append(" ".join(["sync", *names]))
        fsync(descriptor)

    monkeypatch.setattr(Path, "replace", replacing)
    monkeypatch.setattr(os, "fsync", syncing)
    assert call(*MAIN, cwd=project).code == 0
    companions = ["rename tools/a.sh", "rename tools/shared.txt", "sync tools"]
    assert happened == ["sync", "sync", "sync", *companions, "rename flows/a.sh", "sync flows"]


def test_check_tells_of_companions_too(project: Path) -> None:
    result = call(*MAIN, "--check", cwd=project).exits(1)
    for name in ("flows/a.sh", "tools/a.sh", "tools/shared.txt"):
        assert f"error[RD512]: {name} does not exist" in result.err
    assert made(project) == {}
    call(*MAIN, cwd=project)
    current = "flows/a.sh, tools/a.sh and tools/shared.txt are up to date\n"
    assert call(*MAIN, "--check", cwd=project) == Result(0, "", current)
    (project / "tools/shared.txt").write_text(f"# {MARK}\nedited\x1b[31m\n")
    before = made(project)
    result = call(*MAIN, "--check", cwd=project).exits(1)
    assert re.findall(r"error\[RD512\]: (\S+) is not up to date with a.runbook.md", result.err) == ["tools/shared.txt"]
    assert "-edited␛[31m\n+hello\n" in result.out
    assert "\x1b" not in result.out
    assert made(project) == before
    (project / "tools/shared.txt").unlink()
    refused(call(*MAIN, "--check", cwd=project), "RD512", "tools/shared.txt does not exist")
    result = call(*MAIN, "--check", "--format", "github", cwd=project)
    assert (result.code, result.out.startswith("::error file=tools/shared.txt,title=RD512::")) == (1, True)
    # What a document calls its companion may be anybody's secrets, and a pipeline shows differences to everybody.
    document(project, "tools/shared.txt", "password\n")
    result = call(*MAIN, "--check", cwd=project)
    assert (result.code, "tools/shared.txt was not generated by rdc" in result.err) == (1, True)
    assert "password" not in result.out + result.err


def test_a_text_without_the_mark_is_a_defect_of_the_backend() -> None:
    marked = f"#!/bin/sh\n\n\n\n# {MARK} 1\n"
    Emission(marked, companions=(Companion("x.py", marked, "x"),))
    late = f"\n{marked}"
    with pytest.raises(ValueError, match="without `Generated by rdc`"):
        Emission(late)
    with pytest.raises(ValueError, match="without `Generated by rdc`"):
        Emission(marked, companions=(Companion("x.py", late, "x"),))
    with pytest.raises(ValueError, match="without a main file"):
        Emission(None, companions=(Companion("x.py", marked, "x"),))
