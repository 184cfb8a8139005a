"""Agents: what they get, how their answers are read and kept, what happens without one (I11, I12, I16, I21)."""

import json
import signal
import time
from pathlib import Path

import pytest

from compiler.ir.edges import Clear
from compiler.ir.program import Settings, Variable
from compiler.ir.tasks import Ask
from compiler.ir.texts import text
from runtime_shim.engine.state import State
from tests.runtime_shim.operator import at_terminal, codes, ended, facts_of, talk, unchanged
from tests.support.process import is_gone, kill, wait_until
from tests.support.runtime_programs import Compiled, agent, edge, node, of, program, sh, slot, stored

pytestmark = pytest.mark.process

REVIEW = program(
    node("write", agent("Write it."), edge("review", "pass", stored("plan")), edge("STOP")),
    node(
        "review",
        agent(of("Review:\n", slot("plan", missing="nothing")), "OK", "REJECT", kind="critic"),
        edge("COMPLETE", "OK", stored("verdict")),
        edge("STOP", None, stored("verdict")),
    ),
    slots=("plan", "verdict"),
    message=of("reviewed: ", slot("verdict")),
)


def test_agent_gets_prompt_and_environment_and_its_answer_is_kept(tmp_path: Path) -> None:
    place = Compiled(tmp_path, REVIEW)
    env = "env | grep ^RDC_ | grep -v _RUN_ | sort >> env;"
    env += ' test -n "$RDC_RUN_ID"; cat; echo; echo "Fine: OK"; echo err >&2'
    result = place.run("run", "--agent", env)
    assert result.code == 0, result.err
    assert result.last == "rdc: COMPLETE reviewed: Review: Write it. Fine: OK Fine: OK"
    assert place.slots()["plan"] == "Write it.\nFine: OK"
    assert place.walk() == ["write pass", "review OK"]
    assert place.text("env").splitlines() == [
        "RDC_AGENT_TYPE=", "RDC_ATTEMPT=1", "RDC_STEP=write", "RDC_TITLE=Step write",
        "RDC_AGENT_TYPE=critic", "RDC_ATTEMPT=1", "RDC_STEP=review", "RDC_TITLE=Step review",
    ]  # fmt: skip
    assert (tmp_path / ".rdc/deploy/prompts/write.1").read_text() == "Write it."
    assert (tmp_path / ".rdc/deploy/answers/write.1").read_text() == "Write it.\nFine: OK"
    assert result.out == ""
    assert facts_of(place)["slots"]["plan"] == "Write it.\nFine: OK"
    state = State(place.records())
    assert "Fine: OK" not in str(state.finished[:-1]), "a state does not hold the texts of every round"
    assert "Fine: OK" in str(state.registers["plan"])
    assert place.run("run", "--agent", env).code == 0
    history = {path.name.partition(".")[2] for path in (tmp_path / ".rdc/deploy/history").iterdir()}
    assert history == {"", "prompts", "answers"}


def test_the_called_command(tmp_path: Path) -> None:
    made = program(
        node("1", agent("x"), edge("2", None, stored("a"))),
        node("2", agent("y", kind="critic"), edge("COMPLETE", None, stored("b"))),
        slots=("a", "b"), message=of(slot("a"), " ", slot("b")),
    )  # fmt: skip
    place = Compiled(tmp_path, made)
    (tmp_path / "agents").write_text("# types\ncritic=echo listed\n")
    for words, environment, message in (
        (("--agent", "echo a"), {}, "a a"),
        (("--agent", "echo a", "--agent-for", "critic=echo c"), {}, "a c"),
        ((), {"RDC_AGENT": "echo e"}, "e e"),
        ((), {"RDC_AGENT": "echo e", "RDC_AGENTS": "agents"}, "e listed"),
        (("--agent", "echo a"), {"RDC_AGENT": "echo e", "RDC_AGENTS": "agents"}, "a a"),
        (("--agent", "echo a"), {"RDC_AGENTS": "gone"}, "a a"),
    ):
        assert place.run("run", *words, cwd=None, **environment).last == f"rdc: COMPLETE {message}"


@pytest.mark.parametrize(
    ("command", "word"),
    [
        ("echo ok", "OK"),
        ("echo OK; exit 3", "failed"),
        ("printf ' \\n\\t '", "failed"),
        ("printf 'OK\\377'", "ambiguous"),
        ("head -c 1048573 /dev/zero | tr '\\0' '\\n'; echo OK", "OK"),
        ("exec yes", "failed"),
        ("cat > /dev/null; (sleep 60 &) ; echo OK", "OK"),
    ],
)
def test_how_an_answer_becomes_a_word(tmp_path: Path, command: str, word: str) -> None:
    place = Compiled(tmp_path, program(node("1", agent("x" * 300_000, "OK", "REJECT"))))
    result = place.run("run", "--agent", command)
    assert place.walk() == [f"1 {word}"], result.err


def test_search_for_a_pattern_that_takes_too_long_is_interrupted_or_given_up(tmp_path: Path) -> None:
    digits = "head -c 25000 /dev/zero | tr '\\0' 9 | sed 's/9/9 /g'; echo; echo OK"
    place = Compiled(tmp_path, program(node("1", agent("x", "OK", validation="[9 ]+[9 ]+:"))))
    runner = place.start("run", "--agent", digits)
    wait_until(lambda: place.text(".rdc/deploy/journal").count('"process"') == 2)
    assert ended(runner, signal.SIGTERM) == (130, "rdc: INTERRUPTED 1 Step 1")
    assert is_gone(place.records()[-1]["pid"])
    place.hook("from runtime_shim.tasks import agent\nagent.LONGEST_SEARCH = 1")
    result = place.run("resume", "--rerun-interrupted", "--agent", digits)
    assert place.walk() == ["1 failed"], result.err
    assert "searching for its validation pattern: out of time" in result.err


def test_a_pattern_is_looked_for_in_the_whole_answer(tmp_path: Path) -> None:
    place = Compiled(tmp_path, program(node("1", agent("x", "OK", "NO", validation="^SCORE: [[]\\d+"))))
    assert place.run("run", "--agent", "printf 'score: [7\\n\\303\\251\\nOK\\n'").err.count("Warning") == 0
    assert place.walk() == ["1 OK"]
    assert place.run("run", "--agent", "echo 'a score: [7'; echo OK").code == 0
    assert place.walk() == ["1 invalid"]


def test_time_limit_of_a_command_and_the_run_goes_on(tmp_path: Path) -> None:
    slow = node("1", sh("sleep 1000"), edge("2", "fail"), edge("STOP"), settings=Settings(timeout=1))
    place = Compiled(tmp_path, program(slow, node("2", sh("sleep 1.2"))))
    done = place.run("run")
    assert (done.code, place.walk()) == (0, ["1 fail", "2 pass"])
    assert "FAIL  timeout after 1.0 s" in done.err
    assert "        timeout after 1.0 s\n" in place.run("status").out


def test_without_an_agent_the_run_waits_and_is_answered(tmp_path: Path) -> None:
    place = Compiled(tmp_path, REVIEW)
    result = place.run("run")
    assert (result.code, result.last) == (75, "rdc: WAITING write Step write")
    assert f"{place.script} answer write - < FILE" in result.err
    assert "    Write it.\n" in result.err
    assert place.run("status").out.count("answer write -") == 1
    with unchanged(place):
        refused = place.run("answer", "write", " \n")
        assert (refused.code, refused.last) == (2, "rdc: error: the answer for write is empty")
    answered = place.run("answer", "write", " my plan\n")
    assert (answered.code, answered.err.splitlines()[-1].endswith(" resume")) == (0, True)
    assert codes(place, "resume", "answer review 'REJECT: not so'", "resume") == [75, 0, 1]
    assert place.slots() == {"plan": "my plan", "verdict": "REJECT: not so"}
    assert place.walk() == ["write pass", "review REJECT"], "they are read as those of agents"


def test_who_answers_is_reminded_of_what_the_run_was_given(tmp_path: Path) -> None:
    asking = node("2", Ask("input", text("Which?")), edge("1"))
    place = Compiled(tmp_path, program(node("1", agent("x"), edge("2")), asking))
    assert place.run("run", "--agent", "echo s3cret", "--agent-retries", "1").code == 75
    answered = place.run("answer", "2", "this")
    assert answered.err.splitlines()[-1].endswith(" resume   (with --agent, --agent-retries, as before)")
    assert "s3cret" not in (tmp_path / ".rdc/deploy/journal").read_text(), "no option is stored"


def test_a_file_of_answers_answers_an_agent_by_name_only(tmp_path: Path) -> None:
    place = Compiled(tmp_path, REVIEW)
    (tmp_path / "answers").write_text("write<<END\n  \nEND\n")
    refused = place.run("run", "--answers", "answers")
    assert (refused.code, "answers:1: the answer for write is empty" in refused.err) == (2, True), refused.err
    assert list((tmp_path / ".rdc").rglob("journal")) == [], "nothing has run"
    (tmp_path / "answers").write_text("write<<END\na # b\n\nc\nEND\nreview OK\n")
    assert place.run("run", "--answers", "answers").code == 0
    assert place.slots()["plan"] == "a # b\n\nc"


def test_archiving_that_was_cut_short_is_done_again(tmp_path: Path) -> None:
    place = Compiled(tmp_path, REVIEW)
    assert place.run("run", "--agent-for", "=echo plan").code == 75
    folder, name = tmp_path / ".rdc/deploy", place.records()[0]["run"]
    (folder / "history" / f"{name}.prompts").mkdir(parents=True)
    (folder / "history" / f"{name}.prompts" / "write.1").write_text("kept before")
    assert place.run("reset").code == 0
    assert {path.name for path in (folder / "history").iterdir()} == {
        f"{name}.prompts", f"{name}-2", f"{name}-2.prompts", f"{name}-2.answers",
    }  # fmt: skip


def test_agent_that_is_killed_with_its_runner_is_decided_about(tmp_path: Path) -> None:
    place = Compiled(tmp_path, REVIEW)
    runner = place.start("run", "--agent", "echo $$ > pid; echo ready > ready; exec sleep 1000")
    place.wait_for("ready")
    wait_until(lambda: place.records()[-1]["kind"] == "process")
    kill(runner)
    assert json.loads(place.run("status", "--json").out)["pid"] == int(place.text("pid"))
    waiting = place.run("resume", "--agent", "echo OK")
    assert waiting.code == 75
    assert "its agent still runs" in waiting.err
    assert place.run("resume", "--assume", "pass").code == 2, "nobody assumes what is still going on"
    assert place.run("resume", "--agent", "echo OK", "--rerun-interrupted").code == 0
    wait_until(lambda: is_gone(int(place.text("pid"))))


def test_assumed_outcome_has_an_empty_text(tmp_path: Path) -> None:
    place = Compiled(tmp_path, REVIEW)
    (tmp_path / "answers").write_text("write plan\n")
    place.start("run", "--answers", "answers", "--agent", "kill -9 $PPID; sleep 0.1").communicate(timeout=20)
    time.sleep(0.3)
    undecided = place.run("resume")
    assert undecided.code == 75
    assert "resume --assume REJECT\n" in undecided.err
    assert codes(place, "resume --assume perhaps", "resume --assume OK") == [2, 0]
    assert place.slots()["verdict"] == ""


def test_person_at_the_terminal_types_the_answer(tmp_path: Path) -> None:
    place = Compiled(tmp_path, program(node("1", agent("Say it.", "OK"))))
    screen = at_terminal(place)
    talk(screen, "Say it.[^$]*Ctrl-D", "\n\x04", "the answer for 1 is empty[^$]*Ctrl-D", "well\nOK\n\x04")
    assert screen.close() == 0
    assert place.walk() == ["1 OK"]


def test_answer_is_shown_but_does_not_steer_the_terminal(tmp_path: Path) -> None:
    place = Compiled(tmp_path, program(node("1", agent("x"))))
    result = place.run("run", "--agent", "printf 'a\\033]0;b\\007c\\n\\342\\200\\256d\\n'")
    assert "    a?]0;b?c\n    ?d\n" in result.err


def test_slot_is_cleared_and_gives_no_variable(tmp_path: Path) -> None:
    look, variables = sh('echo "${PLAN-unset}" >> log'), (Variable("PLAN", "plan"),)
    place = Compiled(tmp_path, program(
        node("0", look, edge("1"), variables=variables),
        node("1", agent("x"), edge("2", None, stored("plan"))),
        node("2", look, edge("3", None, Clear("plan")), variables=variables),
        node("3", look, variables=variables),
        slots=("plan",),
    ))  # fmt: skip
    assert place.run("run", "--agent", "echo '$(touch x)'").code == 0
    assert place.text("log") == "unset\n$(touch x)\nunset\n"
    assert not (tmp_path / "x").exists()
