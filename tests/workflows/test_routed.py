"""Workflows of programs with texts, values, agents, tools, parallel steps and gates, run by the second engine."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from backends.github import GithubBackend
from compiler.ir.edges import Add, CounterTest
from compiler.ir.program import Artifact, Program
from compiler.ir.tasks import End
from runtime_shim.program import RefusedError
from runtime_shim.runner_answers import read_replies
from runtime_shim.runner_calls import masked
from runtime_shim.runner_state import Run, read_state
from tests.workflows import engine, lint
from tests.workflows.compiling import parsed
from tests.workflows.routed import (
    COMPLETE,
    STOP,
    Agent,
    Ask,
    Branch,
    Clear,
    Gate,
    Input,
    Keep,
    Parallel,
    Reading,
    Register,
    Settings,
    Shell,
    SlotTest,
    Tool,
    Variable,
    compiled,
    node,
    program,
    ref,
    text,
    to,
    words,
)

AGENT = 'python3 -I "$FOLDER/agent.py"'
OPTIONS = {"agent": AGENT, "tools": {"tracker": AGENT}}
HOSTILE = (
    "$(touch x)",
    "'; touch x; '",
    "`touch x`",
    "${{ github.token }}",
    "a\nnext=s9",
    "next<<E\ns9\nE",
    "::set-output name=next::s9",
    "::add-mask::a",
    "##[add-mask]a",
    "::stop-commands::a",
    "]]]",
    "\u202eright to left",
    "\x1b]0;title\x07",
    "{{issue}}",
    "<script>alert(1)</script> @everyone",
)


def run(
    folder: Path, workflow: str, answers: Mapping[str, object] | None = None, number: int = 1, **more: Any
) -> engine.EngineRun:
    """Run a workflow whose agents answer by a list for each unit, and note what they were given."""
    if answers is not None:
        (folder / "answers.json").write_text(json.dumps(answers), encoding="utf-8")
    (folder / "agent.py").write_text(STAND_IN, encoding="utf-8")
    env = {"FOLDER": str(folder), "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"}
    return engine.run(folder, workflow, history=folder / "history", env=env, run_id=number, **more)


STAND_IN = """
import json, os, sys
from pathlib import Path
folder = Path(os.environ["FOLDER"])
unit = os.environ["RDC_UNIT"]
given = sys.stdin.buffer.read().decode()
with (folder / "log").open("a") as log:
    log.write(json.dumps([unit, given, dict(os.environ)]) + "\\n")
answers = json.loads((folder / "answers.json").read_text()).get(unit, ["done"])
count = folder / ("calls_" + unit)
number = len(count.read_text()) if count.exists() else 0
count.write_text("." * (number + 1))
said = answers[min(number, len(answers) - 1)]
if said is None:
    sys.exit(3)
sys.stdout.buffer.write(said.encode("utf-8", "surrogatepass"))
"""


def log(folder: Path) -> list[list[Any]]:
    """What the agents were given: the unit, the text, the environment."""
    path = folder / "log"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def ended(done: engine.EngineRun) -> str:
    """The last line that tells how the run ended."""
    return str(re.findall(r"^rdc: (.*)$", done.log, re.MULTILINE)[-1])


def conditions(workflow: str) -> dict[str, str]:
    """The conditions of all steps that have an id."""
    jobs = parsed(workflow)["jobs"].values()
    return {step["id"]: step["if"] for job in jobs for step in job["steps"] if "id" in step and "if" in step}


def triage(**more: Any) -> Program:
    """An agent whose answer decides among branches, a command that gives a value, a tool, a parallel loop, a gate."""
    review = Reading(("OK", "BAD"))
    return program(
        node(
            "1",
            Agent("", words("Classify: ", ref("issue"))),
            to("2", "pass", do=[Keep("kind", extract="kind")]),
            to(STOP, "fail"),
        ),
        node("2", Branch(), to("2a", SlotTest("kind", "==", "bug")), to("2b")),
        node(
            "2a",
            Shell("bash", text('printf "%s" "$ISSUE" > "$FOLDER/issue"\necho "note=from 2a" >> "$RDC_OUTPUT"')),
            to("3", "pass", do=[Keep("note", "value", "note")]),
            to(STOP, "fail"),
            variables=(Variable("ISSUE", "issue"),),
        ),
        node("2b", Tool("tracker", "close", words('{"issue": "', ref("issue"), '"}')), to("3", do=[Keep("note")])),
        node(
            "3",
            Parallel((Agent("", words("A ", ref("note"))), Agent("", text("B")))),
            to("4", "pass", do=[Keep("said")]),
            to("3b", "fail"),
        ),
        node("3b", Agent("", text("Again"), review), to("3", "OK", do=[Clear("note")]), to(STOP)),
        node(
            "4", Gate("production", words("Sure about ", ref("kind"), "?")), to("5", "approved"), to(STOP, "rejected")
        ),
        node("5", Agent("", words("Publish ", ref("said"))), to(COMPLETE, "pass"), to(STOP, "fail")),
        slots=("kind", "note", "said"),
        inputs=(Input("issue", "text"),),
        **more,
    )


# --- What a reviewer reads -------------------------------------------------------------------------------------------


def test_no_tool_finds_anything(tmp_path: Path) -> None:
    texts = program(
        *(
            node(str(number), Agent("", words(item, ref("x"))), to(str(number + 1)), title=item)
            for number, item in enumerate(HOSTILE)
        ),
        node(str(len(HOSTILE)), Ask("select", text("Which?"), options=tuple(map(text, HOSTILE))), to(COMPLETE)),
        slots={"x": "\0 and ::set-output name=x::y"},
    )
    choice = Input("choice", "choice", options=(*(item for item in HOSTILE if "\n" not in item), "\x9b"))
    chosen = program(node("1", Agent("", words(ref("choice"))), to(COMPLETE)), inputs=(choice,))
    for name, made in (("triage", triage(limit=9)), ("texts", texts), ("choice", chosen)):
        (tmp_path / f"{name}.yml").write_text(compiled(made, OPTIONS), encoding="utf-8")
    assert lint.findings(sorted(tmp_path.glob("*.yml"))) == []


def test_conditions_compare_nothing_but_names_that_rdc_made() -> None:
    found = conditions(compiled(triage(), OPTIONS))
    own = {"result", "handed"}
    assert {name: said for name, said in found.items() if name not in own} == {
        "s2a": "steps.s1.outputs.next == 's2a'",
        "s2b": "steps.s1.outputs.next == 's2b'",
    }


def test_a_straight_program_has_no_conditions() -> None:
    straight = program(
        node("1", Agent("", text("One")), to("2", "pass"), to(STOP, "fail")),
        node("2", Tool("tracker", "x", text("{}")), to("3", "pass"), to(STOP, "fail")),
        node("3", Shell("sh", text("true")), to(COMPLETE, "pass"), to(STOP, "fail")),
    )
    assert set(conditions(compiled(straight, OPTIONS))) == {"result"}


def test_commands_stand_in_their_steps_and_prompts_beside_them() -> None:
    steps = {step.get("id"): step for step in parsed(compiled(triage(), OPTIONS))["jobs"]["part_1"]["steps"]}
    assert steps["s2a"]["run"].startswith('printf "%s" "$ISSUE"')
    assert steps["s1"]["env"]["RDC_PROMPT"] == "Classify: {{issue}}"
    assert steps["s2b"]["env"]["RDC_ARGUMENTS"] == '{"issue": "{{issue}}"}'
    assert (steps["s1"]["timeout-minutes"], steps["s2b"]["timeout-minutes"]) == (31, 2)
    assert "timeout-minutes" not in steps["s2a"]


def test_steps_get_the_secrets_of_what_they_call() -> None:
    options = {
        "agent": {"run": AGENT, "secrets": ["KEY"]},
        "tools": {"tracker": {"run": AGENT}},
        "secrets": ["KEY", "DEPLOY"],
    }
    jobs = parsed(compiled(triage(), options))["jobs"]
    found = {step.get("id"): set(step.get("env", ())) & {"KEY", "DEPLOY"} for step in jobs["part_1"]["steps"]}
    assert found["s1"] == {"KEY"}
    assert found["s2a"] == {"KEY", "DEPLOY"}
    assert found["s2b"] == set()
    assert not any({"KEY", "DEPLOY"} & set(step["env"]) for step in jobs["approve_s4"]["steps"])


@pytest.mark.parametrize(
    ("task", "options", "carried"),
    [
        (Shell("sh", text("true")), {}, set()),
        (Ask("input", text("?")), {"agent": AGENT}, {"read_replies"}),
        (Ask("input", text("?")), {"agent": AGENT, "prompts": "agent"}, {"read_replies", "exchange"}),
        (Tool("tracker", "x", text("{}")), OPTIONS, {"exchange"}),
    ],
)
def test_a_workflow_carries_what_its_program_needs(task: Any, options: dict[str, Any], carried: set[str]) -> None:
    workflow = compiled(program(node("1", task, to(COMPLETE)), slots=("x",), limit=5), options)
    assert {name for name in ("read_replies", "exchange") if f"def {name}(" in workflow} == carried


def test_the_program_stands_between_the_runtime_and_its_units() -> None:
    jobs = parsed(compiled(triage(), OPTIONS))["jobs"]
    names = [step["name"] for step in jobs["part_1"]["steps"]]
    assert names[:4] == ["Note the reviews until now", "Write the runtime", "Prepare", "1. Unit 1"]
    _, runtime, prepare, *_ = jobs["part_1"]["steps"]
    assert "Classify" not in runtime["run"]
    assert "PROGRAM = {" in prepare["run"]
    assert "Write the runtime" not in [step["name"] for step in jobs["part_2"]["steps"]]


def test_comments_say_why_a_step_is_reached() -> None:
    made = program(
        node(
            "a", Agent("", text("?"), Reading(("OK", "BAD"))), to("b", "OK"), to("b", "none"), to("c", "BAD"), to(STOP)
        ),
        node("b", Branch(), to("d", SlotTest("x", "==", "one\ntwo")), to("c")),
        node("c", Shell("sh", text("true")), to("d", "pass"), to(COMPLETE, "fail")),
        node("d", Shell("sh", text("true")), to(COMPLETE)),
        slots=("x",),
    )
    workflow = compiled(made, OPTIONS)
    assert "# if a: BAD\n      - name: c Unit c" in workflow
    assert '# if x == "one two"\n      # if c: PASS\n      - name: d Unit d' in workflow


@pytest.mark.parametrize(("prompts", "is_asked"), [("answers", True), ("agent", False)])
def test_comments_say_where_people_are_asked(prompts: str, is_asked: bool) -> None:
    made = program(node("a", Ask("input", text("Who?")), to(COMPLETE)))
    workflow = compiled(made, {**OPTIONS, "prompts": prompts})
    assert ("# A person answers" in workflow) == is_asked


# --- Walks -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "decision", "end", "conclusion"),
    [
        ("bug", "approved", "COMPLETE", "success"),
        ("BUG", "rejected", "STOP It failed.", "failure"),
    ],
)
def test_a_run_with_everything(tmp_path: Path, kind: str, decision: str, end: str, conclusion: str) -> None:
    answers = {"1": [f'Well {{"kind": "{kind}"}}'], "3_1": [None, "fine"], "3b": ["OK"]}
    done = run(
        tmp_path,
        compiled(triage(), {**OPTIONS, "summary": True}),
        answers,
        inputs={"issue": "it's $HOME"},
        environments={"approval": [decision]},
    )
    assert (ended(done), done.conclusion) == (end, conclusion), done.log
    prompts = [(unit, given) for unit, given, _ in log(tmp_path)]
    assert prompts[0] == ("1", "Classify: it's $HOME")
    note = "from 2a" if kind == "bug" else "done"
    assert sorted(prompts[-6 if decision == "approved" else -5 :])[:2] == [("3_0", "A "), ("3_0", f"A {note}")]
    assert (kind == "bug") == (tmp_path / "issue").exists()
    if decision == "approved":
        assert prompts[-1] == ("5", "Publish done\n\nfine")
        assert "| 3b. Unit 3b | 1 | OK |" in done.summary


def test_the_limit_ends_a_run(tmp_path: Path) -> None:
    endless = program(node("1", Agent("", text("Go")), to("1")), limit=2)
    done = run(tmp_path, compiled(endless, OPTIONS), {})
    assert ended(done) == "STOP 1: the limit of 2 units was reached"
    assert (len(log(tmp_path)), done.conclusion) == (2, "failure")


def test_attempts_wait_and_are_ended_when_their_time_is_up(tmp_path: Path) -> None:
    again = Register("tries", "", role="retries", unit="1")
    retried = program(
        node(
            "1",
            Shell("bash", text('echo "$RDC_ATTEMPT" >> "$FOLDER/tries"; [ "$RDC_ATTEMPT" = 2 ] || exec sleep 60')),
            to(COMPLETE, "pass"),
            to("1", "fail", CounterTest("tries", "<", 3), do=[Add("tries", 1)]),
            to(STOP, "fail"),
            retries="tries",
            settings=Settings(timeout=1, delay=1),
        ),
        registers=(again,),
        limit=9,  # which native steps do not count
    )
    done = run(tmp_path, compiled(retried), {})
    assert ended(done) == "COMPLETE", done.log
    assert (tmp_path / "tries").read_text() == "1\n2\n"
    assert "Waiting 1 s" in done.log
    assert "timeout after 1 s" in done.log


def test_a_continuation_does_not_wait_again_before_a_question(tmp_path: Path) -> None:
    again = Register("tries", "", role="retries", unit="1")
    asked = node(
        "1",
        Ask("confirm", text("Well?")),
        to(COMPLETE, "yes"),
        to("1", "no", CounterTest("tries", "<", 3), do=[Add("tries", 1)]),
        to(STOP, "no"),
        retries="tries",
        settings=Settings(delay=1),
    )
    workflow = compiled(program(asked, registers=(again,)))
    assert "Waiting 1 s" in run(tmp_path, workflow, inputs={"answers": "no"}).log
    done = run(tmp_path, workflow, None, 2, inputs={"resume": "1", "answers": "no; yes"})
    assert (ended(done), done.log.count("Waiting 1 s")) == ("COMPLETE", 1), done.log


def test_entries_of_a_parallel_step_run_at_the_same_time(tmp_path: Path) -> None:
    wait = 'until [ -e "$FOLDER/$((1 - RDC_ENTRY))" ]; do sleep 0.01; done'
    meet = f'cat > /dev/null; touch "$FOLDER/$RDC_ENTRY"; {wait}; echo "$RDC_ENTRY"'
    both = program(
        node("1", Parallel((Agent("", text("A")), Agent("", text("B")))), to("2", "pass", do=[Keep("x")]), to(STOP)),
        node("2", Shell("sh", text('printf "%s" "$X" > "$FOLDER/x"')), to(COMPLETE), variables=(Variable("X", "x"),)),
        slots=("x",),
    )
    assert ended(run(tmp_path, compiled(both, {"agent": meet}), {})) == "COMPLETE"
    assert (tmp_path / "x").read_text() == "0\n\n1"


# --- Inputs ----------------------------------------------------------------------------------------------------------

INPUTS = (
    Input("one_line", "string", default="x"),
    Input("number", "number", default="1.50"),
    Input("flag", "boolean", default="true"),
    Input("kind", "choice", options=("a", "b"), default="b"),
    Input("code", "string", pattern="[a-z]+", required=False),
)


def shown_inputs() -> Program:
    variables = tuple(Variable(f"V_{index}", item.name) for index, item in enumerate(INPUTS))
    script = 'for name in 0 1 2 3 4; do printenv "V_$name" || echo unset; done > "$FOLDER/values"'
    return program(node("1", Shell("sh", text(script)), to(COMPLETE), variables=variables), inputs=INPUTS)


def test_inputs_are_typed_and_reach_commands(tmp_path: Path) -> None:
    workflow = compiled(shown_inputs())
    declared = parsed(workflow)["on"]["workflow_dispatch"]["inputs"]
    assert {name: said["type"] for name, said in declared.items()} == {
        "one_line": "string",
        "number": "string",
        "flag": "boolean",
        "kind": "choice",
        "code": "string",
    }
    run(tmp_path, workflow, {}, inputs={"one_line": "it's $HOME", "flag": "false"})
    assert (tmp_path / "values").read_text() == "it's $HOME\n1.50\nfalse\nb\nunset\n"


def test_unfit_inputs_are_refused_before_anything_runs(tmp_path: Path) -> None:
    given = {"number": "1,5", "one_line": "a\nb", "code": "A"}
    done = run(tmp_path, compiled(shown_inputs()), {}, inputs=given)
    said = [
        "the input one_line: it has more than one line",
        "the input number: it is not a decimal number",
        "the input code: it does not match [a-z]+",
    ]
    assert (done.conclusion, ended(done)) == ("failure", f"error {'; '.join(said)}")
    assert not (tmp_path / "values").exists()
    assert done.jobs["runbook"].annotations[:3] == tuple(("error", "rdc", reason) for reason in said)
    assert done.jobs["runbook"].outcomes["begin"] == "failure"
    assert {done.jobs["runbook"].outcomes[name] for name in ("s1", "result")} == {"skipped"}


def test_inputs_keep_apart_from_those_of_rdc_and_of_the_options() -> None:
    asked = program(node("1", Ask("input", text("?")), to(COMPLETE)), inputs=[Input("Answers"), Input("resume")])
    options = {"on": {"workflow_dispatch": {"inputs": {"Resume_2": {"type": "string"}}}}}
    workflow = parsed(compiled(asked, options))
    declared = workflow["on"]["workflow_dispatch"]["inputs"]
    assert list(declared) == ["Resume_2", "answers", "resume", "Answers_2", "resume_3"]
    (begin,) = (step for step in workflow["jobs"]["runbook"]["steps"] if step.get("id") == "begin")
    assert begin["env"]["RDC_INPUT_resume"] == "${{ inputs.resume_3 }}"


@pytest.mark.parametrize(("task", "is_asked"), [(Ask("input", text("?")), None), (Shell("sh", text("true")), True)])
def test_whoever_continues_a_run_gives_no_inputs(task: Any, is_asked: bool | None) -> None:
    made = program(node("1", task, to(COMPLETE)), inputs=[Input("issue")])
    declared = parsed(compiled(made))["on"]["workflow_dispatch"]["inputs"]["issue"]
    assert declared.get("required") is is_asked


def test_a_choice_that_need_not_be_made_is_not_made_by_the_form() -> None:
    options = ("a", "b")
    inputs = [Input("x", "choice", options=options, required=False), Input("y", "choice", options=options)]
    made = program(node("1", Shell("sh", text("true")), to(COMPLETE)), inputs=inputs)
    declared = parsed(compiled(made))["on"]["workflow_dispatch"]["inputs"]
    assert {name: said["type"] for name, said in declared.items()} == {"x": "string", "y": "choice"}


# --- Names -----------------------------------------------------------------------------------------------------------


def test_an_entry_of_a_loop_and_a_unit_have_prompts_of_their_own() -> None:
    entries = (Agent("", text("zero")), Agent("", text("one")))
    made = program(
        node("review", Parallel(entries), to("review_1", "pass"), to(STOP)),
        node("review_1", Agent("", text("own")), to("review", "fail"), to(COMPLETE)),
    )
    steps = parsed(compiled(made, OPTIONS))["jobs"]["runbook"]["steps"]
    (loop,) = (step for step in steps if step.get("id") == "review")
    assert sorted(loop["env"].values()) == ["one", "own", "zero"]


NAMES = ("result", "begin", "handed", "saved", "kept", "reviews", "Done", "done", "STOP", "...", "é", "1.2", "1 2", "_")
LONG = ("x" * 200, "x" * 199 + "y", "X" * 199 + "z")


def test_no_two_steps_have_the_same_id() -> None:
    names = (*NAMES, *LONG)
    following = {**dict(pairwise(names)), names[-1]: "gate"}
    made = program(
        *(node(name, Agent("", text("?")), to(following[name])) for name in names),
        node("gate", Gate("p", text("?")), to("ask", "approved"), to(COMPLETE)),
        node("ask", Ask("input", text("?")), to(COMPLETE)),
    )
    for job in parsed(compiled(made, OPTIONS))["jobs"].values():
        found = [step["id"].lower() for step in job["steps"] if "id" in step]
        assert len(found) == len(set(found))


# --- Answers ---------------------------------------------------------------------------------------------------------


def asking() -> Program:
    """One question of each kind, the last one a gate in a loop."""
    return program(
        node("ask", Ask("yes_no", words("Sure, ", ref("name", missing="you"), "?")), to("name", "pass"), to(STOP)),
        node("name", Ask("input", text("Who?")), to("pick", do=[Keep("name")])),
        node(
            "pick",
            Ask("select", text("Which?"), options=(words("for ", ref("name")), text("Other One"))),
            to("sure", "for {{name}}"),
            to(STOP, "Other One"),
        ),
        node("sure", Ask("confirm", text("Really?")), to("gate", "yes"), to("name", "no")),
        node("gate", Gate("p", words("Let ", ref("name"), " in")), to("last", "approved"), to("name", "rejected")),
        node(
            "last",
            Shell("sh", text('printf "%s" "$NAME" > "$FOLDER/name"')),
            to(COMPLETE),
            variables=(Variable("NAME", "name"),),
        ),
        slots=("name",),
    )


NAME = "Ann; $(touch x)\n# B. yes"


def test_answers_as_lines(tmp_path: Path) -> None:
    answers = f"yes\nname<<END\n{NAME}\nEND\npick<<END\nfor {NAME}\nEND\nsure yes\ngate approved"
    done = run(tmp_path, compiled(asking()), {}, inputs={"answers": answers})
    assert ended(done) == "COMPLETE", done.log
    assert (tmp_path / "name").read_text() == NAME
    assert not list(tmp_path.rglob("x"))


def test_a_run_waits_for_an_answer_and_goes_on_in_another_run(tmp_path: Path) -> None:
    workflow = compiled(asking(), {"summary": True})
    given: dict[str, object] = {"ask": "yes", "name": [NAME, NAME], "sure": ["no", "yes"]}
    done = run(tmp_path, workflow, {}, inputs={"answers": json.dumps(given)})
    assert ended(done) == "WAITING pick", done.log
    given = {"pick": [f"for {NAME}"] * 2, "gate": "approved"}
    done = run(tmp_path, workflow, {}, 2, inputs={"answers": json.dumps(given), "resume": "1"})
    assert ended(done) == "COMPLETE", done.log
    assert (tmp_path / "name").read_text() == NAME
    assert done.summary.count("| ask Unit ask | 1 | YES |") == 1


def test_a_complete_run_leaves_its_artifact_and_does_without_optional_tools(tmp_path: Path) -> None:
    """I13, I28: the file has the name of the program and the suffix of its type, whatever is in it."""
    made = program(
        node("0", Tool("library", "prompt", text("{}"), optional=True), to("1", do=[Keep("note")])),
        node("1", Agent("", words("Draw ", ref("note", "nothing"))), to(COMPLETE, "pass", do=[Keep("r")]), to(STOP)),
        slots=("r", "note"),
        inputs=(Input("kind", default="mermaid"),),
    )
    made = replace(made, artifact=Artifact("r", words(ref("kind"))))
    workflow = compiled(made, {"agent": AGENT})
    (tmp_path / "w.yml").write_text(workflow, encoding="utf-8")
    assert lint.findings([tmp_path / "w.yml"]) == []
    said = "a\n${{ github.token }}\n::error::x"
    done = run(tmp_path, workflow, {"1": [said]})
    assert (ended(done), done.conclusion) == ("COMPLETE", "success"), done.log
    assert "no command is named for the tools of library" in done.log
    assert [entry[1] for entry in log(tmp_path)] == ["Draw "]
    (left,) = (path for path in (tmp_path / "history").rglob("a.mmd") if path.is_file())
    assert (left.read_text(), left.parent.name) == (said, "a.mmd")
    done = run(tmp_path, workflow, {"1": [None]}, 2)
    assert ended(done).startswith("STOP")
    assert len(list((tmp_path / "history").rglob("a.mmd"))) == 2, "the folder and the file of the first run"


@pytest.mark.parametrize(
    ("given", "replies"),
    [
        ("a yes; b two words ;c x", [["a", "yes"], ["b", "two words"], ["c", "x"]]),
        ("b yes; no unit", [["b", "yes; no unit"]]),
        ("yes\n\nb  # text", [["", "yes"], ["b", " # text"]]),
        ("b<<E\n1\n\n2\nE\nc x", [["b", "1\n\n2"], ["c", "x"]]),
        ('{"b": ["1", "2"], "a": "yes"}', [["b", "1"], ["b", "2"], ["a", "yes"]]),
    ],
)
def test_the_forms_of_answers(given: str, replies: list[list[str]]) -> None:
    assert read_replies(_asked(a="confirm", b="input", c="select", d="shell"), given) == replies


def _asked(**kinds: str) -> dict[str, Any]:
    return {"units": {name: {"task": kind, "words": ["x", "Y"]} for name, kind in kinds.items()}}


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ('{"b": broken', "the answers begin like JSON, and are none"),
        ('{"d": "yes"}', "no unit of this name asks anything: d"),
        ("a maybe", "expected yes or no: a maybe"),
        ("g yes", "expected approved or rejected: g yes"),
        ("c y", "expected x or Y: c y"),
        ('{"a": ["yes", 3]}', "the answers of a are neither a text nor a list of texts"),
    ],
)
def test_answers_that_fit_no_question_are_refused_before_anything_runs(given: str, says: str) -> None:
    with pytest.raises(RefusedError, match=says):
        read_replies(_asked(a="confirm", b="input", c="select", d="shell", g="gate"), given)


def test_answers_by_words_alone_may_have_comments_and_any_case() -> None:
    replies = read_replies(_asked(a="confirm", g="gate", q="ask"), "YES # sure\ng Approved; a no")
    assert replies == [["", "YES"], ["g", "Approved"], ["a", "no"]]


def test_an_answer_that_does_not_fit_leaves_the_run_waiting(tmp_path: Path) -> None:
    """What agents have done until then is not lost, and no gate is opened by an answer without its name."""
    made = program(
        node("1", Ask("select", text("?"), options=(words("for ", ref("x")), text("o"))), to("2", "o"), to(STOP)),
        node("2", Gate("p", text("?")), to(COMPLETE, "approved"), to("1", "rejected")),
        slots={"x": "you"},
    )
    workflow = compiled(made)
    done = run(tmp_path, workflow, {}, inputs={"answers": "1 for me"})
    assert (ended(done), done.jobs["runbook"].annotations[0][0]) == ("WAITING 1", "warning"), done.log
    assert "1: for me is none of: for you, o" in done.log
    done = run(tmp_path, workflow, {}, 2, inputs={"answers": "o\napproved", "resume": "1"})
    assert ended(done) == "WAITING 2", done.log


@pytest.mark.parametrize(
    "damage",
    [
        {"node": "elsewhere"},
        {"registers": {"name": 3}},
        {"registers": {"name": "x", "more": "y"}},
        {"number": "1; touch x"},
        {"left": {"s1": "a\nnext=b"}},
        {"journal": [["ask", 1, "yes", -1, ""]]},
        {"done": True},
        {"more": 1},
    ],
)
def test_a_state_that_no_run_has_written_is_refused(tmp_path: Path, damage: dict[str, object]) -> None:
    table = {
        "entry": "ask",
        "registers": {"name": None},
        "scopes": {},
        "units": {"ask": {"task": "ask", "edges": []}},
        "steps": {"ask": "ask"},
    }
    started = Run(table)
    started.begin("7", {})
    path = tmp_path / "state"
    started.save(path)
    assert read_state(table, path).number == "7"
    path.write_text(json.dumps({**json.loads(path.read_text()), **damage}))
    with pytest.raises(RefusedError):
        read_state(table, path)


def test_a_gate_comes_between_what_waited_and_what_goes_on(tmp_path: Path) -> None:
    made = program(
        node("1", Agent("", text("One")), to("2")),
        node("2", Gate("p", text("?")), to("3", "approved"), to(STOP, "rejected")),
        node("3", Ask("input", text("Name?")), to("4", do=[Keep("x")])),
        node("4", Agent("", words("Hello ", ref("x"))), to(COMPLETE)),
        slots=("x",),
    )
    workflow = compiled(made, OPTIONS)
    done = run(tmp_path, workflow, {}, environments={"approval": ["approved"]})
    assert ended(done) == "WAITING 3", done.log
    given = {"answers": "3 Ann", "resume": "1"}
    done = run(tmp_path, workflow, None, 2, inputs=given, environments={"approval": []})
    assert ended(done) == "COMPLETE", done.log
    assert [(unit, said) for unit, said, _ in log(tmp_path)] == [("1", "One"), ("4", "Hello Ann")]


def test_agents_answer_questions_of_all_kinds(tmp_path: Path) -> None:
    made = program(
        node("1", Ask("pass_fail", text("?")), to("2", "pass"), to(STOP)),
        node("2", Ask("confirm", text("?")), to("3", "yes"), to(STOP)),
        node("3", Ask("select", text("?"), options=(text("A b"), text("c"))), to("4", "A b"), to(STOP)),
        node("4", Ask("input", text("?")), to("5", do=[Keep("x")])),
        node("5", Agent("", words("Hello ", ref("x"))), to(COMPLETE)),
        slots=("x",),
    )
    answers = {"1": ["I think\n\n**PASS**"], "2": ["Yes."], "3": ["so\nA b\n"], "4": ["Ann\nB"]}
    done = run(tmp_path, compiled(made, {**OPTIONS, "prompts": "agent"}), answers)
    assert ended(done) == "COMPLETE", done.log
    assert log(tmp_path)[-1][1] == "Hello Ann\nB"


def test_prompts_can_be_approvals(tmp_path: Path) -> None:
    made = program(
        node("1", Ask("yes_no", words("Is ", ref("x"), " fine?")), to("2", "pass"), to(STOP)),
        node("2", Agent("", text("Two")), to(COMPLETE)),
        slots={"x": "it"},
    )
    workflow = compiled(made, {**OPTIONS, "prompts": "environment"})
    done = run(tmp_path, workflow, {}, environments={"approval": ["approved"]})
    assert ended(done) == "COMPLETE", done.log
    assert "Is it fine?" in done.summary


# --- Nothing escapes -------------------------------------------------------------------------------------------------


def test_texts_of_people_and_agents_stay_texts(tmp_path: Path) -> None:
    everything = "\n".join(HOSTILE) + "\0" + "x" * 100
    made = program(
        node("1", Agent("", words("P ", ref("issue"))), to("2", do=[Keep("said")])),
        node("2", Branch(), to(STOP, SlotTest("said", "==", "")), to("3")),
        node(
            "3",
            Shell("bash", text('printf "%s\\n" "$SAID"; printf "x<<EOF\\n%s\\nEOF\\n" "$SAID" > "$RDC_OUTPUT"')),
            to("4", do=[Keep("value", "value", "x")]),
            variables=(Variable("SAID", "said"),),
        ),
        node(
            "4",
            Tool("tracker", "t", words('{"a": "', ref("value"), " ", ref("issue"), '"}')),
            to("end", do=[Keep("value")]),
        ),
        node("end", End("stop", words("It was ", ref("said")))),
        slots=("said", "value"),
        inputs=(Input("issue", "text"),),
    )
    workflow = compiled(made, OPTIONS)
    given = everything.replace("\0", "")
    done = run(tmp_path, workflow, {"1": [everything], "4": [everything]}, inputs={"issue": given})
    assert ended(done).startswith("STOP It was"), done.log
    assert not list(tmp_path.rglob("x"))
    outputs = [value for job in done.jobs.values() for step in job.steps for value in step.outputs.values()]
    assert outputs
    assert all(re.fullmatch(r"[A-Za-z0-9_.-]+", value) for value in outputs)
    assert log(tmp_path)[0][1] == f"P {given}"
    kept = everything.replace("\0", "\ufffd")
    assert json.loads(log(tmp_path)[1][1])["arguments"] == {"a": f"{kept} {given}"}
    assert "\u202e" not in done.summary
    assert "\x1b" not in done.summary


def test_a_megabyte_is_an_answer_and_more_is_none(tmp_path: Path) -> None:
    made = program(
        node("1", Agent("", text("One")), to("2", "pass", do=[Keep("x")]), to(STOP, "fail")),
        node("2", Agent("", words(ref("x"))), to(STOP, "pass"), to(COMPLETE, "fail")),
        slots=("x",),
    )
    large = "y" * (1 << 20)
    done = run(tmp_path, compiled(made, OPTIONS), {"1": [large], "2": [large + "y"]})
    assert ended(done) == "COMPLETE", done.log[-2000:]
    assert log(tmp_path)[1][1] == large


def test_agents_get_nothing_that_the_runner_believes(tmp_path: Path) -> None:
    made = program(node("1", Agent("type", text("One")), to(COMPLETE)), node("2", Gate("p"), to(COMPLETE)))
    done = run(tmp_path, compiled(made, {**OPTIONS, "env": {"OWN": "1"}}), {})
    assert ended(done) == "COMPLETE"
    (_, _, env) = log(tmp_path)[0]
    assert {name: env[name] for name in env if name.startswith("RDC_")} == {
        "RDC_UNIT": "1",
        "RDC_TITLE": "Unit 1",
        "RDC_RUN_ID": "1",
        "RDC_ATTEMPT": "1",
        "RDC_AGENT_TYPE": "type",
    }
    assert env["OWN"] == "1"
    forbidden = {"TOKEN", "OUTPUT", "ENV", "PATH", "STEP_SUMMARY", "STATE"}
    assert not {f"GITHUB_{name}" for name in forbidden} & set(env)


def test_secrets_are_masked_in_answers_and_never_saved(tmp_path: Path) -> None:
    made = program(
        node("1", Agent("", text("One")), to("2", do=[Keep("x")])),
        node("2", Shell("sh", text('echo "v=$KEY" > "$RDC_OUTPUT"')), to("3", do=[Keep("v", "value", "v")])),
        node("3", Ask("input", text("?")), to(COMPLETE)),
        slots=("x", "v"),
    )
    options = {**OPTIONS, "secrets": ["KEY"]}
    done = run(tmp_path, compiled(made, options), {"1": ["the key is sesame-open"]}, secrets={"KEY": "sesame-open"})
    steps = {step.id: step.outcome for step in done.jobs["runbook"].steps}
    assert (steps["saved"], steps["kept"]) == ("failure", "skipped"), done.log
    assert "the text v holds a secret" in done.log
    assert "the text x" not in done.log


def test_lines_of_a_secret_and_secrets_inside_of_others_are_masked(monkeypatch: pytest.MonkeyPatch) -> None:
    values = {"A": "sesame", "B": "sesame-open", "C": "{\n  key: long enough\n}", "RDC_SECRETS": "A B C"}
    for name, value in values.items():
        monkeypatch.setenv(name, value)
    assert masked("x sesame-open {\nkey: long enough }") == "x *** {\n*** }"


def test_a_rejection_stays_one_whatever_an_agent_makes_of_the_state(tmp_path: Path) -> None:
    forge = "import json,os,pathlib as p; f=p.Path(os.environ['RUNNER_TEMP'],'rdc','state')"
    forged = f"{forge}; s=json.loads(f.read_text()); f.write_text(json.dumps(s | {{'node': '3'}}))"
    made = program(
        node("1", Shell("sh", text("true")), to("2", "pass"), to(STOP, "fail")),
        node("2", Gate("p", text("?")), to("3", "approved"), to(STOP, "rejected")),
        node("3", Agent("", text("Publish")), to(COMPLETE)),
    )
    workflow = compiled(made, OPTIONS)
    save = 'python3 -I "$RUNNER_TEMP/rdc/rdc.py" save'
    assert workflow.count(save) == 1
    workflow = workflow.replace(save, f'python3 -c "{forged}"; {save}')
    done = run(tmp_path, workflow, {}, environments={"approval": ["rejected"]})
    assert ended(done) == "error people were asked about s2, and the run stands elsewhere. Begin a new run", done.log
    assert log(tmp_path) == []


# --- What cannot be --------------------------------------------------------------------------------------------------


def looped(task: Any) -> Program:
    return program(node("1", task, to("1", "rejected" if isinstance(task, Gate) else "fail"), to(COMPLETE)))


REFUSED: Sequence[tuple[str, Program, dict[str, object]]] = [
    ("RD520", looped(Gate("p")), {"prompts": "environment"}),
    ("RD520", looped(Ask("yes_no", text("?"))), {"prompts": "environment"}),
    ("RD532", program(node("1", Agent("", text("?")), to(COMPLETE))), {}),
    ("RD532", program(node("1", Tool("t", "x", text("{}")), to(COMPLETE))), {"agent": "cat"}),
    ("RD533", program(node("1", Ask("input", text("?")), to(COMPLETE))), {"prompts": "environment"}),
    ("RD534", program(node("1", Ask("input", text("?")), to(COMPLETE)), inputs=[Input("x")]), {"on": "push"}),
]


@pytest.mark.parametrize(("code", "made", "options"), REFUSED)
def test_what_github_cannot_do_is_refused(code: str, made: Program, options: dict[str, object]) -> None:
    emission = GithubBackend().emit(made, options)
    assert emission.text is None
    assert {found.code for found in emission.diagnostics} == {code}
