"""`rdc test`: scenarios by the semantics and on targets that really run."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from backends.registry import BACKENDS
from compiler.ir.tasks import Verdict
from rdc.testing import JUMPING, TARGETS
from rdc.testing.process import execute
from rdc.testing.run import Run, Setting, Step, TargetTestError
from tests.conftest import ROOT
from tests.support.cli import Result, call, document, environment
from tests.support.process import is_gone, wait_until

pytestmark = [pytest.mark.tool, pytest.mark.usefixtures("forked_mocks")]

BODY = """\
# Deploy
## 1. Build
```bash
touch BUILT && cat data
```
- FAIL: STOP "Nothing was built"
## 2. Look | at *it*
Is it good?
- YES: COMPLETE "Live, 100% $HOME"
- NO: GOTO Back
## Back
```sh
test -f BUILT
```
- PASS: STOP "Back to the old one"
- FAIL: RETRY 1 STOP "Lost"
"""

ON_WORKERS = pytest.param("dbos", marks=pytest.mark.soak)
"""The target of workers, which take seconds to start."""

MOSTLY = [ON_WORKERS if name == "dbos" else name for name in TARGETS]


def scenarios(**commands: tuple[str, str]) -> str:
    """A document with scenarios: for each name the commands, separated by commas, and the result."""
    parts = ["---", "scenarios:"]
    for name, (words, result) in commands.items():
        lines = "".join(f"      - {word.strip()}\n" for word in words.split(","))
        parts.append(f"  {name.replace('_', '-')}:\n    commands:\n{lines}    result: {result}")
    return "\n".join([*parts, "---", BODY])


RUN, PROMPTED = "rd run deploy.runbook.md", "rd run --prompted deploy.runbook.md"
GOOD_ONE = {"healthy": (f"{PROMPTED}, rd pass, rd ok  # fine, rd fail", "COMPLETE")}
LOST = {"lost": (f"{PROMPTED}, rd pass, rd no, rd fail, rd fail", "STOP")}
WRONG = {"wrong": (f"{PROMPTED}, rd pass, rd no, rd pass", "COMPLETE")}
REAL = {"real": (f"{RUN}, rd yes", "COMPLETE")}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project with a document to put scenarios into."""
    (tmp_path / "rdc.toml").touch()
    (tmp_path / "data").write_text("data")
    return tmp_path


def tried(folder: Path, text: str, *words: str) -> Result:
    """Test a document; whatever happens, the project stays as it is."""
    document(folder, "deploy.runbook.md", text)
    before = sorted(folder.rglob("*"))
    result = call("test", "deploy.runbook.md", *words, cwd=folder)
    assert sorted(folder.rglob("*")) == before
    return result


def test_scenarios_by_the_semantics(folder: Path) -> None:
    result = tried(folder, scenarios(**GOOD_ONE, **LOST))
    assert (result.code, result.err) == (0, "")
    assert result.out.splitlines() == [
        "PASSED   deploy.runbook.md  healthy  semantics  COMPLETE Live, 100% $HOME",
        "PASSED   deploy.runbook.md  lost     semantics  STOP Lost",
        "2 passed",
    ]
    result = tried(folder, scenarios(**REAL)).exits(0)
    assert result.out.splitlines()[1:] == ["         it runs commands; use --on to test it", "1 skipped"]
    assert tried(folder, scenarios(**REAL), "--strict").code == 1, "nothing was tested"


def test_a_wrong_result_is_shown_with_the_path_and_jumps_as_they_were_written(folder: Path) -> None:
    jumped = {"jumped": (f"{PROMPTED}, rd pass, rd goto Back, rd pass", "COMPLETE")}
    result = tried(folder, scenarios(**WRONG, **jumped)).exits(1)
    assert result.out.splitlines() == [
        "FAILED   deploy.runbook.md  wrong   semantics  STOP Back to the old one",
        "         it should end with COMPLETE",
        "           1     Build           PASS",
        "           2     Look | at *it*  NO    GOTO Back",
        "           Back                  PASS  STOP",
        "FAILED   deploy.runbook.md  jumped  semantics  STOP Back to the old one",
        "         it should end with COMPLETE",
        "           1     Build  PASS",
        "           (rd goto Back)",
        "           Back         PASS  STOP",
        "2 failed",
    ]


def test_a_scenario_that_comes_to_no_end_fails(folder: Path) -> None:
    for commands, problem in (
        (f"{PROMPTED}, rd pass", "the run waits at step 2, but the scenario has no answer left"),
        (f"{PROMPTED}, rd maybe", "`rd maybe` must be `rd pass|yes|ok`"),
        (f"{PROMPTED}, rd goto 9", "there is no step `9`"),
        (f"{PROMPTED}, {PROMPTED}", "second `rd run`"),
        ("rd run other.runbook.md", "`rd run` must run this document, not `other.runbook.md`"),
        ("rd pass", "the first command must be `rd run"),
        (f"{RUN}, rd yes, rd maybe", "`rd maybe` must be `rd pass|yes|ok`"),
    ):
        result = tried(folder, scenarios(it=(commands, "STOP")), "--on", "python")
        assert (result.code, problem in result.out) == (1, True)
        assert result.out.splitlines()[-1] == "1 failed", "a target has nothing to go by"
    for seconds in ("0", "-1", "nan", "inf", "1e300"):
        result = tried(folder, scenarios(**GOOD_ONE), "--timeout", seconds)
        assert (result.code, result.out) == (2, "")
        assert "--timeout must be a number of seconds" in result.err


@pytest.mark.usefixtures("forked_targets")
@pytest.mark.parametrize("target", [*sorted(JUMPING - {"dbos"}), ON_WORKERS])
def test_the_operator_may_jump(folder: Path, target: str) -> None:
    jumped = {"jumped": (f"{PROMPTED}, rd pass, rd goto Back, rd fail, rd goto Back, rd fail, rd fail", "STOP")}
    result = tried(folder, scenarios(**jumped, real=(f"{RUN}, rd goto Back", "STOP")), "--on", target).exits(0)
    plain = json.loads(tried(folder, scenarios(**jumped), "--format", "json").out)["results"][0]["path"]
    assert plain["jumps"] == [{"after": 1, "step": "Back"}, {"after": 2, "step": "Back"}]
    assert plain["outcomes"] is None
    assert result.out.splitlines() == [
        "PASSED   deploy.runbook.md  jumped  semantics  STOP Lost",
        f"PASSED   deploy.runbook.md  jumped  {target:9}  STOP Lost",
        f"PASSED   deploy.runbook.md  real    {target:9}  STOP Back to the old one",
        "3 passed",
    ]
    assert tried(folder, scenarios(**jumped), "--on", "github").out.splitlines()[1:] == [
        "SKIPPED  deploy.runbook.md  jumped  github",
        "         the target github does not support `rd goto`",
        "1 passed, 1 skipped",
    ]


@pytest.mark.usefixtures("forked_targets")
def test_a_jump_from_outside_starts_a_step_over_and_one_from_inside_does_not(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """M10: from a sibling the failure of 1.1 is kept, from outside it is forgotten. An agent may run these tests."""
    monkeypatch.setenv("CLAUDECODE", "1")
    text = scenarios(
        inside=(f"{PROMPTED}, rd fail, rd goto 1.3, rd pass", "STOP"),
        outside=(f"{PROMPTED}, rd fail, rd pass, rd goto 1.3, rd pass, rd pass", "COMPLETE"),
    )
    found = tried(folder, text.replace(BODY, STEPS), "--on", "python")
    assert found.out.splitlines()[-1] == "4 passed", found.out
    real = scenarios(real=(f"{RUN}, rd goto Back", "STOP"))
    assert "  real  python  STOP Back to the old one" in tried(folder, real, "--on", "python").out


STEPS = """\
# Steps
## 1. Both
- PASS: GOTO 2
- FAIL: STOP "one failed"
### 1.1 First
- FAIL: CONTINUE
### 1.2 Second
- PASS: GOTO 2
- FAIL: GOTO 1.1
### 1.3 Third
## 2. After
"""

OTHERS = {**GOOD_ONE, **LOST, **REAL}


@pytest.mark.usefixtures("forked_targets")
@pytest.mark.parametrize(
    ("target", "others"),
    [
        ("github", {}),  # those that pass are tried by the tests of prompts and of commands below
        *((target, OTHERS) for target in TARGETS if target not in ("github", "dbos")),
        *(pytest.param(target, OTHERS, marks=pytest.mark.soak) for target in ("github", "dbos")),
    ],
)
def test_on_each_target(folder: Path, target: str, others: dict[str, tuple[str, str]]) -> None:
    result = tried(folder, scenarios(**WRONG, **others), "--on", target, "--format", "json").exits(1)
    rows = json.loads(result.out)["results"]
    ended = {(one["scenario"], one["on"]): (one["status"], one["ended"], len(one["path"]["visits"])) for one in rows}
    whole = {
        "healthy": ("passed", "COMPLETE Live, 100% $HOME", 2),
        "lost": ("passed", "STOP Lost", 4),
        "wrong": ("failed", "STOP Back to the old one", 3),
        "real": ("passed", "COMPLETE Live, 100% $HOME", 2),
    }
    expected = {name: row for name, row in whole.items() if name in {"wrong", *others}}
    prompted = {(name, "semantics"): row for name, row in expected.items() if name != "real"}
    assert ended == prompted | {(name, target): row for name, row in expected.items()}


HOSTILE = 'STOP "a\x01b ##[error] | *c* \u202e rdc: STOP 100% ::x::"'


@pytest.fixture
def _actrc(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files in the project and at home have options with which act would run nothing."""
    for place in (".actrc", "act/actrc", ".config/act/actrc"):
        document(folder, place, "--dryrun\n")
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_CONFIG_DIRS"):
        monkeypatch.setenv(name, str(folder))


@pytest.fixture
def odd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for temporary files in an odd place."""
    folder = tmp_path / "a b$c'd"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.mark.usefixtures("forked_targets", "_actrc")
@pytest.mark.parametrize(
    ("chosen", "targets"),
    [
        ({**GOOD_ONE, **LOST}, [target for target in TARGETS if target != "dbos"]),
        pytest.param(LOST, ["dbos"], marks=pytest.mark.soak),
    ],
    ids=["others", "dbos"],
)
def test_what_is_prompted_executes_nothing(
    folder: Path, odd: Path, chosen: dict[str, Any], targets: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Nothing else depends on what a message has in it, nor on files with options of act, nor on temporary folders."""
    bait = tmp_path_factory.mktemp("bait") / "WAS_RUN"
    setup = f"rdc: {{github: {{setup: [{{run: touch {bait}}}]}}}}\n---\n# Deploy"
    text = scenarios(**chosen).replace("touch BUILT && cat data", f"touch {bait}")
    text = text.replace("---\n# Deploy", setup).replace('STOP "Lost"', HOSTILE)
    result = tried(folder, text, *(word for target in targets for word in ("--on", target)))
    assert result.out.splitlines()[-1] == f"{len(chosen) * (1 + len(targets))} passed", result.out
    assert not bait.exists()
    assert not list(odd.iterdir())
    text = scenarios(**REAL).replace("touch BUILT && cat data", f"touch {bait}")
    for target in ("python", "make"):
        bait.unlink(missing_ok=True)
        tried(folder, text, "--on", target)
        assert bait.exists(), f"else this test could not fail on {target}"


def test_a_target_that_walks_otherwise_fails(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = {
        "the target continues with step Back; expected step 2": Run((one("1"), one("Back")), "STOP", ""),
        "the target continues with step 1; expected STOP": Run((one("1", False), one("1")), "STOP", ""),
        "the target is at attempt 2 of step 1; expected attempt 1": Run((Step("1", 2, Verdict.PASS),), "STOP", ""),
        "the target ends with STOP Else; expected STOP Nothing was built": Run((one("1", False),), "STOP", "Else"),
        "the target ends with COMPLETE; expected step 2": Run((one("1"),), "COMPLETE", ""),
        "the run waits at step 2, but the scenario has no answer left": Run((one("1"),), "WAITING", "2"),
        "the target failed: error: broken": Run((), "", "error: broken"),
    }
    for problem, run in runs.items():

        def pretended(setting: Setting, run: Run = run) -> Run:
            return run

        monkeypatch.setattr(f"{TARGETS['python']}.run", pretended)
        assert problem in tried(folder, scenarios(**LOST), "--on", "python").exits(1).out


def one(step: str, passed: bool = True) -> Step:
    return Step(step, 1, Verdict.PASS if passed else Verdict.FAIL)


def test_a_tool_that_is_missing_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("rdc.testing.process.sys.executable", str(tmp_path / "python"))
    monkeypatch.setattr("rdc.testing.targets.dbos.find_spec", lambda name: None)
    monkeypatch.setenv("PATH", str(tmp_path / "none"))
    for target, message in (
        ("make", "`make` is not installed: install"),
        ("github", "`act` is not installed: install"),
        ("dbos", "`dbos` is not installed: pip install dbos==3.4.0"),
    ):
        result = tried(folder, scenarios(**GOOD_ONE), "--on", target)
        assert (result.code, result.out, message in result.err) == (2, "", True)


def test_a_worker_that_does_not_start_says_why(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    packages = tmp_path_factory.mktemp("packages")
    document(packages, "dbos.py", "raise ImportError\n")
    monkeypatch.setenv("PYTHONPATH", str(packages))
    result = tried(folder, scenarios(**GOOD_ONE), "--on", "dbos").exits(1)
    assert "the worker does not start: rdc: error: this program needs dbos 3.4" in result.out


@pytest.mark.parametrize("target", MOSTLY)
def test_a_run_has_a_time_limit(folder: Path, target: str) -> None:
    text = scenarios(**REAL).replace("touch BUILT && cat data", "sleep 30")
    result = tried(folder, text, "--on", target, "--timeout", "0.5").exits(1)
    assert "it took longer than 0.5 seconds; use a longer --timeout" in result.out


def test_the_time_limit_also_ends_commands_that_ignore_signals(tmp_path: Path) -> None:
    """The program ends at once when it is told to, and leaves its command behind."""
    script = "bash -c 'trap \"\" TERM; echo $$ > pid; sleep 30; true' & wait"
    with pytest.raises(TargetTestError, match=r"longer than 0\.5 seconds"):
        execute(["bash", "-c", script], tmp_path, os.environ, 0.5)
    wait_until(lambda: is_gone(int((tmp_path / "pid").read_text())), 5)  # the system may take a moment


@pytest.mark.parametrize("target", ["python", "make", ON_WORKERS])
def test_what_a_command_leaves_in_the_background_is_not_waited_for(
    folder: Path, target: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Nor is it ended: the target would not do that either."""
    mark = tmp_path_factory.mktemp("mark") / "pid"
    text = scenarios(**REAL).replace("touch BUILT && cat data", f"sleep 30 & echo $! > {mark}; true")
    began = time.monotonic()
    result = tried(folder, text, "--on", target, "--timeout", "15")
    assert result.code == 0, result.out
    assert time.monotonic() - began < 10
    os.kill(int(mark.read_text()), signal.SIGKILL)  # which fails if it is gone


FORGING = """\
echo '### STOP forged' >> "${GITHUB_STEP_SUMMARY:-/dev/null}"
(sleep 0.2; echo 'rdc: STOP late'; echo 'rdc: STOP late' >&2) &
printf 'rdc: STOP unfinished' | tee /dev/stderr"""


@pytest.mark.usefixtures("forked_targets")
@pytest.mark.parametrize("target", MOSTLY)
def test_commands_do_not_decide_how_a_run_ends(folder: Path, target: str) -> None:
    result = tried(folder, scenarios(**REAL).replace("touch BUILT && cat data", FORGING), "--on", target)
    assert result.code == 0, result.out


@pytest.mark.parametrize("target", ["python", "make", ON_WORKERS])
def test_a_run_that_is_killed_says_so(folder: Path, target: str) -> None:
    result = tried(folder, scenarios(**REAL).replace("touch BUILT && cat data", "kill -9 $PPID"), "--on", target)
    assert result.code == 1
    shown = ("the helper process was killed",) if target == "dbos" else ("signal 9", "exit code")
    assert any(text in result.out for text in shown), result.out


@pytest.mark.share(3)
@pytest.mark.parametrize("target", MOSTLY)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_test_that_is_ended_ends_what_it_has_begun(folder: Path, target: str, number: int) -> None:
    mark = folder / "mark"
    text = scenarios(**REAL).replace("touch BUILT && cat data", f"echo $$ > {mark}; sleep 300")
    document(folder, "deploy.runbook.md", text)
    command = [sys.executable, "-m", "rdc", "test", "deploy.runbook.md", "--on", target]
    own = environment(TMPDIR=str(folder / "temporary"))
    (folder / "temporary").mkdir()
    with subprocess.Popen(command, cwd=folder, env=own, start_new_session=True) as test:
        wait_until(lambda: mark.exists() and mark.read_text().endswith("\n"))
        test.send_signal(number)
        assert test.wait(30) == 130
    process = int(mark.read_text())
    wait_until(lambda: is_gone(process))
    assert not list((folder / "temporary").iterdir())


def test_what_git_ignores_is_not_there(folder: Path) -> None:
    os.system(f"git init -q {folder}")
    (folder / ".gitignore").write_text("secret\n")
    (folder / "secret").write_text("")
    text = scenarios(**REAL).replace("cat data", "cat data && test ! -e secret && test ! -e .git")
    document(folder, "deploy.runbook.md", text)
    assert call("test", "deploy.runbook.md", "--on", "python", cwd=folder).code == 0


def test_as_jstep(folder: Path) -> None:
    text = scenarios(**GOOD_ONE, **WRONG, **REAL).replace("Back to the old one", "Back \x01\uffff\ufffe ]]> <b>")
    (suite,) = ET.fromstring(tried(folder, text, "--format", "junit").out).findall("testsuite")
    counts = {"tests": "3", "failures": "1", "skipped": "1"}
    assert suite.attrib | {"time": ""} == {"name": "deploy.runbook.md", "time": "", **counts}
    cases = {case.get("name"): [child.tag for child in case] for case in suite}
    assert cases == {"healthy [semantics]": [], "wrong [semantics]": ["failure"], "real [semantics]": ["skipped"]}
    (failure,) = suite.iter("failure")
    assert failure.get("message") == "it should end with COMPLETE"
    assert "GOTO Back" in (failure.text or "")


EXAMPLES = [*(ROOT / "examples").glob("*.runbook.md"), *(ROOT / "examples" / "playbooks").glob("*.md")]


@pytest.mark.usefixtures("forked_targets")
@pytest.mark.parametrize("targets", [["python", "make"], pytest.param(["all"], marks=pytest.mark.soak)], ids=" ".join)
@pytest.mark.parametrize("path", sorted(EXAMPLES), ids=lambda path: path.name)
@pytest.mark.share(24)
def test_the_scenarios_of_the_examples_come_out_on_every_target(path: Path, targets: list[str]) -> None:
    on = [word for target in targets for word in ("--on", target)]
    result = call("test", "--quiet", str(path.relative_to(ROOT)), *on, cwd=ROOT).exits(0)
    assert not [line for line in result.out.splitlines() if line.startswith("SKIPPED")]


TOOLS = """---
scenarios:
  both:
    tools: {"1": "from the first", "2": {fail: down}, "3": "from the first again"}
    agents: {"4": "fine"}
    result: COMPLETE
    outputs: {a: from the first, b: "", c: from the first again, "4": fine}
---
# Tools
## STEP 1: One
@tool(first, search, {"q": "x"})
@output(a)
## STEP 2: Two
@tool(second, search, {"q": "x"})
@output(b)
## STEP 3: Three
@tool(first, search, {"q": "y"})
@output(c)
## STEP 4: Four
Say something.
"""


@pytest.mark.usefixtures("forked_targets")
@pytest.mark.parametrize(
    ("target", "edits"),
    [
        *(
            (target, {', "2": {fail: down}': ', "2": "from the second"', 'b: ""': "b: from the second"})
            for target in ("python", "make")
        ),
        ("python", {"result: COMPLETE": "result: STOP", "    outputs": "    #"}),
    ],
)
def test_connections_may_have_tools_of_the_same_name_and_one_that_fails_stops_the_run(
    folder: Path, target: str, edits: dict[str, str]
) -> None:
    text = TOOLS
    for old, new in edits.items():
        text = text.replace(old, new)
    document(folder, "a.playbook.md", text)
    result = call("test", "a.playbook.md", "--on", target, cwd=folder)
    assert result.out.splitlines()[-1] == "2 passed", result.out


def test_every_target_that_can_be_tested_on_names_the_module_that_runs_it() -> None:
    assert set(TARGETS) == {"github", "make", "python", "dbos"} < set(BACKENDS)
    assert all(find_spec(module) for module in TARGETS.values())
