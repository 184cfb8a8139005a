"""Makefiles of programs that call agents and tools; killed and resumed."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from backends.make.parts import part
from compiler.ir.answers import of_agent, of_tool
from compiler.ir.edges import Add, Keep
from compiler.ir.program import Artifact, Input, Program, Register, Settings, Slot, Variable
from compiler.ir.tasks import Parallel, Reading, Tool
from compiler.ir.texts import text
from runtime_shim.legacy.suffixes import OTHER, SUFFIXES
from tests.backends.makefiles import PATIENCE, children, environment
from tests.backends.programs import (
    Made,
    agent,
    always,
    ask,
    gate,
    node,
    program,
    ref,
    shell,
    slots,
    when,
    words,
)

pytestmark = pytest.mark.share(3)

READING = Reading(("DONE", "not done", "É"), r"d\w+e|done", ("É",))


def rich() -> Program:
    """A program with everything that a driver can have."""
    return program(
        node("in", ask("input", prompt=words("About ", ref("topic"))), always("pick", Keep("reply"))),
        node("pick", ask("select", words("one ", ref("reply")), text("two")), when("two", "stop"), always("sure")),
        node("sure", ask("confirm"), when("yes", "agent"), when("no", "stop")),
        node("agent", agent(words("Do ", ref("reply")), "writer", reading=READING), always("both", Keep("answer"))),
        node("both", Parallel((agent("a"), agent("b"))), always("tool", Keep("joined", extract="x"))),
        node("tool", Tool("web", "get", words('{"a": "', ref("joined"), '"}')), always("command")),
        node("command", shell("echo v=1 > $RDC_OUTPUT"), always("again", Keep("v", of="output", name="v")),
             settings=Settings(timeout=9), variables=(Variable("V", "reply"), Variable("N", "n"))),
        node("again", shell("false", "bash"), when("pass", "gate"), when("fail", "again", Add("n", 1)), retries="n",
             settings=Settings(delay=1, backoff=2)),
        node("gate", gate("Really?")),
        message=words(ref("v", before="v", missing="none")),
        slots=(*slots("reply", "answer", "joined", "v"), Slot("topic"), Slot("other", "x")),
        inputs=(Input("topic", type="choice", options=("a", "b"), default="a"), ),
        registers=(Register("n", ""),),
        limit=99,
    )  # fmt: skip


def gates_only() -> Program:
    """A program with as little as a driver of this kind can have."""
    return program(node("g", gate()))


def delayed() -> Program:
    """A program that needs nothing but delays."""
    edges = when("pass", "done"), when("fail", "1", Add("n", 1))
    return program(node("1", shell("false"), *edges, retries="n", settings=Settings(delay=1)),
                   registers=(Register("n", ""),))  # fmt: skip


@pytest.mark.parametrize("whole", [gates_only, delayed])
def test_makefiles_of_few_parts_have_all_that_they_need(whole: Callable[[], Program], tmp_path: Path) -> None:
    said = (
        Made(tmp_path, whole()).make("step-x", "status").stderr.decode()
        + Made(tmp_path, whole()).make("help").stderr.decode()
    )
    assert "not found" not in said


# --- Agents and tools -------------------------------------------------------------------------------------------------

ANSWERS = [b"it is NOT DONE, or Done\n\n", b"DONE\0\x00x\xff d\xffe", b" \t\v\f\n", b"DONE" + b" " * 1_048_573]


def test_answers_are_read_as_the_graph_says(tmp_path: Path) -> None:
    reader = agent("x", reading=READING)
    whole = program(
        node("1", reader, always("show", Keep("a"), Add("n", 1))),
        node("show", shell('cp .rdc/main.make/answers/1."$N" kept."$N"; [ "$N" = "$ALL" ]'),
             when("pass", "done"), when("fail", "1"), variables=(Variable("N", "n"),)),
        slots=slots("a"),
        registers=(Register("n", ""),),
    )  # fmt: skip
    made = Made(tmp_path, whole)
    for number, answer in enumerate(ANSWERS):
        (tmp_path / f"says.{number}").write_bytes(answer)
    command = made.script("agent", 'n=$(cat n 2> /dev/null || echo 0); echo $((n + 1)) > n; cat "says.$n"')
    assert made.end(f"AGENT={command}", ALL=str(len(ANSWERS))) == "rdc: COMPLETE"
    expected = [of_agent(reader, None if len(answer) > 1_048_576 else answer) for answer in ANSWERS]
    said = made.make("status").stdout.decode().splitlines()
    shown = [line.partition(" 1 ")[0] for line in said if " 1 " in line]
    assert shown == [outcome.word for outcome in expected]
    for number, outcome in enumerate(expected, 1):
        assert made.read(f"kept.{number}").decode() == outcome.text


def test_entries_run_at_the_same_time_and_are_joined_by_index(tmp_path: Path) -> None:
    entries = tuple(agent(f"{index}", f"type{index}", reading=Reading(("OK", "BAD"))) for index in range(3))
    whole = program(
        node("all", Parallel(entries, failing=("BAD",)), when("OK", "done", Keep("a")), always("stop")),
        message=words(ref("a")),
        slots=slots("a"),
    )
    made = Made(tmp_path, whole)
    # Each waits for the other two, and the first one is done last.
    command = made.script(
        "agent",
        'read -r n; echo "$RDC_STEP $RDC_AGENT_TYPE $RDC_ENTRY $RDC_ATTEMPT" > "on.$n"\n'
        'while ! { [ -e on.0 ] && [ -e on.1 ] && [ -e on.2 ]; }; do sleep 0.05; done\n'
        '[ "$n" != 0 ] || sleep 0.3; echo "says $n" >&2; echo "$n OK"',
    )  # fmt: skip
    done = made.make(f"AGENT={command}")
    assert done.stdout.decode().splitlines()[-1] == "rdc: COMPLETE 0 OK 1 OK 2 OK"
    assert made.read("on.1") == b"all_1 type1 1 1\n"
    shown = re.findall(r"^    (all_\d:|\d OK)$", done.stderr.decode(), re.MULTILINE)
    assert shown == [line for index in "012" for line in (f"all_{index}:", f"{index} OK")]


def test_a_tool_gets_json_whatever_a_slot_holds(tmp_path: Path) -> None:
    call = Tool(
        "web", "get it", words('{"a": ["', ref("a"), '", "', ref("u", missing='"no"'), '"], "n": "', ref("n"), '"}')
    )
    whole = program(
        node("1", call, when("pass", "done", Keep("r", extract="x")), when("fail", "stop")),
        message=words(ref("r")),
        slots=slots("a", "u", "r"),
        registers=(Register("n", "", 5),),
        inputs=(Input("a", type="text"),),
    )
    made = Made(tmp_path, whole)
    tool = made.script("tool", """cat > given; echo 'x {"x": 1} {"x": {"y": [ "\\u00e9"] }} {"z": 1} '""")
    (tmp_path / "tools").write_text(f"# them\nweb={tool}\n", encoding="utf-8")
    value = "\"}\\\n\x07\u2028é'$(touch x)"
    assert made.end(f"a={value}", "TOOLS=tools") == 'rdc: COMPLETE {"y":["é"]}'
    assert json.loads(made.read("given")) == {"tool": "get it", "arguments": {"a": [value, '"no"'], "n": "5"}}
    assert of_tool(b"").text == ""
    made.script("tool", "exit 3")
    assert made.end("a=b", "TOOLS=tools") == "rdc: STOP"


def test_a_missing_command_is_said_before_anything_runs(tmp_path: Path) -> None:
    made = Made(tmp_path, rich())
    says = "there is no command for the agents: give AGENT=COMMAND, or set RDC_AGENT or RDC_AGENTS"
    assert made.end() == f"rdc: error: {says}"
    for given, wrong in {
        "AGENT_RETRIES=x": "AGENT_RETRIES 'x': give a number, at least 0",
        "AGENT_CALLS=0": "AGENT_CALLS '0': give a number, at least 1",
        "AGENT_TIMEOUT=1w": "AGENT_TIMEOUT '1w': give a time such as 90s, 30m, 24h or 7d",
        "MOCK=no such": "no such cannot be read: No such file or directory",
        "TOOLS=no such": "no such cannot be read: No such file or directory",
    }.items():
        assert made.end("AGENT=true", given) == f"rdc: error: {wrong}"
    assert not (made.state / "journal").exists()


def test_an_optional_tool_without_a_command_fails_at_once(tmp_path: Path) -> None:
    """I13: the run does not ask for a command before it begins, and goes on."""
    found = Tool("library", "prompt", text("{}"), optional=True)
    made = Made(
        tmp_path,
        program(
            node("1", found, when("pass", "done", Keep("r")), when("fail", "done")),
            message=words(ref("r", missing="none")),
            slots=slots("r"),
        ),
    )
    assert made.end() == "rdc: COMPLETE none"
    (tmp_path / "tools").write_text("library=echo found\n", encoding="utf-8")
    assert made.end("TOOLS=tools") == "rdc: COMPLETE found"


def test_the_driver_knows_the_suffixes_of_artifacts() -> None:
    driver = part("artifact").text
    for kind, suffix in SUFFIXES.items():
        assert re.search(rf"^    .*\b{kind}\b.*\) rdc_word={suffix} ;;$", driver, re.MULTILINE), kind
    assert f"*) rdc_word={OTHER} ;;" in driver
    assert f"in {' '.join(dict.fromkeys([*SUFFIXES.values(), OTHER]))}; do" in driver


def test_a_complete_run_leaves_its_artifact(tmp_path: Path) -> None:
    """I28, whole, with secrets masked, where it was and where the operator wants it; once."""
    whole = program(
        node("1", agent("x"), when("pass", "done", Keep("r")), when("fail", "stop")),
        slots=(*slots("r"), Slot("kind")),
        inputs=(Input("kind", default="mermaid"),),
        artifact=Artifact("r", words(ref("kind", before="", missing="markdown"))),
        secrets=("TOKEN",),
    )
    made = Made(tmp_path, whole)
    given = ("AGENT=printf 'a $b\\n%s' \"$TOKEN\"",)
    assert made.end(*given, TOKEN="s3cret") == "rdc: COMPLETE"
    assert made.read(".rdc/main.make/main.mmd") == b"a $b\n***"
    (made.state / "main.mmd").write_text("changed")
    assert made.end("resume", TOKEN="s3cret", RDC_AGENT="true") == "rdc: COMPLETE"
    assert made.read(".rdc/main.make/main.mmd") == b"changed"
    (made.state / "main.mmd").unlink()
    assert made.end("resume", TOKEN="s3cret", RDC_AGENT="true") == "rdc: COMPLETE", (
        "a kill may have come before it was written"
    )
    assert made.read(".rdc/main.make/main.mmd") == b"a $b\n***"
    assert made.end(*given, "kind=other", "OUT=my file", TOKEN="s3cret") == "rdc: COMPLETE"
    assert made.read("my file") == b"a $b\n***"
    assert made.read(".rdc/main.make/history/1/main.mmd") == b"a $b\n***"
    assert made.end(*given, "OUT=no/such", TOKEN="s3cret") == (
        "rdc: error: the run is complete, but its last output cannot be written: no/such"
    )
    assert made.end("resume", TOKEN="s3cret", RDC_AGENT="true") == "rdc: COMPLETE"
    assert made.read(".rdc/main.make/main.mmd") == b"a $b\n***"


def test_which_agent_is_called(tmp_path: Path) -> None:
    whole = program(
        node("1", agent("x", "one"), always("2", Keep("a"))),
        node("2", agent("x", "two"), always("done", Keep("b"))),
        message=words(ref("a"), ",", ref("b")),
        slots=slots("a", "b"),
    )
    made = Made(tmp_path, whole)
    (tmp_path / "agents").write_text("one=echo listed\n", encoding="utf-8")
    assert made.end(RDC_AGENT="echo common", RDC_AGENTS="agents") == "rdc: COMPLETE listed,common"
    assert made.end("AGENT=echo $RDC_AGENT_TYPE", RDC_AGENTS="agents") == "rdc: COMPLETE one,two"


def test_an_agent_decides_only_if_it_was_named_on_the_command_line(tmp_path: Path) -> None:
    whole = program(
        node("1", agent("x"), when("pass", "2"), when("fail", "stop")),
        node("2", ask("yes_no", prompt="Is it so?"), when("pass", "stop"), when("fail", "3", Keep("a"))),
        node("3", ask("pass_fail"), when("pass", "done"), when("fail", "stop")),
        message=words(ref("a")),
        slots=slots("a"),
    )
    made = Made(tmp_path, whole)
    command = made.script("agent", 'read -r q; echo "$q"; [ "$RDC_STEP" = 2 ] && echo NO || echo pass')
    assert made.end(RDC_AGENT=command) == "rdc: WAITING 2"
    assert made.end("resume", f"AGENT={command}") == "rdc: COMPLETE Is it so? NO"


# --- Time limits, kills and resumes -----------------------------------------------------------------------------------


def slow(made: Made, ended: list[subprocess.Popen[str]], *given: str) -> subprocess.Popen[bytes]:
    """Start make, and wait until what it calls runs."""
    process = subprocess.Popen(["make", *given], cwd=made.folder, env=environment({}), stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)  # fmt: skip
    ended.append(process)  # type: ignore[arg-type]
    deadline = time.monotonic() + PATIENCE
    while not made.read("began").endswith(b"\n"):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return process


def is_gone(pid: int) -> bool:
    """Whether a process has ended, within a while."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except OSError:
            return True
        time.sleep(0.02)
    return False


def calls() -> Program:
    """A program that calls two slow agents between two commands."""
    both = Parallel((agent("a", reading=Reading(("OK", "go on"))), agent("b", reading=Reading(("OK",)))))
    return program(
        node("1", shell("echo first >> log"), when("pass", "2"), when("fail", "stop")),
        node("2", both, when("go on", "3", Keep("a")), when("OK", "3", Keep("a")), always("stop")),
        node("3", shell("echo third >> log"), when("pass", "done"), when("fail", "stop")),
        message=words("<", ref("a"), ">"),
        slots=slots("a"),
    )


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_kill_ends_all_that_is_called_and_the_run_is_resumed(
    number: signal.Signals, tmp_path: Path, ended: list[subprocess.Popen[str]]
) -> None:
    made = Made(tmp_path, calls())
    command = made.script("agent", '[ -e quick ] || { sleep 60 & echo "$$ $!" >> began.part; '
                          '[ "$RDC_ENTRY" = 0 ] || { sleep 0.2; mv began.part began; }; wait; }; echo OK')  # fmt: skip
    process = slow(made, ended, f"AGENT={command}")
    if number == signal.SIGKILL:
        driver = int(str((made.state / "lock").readlink()).partition("-")[0])
        os.kill(driver, number)
    else:
        os.kill(process.pid, number)
    said, _ = process.communicate(timeout=PATIENCE)
    assert number == signal.SIGKILL or b"rdc: INTERRUPTED 2" in said
    for pid in made.read("began").split():
        assert is_gone(int(pid))
    assert made.end("resume", f"AGENT={command}") == "rdc: WAITING 2"
    assert "this is none of the words of step" in made.end("resume", f"AGENT={command}", "ASSUME=pass")
    (tmp_path / "quick").touch()
    if number == signal.SIGKILL:
        assert made.end("resume", f"AGENT={command}", "RERUN=1") == "rdc: COMPLETE <OK OK>"
    else:
        assert made.end("resume", f"AGENT={command}", "ASSUME=go on") == "rdc: COMPLETE <>"
    assert made.read("log") == b"first\nthird\n"


def test_a_call_of_which_nothing_is_left_but_the_agent_is_ended_when_it_is_made_again(
    tmp_path: Path, ended: list[subprocess.Popen[str]]
) -> None:
    """All that make has begun is killed at once, and so is what would end the agents."""
    made = Made(tmp_path, calls())
    command = made.script("agent", '[ -e quick ] && echo OK && exit; echo "$$" >> began.part; '
                          '[ "$RDC_ENTRY" = 0 ] || { sleep 0.2; mv began.part began; }; sleep 60')  # fmt: skip
    process = slow(made, ended, f"AGENT={command}")
    (driver,) = children(process.pid)
    (helper,) = children(driver)
    for pid, number in ((driver, signal.SIGSTOP), (helper, signal.SIGKILL), (driver, signal.SIGKILL)):
        os.kill(pid, number)
    process.wait(timeout=PATIENCE)
    agents = [int(pid) for pid in made.read("began").split()]
    assert len(agents) == 2
    said = made.make("resume", f"AGENT={command}", "ASSUME=go on").stdout.decode()
    assert "its command still runs (pid " in said
    assert f"wait until it ends, or stop it and run it again: make AGENT={command} resume RERUN=1" in said
    assert re.search(r"its command still runs \(pid [0-9]+, [0-9]+\)$", made.make("status").stdout.decode())
    assert made.end("resume", f"AGENT={command}") == "rdc: WAITING 2"
    assert all(Path(f"/proc/{pid}").exists() for pid in agents)
    (tmp_path / "quick").touch()
    done = made.make("resume", f"AGENT={command}", "RERUN=1")
    assert b"; ending it\n" in done.stderr
    assert done.stdout == b"rdc: COMPLETE <OK OK>\n"
    assert all(is_gone(pid) for pid in agents)
    assert made.read("log") == b"first\nthird\n"


def test_a_helper_that_is_killed_leaves_nothing_running_and_no_outcome(
    tmp_path: Path, ended: list[subprocess.Popen[str]]
) -> None:
    made = Made(tmp_path, program(node("1", agent("x"))))
    script = "[ -e quick ] || { ps -o ppid= -p $$ > helper; echo $$ > began; sleep 60; }; echo OK"
    command = f"exec {made.script('agent', script)}"
    process = slow(made, ended, f"AGENT={command}")
    os.kill(int(made.read("helper")), signal.SIGKILL)
    said, errors = process.communicate(timeout=PATIENCE)
    assert said.decode().splitlines()[-1] == "rdc: error: step 1 has no outcome: the call ended with exit code 137"
    assert f"make AGENT='{command}' resume RERUN=1".encode() in errors
    assert is_gone(int(made.read("began")))
    (tmp_path / "quick").touch()
    assert made.end("resume", "RERUN=1", f"AGENT={command}") == "rdc: COMPLETE"


def test_what_takes_too_long_is_ended(tmp_path: Path) -> None:
    whole = program(
        node("1", shell("echo $$ >> pids; sleep 60"), when("pass", "stop"), when("fail", "2"),
             settings=Settings(timeout=1)),
        node("2", shell("cat; exit 7"), when("pass", "stop"), when("fail", "3"), settings=Settings(timeout=60)),
        node("3", agent("x", reading=Reading(("OK",))), when("failed", "done"), always("stop"),
             settings=Settings(timeout=1)),
    )  # fmt: skip
    made = Made(tmp_path, whole)
    command = made.script("agent", "echo $$ >> pids; echo OK; sleep 60")
    done = made.make(f"AGENT={command}")
    assert done.stdout.decode().splitlines()[-1] == "rdc: COMPLETE", done.stderr
    assert "    FAIL  timeout, 1." in done.stderr.decode()
    status = made.make("status").stdout.decode()
    assert "fail 1  (timeout, 1." in status
    assert "fail 2  (exit code 1, 0." in status
    assert done.stderr.decode().count("    out of time\n") == 2
    assert all(is_gone(int(pid)) for pid in made.read("pids").split())


def test_further_attempts_are_delayed(tmp_path: Path) -> None:
    whole = program(
        node("1", shell('echo "$RDC_ATTEMPT" >> n; [ "$RDC_ATTEMPT" = 3 ]'), when("pass", "done"),
             when("fail", "1", Add("n", 1)), retries="n", settings=Settings(delay=60, backoff=2)),
        registers=(Register("n", ""),),
    )  # fmt: skip
    made = Made(tmp_path, whole)
    sleeps = tmp_path / "bin"
    sleeps.mkdir()
    (sleeps / "sleep").write_text('#!/bin/sh\necho "$1" >> slept\n', encoding="utf-8")
    (sleeps / "sleep").chmod(0o755)
    assert made.end(PATH=f"{sleeps}:{os.environ['PATH']}") == "rdc: COMPLETE"
    assert (made.read("n"), made.read("slept")) == (b"1\n2\n3\n", b"60\n120\n")


def test_a_run_that_is_killed_anywhere_goes_on_as_if_it_had_not_been(tmp_path: Path) -> None:
    """A command that kills the driver, before and after it has given its value, and once the run has been resumed."""
    kill = 'echo "$N" >> log; echo "v=$N" > "$RDC_OUTPUT"; [ -e "done.$N" ] || { : > "done.$N"; kill -9 "$PPID"; }'
    keeps = (Keep("v", of="output", name="v"), Add("n", 1))
    whole = program(
        node("1", shell(kill), when("pass", "2", *keeps), when("fail", "stop"), variables=(Variable("N", "n"),)),
        node("2", shell('[ "$V" = "$((N - 1))" ] && [ "$N" = 3 ]'), when("pass", "done"), when("fail", "1"),
             variables=(Variable("N", "n"), Variable("V", "v"))),
        message=words(ref("v")),
        slots=slots("v"),
        registers=(Register("n", ""),),
    )  # fmt: skip
    made = Made(tmp_path, whole)
    last = made.end()
    for _ in range(3):
        assert not last.startswith("rdc: COMPLETE")
        last = made.end("resume", "RERUN=1")
    assert last == "rdc: COMPLETE 2"
    assert made.read("log") == b"0\n0\n1\n1\n2\n2\n"
