"""No link leads rdc to a file elsewhere: not in the place of state, and not where a command reads or writes."""

import os
import stat
from pathlib import Path

import pytest

from tests.robustness.places import CommandResult, Generated
from tests.support.cli import call, document, spawn

pytestmark = pytest.mark.process

RUNBOOK = "# T\n\n## 1. Work\n\n```sh\necho worked >> log\n```\n\n## 2. Is it well?\n\n- YES: COMPLETE\n- NO: STOP\n"
PLAYBOOK = "# T\n\n## ARTIFACTS\n\ntype: markdown\n\n## STEP 1: Write\n\nWrite it.\n\n## STEP 2: Check\n\nCheck it.\n"
WORKFLOW = """\
name: t
steps:
  - {name: one, agent: a, prompt: Do it., report: {name: first, format: text}, next: two}
  - {name: two, agent: a, prompt: Do it again., end: true}
"""
DOCUMENTS = {"runbook": RUNBOOK, "playbook": PLAYBOOK, "workflow": WORKFLOW}
AGENT = ("--agent", "echo OWNED; echo 'export OWNED=1'")
FILES = {
    "runbook": ["lock", "journal", ".gitignore"],
    "playbook": ["prompts/1.1", "answers/1.1", "answers/.1.1.new", "answers/2.1", "main.md", ".main.md.new"],
    "workflow": ["reports/first.md", "reports/two.md", "prompts/one.1", "answers/two.1"],
}
FOLDERS = {
    "runbook": [".rdc", ".rdc/main"],
    "playbook": [".rdc/main/prompts", ".rdc/main/answers", ".rdc/main/calls", ".rdc/main/history"],
    "workflow": [".rdc/main/reports"],
}


def words(kind: str) -> tuple[str, ...]:
    return ("run",) if kind == "runbook" else ("run", *AGENT)


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, names in FILES.items() for name in names])
def test_a_file_that_is_a_link_is_not_followed(kind: str, name: str, tmp_path: Path) -> None:
    place = Generated(tmp_path, kind, DOCUMENTS[kind])
    victim = tmp_path / "victim"
    victim.write_text("mine\n")
    link = place.state / name
    link.parent.mkdir(parents=True)
    link.symlink_to(victim)
    result = place.call(*words(kind))
    assert victim.read_text() == "mine\n"
    if result.code == 2:
        assert "link" in result.err, result.err
        link.unlink()  # the remedy
    assert place.call("status").code == 0


@pytest.mark.parametrize("name", FILES["runbook"])
def test_a_file_elsewhere_that_has_a_second_name_in_the_state_is_left_alone(name: str, tmp_path: Path) -> None:
    place = Generated(tmp_path, "runbook", RUNBOOK)
    victim = tmp_path / "victim"
    victim.write_text("mine\n")
    victim.chmod(0o644)
    place.state.mkdir(parents=True)
    (place.state / name).hardlink_to(victim)
    result = place.call("run").exits(75 if name == ".gitignore" else 2)
    assert (victim.read_text(), stat.S_IMODE(victim.stat().st_mode)) == ("mine\n", 0o644)
    assert name != "lock" or "is a link: remove it" in result.err


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, names in FOLDERS.items() for name in names])
def test_a_folder_that_is_a_link_is_refused(kind: str, name: str, tmp_path: Path) -> None:
    place = Generated(tmp_path, kind, DOCUMENTS[kind])
    elsewhere = document(tmp_path, "elsewhere/1.1", "mine\n").parent
    link = tmp_path / name
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(elsewhere)
    result = place.call(*words(kind)).exits(2)
    assert [path.name for path in elsewhere.iterdir()] == ["1.1"]
    assert (elsewhere / "1.1").read_text() == "mine\n"
    assert f"{name} is a link" in result.err
    link.unlink()  # the remedy
    assert place.call(*words(kind)).code in (0, 75)


def test_a_link_that_an_agent_plants_is_not_followed(tmp_path: Path) -> None:
    place = Generated(tmp_path, "playbook", PLAYBOOK)
    victim = tmp_path / "victim"
    victim.write_text("mine\n")
    inner = "prompts/2.1 answers/2.1 answers/.2.1.new prompts/.2.1.new"
    outer = "main.md .main.md.new reports"
    plant = f"cd .rdc/main; for name in {inner}; do ln -sf ../../../victim $name; done\n"
    plant += f"for name in {outer}; do ln -sf ../../victim $name; done; echo OWNED"
    place.call("run", "--agent", plant)
    assert victim.read_text() == "mine\n"


def test_state_is_private(tmp_path: Path) -> None:
    place = Generated(tmp_path, "playbook", PLAYBOOK)
    os.umask(0o022)
    assert place.call(*words("playbook")).code == 0
    modes = {path: stat.S_IMODE(path.lstat().st_mode) for path in [place.state, *place.state.rglob("*")]}
    assert {f"{mode:o}" for path, mode in modes.items() if path.is_dir()} == {"700"}, modes
    assert {f"{mode:o}" for path, mode in modes.items() if path.is_file()} == {"600"}, modes


def test_a_directory_that_everybody_may_write_is_refused_and_files_follow_it(tmp_path: Path) -> None:
    place = Generated(tmp_path, "runbook", RUNBOOK)
    place.state.mkdir(parents=True)
    place.state.chmod(0o777)
    assert "chmod o-w" in place.call("run").exits(2).err
    place.state.chmod(0o770)  # the remedy
    assert place.call("run").code == 75
    assert stat.S_IMODE(place.state.stat().st_mode) == 0o770
    assert {stat.S_IMODE((place.state / name).stat().st_mode) for name in ("journal", "lock")} == {0o660}


STRANGER = 65534
ROOT_ONLY = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to other users")


def output_of(result: CommandResult) -> str:
    return result.out + result.err


def given_to(path: Path, user: int, group: int, mode: int) -> None:
    for each in (path, *path.rglob("*")):
        os.chown(each, user, group, follow_symlinks=False)
    path.chmod(mode)


@ROOT_ONLY
def test_the_state_of_another_user_is_refused(tmp_path: Path) -> None:
    place = Generated(tmp_path, "runbook", RUNBOOK)
    assert "WAITING" in output_of(place.call("run"))
    given_to(place.state, STRANGER, STRANGER, 0o755)
    assert "belongs to another user, who can change the run" in output_of(place.call("resume").exits(2))
    given_to(place.state, STRANGER, os.getegid(), 0o755)  # its group, to which this user belongs, cannot write
    assert "belongs to another user" in output_of(place.call("resume"))
    given_to(place.state, STRANGER, os.getegid(), 0o770)  # now it can: two operators share it
    assert "WAITING" in output_of(place.call("resume"))
    given_to(place.state, 0, STRANGER, 0o755)
    assert "WAITING" in output_of(place.call("resume"))
    folder = tmp_path / "all" / "theirs"
    place = Generated(folder, "runbook", RUNBOOK)
    folder.parent.chmod(0o1777)
    os.chown(folder, STRANGER, STRANGER)  # who made it in a sticky folder
    assert "another user" in output_of(place.call("run").exits(2))
    os.chown(folder, os.geteuid(), -1)
    assert "WAITING" in output_of(place.call("run"))


@ROOT_ONLY
def test_root_may_name_the_state_of_another_user_unless_any_user_could_have_made_it(tmp_path: Path) -> None:
    place = Generated(tmp_path, "runbook", RUNBOOK)
    for folder, mode, code in (("home", 0o755, 75), ("shared", 0o1777, 2)):
        state = tmp_path / folder / "state"
        state.parent.mkdir()
        assert place.call("run", "--state-dir", str(state)).code == 75
        given_to(state, STRANGER, STRANGER, 0o755)
        state.parent.chmod(mode)
        result = place.call("resume", "--state-dir", str(state))
        assert (result.code, "belongs to another user" in result.err) == (code, code == 2), result


def test_a_folder_above_that_every_user_can_write_to_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "all" / "mine"
    folder.mkdir(parents=True)
    place = Generated(folder, "runbook", RUNBOOK)
    folder.parent.chmod(0o777)
    assert f"chmod o-w {folder.parent}" in output_of(place.call("run").exits(2))
    folder.parent.chmod(0o1777)  # sticky: no one else can replace what this user has made there
    assert "WAITING" in output_of(place.call("run"))
    folder.parent.chmod(0o775)
    assert "WAITING" in output_of(place.call("resume"))


CHECKED = "# T\n\n## 1. Work\n\n```bash\ntrue\n```\n"
CHANGED = "# T\n\n## 1. Work\n\n```bash\nfalse\n```\n"
WRITER = """\
name: a
steps:
  - {name: draft, agent: writer, prompt: Write it., end: true}
"""
ENDS = {"a hook": ".git/hooks/post-commit", "outside": "../outside/file", "inside": "other/file"}


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A repository with two documents, beside a folder that doesn't belong to it."""
    (tmp_path / "outside").mkdir()
    (folder := tmp_path / "clone").mkdir()
    (folder / ".git/hooks").mkdir(parents=True)
    (folder / "other").mkdir()
    document(folder, "deploy.runbook.md", CHECKED)
    document(folder, "new.runbook.md", CHANGED)
    return folder


WRITERS = {
    "compile": (("compile", "deploy.runbook.md", "--to", "python"), "deploy.py"),
    "compile with -o": (("compile", "deploy.runbook.md", "--to", "make", "--force", "-o", "Makefile"), "Makefile"),
    "compile beside": (("compile", "deploy.runbook.md", "--to", "python", "-o", "./deploy.py"), "deploy.py"),
    "graph": (("graph", "deploy.runbook.md", "--format", "dot", "-o", "a.dot"), "a.dot"),
    "graph beside": (("graph", "deploy.runbook.md"), "deploy.svg"),
    "diff": (("diff", "deploy.runbook.md", "new.runbook.md", "-o", "a.diff.txt", "--format", "text"), "a.diff.txt"),
}


@pytest.mark.parametrize(
    ("writer", "end"), [*((writer, "outside") for writer in WRITERS), ("compile", "a hook"), ("compile", "inside")]
)
def test_no_command_writes_through_a_file_that_is_a_link(writer: str, end: str, clone: Path) -> None:
    words, name = WRITERS[writer]
    (clone / name).symlink_to(ENDS[end])
    result = call(*words, cwd=clone)
    assert (result.code, "RD511" in result.err) == (1, True), result.err
    assert f"cannot write {name}: it is a link" in result.err.replace("./", "")
    assert not (clone / ENDS[end]).exists()
    (clone / name).unlink()  # the remedy
    assert call(*words, cwd=clone).code == 0
    assert (clone / name).is_file()


@pytest.mark.parametrize(("end", "where"), [("../outside", "out of the project"), (".git/hooks", "to the folder .git")])
def test_no_command_writes_through_a_folder_that_is_a_link(end: str, where: str, clone: Path) -> None:
    problem = f"leads {where}"
    (clone / "out").symlink_to(end)
    before = sorted((clone / end).iterdir())
    for out in ("out/", "out/post-commit", str(clone / "out/post-commit")):
        result = call("compile", "deploy.runbook.md", "--to", "python", "-o", out, cwd=clone)
        assert (result.code, problem in result.err) == (1, True), result.err
    elsewhere = ("compile", str(clone / "deploy.runbook.md"), "--to", "python", "-o", str(clone / "out/a.py"))
    result = call(*elsewhere, cwd=clone.parent)
    assert (result.code, problem in result.err) == (1, True), "in another project, too"
    assert sorted((clone / end).iterdir()) == before


def test_links_inside_the_project_and_links_of_the_user_lead_to_folders(clone: Path, tmp_path: Path) -> None:
    (clone / "inner").symlink_to("other")
    (tmp_path / "way").symlink_to(clone)
    words = ("compile", "deploy.runbook.md", "--to", "python", "-o")
    assert call(*words, "inner/a.py", cwd=clone).code == 0
    assert call(*words, str(tmp_path / "way/b.py"), cwd=clone).code == 0
    assert call(*words, str(tmp_path / "way/c.py"), cwd=tmp_path / "way").code == 0
    assert [(clone / name).is_file() for name in ("other/a.py", "b.py", "c.py")] == [True, True, True]


@pytest.mark.parametrize("name", ["mocks.json", "mocks.json.calls"])
def test_mocks_follow_no_link_out_of_the_project(name: str, clone: Path) -> None:
    outside = clone.parent / "outside" / "file"
    given = '{"agents": {"draft": ["private"]}}'
    (outside if name == "mocks.json" else clone / "mocks.json").write_text(given)
    (clone / name).symlink_to("../outside/file")
    done = spawn("mock", "mocks.json", cwd=clone, RDC_STEP="draft", RDC_AGENT_TYPE="", RDC_RUN_ID="1")
    assert (done.code, "private" in done.out, "link" in done.err) == (1, False, True), done
    assert outside.exists() is (name == "mocks.json")


def test_a_mock_run_follows_no_link_out_of_the_project(clone: Path) -> None:
    document(clone, "a.workflow.yaml", WRITER)
    (clone.parent / "outside.yaml").write_text("agents:\n  draft: private-text\n")
    (clone / "mocks.yaml").symlink_to("../outside.yaml")
    result = spawn("run", "a.workflow.yaml", "--mock", "mocks.yaml", cwd=clone)
    assert (result.code, "private" in result.err) == (2, False), result.err
    assert "mocks.yaml: it leads out of the project through a link; remove the link" in result.err
    (clone / "mocks.yaml").unlink()
    (clone / "mocks.yaml").write_text("agents:\n  draft: private-text\n")
    assert spawn("run", "a.workflow.yaml", "--mock", "mocks.yaml", cwd=clone).code == 0
