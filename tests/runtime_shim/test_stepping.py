"""Programs that make or another program calls step by step: their environment, exit codes and messages."""

import sys
from itertools import product
from pathlib import Path

import pytest

from backends.python.edition import runtime
from compiler.ir.program import Input
from runtime_shim.editions import EDITIONS
from runtime_shim.engine.display import Display
from runtime_shim.engine.program import UsageError
from runtime_shim.targets.make import FOR_OTHERS, MakeCaller, name_of, values_of
from tests.robustness.places import Generated
from tests.support.runtime_programs import Compiled, node, program, sh

pytestmark = pytest.mark.process

RUNBOOK = """\
# Deploy
## 1. Build
```sh
echo build >> log
[ ! -e hold ] || { rm hold; kill -9 $PPID; }
```
- FAIL: STOP "No build"
## 2. Go on?
- YES: CONTINUE
- NO: STOP "Not today"
## 3. Try
```sh
echo "try $RDC_ATTEMPT" >> log; [ "$RDC_ATTEMPT" -gt 1 ]
```
- FAIL: RETRY 1
- PASS: COMPLETE "Out"
"""
LOOP = """\
# Loop
## 1. Count
```sh
echo count >> log; [ "$(wc -l < log)" -lt 5 ]
```
- PASS: GOTO 2
- FAIL: COMPLETE "Counted"
## 2. Back
```sh
echo back >> log
```
- PASS: GOTO 1
"""
DOCUMENTS = {
    "playbook": "# T\n\n## STEP 1: Write\n\nWrite it.\n\n## STEP 2: Check\n\nCheck it.\n",
    "workflow": "name: t\nsteps:\n  - {name: '1', agent: a, prompt: Write it., next: '2'}\n"
    "  - {name: '2', agent: a, prompt: Check it., end: true}\n",
}


def test_each_exit_code_says_where_the_run_is(tmp_path: Path) -> None:
    place = Generated(tmp_path, "runbook", RUNBOOK)
    assert place.call("step", "1").code == 2, "there is no run"
    assert place.call("open").code == 0
    assert place.call("open").code == 0, "it takes up the run that is there"
    assert place.call("step", "9").code == 2, "there is no such step"
    early = place.call("step", "2")
    assert (early.code, "step 2 cannot run yet; the run is at step 1" in early.err) == (2, True)
    assert place.call("step", "1").code == 0
    again = place.call("step", "1")
    assert (again.code, again.err) == (0, "rdc: step 1 is completed\n")
    waits = place.call("step", "2")
    assert (waits.code, "WAITING 2" in waits.err) == (75, True)
    later = place.call("step", "3")
    assert (later.code, later.err) == (75, "rdc: WAITING 2 Go on?\n")
    assert place.call("answer", "2", "yes").code == 0
    assert place.call("step", "2").code == 0, "it was answered"
    done = place.call("step", "3")
    assert (done.code, "rdc: COMPLETE Out" in done.err) == (0, True)
    assert place.call("step", "3").code == 0
    assert (tmp_path / "log").read_text().splitlines() == ["build", "try 1", "try 2"]


def test_a_loop_is_one_call_with_all_its_places(tmp_path: Path) -> None:
    place = Generated(tmp_path, "runbook", LOOP)
    place.call("open")
    done = place.call("step", "1", "2")
    assert (done.code, "COMPLETE Counted" in done.err) == (0, True)
    assert (tmp_path / "log").read_text().split() == ["count", "back", "count", "back", "count"]


def test_after_a_stop_every_step_says_so(tmp_path: Path) -> None:
    place = Generated(tmp_path, "runbook", RUNBOOK)
    place.call("open")
    (tmp_path / "hold").touch()
    assert place.call("step", "1").code == -9
    waits = place.call("step", "1")
    assert (waits.code, "1 Build was interrupted" in waits.err) == (75, True), "it waits for a decision"
    assert place.call("step", "1", "--rerun-interrupted").code == 0
    assert (tmp_path / "log").read_text().split() == ["build", "build"]
    place.call("answer", "2", "no")
    place.call("step", "2")
    for step in ("1", "2", "3"):
        done = place.call("step", step)
        assert (done.code, done.err.splitlines()[-1]) == (1, "rdc: STOP Not today")
    assert place.call("open").code == 0, "a new run begins"
    assert "READY at 1" in place.call("status").out


@pytest.mark.parametrize("kind", DOCUMENTS)
def test_documents_of_other_kinds_are_called_alike(kind: str, tmp_path: Path) -> None:
    place = Generated(tmp_path, kind, DOCUMENTS[kind])
    assert place.call("open").code == 0
    agent = ("--agent", "cat >> log; echo fine")
    assert place.call("step", "2", *agent).code == 2
    assert place.call("step", "1", *agent).code == 0
    assert "Check" not in (tmp_path / "log").read_text()
    done = place.call("step", "2", *agent)
    assert (done.code, "COMPLETE" in done.err) == (0, True)
    assert "Check it." in (tmp_path / "log").read_text()


@pytest.fixture
def place(tmp_path: Path) -> Compiled:
    """A program with an input, as a Makefile calls it."""
    place = Compiled(tmp_path, program(node("1", sh("true")), slots=("topic",), inputs=(Input("topic"),)))
    place.bundle(runtime="shared", caller="make")
    return place


def test_options_in_a_text_have_their_names_of_make() -> None:
    for text, message in {
        "input topic: a value is required; set it with --input topic=VALUE": "set it with topic=VALUE",
        "--agent-retries 'x': expected a number": "AGENT_RETRIES 'x': expected a number",
        "raise it with `resume --agent-calls NUMBER`": "raise it with `resume AGENT_CALLS=NUMBER`",
        "approve needs --gate ID": "approve needs GATE=ID",
        "no command is set; use --tool web=COMMAND": "use TOOLS=FILE with a line web=COMMAND",
        "choose another directory with --state-dir": "with the option `state-dir`",
        "--rerun-interrupted and --prune": "RERUN and KEEP",
        "what-ever --is not an option": "what-ever IS not an option",
    }.items():
        assert MakeCaller.worded(text).endswith(message)
    assert [name_of(option) for option in ("--agent-model", "--tool", "STEP")] == ["AGENT_MODEL", "TOOLS", "STEP"]


def test_outputs_are_given_as_a_command_writes_them() -> None:
    for text, found in {"a=1\nb=2\n": ["a=1", "b=2"], "a<<E\nx\n\ny\nE\nb==": ["a=x\n\ny", "b=="], "": []}.items():
        assert values_of("VALUE", text, "--value", "NAME=VALUE...") == found
    for text in ("a", "a<<E\nx", "a<<"):
        with pytest.raises(UsageError, match="VALUE: line 1: "):
            values_of("VALUE", text, "--value", "NAME=VALUE...")


@pytest.mark.parametrize("name", ["HUMAN", "RERUN", "PROMPTED"])
def test_a_switch_is_true_or_false(name: str) -> None:
    for value in ("0", "no", "false", "False", "NO", "off", ""):
        assert values_of(name, value, f"--{name.lower()}", "") == []
    for value in ("1", "yes", "True", "ON"):
        assert values_of(name, value, f"--{name.lower()}", "") == [True]
    with pytest.raises(UsageError, match=f"{name}=perhaps: expected 1 or 0"):
        values_of(name, "perhaps", f"--{name.lower()}", "")


@pytest.mark.parametrize("command", ["run", "resume", "step", "status"])
def test_what_only_other_makefiles_take_is_refused(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RDC_OPENS", "1")
    for name, value in product(FOR_OTHERS, ("1", "0", "")):
        monkeypatch.setenv("RDC_GIVEN", f"{name}={value}")
        with pytest.raises(UsageError, match=f"this Makefile does not take {name}; "):
            list(MakeCaller.from_caller({"inputs": []}, (), command, Display(sys.stderr)))


def test_rules_go_to_standard_output_where_make_calls(place: Compiled) -> None:
    done = place.run("run", RDC_MAKE="-f 'my x.mk'", RDC_GIVEN="'topic=it'\\''s' 'MINE=1'")
    assert (done.code, done.out) == (0, "rdc: COMPLETE all done\n")
    assert "1 step run" in done.err
    done = place.run("run", RDC_MAKE="-f 'my x.mk'")
    assert done.out == "rdc: error: input topic: a value is required; set it with topic=VALUE\n"
    assert "  make -f 'my x.mk' run" in place.run("help", RDC_MAKE="-f 'my x.mk'").out


def test_without_make_none_of_it_is_there(place: Compiled) -> None:
    assert place.run("help", RDC_GIVEN="topic=x").code == 2
    assert "a value is required" in place.run("run", RDC_GIVEN="topic=x").last
    place.bundle(runtime="shared")
    assert "MakeCaller" not in "".join(map(runtime, EDITIONS)), "a program that people call has none of it"
    assert place.run("help", RDC_MAKE="-f my.mk", RDC_GIVEN="topic=x").code == 2
