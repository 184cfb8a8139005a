"""What people need of calls of agents and tools: recipes, limits, further attempts, mock runs, and what is left."""

import json
import os
import signal
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from msgspec.structs import replace

from compiler.ir.program import Artifact, Context, Group, Program
from compiler.ir.tasks import Ask, Parallel, Tool
from compiler.ir.texts import Text, text
from runtime_shim.engine.private import Folder
from runtime_shim.engine.state import Store
from runtime_shim.io.whole_files import put
from runtime_shim.tasks.exchange import Prompting
from runtime_shim.values.artifact import write_out
from tests.runtime_shim.operator import codes
from tests.support.process import kill, wait_until
from tests.support.runtime_programs import ORIGIN, Compiled, agent, edge, node, of, program, slot, stored

pytestmark = pytest.mark.process

MARKDOWN = text("markdown")
MOCKS = """\
# what is answered
agents:
  1:
    - fail: no network
    - |
      First draft.
      Second line.
  2: ["a draft: good", 'it''s better']
tools:
  library/prompt: Be kind.
"""


def two(kind: Text = MARKDOWN) -> Program:
    """Two agents, the second of which sees what the first one answered; the last answer is left as a file."""
    first, last = (
        edge(to, "pass", stored(f"output {n}"), stored("last output")) for n, to in ((1, "2"), (2, "COMPLETE"))
    )
    return program(
        node("1", agent("Write."), replace(first, effects=(*first.effects, stored("draft"))), edge("STOP")),
        node("2", agent(of("Improve: ", slot("draft"))), last, edge("STOP")),
        slots=("output 1", "draft", "output 2", "last output"), artifact=Artifact("last output", kind),
    )  # fmt: skip


def kept_in(place: Compiled, folder: str) -> dict[str, str]:
    return {path.name: path.read_text() for path in sorted(place.journal.parent.glob(f"{folder}/*"))}


def test_a_recipe_beats_a_command_of_its_name_and_takes_a_model(tmp_path: Path) -> None:
    both = program(node("1", Ask("yes_no", text("Well?")), edge("2", "pass"), edge("STOP")), node("2", agent("x")))
    place = Compiled(tmp_path, both)
    for name in ("claude", "claude-code"):
        (tmp_path / name).write_text(f'#!/bin/sh\ncat > /dev/null; echo "{name}: $*"; echo yes\n')
        (tmp_path / name).chmod(0o755)
    words = ("run", "--agent", "claude-code", "--agent-model", "big one")
    assert place.run(*words, PATH=f"{tmp_path}:/usr/bin:/bin").code == 0
    answer = "claude: -p --output-format text --permission-mode dontAsk --model big one\nyes"
    assert kept_in(place, "answers") == {"1.1": answer, "2.1": answer}, "it answers questions too"
    assert place.walk() == ["1 pass", "2 pass"]
    refused = place.run("run", "--agent", "echo x", "--agent-model", "big")
    assert refused.code == 2
    assert "--agent-model works only with claude-code, codex" in refused.last


def test_a_call_that_fails_is_made_again_after_a_pause_that_outlives_a_kill(tmp_path: Path) -> None:
    place = Compiled(tmp_path, two())
    place.hook("import runtime_shim.tasks.calls\nruntime_shim.tasks.calls.FIRST_PAUSE = 1")
    fails = 'cat > /dev/null; echo "$RDC_STEP $RDC_ATTEMPT" >> calls; test "$(wc -l < calls)" -gt 1 && echo fine'
    runner = place.start("run", "--agent", fails, "--agent-retries", "1")
    wait_until(lambda: '"tried"' in place.text(".rdc/deploy/journal"))
    begun = time.monotonic()
    runner.kill()
    runner.communicate()
    assert '"state": "ready"' in place.run("status", "--json").out, "nothing is to be decided"
    result = place.run("resume", "--agent", fails, "--agent-retries", "1")
    assert result.code == 0, result.err
    assert time.monotonic() - begun > 0.5
    assert place.text("calls").splitlines() == ["1 1", "1 2", "2 1"]
    assert sorted(kept_in(place, "prompts")) == ["1.1", "1.2", "2.1"]
    assert kept_in(place, "answers") == {"1.1": "", "1.2": "fine", "2.1": "fine"}


def test_a_pause_is_interrupted_and_the_last_attempt_counts(tmp_path: Path) -> None:
    place = Compiled(tmp_path, two())
    runner = place.start("run", "--agent", "false", "--agent-retries", "3")
    wait_until(lambda: '"tried"' in place.text(".rdc/deploy/journal"))
    runner.send_signal(signal.SIGTERM)
    _, err = runner.communicate(timeout=5)
    assert (runner.returncode, err.splitlines()[-1]) == (130, "rdc: INTERRUPTED 1 Step 1")
    assert "1: exit code 1; trying again in 2.0 s" in err
    assert "--agent false --agent-retries 3" in err, "printed commands say all of it again"
    place.later()
    assert place.run("resume", "--agent", "false").code == 1
    assert place.walk() == ["1 fail"]


def test_of_several_agents_only_those_that_failed_are_called_again(tmp_path: Path) -> None:
    both = Parallel((agent("a"), agent("b")), "all")
    place = Compiled(
        tmp_path, program(node("1", both, edge("COMPLETE", "pass", stored("all")), edge("STOP")), slots=("all",))
    )
    place.later()
    command = 'cat > /dev/null; echo $RDC_STEP >> calls; test $RDC_STEP = 1_0 -o $RDC_ATTEMPT = 2 && echo "$RDC_STEP"'
    assert place.run("run", "--agent", command, "--agent-retries", "1").code == 0
    assert sorted(place.text("calls").splitlines()) == ["1_0", "1_1", "1_1"]
    assert place.slots() == {"all": "1_0\n\n1_1"}


def test_the_budget_of_calls_holds_over_resumes_and_a_larger_one_goes_on(tmp_path: Path) -> None:
    place = Compiled(tmp_path, two())
    result = place.run("run", "--agent", "echo x", "--agent-calls", "1")
    assert (result.code, place.walk()) == (1, ["1 pass"])
    assert result.last == (
        "rdc: STOP 2: the budget of 1 agent calls is spent; raise it with `resume --agent-calls NUMBER`"
    )
    assert codes(place, "resume --agent 'echo x'", "resume --agent 'echo x' --agent-calls 2") == [1, 0]
    assert place.walk() == ["1 pass", "2 pass"]
    result = place.run("run", "--agent", "echo x >> calls; false", "--agent-calls", "1", "--agent-retries", "5")
    assert (result.code, place.text("calls")) == (1, "x\n"), "further attempts count too"


def test_the_operator_says_how_long_a_call_may_take(tmp_path: Path) -> None:
    place = Compiled(tmp_path, two())
    begun = time.monotonic()
    result = place.run("run", "--agent", "sleep 60", "--agent-timeout", "1s")
    assert result.code == 1
    assert "out of time" in result.err
    assert time.monotonic() - begun < 8


def test_what_is_no_limit_is_refused(tmp_path: Path) -> None:
    place = Compiled(tmp_path, two())
    for option, given, message in (
        ("--agent-timeout", "soon", "expected a time such as 90s, 30m, 24h or 7d"),
        ("--agent-retries", "x", "expected a number, at least 0"),
        ("--agent-calls", "0", "expected a number, at least 1"),
        ("--expire", "0h", "expected a time such as 90s, 30m, 24h or 7d"),
        ("--break", "7", "there is no such step; `steps` lists the steps"),
    ):
        result = place.run("run", "--agent", "echo x", option, given)
        assert (result.code, result.last) == (2, f"rdc: error: {option} {given!r}: {message}")
    assert not place.journal.exists()


def test_a_file_of_mocks_answers_and_nothing_is_called(tmp_path: Path) -> None:
    place = Compiled(tmp_path, two())
    (tmp_path / "mocks.json").write_text(json.dumps(yaml.load(MOCKS, yaml.BaseLoader)))
    words = ("run", "--agent", "touch called")
    place.later()
    assert place.mocked(*words, mock="mocks.json").code == 1
    assert place.mocked(*words, "--agent-retries", "1", mock="mocks.json").code == 0
    assert place.slots()["draft"] == "First draft.\nSecond line."
    assert place.slots()["last output"] == "a draft: good"
    assert not (tmp_path / "called").exists()
    assert kept_in(place, "prompts")["2.1"] == "Improve: First draft.\nSecond line."
    (tmp_path / "mock.json").write_text('{"agents": {"1": ["x"]}}')
    result = place.mocked("run")
    assert (result.code, result.last) == (2, "rdc: error: 2: mock.json has no answer number 1 under agents: 2")
    (tmp_path / "mock.json").write_text('{"agents": {"2": ["y"]}}')
    assert place.mocked("resume").code == 0
    assert not (tmp_path / "mock.json.calls").exists(), "the journal counts"


ASKING = program(
    node("1/prompt", Tool("library", "prompt", text('{"id": "x"}'), optional=True),
         edge("1", "pass", stored("prompt 1")), edge("1")),
    node("1", agent(of(slot("prompt 1", after="\n\n"), "Go.")),
         edge("COMPLETE", "pass", stored("output 1")), edge("STOP")),
    slots=("prompt 1", "output 1"),
)  # fmt: skip


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (("--agent", "cat"), "Go."),
        (("--agent", "cat", "--tool", "library=echo Be kind."), "Be kind.\n\nGo."),
        (("--agent", "cat", "--tool", "library=false"), "Go."),
        (("--agent-retries", "1", "mocks.json"), "First draft.\nSecond line."),
        (("agents.json",), "x"),
    ],
)
def test_an_optional_tool_without_a_command_fails_at_once(tmp_path: Path, words: tuple[str, ...], answer: str) -> None:
    place = Compiled(tmp_path, ASKING)
    (tmp_path / "mocks.json").write_text(json.dumps(yaml.load(MOCKS, yaml.BaseLoader)))
    (tmp_path / "agents.json").write_text('{"agents": {"1": "x"}}')
    is_mock = words[-1].endswith(".json")
    place.later()
    result = place.mocked("run", *words[:-1], mock=words[-1]) if is_mock else place.run("run", *words)
    assert result.code == 0, result.err
    assert place.slots()["output 1"] == answer
    if words == ("--agent", "cat"):
        assert "FAIL  no command is set; use --tool library=COMMAND" in result.err
    if "mocks.json" in words:
        assert kept_in(place, "prompts")["1.1"] == "Be kind.\n\nGo."
        assert "1%2Fprompt.1" in kept_in(place, "answers"), "no name of a step makes a folder"


def test_a_complete_run_leaves_its_last_output_as_a_file(tmp_path: Path) -> None:
    place = Compiled(tmp_path, two())
    assert place.run("run", "--agent", '[ "$RDC_STEP" = 1 ] && echo four || echo 1').code == 0
    status = place.run("status").out.splitlines()
    assert status[status.index("  outputs:") :][1:3] == ["    1: 4 bytes, draft 4 bytes", "    2: 1 byte"]
    outputs = json.loads(place.run("status", "--json").out)["outputs"]
    assert outputs[1] == {"step": "2", "label": "2", "names": {}, "bytes": 1}
    left = tmp_path / ".rdc/deploy/deploy.md"
    assert left.read_text() == "1"
    left.write_text("changed by somebody")
    assert place.run("resume").code == 0
    assert left.read_text() == "changed by somebody", "it is written once"
    assert place.run("run", "--agent", "echo two", "--out", "x/y.md").code == 2
    assert place.run("resume", "--out", "y.md").code == 0
    assert (tmp_path / "y.md").read_text() == "two"
    assert not left.exists(), "it was archived with its run"
    assert [path.name.partition(".")[2] for path in (tmp_path / ".rdc/deploy/history").glob("*.md")] == ["deploy.md"]


def test_a_file_that_was_not_written_before_a_kill_is_written_by_a_resume(tmp_path: Path) -> None:
    place = Compiled(tmp_path, two(of("j", slot("draft"))))
    assert place.run("run", "--agent", "echo son").code == 0
    left = tmp_path / ".rdc/deploy/deploy.json"
    left.unlink()
    place.journal.write_text("".join(place.journal.read_text().splitlines(keepends=True)[:-1]))
    assert place.run("resume").code == 0
    assert left.read_text() == "son"


def test_nothing_that_is_kept_is_ever_half_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session = SimpleNamespace(store=Store(str(tmp_path)), mask=str)
    session.store.lock()
    keeper = Prompting.__new__(Prompting)
    keeper.session = session  # type: ignore[assignment]
    assert keeper.keep("prompts", "2/elicit", "first") == 1
    with monkeypatch.context() as patched:
        patched.setattr("os.replace", lambda *_paths, **_folders: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            keeper.keep("prompts", "2/elicit", "second prompt")
    assert keeper.keep("prompts", "2/elicit", "second prompt") == 2
    texts = {path.name: path.read_text() for path in (tmp_path / "prompts").iterdir()}
    texts.pop(".2%2Felicit.2.new", None)  # what the kill left is replaced by the next draft of this name
    assert texts == {"2%2Felicit.1": "first", "2%2Felicit.2": "second prompt"}


def test_a_draft_that_a_kill_left_is_replaced(tmp_path: Path) -> None:
    (tmp_path / ".program.md.new").write_bytes(b"half of it, and more than will be written")
    put(Folder(os.open(tmp_path, os.O_RDONLY), str(tmp_path)), "program.md", b"all")
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == {"program.md": b"all"}


def test_an_artifact_that_cannot_be_written_leaves_the_old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "plan.md"
    write_out(str(path), b"old")
    monkeypatch.setattr("os.fsync", lambda _file: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(OSError, match="No space"):
        write_out(str(path), b"new")
    assert [(one.name, one.read_text()) for one in tmp_path.iterdir()] == [("plan.md", "old")]


def test_a_run_waits_behind_a_breakpoint_also_after_a_kill(tmp_path: Path) -> None:
    place = Compiled(tmp_path, two())
    runner = place.start("run", "--agent", "sleep 60", "--break", "1")
    wait_until(lambda: '"process"' in place.text(".rdc/deploy/journal"))
    kill(runner)
    result = place.run("resume", "--rerun-interrupted", "--agent", "echo x")
    assert (result.code, result.last, place.walk()) == (75, "rdc: WAITING 2 Step 2", ["1 pass"])
    assert json.loads(place.run("status", "--json").out)["state"] == "waiting"
    assert place.run("resume", "--agent", "echo x").code == 0


def test_a_breakpoint_of_a_step_holds_where_the_step_is_left(tmp_path: Path) -> None:
    """Whatever the names of the steps within it say."""
    steps = program(
        node("2/elicit", agent("a"), edge("2a~2"), group="2"),
        node("2a~2", agent("b"), edge("7c"), group="2"),
        node("7c", agent("c"), edge("test"), group="2"),
        node("test", agent("d"), edge("tests")),
        node("tests", agent("e")),
        groups=(Group("2", text("Step 2"), text(""), "step", "", ORIGIN),),
    )
    place = Compiled(tmp_path, steps)
    words = ("--agent", "echo x")
    assert place.run("run", *words, "--break", "2", "--break", "test").last == "rdc: WAITING test Step test"
    assert place.walk() == ["2/elicit pass", "2a~2 pass", "7c pass"]
    assert place.run("resume", *words).last == "rdc: WAITING tests Step tests"
    assert place.run("resume", *words).code == 0
    other = ("--state-dir", "other")
    assert (
        place.run("run", *words, "--break", "2/elicit", "--break", "7c", *other).last == "rdc: WAITING 2a~2 Step 2a~2"
    )
    resumed = place.run("resume", *words, *other)
    assert (resumed.code, resumed.last) == (75, "rdc: WAITING test Step test")


def test_a_run_goes_on_below_no_other_texts_than_it_was_begun_with(tmp_path: Path) -> None:
    def reading(first: str) -> Program:
        above = (Context("a", text(first)), Context("b", text("then"), "a"))
        return program(node("1", agent("y"), edge("2")), node("2", replace(agent("x"), context="b")), contexts=above)

    place = Compiled(tmp_path, reading("Be kind."))
    place.bundle()
    assert place.run("run").code == 75
    place = Compiled(tmp_path, reading("Be rude."))
    place.bundle()
    refused = place.run("resume", "--agent", "echo x")
    assert refused.last == "rdc: error: this run belongs to a different version of this program"
    assert "changed: 2\n" in refused.err
    Compiled(tmp_path, reading("Be kind.")).bundle()
    assert place.run("resume", "--agent", "echo x").code == 0


def test_a_run_that_waits_too_long_is_over(tmp_path: Path) -> None:
    place = Compiled(tmp_path, program(node("1", Ask("input", text("Well?"))), node("2", agent("x"))))
    assert place.run("run", "--expire", "1h").code == 75
    assert json.loads(place.run("status", "--json").out)["state"] == "waiting"
    place.later(3601)
    facts = json.loads(place.run("status", "--json").out)
    assert (facts["state"], facts["next"]) == ("expired", [f"{place.script} run"])
    assert place.run("answer", "1", "yes").code == 2
    resumed = place.run("resume")
    assert (resumed.code, resumed.last) == (1, "rdc: STOP expired: the run waited longer than 1 h 0 min")
    assert place.run("run").code == 75, "a new run may begin"
