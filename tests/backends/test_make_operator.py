"""What an operator drives a Makefile's run with: who and why, prompted runs, agents, notices, several runs."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest

from backends.make import MakeBackend
from compiler.driver import compile_file
from compiler.ir.edges import Keep
from compiler.ir.program import Program, Variable
from runtime_shim.tasks.recipes import RECIPES, called
from tests.backends.makefiles import FLOW, PLAIN, SLOW, Place, children, environment, kill_all, last_line
from tests.backends.programs import Made, agent, ask, node, program, ref, shell, slots, when, words
from tests.backends.test_make_terminal import at_terminal
from tests.conftest import ROOT

pytestmark = pytest.mark.share(3)

EVIL = [
    "$(shell touch canary)",
    "${shell touch canary}$$",
    "'; touch canary; '",
    "`touch canary`$(touch canary)",
    '"; touch canary; "',
    "a & b \\ | 1 end 1 pass 0 0 | %s \x1b[2J \u202e é",
    "-n",
    "=41 by x",
    "\udcff\udc80",
]


def journal(place: Place) -> str:
    """The journal, which is plain text."""
    return (place.state / "journal").read_bytes().decode("ascii")


# --- Who and why ------------------------------------------------------------------------------------------------------


@pytest.mark.share(2)
@pytest.mark.parametrize("evil", EVIL)
def test_who_and_why_are_texts_and_nothing_else(evil: str, tmp_path: Path) -> None:
    place = Place(tmp_path, FLOW)
    place.make()
    assert place.make("answer", "STEP=2", "REPLY=yes", f"BY={evil}", f"NOTE={evil}").returncode == 0
    assert place.make("goto", "STEP=3", f"BY={evil}", f"NOTE={evil}").returncode == 0
    assert place.make("goto", f"STEP={evil}").returncode
    for verb in ("resume", "status", "history", "help"):
        place.make(verb, f"BY={evil}", f"NOTE={evil}", f"VALUE={evil}", f"KEEP={evil}", f"STEP={evil}", f"ALL={evil}")
    shown = place.make("status").stdout
    plain = re.sub("[\x1b\u202e\udc80-\udcff]", "?", evil)
    assert f"yes 2 Look at it  (0.0 s, by {plain}: {plain})\n" in re.sub(r"0\.\d s", "0.0 s", shown)
    assert f"goto 3 Look again  (by {plain}: {plain})\n" in shown
    assert "\x1b" not in shown
    assert journal(place).count("\n") == 6 + 1
    assert not list(tmp_path.rglob("canary*"))


def test_who_is_the_user_and_never_the_environment(flow: Place) -> None:
    flow.make(LOGNAME="ann")
    flow.make("answer", "STEP=2", "REPLY=yes", LOGNAME="ann", BY="eve", NOTE="from nowhere", AS="x", PROMPTED="1")
    assert re.search(r"^yes 2 .*, by ann\)$", flow.make("status").stdout, re.MULTILINE)


@pytest.mark.parametrize("given", ["NOTE=a\nb", "BY=a\nb", f"NOTE={'x' * 2001}", f"BY={'é' * 201}"])
def test_a_note_is_one_line_of_some_length(given: str, flow: Place) -> None:
    flow.make()
    before = journal(flow)
    assert re.search(
        r"error: \w+ (has more than one line|is longer)", flow.make("answer", "STEP=2", "REPLY=yes", given).stdout
    )
    assert journal(flow) == before


def test_a_note_is_as_long_as_in_python(flow: Place) -> None:
    flow.make()
    who, why = "é" * 200, "日" * 2000
    assert flow.make("answer", "STEP=2", "REPLY=yes", f"BY={who}", f"NOTE={why}").returncode == 0
    assert f"by {who}: {why})" in flow.make("status").stdout


def test_the_decision_about_an_interrupted_step_has_a_name(tmp_path: Path) -> None:
    place = Place(tmp_path, SLOW)
    for words_of, line in (
        (["RERUN=1"], "rerun 2 Wait  (by ann: try it)"),
        (["ASSUME=fail"], "fail 2 Wait  (0.0 s, as assumed, STOP, by ann: try it)"),
    ):
        process = place.start(*(["resume", "RERUN=1"] if place.lines("began") else []))
        kill_all(process.pid)
        process.communicate()
        (tmp_path / "quick").touch()
        place.make("resume", *words_of, "BY=ann", "NOTE=try it")
        assert line in place.make("status").stdout
        place.make("clean")
        (tmp_path / "began").unlink()
        (tmp_path / "quick").unlink()


DAMAGED = ["jump 2 1 by", "jump 2", "jump 9 1 by x =", "jump $(touch${IFS}canary) 1 by x =", "jump 2 08 by x =",
           "jump 2 1 n=1 by x =", "jump 2 1 x", "begin 2 1 again by $(touch${IFS}canary)", "begin 2 1 again",
           "end 2 pass 0 1 by", "end 2 pass 0 1 by =ZZ =4", "end 2 pass 0 1 by $(touch${IFS}canary) `x`",
           "over 1 STOP LIMIT 2"]  # fmt: skip


@pytest.mark.share(3)
@pytest.mark.parametrize("line", DAMAGED)
def test_nothing_of_a_damaged_journal_is_believed_or_evaluated(line: str, flow: Place) -> None:
    flow.make()
    path = flow.state / "journal"
    whole = path.read_text(encoding="ascii")
    record = f"{whole.count(chr(10)) + 1} {line}"
    for words_of in (
        ["status"],
        ["status", "ALL=1"],
        ["resume"],
        ["goto", "STEP=1"],
        ["answer"],
        ["history"],
        ["ship-it"],
    ):
        path.write_text(f"{whole}{record} | {record}\n", encoding="ascii")
        done = flow.make(*words_of)
        assert not re.search("not found|[Ss]yntax", done.stderr), (words_of, done.stderr)
    assert not list(flow.folder.rglob("canary*"))


# --- Prompted ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("document", [PLAIN, FLOW], ids=["plain", "flow"])
def test_a_prompted_run_executes_nothing(document: str, tmp_path: Path) -> None:
    place = Place(
        tmp_path, document.replace("```bash\necho build", "```bash\nprintf '\x1b[2J' > /dev/null\necho build")
    )
    said = place.make("PROMPTED=1")
    assert last_line(said) == "rdc: WAITING 1"
    assert "printf '?[2J' > /dev/null\necho build >> log\n" in said.stderr
    assert "make resume" in said.stderr
    for number in range(1, 5):
        answer = re.findall("to answer: (make .*)", said.stderr)[0].split()[1:]
        assert place.make(*answer, "BY=ann").returncode == 0
        said = place.make("resume")
        if said.returncode == 0:
            break
        assert last_line(said) == f"rdc: WAITING {number + 1}"
    assert last_line(said).startswith("rdc: COMPLETE")
    assert place.lines("log") == []
    assert place.make("status").stdout.count(", by ann)") == number
    assert place.make().returncode == (2 if document == FLOW else 0), "the next run is none"
    assert "build" in place.lines("log")


def test_a_prompted_run_is_answered_at_a_terminal_and_by_a_file(tmp_path: Path) -> None:
    place = Place(tmp_path, PLAIN)
    assert at_terminal(place, "p\nfail\n", "PROMPTED=1")[0] == "rdc: STOP"
    (tmp_path / "answers").write_text("2 pass\npass\n", encoding="utf-8")
    assert last_line(place.make("PROMPTED=yes", "ANSWERS=answers")) == "rdc: COMPLETE"
    assert last_line(place.make("PROMPTED=1", "ANSWERS=nowhere")).startswith("rdc: error: the answers cannot be read")
    assert place.lines("log") == []


def test_prompted_belongs_to_the_run(tmp_path: Path) -> None:
    place = Place(tmp_path, SLOW)
    process = place.start()
    kill_all(process.pid)
    process.communicate()
    assert "this run is not prompted" in last_line(place.make("resume", "RERUN=1", "PROMPTED=1"))
    place.make("clean")
    place.make("PROMPTED=1")
    assert place.make("goto", "STEP=3").returncode == 0
    assert last_line(place.make("resume")) == "rdc: WAITING 3"
    assert place.lines("log") == ["build"]


def valued() -> Program:
    """A command gives a value, which the next one and the end use."""
    return program(
        node("1", shell("echo v=real >> $RDC_OUTPUT"), when("pass", "2", Keep("v", of="output", name="v")),
             when("fail", "stop", Keep("v", of="output", name="v"))),
        node("2", shell('printf %s "$V" > got'), variables=(Variable("V", "v"),)),
        node("3", ask("pass_fail")),
        message=words(ref("v", missing="none")),
        slots=slots("v"),
    )  # fmt: skip


VALUES = ["a&b\\1 'x' \"y\" $(touch canary) `touch canary` é", "", "a=b<<c", "<<X"]


@pytest.mark.share(2)
@pytest.mark.parametrize("value", VALUES)
def test_values_are_given_for_commands_that_were_not_run(value: str, tmp_path: Path) -> None:
    made = Made(tmp_path, valued())
    assert made.end("PROMPTED=1") == "rdc: WAITING 1"
    for wrong in ("v", "w=1", "v<<X"):
        assert "VALUE: line 1" in made.end("answer", "STEP=1", "REPLY=pass", f"VALUE={wrong}")
    assert made.make("answer", "STEP=1", "REPLY=pass", f"VALUE=v=first\nv={value}\n").returncode == 0
    assert made.end("resume") == "rdc: WAITING 2"
    assert "has no outputs" in made.end("answer", "STEP=2", "REPLY=pass", "VALUE=v=1")
    assert made.make("answer", "STEP=2", "REPLY=pass").returncode == 0
    assert made.end("resume") == f"rdc: COMPLETE {value}".rstrip()
    assert not list(tmp_path.rglob("canary*"))


def test_the_hint_shows_how_a_command_that_writes_values_is_answered(tmp_path: Path) -> None:
    made = Made(tmp_path, valued())
    said = made.make("PROMPTED=1", "AS=x").stderr.decode()
    hint = re.findall("with outputs: (.*)", said)[0]
    assert hint == "make AS=x answer STEP=1 REPLY=pass VALUE='v=…'"
    subprocess.run(["sh", "-c", hint], cwd=tmp_path, env=environment({}), check=True, capture_output=True)
    said = made.make("resume", "AS=x").stderr.decode()
    assert "to answer: make AS=x answer STEP=2" in said
    assert "with outputs" not in said, "this command writes none"


def test_values_are_given_with_an_outcome_that_is_assumed(tmp_path: Path) -> None:
    whole = valued()
    first = whole.nodes[0]
    killed = node("1", shell("kill -9 $PPID"), *first.edges)
    made = Made(tmp_path, program(killed, *whole.nodes[1:3], message=words(ref("v", missing="none")), slots=slots("v")))
    made.make()
    assert made.end("resume", "ASSUME=pass", "VALUE=v=it's\\n") == "rdc: COMPLETE it's\\n"
    assert made.read("got") == b"it's\\n"


# --- Agents -----------------------------------------------------------------------------------------------------------

AGENT = "# A\n\n## 1. Look\n\nIs it `good`?\n\n```text\nwith this\n```\n\n- YES: COMPLETE\n- NO: STOP\n"
SAID = {
    **dict.fromkeys(["PASS", "yes\n\n", "no\nOk.\n \n", "**yes**", "pa\\033ss", "$(touch canary)\nyes"], True),
    **dict.fromkeys(["NO", "fail", "it passed", "pass\nbut", "", "pass; exit 3"], False),
}


@pytest.mark.parametrize("said", SAID)
def test_an_agent_answers_prompts_by_its_last_line(said: str, tmp_path: Path) -> None:
    place = Place(tmp_path, AGENT)
    code = 3 if "exit 3" in said else 0
    (tmp_path / "says").write_text(f"{said.partition(';')[0]}\n".replace("\\033", "\x1b"), encoding="utf-8")
    command = f"cat > given; env > seen; cat says; exit {code}"
    ran = place.make(f"AGENT={command}")
    assert last_line(ran) == ("rdc: COMPLETE" if SAID[said] else "rdc: STOP"), ran.stderr
    given = (tmp_path / "given").read_text(encoding="utf-8")
    assert given.startswith("Is it `good`?\n\nwith this\n\n")
    seen = dict(line.split("=", 1) for line in place.lines("seen") if "=" in line)
    assert [seen[f"RDC_{name}"] for name in ("STEP", "TITLE", "ATTEMPT", "AGENT_TYPE")] == ["1", "Look", "1", ""]
    assert seen["RDC_RUN_ID"]
    if said in {"it passed", "pass\nbut", ""}:
        assert "so this counts as FAIL" in ran.stderr
    if code:
        assert "the agent ended with exit code 3, so this counts as FAIL" in ran.stderr
    assert "\x1b" not in ran.stderr
    assert not list(tmp_path.rglob("canary*"))


def test_an_agent_of_the_environment_answers_no_prompt(tmp_path: Path) -> None:
    place = Place(tmp_path, AGENT)
    assert last_line(place.make(AGENT="echo yes", RDC_AGENT="echo yes")) == "rdc: WAITING 1"


def test_an_agent_answers_prompts_but_does_no_commands(tmp_path: Path) -> None:
    place = Place(tmp_path, FLOW)
    assert last_line(place.make("PROMPTED=1", "AGENT=echo yes")) == "rdc: WAITING 1"


# --- Notices ----------------------------------------------------------------------------------------------------------


def test_a_command_is_told_when_the_run_waits_or_ends(flow: Place) -> None:
    notify = "NOTIFY=cat >> told; echo noise; exit 9"
    assert flow.make(notify).stdout == "rdc: WAITING 2\n"
    flow.make("answer", "STEP=2", "REPLY=no", notify)
    assert flow.make("resume", notify).stdout == "rdc: STOP It is bad\n"
    told = [json.loads(line) for line in flow.lines("told")]
    assert [(one["event"], one.get("step"), one.get("message")) for one in told] == [
        ("run_waiting", "2", None),
        ("run_finished", None, "It is bad"),
    ]
    assert list(told[0]) == ["event", "time", "run", "step", "name", "title"], "as in Python"
    assert list(told[1]) == ["event", "time", "run", "result", "message", "name", "title"], "as in Python"
    assert (told[1]["result"], told[1]["name"]) == ("stop", "main")
    assert not (flow.state / "event").exists()


def test_a_notice_is_told_of_an_interruption_and_of_a_long_message(tmp_path: Path) -> None:
    text = 'a::b "b" \\ é\tc\n' * 20_000
    made = Made(
        tmp_path,
        program(node("1", ask("input"), when("pass", "done", Keep("v"))), message=words(ref("v")), slots=slots("v")),
    )
    made.make()
    (tmp_path / "answers").write_text(json.dumps({"1": text}), encoding="utf-8")
    made.make("resume", "ANSWERS=answers", "NOTIFY=cat > told")
    assert json.loads(made.read("told"))["message"].split() == text.split()
    place = Place(tmp_path, SLOW)
    process = place.start("NOTIFY=cat > told")
    process.terminate()
    process.communicate()
    told = json.loads(made.read("told"))
    assert (told["event"], told["step"]) == ("run_interrupted", "2")


def test_a_notice_that_hangs_is_ended_with_all_that_it_called(flow: Place) -> None:
    process = flow.start("NOTIFY=sleep 61 & echo $$$$ > began; sleep 62")
    group = flow.lines("began")[0]
    for pid in children(process.pid):
        os.kill(pid, signal.SIGINT)
    said, told = process.communicate()
    assert said == "rdc: WAITING 2\n"
    assert "NOTIFY: the command was ended" in told
    assert subprocess.run(["pgrep", "-g", group], check=False, capture_output=True).stdout == b""


# --- Several runs -----------------------------------------------------------------------------------------------------


def test_runs_stand_beside_each_other(flow: Place) -> None:
    assert last_line(flow.make()) == "rdc: WAITING 2"
    said = flow.make("AS=eu-west.1")
    assert last_line(said) == "rdc: WAITING 2"
    hint = re.findall("to answer: (.*no)", said.stderr)[0]
    assert hint == "make AS=eu-west.1 answer STEP=2 REPLY=no"
    subprocess.run(["sh", "-c", hint], cwd=flow.folder, env=environment({}), check=True, capture_output=True)
    assert last_line(flow.make("AS=eu-west.1", "resume")) == "rdc: STOP It is bad"
    listed = flow.make("status", "ALL=1")
    assert listed.stdout.split("\n") == ["(no name)            at 2 Look at it", "AS=eu-west.1         over: STOP", ""]
    assert flow.make("AS=eu-west.1", "status", "ALL=1").stdout == listed.stdout
    assert {path.name for path in (flow.folder / ".rdc").iterdir()} == {"main.make", "main@eu-west.1.make"}
    assert flow.make("AS=eu-west.1", "clean").returncode == 0
    assert flow.make("AS=eu-west.1", "status").stdout == "no run\n"


def test_what_must_be_given_again_is_in_the_commands_that_are_printed(flow: Place) -> None:
    again = ["AGENT=false 'a' $x #", "NOTIFY=cat >> told"]
    flow.make("AS=x")
    said = flow.make("AS=x", "resume", *again[1:])
    hint = re.findall("to go on:  (.*)", said.stderr)[0]
    assert hint == "make AS=x NOTIFY='cat >> told' resume"
    subprocess.run(["sh", "-c", hint], cwd=flow.folder, env=environment({}), check=False, capture_output=True)
    assert len(flow.lines("told")) == 2
    flow.make("AS=x", "goto", "STEP=1", *again)
    hint = re.findall("resume: *(.*)|: (make .*resume)", flow.make("AS=x", "goto", "STEP=1", *again).stderr)[0][1]
    assert hint == "make AGENT='false '\\''a'\\'' $x #' AS=x NOTIFY='cat >> told' resume"


@pytest.mark.share(3)
@pytest.mark.parametrize("name", ["../x", "a/b", "", "-x", ".x", "_x", "x" * 65, "a b", *EVIL])
def test_the_name_of_a_run_leads_nowhere(name: str, flow: Place) -> None:
    for verb in ("run", "status", "help", "goto", "clean"):
        done = flow.make(verb, f"AS={name}", "STEP=1")
        assert "error: AS takes a name" in done.stdout
    assert {path.name for path in flow.folder.iterdir()} <= {"Makefile", "main.runbook.md", "rdc.toml", ".rdc", "log"}
    assert [path.name for path in (flow.folder / ".rdc").glob("*")] == []
    assert flow.make("status", f"AS={'x' * 64}").stdout == "no run\n"


def test_history_lists_and_prunes(tmp_path: Path) -> None:
    place = Place(tmp_path, PLAIN)
    assert place.make("history").stdout == "no run was archived\n"
    for _ in range(12):
        place.make()
    listed = place.make("history").stdout.splitlines()
    assert [line.split()[0] for line in listed] == [str(number) for number in range(1, 12)]
    assert all(re.fullmatch(r"\d+ [0-9-]+ COMPLETE", line) for line in listed)
    for wrong in ("x", "-1", "1;touch canary", "01"):
        assert "KEEP takes a number" in last_line(place.make("history", f"KEEP={wrong}"))
    assert place.make("history", "KEEP=2").stdout.splitlines() == listed[-2:]
    place.make()
    assert [line.split()[0] for line in place.make("history").stdout.splitlines()] == ["10", "11", "12"]
    assert place.make("history", "KEEP=0").returncode == 0
    assert place.make("history").stdout == "no run was archived\n"
    assert not list(tmp_path.rglob("canary*"))
    other = tmp_path / "other"
    (other / "1").mkdir(parents=True)
    (place.state / "history").rmdir()
    (place.state / "history").symlink_to(other)
    assert "is a link" in last_line(place.make("history", "KEEP=0"))
    assert (other / "1").is_dir(), "what a link leads to stays"


# --- Shells and awks --------------------------------------------------------------------------------------------------


def test_shells_and_awks_of_all_kinds_do_it(kind: dict[str, str], tmp_path: Path) -> None:
    made = Made(tmp_path, valued())
    note = "it's é \\ & % $(touch canary) |"

    def make(*given: str) -> str:
        return made.make(kind["shell"], *given, PATH=f"{kind['path']}").stdout.decode()

    assert make("PROMPTED=1", "NOTIFY=cat >> told", "AS=x").endswith("rdc: WAITING 1\n")
    assert "error" not in make("answer", "STEP=1", "REPLY=pass", f"VALUE=v={note}", f"NOTE={note}", "BY=ann", "AS=x")
    assert "error" not in make("goto", "STEP=2", "AS=x")
    assert make("resume", "AS=x", "NOTIFY=cat >> told").endswith("rdc: WAITING 2\n")
    assert "error" not in make("answer", "STEP=2", "REPLY=pass", "AS=x")
    assert make("resume", "AS=x", "NOTIFY=cat >> told").endswith(f"rdc: COMPLETE {note}\n")
    status = make("status", "AS=x")
    assert f"by ann: {note})\n" in status
    assert "goto 2  (by " in status.replace("goto 2 (", "goto 2  (")
    assert [json.loads(line)["event"] for line in made.read("told").splitlines()] == [
        *["run_waiting"] * 2,
        "run_finished",
    ]
    assert "AS=x                 over: COMPLETE" in make("status", "ALL=1")
    assert "error" not in make("clean", "AS=x")
    assert make("history", "AS=x").endswith(" COMPLETE\n")


@pytest.mark.parametrize("evil", EVIL[:3])
def test_with_a_prefix_it_is_text_too(evil: str, tmp_path: Path) -> None:
    Place(tmp_path, FLOW)
    whole = compile_file(str(tmp_path / "main.runbook.md")).program
    assert whole
    text = MakeBackend().emit(whole, {"prefix": "deploy-"}).text or ""
    (tmp_path / "deploy.mk").write_text(text, encoding="utf-8")
    (tmp_path / "Makefile").write_text("include deploy.mk\n", encoding="utf-8")

    def make(*given: str) -> str:
        done = subprocess.run(["make", *given], cwd=tmp_path, env=environment({}), capture_output=True, check=False)
        return done.stdout.decode()

    make("deploy-run")
    for verb in ("answer", "goto", "status", "history", "resume"):
        make(f"deploy-{verb}", *(f"{name}={evil}" for name in ("BY", "STEP", "REPLY", "VALUE", "KEEP", "ALL", "AS")))
    make("deploy-answer", "STEP=2", "REPLY=yes", f"NOTE={evil}", "BY=ann")
    assert f", by ann: {evil})\n" in make("deploy-status")
    make("deploy-goto", "STEP=4")
    assert make("deploy-resume").endswith("rdc: COMPLETE Out it goes\n")
    assert not list(tmp_path.rglob("canary*"))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_an_agent_ends_with_its_run_or_before_another_one_is_called(number: signal.Signals, tmp_path: Path) -> None:
    place = Place(tmp_path, AGENT)
    process = place.start("AGENT=echo $$$$ > began; exec sleep 4")
    called = Path(f"/proc/{place.lines('began')[0]}")
    if number == signal.SIGTERM:
        process.terminate()
    else:
        for pid in (process.pid, *children(process.pid)):
            os.kill(pid, number)
    said, _ = process.communicate()
    assert number == signal.SIGKILL or said == "rdc: INTERRUPTED 1\n"
    assert last_line(place.make("resume", "AGENT=echo yes")) == "rdc: COMPLETE"
    assert not called.exists()


def test_a_program_that_calls_agents_is_not_prompted(tmp_path: Path) -> None:
    made = Made(
        tmp_path, program(node("1", shell("touch ran"), when("pass", "2"), when("fail", "stop")), node("2", agent("x")))
    )
    assert "cannot be prompted" in made.end("PROMPTED=1", "AGENT=echo x")
    assert not (tmp_path / "ran").exists()


def test_a_long_title_is_cut_where_commands_see_it(tmp_path: Path) -> None:
    place = Place(tmp_path, f'# T\n\n## 1. {"x" * 200_000}\n\n```sh\nprintf %s "$RDC_TITLE" > got\n```\n')
    assert place.make().returncode == 0
    assert place.lines("got") == ["x" * 1000]


def test_an_agent_answers_prompts_among_values(tmp_path: Path) -> None:
    whole = program(
        node("0", ask("input", prompt="Name?"), when("pass", "1", Keep("v"))),
        node("1", ask("yes_no", prompt=words("Is ", ref("v"), " so?")), when("pass", "done", Keep("said")),
             when("fail", "stop"), variables=(Variable("V", "v"),)),
        message=words(ref("said")),
        slots=slots("v", "said"),
    )  # fmt: skip
    made = Made(tmp_path, whole)
    assert made.end("AGENT=false") == "rdc: WAITING 0", "it answers no question for a text"
    made.make("answer", "STEP=0", "REPLY=it's $(x)")
    assert made.end("resume", 'AGENT=cat > given; printf "%s\\nYES\\n" "$V"') == "rdc: COMPLETE it's $(x) YES"
    assert made.read("given").startswith(b"Is it's $(x) so?\n\n")


def test_help_names_all_of_it(flow: Place) -> None:
    shown = flow.make("help").stdout
    for word in (
        "goto STEP=",
        "PROMPTED=1",
        "VALUE=",
        "BY=",
        "NOTE=",
        "AGENT=",
        "NOTIFY=",
        "AS=",
        "ALL=1",
        "history KEEP=",
    ):
        assert word in shown


def test_the_driver_knows_agents_by_name() -> None:
    """Plain runbooks have no python3 that could look a name up."""
    text = (ROOT / "backends" / "make" / "driver" / "delegate.sh").read_text(encoding="utf-8")
    found = dict(re.findall(r"^    (\S+)\) rdc_value='(.*)' ;;$", text, re.MULTILINE))
    assert found == {recipe.name: called(recipe.name) for recipe in RECIPES}


def test_a_question_of_a_runbook_is_put_to_an_agent_by_its_name(tmp_path: Path) -> None:
    """The name beats a command of the same name."""
    place = Place(tmp_path, "# A\n\n## 1. Ready?\n\nSure?\n\n- YES: COMPLETE\n- NO: STOP\n")
    tools = place.folder / "tools"
    tools.mkdir()
    for name, says in (("claude", "YES"), ("claude-code", "NO")):
        (tools / name).write_text(f"#!/bin/sh\ncat > given\necho {says}\n")
        (tools / name).chmod(0o755)
    ran = place.make("AGENT=claude-code", PATH=f"{tools}:{os.environ['PATH']}")
    assert last_line(ran) == "rdc: COMPLETE"
    assert "Sure?" in (place.folder / "given").read_text()
