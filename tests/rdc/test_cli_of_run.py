"""`rdc answer`, `resume`, `goto` and others: the run that they take, answers to a terminal, and the Tab key."""

import json
import sys
from pathlib import Path

import pytest

from tests.rdc.test_cli_help import completions
from tests.support import warm
from tests.support.cli import environment, spawn
from tests.support.process import Screen

pytestmark = pytest.mark.process

RUNBOOK = """# Deploy
## 1. Is it up?
- YES: CONTINUE
- NO: STOP
## 2. Tell the team
Say it.
"""
PLAYBOOK = """# Notes
Take notes.
## STEP 1: Choose
@elicit(select, "Which?", "red", "blue") → COLOR
## STEP 2: Note
@elicit(input, "What?") → NOTE
"""
WORKFLOW = """name: launch
steps:
  - {name: build, agent: builder, prompt: Build it., next: release}
  - {name: release, human: true, agent: publisher, prompt: Release it., end: true}
"""
SPECIFICATION = """workflow: {module: m, workflow: plan, phase: Build}
step_specs:
  - {id: write, description: Write the plan, human_gate: required}
"""
NO_RUN = "no run here fits answer; the commands above continue them"
FORMATS = {
    "deploy.runbook.md": [("1", "y"), ("2", "done")],
    "notes.playbook.md": [("1", "blue"), ("2", "$(touch x) \x1b[2J")],
    "plan.stepspec.yaml": [("write", "approved"), ("write", "pass")],
    "launch.workflow.yaml": [("build", "built"), ("release", "approve"), ("release", "released")],
}
TEXTS = dict(zip(FORMATS, (RUNBOOK, PLAYBOOK, SPECIFICATION, WORKFLOW), strict=True))


def document(folder: Path, file: str = "deploy.runbook.md") -> str:
    """Write a document that asks."""
    folder.mkdir(exist_ok=True)
    (folder / file).write_text(TEXTS[file], encoding="utf-8")
    return file


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with a run that waits."""
    (tmp_path / "rdc.toml").touch()
    assert spawn("run", document(tmp_path), cwd=tmp_path).code == 75
    return tmp_path


@pytest.mark.parametrize("file", FORMATS)
def test_terminal_of_each_format_takes_answers(tmp_path: Path, file: str) -> None:
    document(tmp_path, file)
    terminal = at_a_terminal(tmp_path, "-m", "rdc", "run", file)
    for step, reply in FORMATS[file]:
        terminal.expect(r"\] $|: $|Ctrl-D\n")
        facts = json.loads(spawn("run", file, "status", "--json", cwd=tmp_path).out)
        assert all(" answer " in command for command in facts["next"])
        answered = spawn("answer", file, facts["step"], "-", "--by", "ana", cwd=tmp_path, given=reply)
        assert (answered.code, "continues at its terminal" in answered.err) == (0, True), (step, answered.err)
        terminal.expect("answered by ana\n")
    terminal.expect("rdc: COMPLETE")
    assert terminal.close() == 0
    assert not (tmp_path / "x").exists()
    assert "\x1b[2J" not in terminal.seen


def at_a_terminal(folder: Path, *words: str) -> Screen:
    return Screen([sys.executable, *words], folder, {**environment(), "TERM": "xterm"})


def test_several_runs_are_listed(project: Path) -> None:
    assert spawn("run", document(project, "launch.workflow.yaml"), cwd=project).code == 75
    refused = spawn("resume", cwd=project)
    assert (refused.code, refused.out) == (2, "")
    lines = refused.err.splitlines()
    assert lines[0] == "deploy  WAITING at 1: Is it up?"
    assert "  rdc run deploy.runbook.md answer 1 yes" in lines
    assert any(line.startswith("launch  WAITING at build") for line in lines)
    assert lines[-1] == "rdc: error: several runs fit; name the FILE of one"
    assert spawn("answer", "build", "-", cwd=project, given="ok").code == 0, "only one asks that"


def test_run_that_was_started_elsewhere_is_found(tmp_path: Path) -> None:
    file = tmp_path / "shop" / document(tmp_path / "shop")
    (tmp_path / "shop" / "rdc.toml").touch()
    (tmp_path / "shop" / "night").mkdir()
    assert spawn("compile", str(file), "--to", "python", "-o", "night.py", cwd=tmp_path / "shop").code == 0
    program = tmp_path / "shop" / "night.py"
    begun = warm.run([sys.executable, program, "run"], cwd=program.parent / "night", env=environment())
    assert begun.returncode == 75
    answered = spawn("run", str(file), "answer", "1", "yes", cwd=tmp_path).exits(0)
    assert answered.err.startswith("rdc: this run is in shop/night/.rdc/deploy\n")
    (tmp_path / "shop" / "night" / ".rdc").rename(tmp_path / "gone")
    lost = spawn("run", str(file), "answer", "1", "yes", cwd=tmp_path)
    places = [str(tmp_path.resolve()), str(tmp_path.resolve() / "shop" / "night")]
    last = f"rdc: these folders have no run of it either: {', '.join(places)}"
    assert (lost.code, lost.err.splitlines()[-1]) == (2, last)
    assert not any(words in lost.err for words in ("run with", "to start"))


def test_status_of_all_runs_shows_who_has_one(project: Path) -> None:
    terminal = at_a_terminal(project, "-m", "rdc", "resume")
    terminal.expect(r"\[yes/no\] ")
    [run] = json.loads(spawn("status", "--json", cwd=project).out)["runs"]
    assert (run["holder"][:4], run["state"]) == ("pid ", "waiting")
    assert f"\n  a process asks now: {run['holder']}\n" in spawn("status", cwd=project).out
    assert all(" answer 1 " in command for command in run["next"])
    terminal.type("\x04")
    assert terminal.close() == 75


def test_tab_key_completes_the_words_of_a_run(project: Path) -> None:
    def offered(*words: str) -> str:
        return " ".join(completions(project, "rdc", *words)).replace("plain,", "")

    name = "deploy.runbook.md"
    assert {"answer", "resume", "goto", "status"} <= {*offered("run", name, "").split()}
    for words, output in (
        (("run", name, "answer", ""), "1"),
        (("run", name, "answer", "1", ""), "no yes"),
        (("answer", name, "1", "y"), "yes"),
        (("goto", name, ""), "1 2"),
        (("run", name, "answer", "1", "yes", "--re"), "--resume"),
        (("run", name, "resume", "--assume", "p"), "pass"),
        (("run", name, "--answers", "a"), "file,a"),
        (("run", "missing.md", ""), ""),
    ):
        assert offered(*words) == output


def test_program_with_only_commands_shows_who_has_the_run(tmp_path: Path) -> None:
    """Its small edition takes no answer while a terminal asks, so it shows no command that is refused."""
    assert spawn("compile", document(tmp_path), "--to", "python", "-o", "deploy.py", cwd=tmp_path).code == 0
    program = tmp_path / "deploy.py"

    def called(*words: str) -> tuple[int, str, str]:
        done = warm.run([sys.executable, program, *words], cwd=tmp_path, env=environment())
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    terminal = at_a_terminal(tmp_path, str(program), "run")
    terminal.expect(r"\[yes/no\] ")
    facts = json.loads(called("status", "--json")[1])
    assert (facts["state"], facts["next"]) == ("waiting", [])
    assert facts["holder"] in called("answer", "1", "yes")[2]
    terminal.type("\x04")
    assert terminal.close() == 75
    code, _, messages = called("answer", "1", "y", "--resume")
    assert (code, messages.splitlines()[-1]) == (75, "rdc: WAITING 2 Tell the team")


FAILS = "# Deploy\n\n## 1. Install\n\n```bash\ntest -e fixed\n```\n\n## 2. Is it up?\n"


def test_a_run_goes_on_from_another_folder_and_its_document_may_have_any_name(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path / "rdc.toml").touch()
    (inner / "deploy.md").write_text(FAILS)
    assert spawn("run", "deploy.md", cwd=inner).code == 1
    (inner / "fixed").touch()
    assert "running 1 Install again after FAIL" in spawn("retry", "--note", "installed", cwd=tmp_path).exits(75).err
    assert spawn("answer", "deploy.md", "2", "ok", cwd=inner).code == 0
    assert spawn("resume", "deploy.md", cwd=inner).code == 0


def test_words_without_a_file_take_the_only_run_that_fits(project: Path) -> None:
    inner = project / "inner"
    inner.mkdir()
    answered = spawn("answer", "y", cwd=inner)
    assert (answered.code, answered.err.splitlines()[0]) == (0, "rdc: rdc run ../deploy.runbook.md answer 1 y")
    assert spawn("goto", "1", "--note", "again", cwd=project).code == 0
    answered = spawn("answer", "1", "yes", cwd=inner)
    assert (answered.code, answered.err.splitlines()[0]) == (0, "rdc: rdc run ../deploy.runbook.md answer 1 yes")
    assert spawn("goto", "1", "--note", "again", cwd=project).code == 0
    assert spawn("resume", "deploy.runbook.md", cwd=project).code == 75
    assert spawn("answer", "deploy.runbook.md", "1", "no", "--resume", cwd=project).code == 1
    assert " STOP " in spawn("history", "deploy.runbook.md", cwd=project).out
    assert spawn("answer", "1", "yes", cwd=project).exits(2).err.splitlines()[-1] == f"rdc: error: {NO_RUN}"


def test_words_without_a_file_take_only_the_run_that_their_options_name(project: Path) -> None:
    for label in ("prod", "drill"):
        assert spawn("run", "deploy.runbook.md", "--as", label, cwd=project).code == 75
    assert spawn("answer", "no", "--as", "drill", cwd=project).code == 0, "the others wait, too"
    for words in (["answer", "1", "yes", "--as", "drill"], ["answer", "1", "yes", "--as="], ["resume", "--as=other"]):
        assert f"rdc: error: no run here fits {words[0]};" in spawn(*words, cwd=project).exits(2).err
    assert " STOP " in spawn("history", "--as", "drill", cwd=project).exits(0).out
    answered = spawn("answer", "1", "yes", "--state-dir", ".rdc/deploy@prod", "--note", "checked", cwd=project).exits(0)
    assert answered.err.startswith("rdc: rdc run deploy.runbook.md answer 1 yes --note checked --as prod\n")
    assert "2 Tell the team" in spawn("resume", "--as", "prod", cwd=project).exits(75).err


def test_a_run_refuses_settings_that_it_would_ignore_and_reports_values_that_people_gave(tmp_path: Path) -> None:
    (tmp_path / "a.runbook.md").write_text('---\nrdc: {stepz: {"1": {timeout: 3s}}}\n---\n' + FAILS)
    assert "did you mean `steps`?" in spawn("run", "a.runbook.md", cwd=tmp_path).exits(2).err
    (tmp_path / "a.runbook.md").write_text('---\nrdc: {steps: {"1": {asks: TICKET}}}\n---\n# A\n\n## 1. Which?\n')
    assert spawn("run", "a.runbook.md", cwd=tmp_path).code == 75
    assert spawn("answer", "1", "OPS-7", cwd=tmp_path).code == 0
    assert ": 1 Which? **PASS: OPS-7** after " in spawn("report", cwd=tmp_path).out


def test_an_agent_answers_and_moves_no_run(project: Path) -> None:
    journal = project / ".rdc" / "deploy" / "journal"
    before = journal.read_bytes()
    file = "deploy.runbook.md"
    for words in (("answer", "y"), ("answer", file, "1", "y"), ("goto", "2"), ("run", file, "reset")):
        refused = spawn(*words, cwd=project, AI_AGENT="1").exits(2)
        assert refused.err.endswith("rdc: error: this is for a person; run it in your own terminal\n")
    assert journal.read_bytes() == before
    assert spawn("answer", "y", cwd=project).code == 0
