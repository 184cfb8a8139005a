"""The current step in `status --json`, calls that are only for it (`--at`), and calls that are only for people."""

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from compiler.ir.program import Program
from compiler.ir.rules import Event, Rule
from compiler.ir.tasks import Ask, Gate, Parallel, Tool, Value
from compiler.ir.texts import text
from runtime_shim.editions import EDITIONS
from runtime_shim.operator.current import AGENTS, FOR_A_PERSON
from tests.runtime_shim.operator import at_terminal, codes, unchanged, waiting
from tests.runtime_shim.operator import facts_of as status
from tests.runtime_shim.stepspec.stages import EXECUTE, compiled, stage
from tests.support.process import LOOP, Place, Table, ask, kill, shell, wait_until
from tests.support.process import program as table_of
from tests.support.runtime_programs import Compiled, agent, edge, node, of, program, sh, slot, stored

pytestmark = pytest.mark.process


DEPLOY = table_of({"1": shell("echo built", "2"), "2": ask("3"), "3": shell("echo installed", "COMPLETE")})


def current(place: Place, *words: str, **variables: str) -> Table:
    """The current step as data; a run is started if there is none."""
    if not place.journal.exists():
        assert place.run("open").code == 0
    found: Table = status(place, *words, **variables)["current"]
    return found


def facts(step: Table, *keys: str) -> list[Any]:
    return [step[key] for key in keys]


def test_a_command_is_for_rdc_and_a_question_for_a_person(tmp_path: Path) -> None:
    question = ask("3", prompt="Look at it.\n\nBoth pages.", block="/a\n/b")
    steps = {"1": shell("echo built", "2"), "2": question, "3": ask("COMPLETE", items=["One", "Two"])}
    place = Place(tmp_path, table_of(steps))
    found = current(place)
    assert facts(found, "step", "title", "kind", "by", "command") == ["1", "Work", "shell", "rdc", "echo built"]
    assert facts(found, "replies", "entries", "log", "attempt", "form") == [[], [], "", 1, False]
    assert status(place)["at"] == "0:1"
    place.run("goto", "2")
    found = current(place)
    assert facts(found, "kind", "by", "replies", "form") == ["ask", "person", ["pass", "fail"], True]
    assert found["text"] == "Look at it.\n\nBoth pages.\n\n/a\n/b"
    assert current(place, "--agent", "echo PASS")["by"] == "rdc", "the agent answers it"
    place.run("goto", "3")
    assert facts(current(place), "by", "form") == ["person", False], "a list needs more than a form"


def test_a_question_shows_what_it_takes_with_the_values_of_the_run(tmp_path: Path) -> None:
    value = Value("REGION", "choice", ("eu", "us"))
    select = Ask("select", text("Which?"), options=(of("host ", slot("HOST")), text("none")))
    place = Compiled(tmp_path, program(
        node("1", agent("Name a host."), edge("2", None, stored("HOST"))),
        node("2", Ask("value", text("Where?"), value=value), edge("3", "pass", stored("REGION")), edge("STOP", "fail")),
        node("3", select), slots=("HOST", "REGION"),
    ))  # fmt: skip
    assert place.run("run", "--agent", "echo web1").code == 75
    found = current(place)
    assert facts(found, "kind", "by", "replies", "outputs") == ["ask", "person", ["eu", "us", "fail"], ["REGION"]]
    assert found["asks"] == {"name": "REGION", "type": "choice", "options": ["eu", "us"]}
    assert place.run("answer", "2", "eu").code == 0
    assert current(place)["replies"] == ["host web1", "none"]


def test_a_gate_is_for_a_person_unless_a_rule_wants_one_in_a_terminal(tmp_path: Path) -> None:
    gate = node("1", Gate("g", text("Publish?")), edge("2", "approved"), edge("STOP", "rejected"))
    rule = Rule("ok", "1 APPROVED before 2", (Event("2"),), (Event("1", "approved"),), needs="1 APPROVED")
    for name, rules in (("free", ()), ("held", (replace(rule, persons=("1",)),))):
        (tmp_path / name).mkdir()
        found = current(Compiled(tmp_path / name, program(gate, node("2", sh("true")), rules=rules)))
        assert facts(found, "kind", "by", "text") == ["gate", "person", "Publish?"]
        assert facts(found, "replies", "form") == [["approved", "rejected"], name == "free"]


def test_a_prompt_is_for_the_agent_unless_a_command_answers_it(tmp_path: Path) -> None:
    first = node("1", agent("Write it.\n\nAll of it.", kind="writer"), edge("2", None, stored("DRAFT")))
    place = Compiled(tmp_path, program(first, node("2", agent(of("Review ", slot("DRAFT")))), slots=("DRAFT",)))
    found = current(place)
    assert facts(found, "kind", "by", "replies", "form", "outputs") == ["agent", "agent", ["-"], False, ["DRAFT"]]
    assert found["text"] == "Write it.\n\nAll of it."
    assert current(place, "--agent-for", "writer=cat")["by"] == "rdc"
    assert current(place, "--agent-for", "inline=cat")["by"] == "agent"
    assert current(place, RDC_AGENT="cat")["by"] == "rdc"
    assert place.run("step", "1", "--agent", "printf 'a draft'").code == 0
    assert current(place)["text"] == "Review a draft"


def test_entries_of_a_parallel_step_are_answered_one_by_one(tmp_path: Path) -> None:
    reviews = Parallel((agent("First?", kind="a"), agent("Second?", kind="b")))
    place = Compiled(tmp_path, program(node("review", reviews)))
    assert facts(current(place), "kind", "by", "text") == ["parallel", "agent", ""]
    assert place.run("step", "review", "--at", "0:review").code == 75
    assert place.run("answer", "review_1", "fine", "--at", "0:review", AI_AGENT="1").code == 0
    assert status(place)["at"] == "0:review"
    assert current(place)["entries"] == [
        {"entry": "review_0", "text": "First?", "answered": False},
        {"entry": "review_1", "text": "Second?", "answered": True},
    ]
    assert current(place, "--agent-for", "b=cat")["by"] == "agent"
    assert current(place, "--agent-for", "a=cat")["by"] == "rdc", "the other one is answered"


def test_a_tool_is_for_rdc_or_for_a_person_without_a_command(tmp_path: Path) -> None:
    tool = Tool("metrics", "read", text('{"days": 3}'))
    place = Compiled(tmp_path, program(node("1", tool, edge("COMPLETE", "pass"), edge("STOP"))))
    found = current(place)
    assert facts(found, "kind", "by", "replies") == ["tool", "person", ["-"]]
    assert json.loads(found["text"]) == {"tool": "read", "arguments": {"days": 3}}
    assert facts(current(place, "--tool", "metrics=cat"), "by", "replies") == ["rdc", []]


def test_a_stage_is_for_rdc_except_without_an_executor(tmp_path: Path) -> None:
    place = compiled(tmp_path, stage("inputs"), EXECUTE)
    assert facts(current(place), "kind", "by") == ["stage", "rdc"]
    assert place.run("step", "draft/inputs").code == 0
    found = current(place)
    assert facts(found, "step", "by", "text", "replies") == ["draft", "person", "Write the draft", ["pass", "fail"]]
    assert current(place, "--executor", "true")["by"] == "rdc"
    assert status(place)["at"] == "1:draft"


def test_an_interrupted_step_is_for_a_person(tmp_path: Path) -> None:
    place = Place(tmp_path, table_of({"1": shell("kill -9 $PPID", "COMPLETE")}))
    assert place.run("run", "--logs").code == -signal.SIGKILL
    found = current(place)
    assert facts(found, "by", "replies", "form") == ["person", ["pass", "fail", "again"], True]
    assert Path(found["log"]) == tmp_path / ".rdc/deploy/logs/001-1.log"


def test_a_command_that_still_runs_has_no_outcome(tmp_path: Path) -> None:
    place = Place(tmp_path, table_of({"1": shell("sleep 60 & echo $$ > pid; wait", "COMPLETE")}))
    running = place.start("run")
    group = int(place.wait_for("pid"))
    during = status(place)
    assert (during["state"], during["current"]["by"]) == ("running", "rdc")
    kill(running)
    assert current(place)["replies"] == ["again"]
    os.kill(group, signal.SIGKILL)
    wait_until(lambda: current(place)["replies"] == ["pass", "fail"])
    os.killpg(group, signal.SIGKILL)


def test_a_held_run_takes_no_reply(tmp_path: Path) -> None:
    rule = Rule("ok", "2 PASS before 1", (Event("1"),), (Event("2", "pass"),), needs="2 PASS")
    steps = node("0", sh("true")), node("1", sh("true"), edge("2", "pass"), edge("STOP")), node("2", sh("true"))
    steps = (replace(steps[0], edges=(edge("1"),)), *steps[1:])
    place = Compiled(tmp_path, program(*steps, rules=(rule,)))
    assert place.run("run").code == 75
    found = status(place)
    assert (found["state"], *facts(found["current"], "by", "replies", "form")) == ("held", "person", [], False)


def test_there_is_no_current_step_before_the_start_after_the_end_or_of_another_version(tmp_path: Path) -> None:
    place = Place(tmp_path, table_of({"1": shell("true", "COMPLETE")}))
    found = status(place)
    assert (found["state"], found["current"], found["at"]) == ("none", None, "")
    place.run("run")
    found = status(place)
    assert (found["state"], found["current"], found["at"]) == ("complete", None, "1:COMPLETE")
    place.write(DEPLOY)
    assert place.run("run").code == 75
    place.write(table_of({"1": shell("echo built", "2"), "2": ask("3"), "3": shell("echo other", "COMPLETE")}))
    found = status(place)
    assert (found["same_program"], found["current"], found["at"]) == (False, None, "1:2")


def test_attempts_are_counted(tmp_path: Path) -> None:
    place = Place(
        tmp_path, {**LOOP, "nodes": {**LOOP["nodes"], "1": {**LOOP["nodes"]["1"], "command": "kill -9 $PPID"}}}
    )
    place.run("run")
    place.run("resume", "--assume", "fail")
    assert current(place)["attempt"] == 2


def test_secrets_are_masked(tmp_path: Path) -> None:
    entries = Parallel((agent("Is it hunter22?"),))
    steps = node("1", agent("Use hunter22.")), node("2", sh("echo hunter22"), title=text("Use hunter22"))
    place = Compiled(tmp_path, program(*steps, node("3", entries)))
    place.write({**place.table, "secrets": ["TOKEN"]})
    place.run("open", TOKEN="hunter22")
    assert current(place, TOKEN="hunter22")["text"] == "Use ***."
    place.run("goto", "2", TOKEN="hunter22")
    assert facts(current(place, TOKEN="hunter22"), "title", "command") == ["Use ***", "echo ***"]
    place.run("goto", "3", TOKEN="hunter22")
    assert current(place, TOKEN="hunter22")["entries"][0]["text"] == "Is it ***?"


def test_each_finished_step_has_the_path_of_its_log(tmp_path: Path) -> None:
    place = Place(tmp_path, DEPLOY)
    place.run("run", "--logs")
    place.run("answer", "2", "pass", "--resume")
    logs = [one["log"] for one in status(place)["finished"]]
    assert logs == [
        str(tmp_path / ".rdc/deploy/logs" / name) if name else "" for name in ("001-1.log", "", "003-3.log")
    ]
    assert Path(logs[2]).read_text() == "installed\n"
    place.run("run")
    archived = json.loads(place.run("history", json.loads(place.run("history", "--json").out)[-1]["run"], "--json").out)
    assert Path(archived["finished"][0]["log"]).read_text() == "built\n"


def test_a_call_for_another_place_changes_nothing(tmp_path: Path) -> None:
    place = waiting(tmp_path, DEPLOY)
    with unchanged(place):
        for at in ("0:1", "2:2", "1:3", "1:", ":2", "2", "", "1:2 ", "1:2\n\x1b[2J", "9:nope"):
            for words in (("step", "2"), ("step", "1"), ("answer", "2", "pass")):
                refused = place.run(*words, "--at", at)
                assert (refused.code, refused.last.isprintable()) == (2, True)
                assert refused.last.endswith(" is not the current step; the run is at 1:2 Review")


def test_a_call_that_is_repeated_changes_nothing(tmp_path: Path) -> None:
    place = Place(tmp_path, DEPLOY)
    assert codes(place, "open", "step 1 --at 0:1") == [0, 0]
    with unchanged(place):
        again = place.run("step", "1", "--at", "0:1")
    assert (again.code, again.last) == (2, "rdc: error: 0:1 is not the current step; the run is at 1:2 Review")
    assert place.run("answer", "2", "pass", "--at", "1:2", "--resume").code == 0, "the rest of the call may move"
    with unchanged(place):
        over = place.run("answer", "2", "pass", "--at", "1:2")
    assert (over.code, over.last) == (2, "rdc: error: 1:2 is not the current step; the run is over: COMPLETE all done")


def test_a_loop_returns_to_a_step_but_not_to_a_place(tmp_path: Path) -> None:
    edges = [{"on": "pass", "go": "1", "says": ""}, {"on": "fail", "go": "STOP", "says": ""}]
    place = Place(tmp_path, table_of({"1": shell("echo x >> log", "2"), "2": {**ask("1"), "edges": edges}}))
    calls = ("open", "step 1 --at 0:1", "answer 2 pass --at 1:2", "step 1 --at 0:1", "step 1 --at 2:1")
    assert codes(place, *calls) == [0, 0, 0, 2, 0]
    assert place.text("log") == "x\nx\n"


def test_retries_happen_in_one_call(tmp_path: Path) -> None:
    place = Place(tmp_path, LOOP)
    assert codes(place, "open", "step 1 --at 0:1") == [0, 1]
    assert place.text("log") == "1\n2\n3\n"


def test_a_gate_is_approved_only_at_its_place(tmp_path: Path) -> None:
    gate = node("1", Gate("g", text("Publish?")), edge("COMPLETE", "approved"), edge("STOP", "rejected"))
    place = Compiled(tmp_path, program(gate))
    assert codes(place, "open", "approve --gate 1 --at 1:1", "approve --gate 1 --at 0:1") == [0, 2, 0]


def test_two_calls_with_one_place_run_a_step_once(tmp_path: Path) -> None:
    for number in range(4):
        folder = tmp_path / str(number)
        folder.mkdir()
        place = Place(folder, table_of({"1": shell("echo x >> log", "2"), "2": ask("COMPLETE")}))
        place.run("open")
        calls = [place.start("step", "1", "--at", "0:1") for _ in range(2)]
        codes = sorted(call.wait(30) for call in calls)
        for call in calls:
            call.communicate()
        assert (codes, place.text("log")) == ([0, 2], "x\n")


def test_a_call_after_an_expiry_is_for_another_place(tmp_path: Path) -> None:
    place = waiting(tmp_path, DEPLOY, "--expire", "1h")
    place.later(7200)
    with unchanged(place):
        assert place.run("answer", "2", "pass", "--at", "1:2").code == 2


DECISIONS = [
    ("answer", "2", "pass"),
    ("approve", "--gate", "2"),
    ("goto", "3"),
    ("reset",),
    ("resume", "--assume", "pass"),
    ("resume", "--rerun-interrupted"),
    ("step", "2", "--rerun-interrupted"),
    ("resume", "--adopt"),
    ("resume", "--human"),
    ("resume", "--override", "ok", "--note", "why"),
    ("resume", "--answers", "answers"),
]


def guarded() -> Program:
    """A question, and a gate that a rule wants."""
    rule = Rule("ok", "2 PASS before 3", (Event("3"),), (Event("2", "pass"),), needs="2 PASS")
    gate = node("3", Gate("g", text("Publish?")), edge("COMPLETE", "approved"), edge("STOP", "rejected"))
    question = Ask("pass_fail", text("Ready?"))
    return program(
        node("1", sh("true"), edge("2", "pass"), edge("STOP")),
        node("2", question, edge("3", "pass"), edge("STOP", "fail")),
        gate,
        rules=(rule,),
    )


@pytest.mark.parametrize("variable", AGENTS)
def test_an_agent_decides_nothing_for_people(tmp_path: Path, variable: str) -> None:
    place = Compiled(tmp_path, guarded())
    assert place.run("run").code == 75
    with unchanged(place):
        for words in DECISIONS:
            refused = place.run(*words, cwd=tmp_path, **{variable: "x"})
            assert (words, refused.code, refused.last) == (words, 2, f"rdc: error: {FOR_A_PERSON}")
    assert not (tmp_path / ".rdc/deploy/history").exists()


def test_an_agent_names_no_command_that_answers_for_a_person(tmp_path: Path) -> None:
    place = Place(tmp_path, DEPLOY)
    assert place.run("run", "--agent", "echo PASS", AI_AGENT="1").code == 75
    screen = at_terminal(place, "resume", AI_AGENT="1")
    screen.expect("WAITING 2")
    assert screen.close() == 75, "it is not asked at a terminal either"
    (tmp_path / "answers").write_text("2 fail\n")
    tried = place.run("run", "--dry-run", "--answers", "answers", cwd=tmp_path, AI_AGENT="1")
    assert tried.out.endswith("The run would end: STOP gave up\n"), "it may try answers"
    assert place.run("answer", "2", "pass", CLAUDECODE="").code == 0, "an empty variable is no agent"
    assert place.walk() == ["1 pass", "2 pass"]
    assert codes(place, "resume", "run --agent 'echo PASS'") == [0, 0]


def test_an_agent_may_look_run_steps_and_answer_its_own(tmp_path: Path) -> None:
    steps = node("1", sh("true"), edge("2", "pass"), edge("STOP")), node("2", agent("Write it."))
    place = Compiled(tmp_path, program(*steps))
    assert place.run("run", AI_AGENT="1").code == 75
    assert status(place, AI_AGENT="1")["current"]["by"] == "agent"
    assert place.run("answer", "2", "done", "--at", "1:2", "--resume", AI_AGENT="1").code == 0
    assert place.run("answer", "2", "done", AI_AGENT="1").last.startswith("rdc: error: no step is waiting")


def test_a_compiled_program_refuses_too(tmp_path: Path) -> None:
    place = Compiled(tmp_path, guarded())
    place.bundle(operator="full")
    assert place.run("run", PYTHONPATH="").code == 75
    assert place.run("answer", "2", "pass", PYTHONPATH="", AI_AGENT="1").last == f"rdc: error: {FOR_A_PERSON}"
    assert place.run("step", "2", "--at", "0:1", PYTHONPATH="").code == 2
    found = {name for name, edition in EDITIONS.items() if "operator.current.CurrentStep" in edition.extensions}
    assert found == {"agents", "stepspec"}
