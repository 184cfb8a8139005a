"""`rdc.api` as programs call it: documents on disk and in memory, projects, output, and runs that wait and continue."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import chdir
from pathlib import Path

import pytest

from rdc import api
from tests.support.cli import GOOD, UNKNOWN_TARGET, Result, call, document, environment, executed, spawn

pytestmark = pytest.mark.process

ASKING = """# Deploy
## 1. Build
```bash
{command}
```
## 2. Does the site work?
Open the page.
- YES: CONTINUE
- NO: STOP "It does not work"
## 3. Announce
```bash
echo done > announced
```
- PASS: COMPLETE "Version 1.5.0 is live"
"""
UNKNOWN_OPTION = "---\nrdc:\n  github:\n    runs-onto: ubuntu-24.04\n---\n\n" + GOOD
INCLUDING = "# Outer\n\n## 1. Inner\n\n- inner.runbook.md\n"

LIGHT = """
import sys
before = set(sys.modules)
import rdc.api
heavy = {"click", "pydantic", "jinja2", "networkx", "lark", "yaml", "subprocess", "runtime_shim.engine.session"}
print(sorted(heavy & (set(sys.modules) - before)))
"""
WAITING = """
import sys
from rdc import api
try:
    api.start("deploy.runbook.md")
except KeyboardInterrupt:
    print([run.state for run in api.runs()])
"""


def codes(found: api.Checked | api.Compiled | api.Project) -> list[tuple[str, int]]:
    return [(one.code, one.span.line if one.span else 0) for one in found.diagnostics]


def error_of(function: Callable[[], object]) -> api.Error:
    """The error that a call raises. Each has a code and a remedy."""
    with pytest.raises(api.Error) as caught:
        function()
    assert caught.value.code.replace("-", "").isalpha()
    assert caught.value.help
    assert str(caught.value) == f"{caught.value.message}; {caught.value.help}"
    return caught.value


def wait_until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.2)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "rdc.toml").touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("real_starts")
def test_the_import_is_cheap_and_silent(tmp_path: Path) -> None:
    assert executed([sys.executable, "-c", LIGHT], cwd=tmp_path, env=environment()) == Result(0, "[]\n", "")


def test_check_returns_errors_with_their_places(here: Path) -> None:
    document(here, "deploy.runbook.md", UNKNOWN_TARGET)
    checked = api.check(here / "deploy.runbook.md")
    assert (checked.ok, checked.program) == (False, None)
    (found,) = checked.diagnostics
    assert (found.code, found.severity, found.span) == ("RD201", api.Severity.ERROR, api.Span(9, 14, 9, 15))
    assert checked.sources[found.path].lines[8] == "- PASS: GOTO 9"
    assert found.help == "the steps are 1"


@pytest.mark.parametrize("text", [GOOD, UNKNOWN_TARGET, UNKNOWN_OPTION, "no runbook", None])
def test_check_finds_what_the_command_finds(here: Path, text: str | None) -> None:
    if text is not None:
        document(here, "deploy.runbook.md", text)
    shown = json.loads(call("check", "--format", "json", "deploy.runbook.md", cwd=here).out)["diagnostics"]
    found = api.check("deploy.runbook.md").diagnostics
    facts = [(one.code, one.path, one.message, one.help) for one in found]
    assert facts == [(one["code"], one["path"], one["message"], one["help"]) for one in shown]


def test_unsaved_texts_replace_documents_and_what_they_include(here: Path) -> None:
    document(here, "outer.runbook.md", INCLUDING)
    document(here, "inner.runbook.md", GOOD)
    checked = api.check("outer.runbook.md")
    assert (checked.ok, checked.path, checked.format) == (True, "outer.runbook.md", "rundown")
    assert checked.program
    assert checked.program.title == "Outer"
    changed = api.check("outer.runbook.md", unsaved={str(here / "inner.runbook.md"): UNKNOWN_TARGET})
    assert [(one.code, one.path) for one in changed.diagnostics] == [("RD201", "inner.runbook.md")]
    assert api.check("outer.runbook.md", unsaved={"other.runbook.md": UNKNOWN_TARGET}).ok


def test_an_included_document_may_exist_only_in_memory(here: Path) -> None:
    texts = {"docs/outer.runbook.md": INCLUDING, "docs/inner.runbook.md": GOOD}
    assert api.check("docs/outer.runbook.md", unsaved=texts).ok
    (found,) = api.check("docs/outer.runbook.md", unsaved={"docs/outer.runbook.md": INCLUDING}).diagnostics
    assert found.code == "RD301"
    (found,) = api.check("docs/outr.runbook.md", unsaved=texts).diagnostics
    assert found.help == "did you mean `docs/outer.runbook.md`?"


def test_settings_are_those_of_the_command_line(here: Path) -> None:
    document(here, "page.md", GOOD)
    document(here, "outer.runbook.md", INCLUDING)
    assert codes(api.check("page.md", api.Settings(front_end="playbook"))) != []
    assert api.check("page.md", api.Settings(front_end="rundown", options={"transitions": "after-header"})).ok
    assert not api.check("outer.runbook.md").ok
    assert api.check("outer.runbook.md", api.Settings(link=False)).ok
    settings = api.Settings(front_end="agent-workflow")
    assert api.check("a.yaml", settings, unsaved={"a.yaml": "name: a\nsteps: []\n"}).format == "agent_workflow"


@pytest.mark.parametrize(
    ("settings", "code", "message"),
    [
        (api.Settings(front_end="runbook"), "unknown-format", "unknown format 'runbook'"),
        (api.Settings(options={"transition": "x"}), "invalid-option", "no format has the option 'transition'"),
        (api.Settings(options={"transitions": "x"}), "invalid-option", "transitions: "),
    ],
)
def test_wrong_settings_are_an_error(here: Path, settings: api.Settings, code: str, message: str) -> None:
    error = error_of(lambda: api.check("deploy.runbook.md", settings))
    assert (error.code, error.message[: len(message)]) == (code, message)


@pytest.mark.parametrize(("target", "out"), [("python", "deploy.py"), ("github", ".github/workflows/deploy.yml")])
def test_compile_returns_the_files_that_the_command_writes(here: Path, target: str, out: str) -> None:
    document(here, "deploy.runbook.md", ASKING.format(command="true"))
    options = {"github": {"prompts": "answers"}}.get(target, {})
    compiled = api.compile("deploy.runbook.md", target, options, out=Path(out))
    assert compiled.ok
    assert {path.name for path in here.iterdir()} == {"deploy.runbook.md", "rdc.toml"}
    (here / out).parent.mkdir(parents=True, exist_ok=True)
    words = [word for key, value in options.items() for word in ("-O", f"{key}={value}")]
    assert call("compile", "deploy.runbook.md", "--to", target, *words, "-o", out, cwd=here).code == 0
    assert compiled.files[0].path == out
    for file in compiled.files:
        written = here / file.path
        assert (file.data, file.is_executable) == (written.read_bytes(), os.access(written, os.X_OK))
    left = {path.relative_to(here).as_posix() for path in here.rglob("*") if path.is_file()}
    assert {file.path for file in compiled.files} == left - {"deploy.runbook.md", "rdc.toml"}


def test_a_document_with_errors_has_no_output(here: Path) -> None:
    texts = {"a.runbook.md": UNKNOWN_TARGET, "docs/new.runbook.md": GOOD}
    compiled = api.compile("a.runbook.md", "python", unsaved=texts)
    assert (compiled.ok, compiled.files, codes(compiled)) == (False, (), [("RD201", 9)])
    compiled = api.compile("docs/new.runbook.md", "mermaid", unsaved=texts)
    assert [file.path for file in compiled.files] == ["docs/new.mmd"], "by default, it belongs beside the document"
    assert [path.name for path in here.iterdir()] == ["rdc.toml"]


def test_two_outputs_in_one_place_are_a_diagnostic(here: Path) -> None:
    document(here, "a.runbook.md", ASKING.format(command="true"))
    options = {"prompts": "answers", "program": "../rdc/ci.py"}
    compiled = api.compile("a.runbook.md", "github", options, out="rdc/ci.py")
    assert (compiled.ok, compiled.files) == (False, ())
    assert "RD525" in [code for code, _ in codes(compiled)]


@pytest.mark.parametrize(
    ("target", "options", "code", "remedy"),
    [
        ("pyton", {}, "unknown-target", "use python"),
        ("cobol", {}, "unknown-target", "use github, make, python, dbos, skill, dot, mermaid, json"),
        ("dot", {"theme": "pink"}, "invalid-option", "see `rdc targets dot`"),
        ("dot", {"paint": "pink"}, "invalid-option", "see `rdc targets dot`"),
    ],
)
def test_a_wrong_target_or_option(here: Path, target: str, options: dict[str, object], code: str, remedy: str) -> None:
    document(here, "a.runbook.md", GOOD)
    error = error_of(lambda: api.compile("a.runbook.md", target, options))
    assert (error.code, error.help) == (code, remedy)


def test_a_project_lists_its_documents_and_errors_in_its_configuration(here: Path) -> None:
    document(here, "rdc.toml", '[project]\nname = "shop"\n\n[[build]]\nsource = "notes/*.md"\nto = "python"\n')
    for name in ("b.runbook.md", "docs/a.playbook.md", "notes/c.md", "docs/page.md"):
        document(here, name, GOOD)
    project = api.open_project()
    assert (project.root, project.name, project.diagnostics) == (str(here.resolve()), "shop", ())
    assert project.documents == ("b.runbook.md", "docs/a.playbook.md", "notes/c.md")
    with chdir(here / "docs"):
        inner = api.open_project("a.playbook.md")
    assert (inner.root, inner.documents) == (project.root, ("../b.runbook.md", "../notes/c.md", "a.playbook.md"))
    assert codes(api.check("b.runbook.md", unsaved={"rdc.toml": "transitions = 3\n"})) == [("RD501", 1)]
    (here / "rdc.toml").write_text('nmae = "shop"\n\n[[build]]\nsource = "*.md"\nto = "pyton"\n', "utf-8")
    project = api.open_project()
    assert codes(project) == [("RD501", 1), ("RD501", 5)]
    assert list(project.sources) == ["rdc.toml"]
    assert error_of(lambda: api.open_project("/nonexistent/deploy.runbook.md")).code == "unreadable-folder"


def test_items_of_a_checklist_are_answered_one_by_one(here: Path) -> None:
    document(here, "ready.runbook.md", "# Ready\n\n## 1. Go\n\n- [ ] one\n- [ ] two\n")
    run = api.start("ready.runbook.md")
    assert run.choices == (("1", "--item 1 done"), ("1", "--item 1 n/a: REASON"), ("1", "fail"))
    run = api.answer(run, "--item 1 done", by="ann")
    assert error_of(lambda: api.answer(run, "pass")).message == "1 has open items: 1"
    assert api.start(api.answer(run, "--item 2 n/a: later")).state == "complete"


def test_a_run_waits_and_another_process_answers_it(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = document(here, "deploy.runbook.md", ASKING.format(command="echo building"))
    waiting = api.start("deploy.runbook.md")
    assert (waiting.name, waiting.state, waiting.step) == ("deploy", "waiting", "2")
    assert (waiting.question, waiting.choices) == ("Does the site work?: Open the page.", (("2", "yes"), ("2", "no")))
    assert waiting.next[0] == "rdc run deploy.runbook.md answer 2 yes"
    assert [(one.step, one.title, one.outcome, one.attempt) for one in waiting.finished] == [("1", "Build", "pass", 1)]
    assert (Path(waiting.directory) / "journal").is_file()
    assert api.runs() == (waiting,)
    assert spawn(*waiting.next[0].split()[1:], "--by", "alice", "--note", "I looked", cwd=here).code == 0
    refused = error_of(lambda: api.answer(waiting, "no"))
    assert (refused.code, refused.message) == ("refused", "no step is waiting for an answer")
    ended = api.start(waiting)
    assert (ended.state, ended.step, ended.message) == ("complete", "", "Version 1.5.0 is live")
    steps = [(one.step, one.transition, one.by, one.note) for one in ended.finished[1:]]
    assert steps == [("2", "CONTINUE", "alice", "I looked"), ("3", "COMPLETE", "", "")]
    assert (here / "announced").read_text("utf-8") == "done\n"
    assert (capfd.readouterr(), Path.cwd()) == (("", ""), here)
    path.unlink()
    (left,) = api.runs()
    assert (left.state, left.source, left.document) == ("complete", "deploy.runbook.md", "")
    assert error_of(lambda: api.answer(left, "yes")).code == "no-document"


def test_named_runs_of_one_document_work_in_threads(here: Path) -> None:
    document(here, "deploy.runbook.md", ASKING.format(command="true"))

    def decide(name: str, reply: str) -> api.Run:
        return api.answer(api.start("deploy.runbook.md", name=name), reply, by="bob", note=f"--for {name}")

    with ThreadPoolExecutor(2) as pool:
        blue, green = pool.map(decide, ("blue", "green"), ("no", "yes"))
    assert (blue.name, blue.state, blue.message) == ("deploy@blue", "stop", "It does not work")
    assert (green.name, green.state, green.place) == ("deploy@green", "ready", ("--as", "green"))
    assert [run.finished[-1].note for run in (blue, green)] == ["--for blue", "--for green"]
    assert api.start(green).message == "Version 1.5.0 is live"


def test_checks_and_compilations_work_in_threads(here: Path) -> None:
    texts = {f"{number}.runbook.md": GOOD.replace("Deploy", f"Deploy {number}") for number in range(12)}
    for name, text in texts.items():
        document(here, name, text)

    def title(name: str) -> tuple[str, bool]:
        program = api.check(name).program
        assert program is not None
        return program.title, program.title.encode() in api.compile(name, "python").files[0].data

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(title, texts)) == [(f"Deploy {number}", True) for number in range(12)]


def test_start_returns_a_run_that_takes_longer(here: Path) -> None:
    waits = "echo $$ > started; until test -e ready; do sleep 0.05; done"
    document(here, "shop/deploy.runbook.md", ASKING.format(command=waits))
    assert api.start("deploy.runbook.md", folder="shop", timeout=0).state in ("ready", "running")
    wait_until((here / "shop/started").exists)
    assert os.getsid(int((here / "shop/started").read_text("utf-8"))) != os.getsid(0)
    assert api.runs("shop")[0].state == "running"
    (here / "shop/ready").touch()
    wait_until(lambda: api.runs("shop")[0].state == "waiting")
    (waiting,) = api.runs("shop")
    assert (waiting.folder, waiting.document) == ("shop", "deploy.runbook.md")
    stopped = api.answer(waiting, "no")
    assert (stopped.state, stopped.directory) == ("stop", waiting.directory)


def test_an_interrupted_run_continues_with_options(here: Path) -> None:
    document(here, "deploy.runbook.md", ASKING.format(command="test -e again || { touch again; kill -9 $PPID; }"))
    interrupted = api.start("deploy.runbook.md")
    assert (interrupted.state, interrupted.step, interrupted.choices) == ("interrupted", "1", ())
    assert api.start(interrupted, options=["--rerun-interrupted", "--logs"]).state == "waiting"


def test_a_keyboard_interrupt_interrupts_the_run(here: Path) -> None:
    document(here, "deploy.runbook.md", ASKING.format(command="touch started; sleep 60"))
    words = [sys.executable, "-c", WAITING]
    process = subprocess.Popen(words, cwd=here, env=environment(), stdout=subprocess.PIPE, text=True)
    wait_until((here / "started").exists)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=60)[0] == "['interrupted']\n"


def test_a_new_run_takes_inputs_and_an_unfinished_one_keeps_them(here: Path) -> None:
    text = "---\nrdc:\n  inputs: {HOST: {}}\n---\n\n## 1. Restart {{HOST}}?\n\n- YES: COMPLETE\n- NO: STOP\n"
    document(here, "restart.runbook.md", text)
    missing = error_of(lambda: api.start("restart.runbook.md"))
    assert (missing.code, missing.message) == ("refused", "input HOST: a value is required")
    assert api.start("restart.runbook.md", inputs={"HOST": "web=1"}).question == "Restart web=1?"
    again = error_of(lambda: api.start("restart.runbook.md", inputs={"HOST": "web-2"}))
    assert again.code == "unfinished-run"
    run = api.open_run("restart.runbook.md", name="b", inputs={"HOST": "@restart.runbook.md"})
    assert run.current is not None
    assert run.current.title == "Restart @restart.runbook.md?", "an input names no file"
    assert error_of(lambda: api.open_run("a.runbook.md", inputs={"HOST=x": "y"})).code == "invalid-option"


def test_a_document_with_errors_does_not_start_and_a_damaged_journal_cannot_be_read(here: Path) -> None:
    document(here, "deploy.runbook.md", UNKNOWN_TARGET)
    error = error_of(lambda: api.start("deploy.runbook.md"))
    assert (error.code, error.message) == ("invalid-document", "deploy.runbook.md:9: there is no step `9`")
    assert error_of(lambda: api.start("deploy.runbook.md", folder="missing")).code == "not-started"
    assert error_of(lambda: api.start("deploy.runbook.md", options=["--as", "a"])).code == "invalid-option"
    assert api.runs() == ()
    assert error_of(lambda: api.runs("missing")).code == "unreadable-folder"
    document(here, ".rdc/bad/journal", "nothing")
    (run,) = api.runs()
    assert (run.name, run.state) == ("bad", "unreadable")
    assert ".rdc/bad/journal" in run.message


TOOL = """name: numbers
steps:
  - {name: write, agent: writer, prompt: "Write it.", next: review}
  - name: review
    parallel: [{agent: a, prompt: "First?"}, {agent: b, prompt: "Second?"}]
    end: true
"""


def test_steps_run_one_by_one_where_the_run_is(here: Path) -> None:
    document(here, "deploy.runbook.md", ASKING.format(command="echo building"))
    assert api.run_of("deploy.runbook.md").state == "none"
    run = api.open_run("deploy.runbook.md", name="a")
    assert (run.state, run.at, run.place) == ("ready", "0:1", ("--as", "a"))
    assert run.current == api.Current("1", "Build", "shell", "rdc", command="echo building")
    first = api.step(run, run.at, options=["--logs"])
    assert (first.state, first.at) == ("waiting", "1:2")
    question = ("2", "Does the site work?", "ask", "person", "Open the page.", "", ("yes", "no"))
    assert first.current == api.Current(*question, form=True)
    assert Path(first.finished[0].log).read_text("utf-8") == "building\n"
    late = error_of(lambda: api.step(run, run.at))
    place = "the run is at 1:2 Does the site work?"
    assert (late.code, late.message, late.help) == ("refused", "0:1 is not the current step", place)
    process = api.start_step(run)
    process.process.wait(60)
    end = process.ended()
    assert end is not None
    assert error_of(lambda: api.check_end(end, "deploy.runbook.md")).message == "0:1 is not the current step"
    assert error_of(lambda: api.answer(first, "yes", at="1:3")).message == "1:3 is not the current step"
    answered = api.answer(first, "yes", at=first.at, by="bob")
    assert (answered.state, answered.at, answered.finished[-1].by) == ("ready", "2:3", "bob")
    ended = api.step(answered, answered.at)
    assert (ended.state, ended.current, ended.message) == ("complete", None, "Version 1.5.0 is live")
    assert api.run_of(ended) == ended


def test_options_decide_who_acts(here: Path) -> None:
    document(here, "numbers.workflow.yaml", TOOL)
    options = ["--max-steps", "5", "--agent-for", "writer=echo done", "--logs"]
    run = api.open_run("numbers.workflow.yaml", options=options)
    assert run.current is not None
    assert (run.current.by, run.current.replies) == ("rdc", ())
    run = api.run_of(run)
    assert run.current is not None
    assert (run.current.by, run.current.replies, run.current.text.endswith("Write it.")) == ("agent", ("-",), True)
    assert f"Reports are in: {here.resolve()}/.rdc/numbers/reports\n" in run.current.text
    run = api.step(run, run.at, options=options)
    assert run.current is not None
    assert [(one.entry, one.answered) for one in run.current.entries] == [("review_0", False), ("review_1", False)]
    waiting = api.step(run, run.at)
    one = api.answer(waiting, "fine", step="review_1", at=waiting.at)
    assert one.current is not None
    assert [one.answered for one in one.current.entries] == [False, True]
    assert one.at == waiting.at


def test_a_step_that_takes_long_can_be_watched_and_interrupted(here: Path) -> None:
    document(here, "deploy.runbook.md", ASKING.format(command="touch started; sleep 60"))
    run = api.open_run("deploy.runbook.md")
    assert not api.is_running(run)
    process = api.start_step(run, options=["--logs"])
    wait_until((here / "started").exists)
    assert (api.is_running(run), process.ended()) == (True, None)
    api.interrupt(run)
    wait_until(lambda: not api.is_running(run))
    interrupted = api.run_of(run)
    assert interrupted.current is not None
    assert (interrupted.state, interrupted.current.by) == ("interrupted", "person")
    assert interrupted.current.replies == ("pass", "fail", "again")
    decided = api.step(interrupted, interrupted.at, options=["--assume", "pass", "--by", "ann"])
    assert (decided.state, decided.finished[0].by) == ("waiting", "ann")


def test_a_person_at_a_terminal_is_not_interrupted(here: Path) -> None:
    document(here, "deploy.runbook.md", ASKING.format(command="touch started; sleep 60"))
    words = [sys.executable, "-m", "rdc", "run", "deploy.runbook.md"]
    process = subprocess.Popen(words, cwd=here, env=environment(), stderr=subprocess.DEVNULL)
    wait_until((here / "started").exists)
    (run,) = api.runs()
    api.interrupt(run)
    time.sleep(0.3)
    assert api.is_running(run)
    process.send_signal(signal.SIGINT)
    process.wait(60)


def test_a_run_whose_document_has_changed_shows_the_steps(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    document(here, "deploy.runbook.md", ASKING.format(command="true"))
    run = api.start("deploy.runbook.md")
    assert api.differences(run) == ()
    monkeypatch.setenv("CLAUDECODE", "1")
    refused = error_of(lambda: api.answer(run, "yes", at=run.at))
    assert (refused.code, refused.message) == ("refused", "this is for a person"), "an agent answers no question"
    assert api.run_of(run).at == run.at
    monkeypatch.delenv("CLAUDECODE")
    document(here, "deploy.runbook.md", ASKING.format(command="false"))
    changed = api.run_of(run)
    assert (changed.state, changed.at, changed.current) == ("waiting", "1:2", None)
    assert api.differences(run) == ("steps changed: 1",)
