"""Trials of targets that make several files: companions lie beside the main file, in folders that are thrown away."""

import os
from pathlib import Path

import pytest

from backends.base import MARK, Companion, Emission
from backends.github import GithubBackend
from backends.python import PythonBackend
from compiler.driver import compile_file
from compiler.ir.program import Program
from compiler.ir.tasks import Ask, alphabet
from rdc.testing.process import Finished
from rdc.testing.run import Setting, TargetTestError
from rdc.testing.targets import github, python
from tests.conftest import ROOT
from tests.support.cli import GOOD, document

pytestmark = pytest.mark.process

TEXT = f"# {MARK}\n"


@pytest.fixture
def setting(tmp_path: Path) -> Setting:
    program = compile_file(str(document(tmp_path, "a.runbook.md", GOOD))).program
    assert program
    for name in ("workspace", "scratch"):
        (tmp_path / name).mkdir()
    return Setting(program, {}, ((),), tmp_path / "workspace", tmp_path / "scratch", 20, is_mock=False)


def several(path: str) -> Emission:
    return Emission(TEXT, companions=(Companion(path, f"{TEXT}beside\n", "program", executable=True),))


def test_they_lie_beside_the_main_file(setting: Setting) -> None:
    path = setting.lay("main.sh", several("tools/x.py"))
    assert path.read_text() == TEXT
    assert (path.parent / "tools/x.py").read_text() == f"{TEXT}beside\n"
    assert os.access(path.parent / "tools/x.py", os.X_OK)
    with pytest.raises(TargetTestError, match="nothing"):
        setting.lay("main.sh", Emission(None))
    outside = setting.scratch.parent / "mine"
    outside.write_text("mine")
    (setting.workspace / "x.py").symlink_to(outside)
    setting.lay("main.yml", several("../../x.py"), setting.workspace / ".github" / "workflows")
    assert outside.read_text() == "mine"
    assert (setting.workspace / "x.py").read_text() == f"{TEXT}beside\n", "a link in its place is replaced"


@pytest.mark.parametrize("path", ["../x.py", "../../x.py", "../../../../../../tmp/x.py", "link/x.py", "file/x.py"])
def test_they_stay_in_the_folders_of_the_trial(setting: Setting, path: str) -> None:
    (setting.scratch / "link").symlink_to("..")
    (setting.scratch / "file").touch()
    with pytest.raises(TargetTestError, match=r"x\.py"):
        setting.lay("main.sh", several(path))
    assert not list(setting.scratch.parent.glob("x.py"))


def test_a_python_program_finds_them(setting: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program whose whole text is in a companion, which the main file runs."""
    emit = PythonBackend.emit

    def split(self: PythonBackend, program: Program, options: dict[str, object]) -> Emission:
        whole = emit(self, program, options).text
        assert whole
        main = f"# {MARK}\nimport os, runpy\nhere = os.path.dirname(__file__)\n"
        run = "runpy.run_path(os.path.join(here, 'parts/whole.py'), run_name='__main__')\n"
        return Emission(main + run, companions=(Companion("parts/whole.py", whole, "runtime"),))

    monkeypatch.setattr(PythonBackend, "emit", split)
    run = python.run(setting)
    assert (run.result, [step.step for step in run.steps]) == ("COMPLETE", ["1", "2"])


def test_those_of_a_workflow_lie_in_the_workspace(setting: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
    emit = GithubBackend.emit

    def called(self: GithubBackend, program: Program, options: dict[str, object]) -> Emission:
        return Emission(emit(self, program, options).text, companions=several("../rdc/x.py").companions)

    def executed(*_: object) -> Finished:
        assert (setting.workspace / ".github/rdc/x.py").read_text() == f"{TEXT}beside\n"
        return Finished(1, "", "executed")

    monkeypatch.setattr(GithubBackend, "emit", called)
    monkeypatch.setattr(github, "find_tool", lambda *_, **__: "act")
    monkeypatch.setattr(github, "execute", executed)
    assert github.run(setting).result == ""


@pytest.mark.parametrize("document", ["workflows/first-note.workflow.yaml", "canary-rollout.runbook.md"])
def test_outcomes_in_a_summary_have_capital_letters(document: str) -> None:
    program = compile_file(str(ROOT / "examples" / document)).program
    assert program
    for node in program.nodes:
        is_yes_no = isinstance(node.task, Ask) and node.task.question == "yes_no"
        shown = {"pass": "yes", "fail": "no"} if is_yes_no else {}
        words = alphabet(node.task)
        assert [github._word(node, shown.get(word, word).upper()) for word in words] == list(words)
