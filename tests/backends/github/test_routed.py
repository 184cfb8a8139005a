"""Workflows of programs with texts, values, agents, tools, parallel steps and gates, run by the second engine."""

import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from backends.github import GithubBackend
from compiler.ir.edges import Keep, SlotTest
from compiler.ir.program import Input, Program, Settings, Variable
from compiler.ir.tasks import Agent, Ask, Branch, Gate, Parallel, Reading, Task, Tool, Value
from compiler.ir.texts import text
from tests.backends.github.made import COMPLETE, STOP, TRIES, bash, node, program, ref, retried, sh, to, words
from tests.backends.github.routed import AGENT, HOSTILE, INLINE, OPTIONS, compiled, ended, log, run, triage
from tests.backends.github.walking import Clean
from tests.support.github.compiling import parsed

pytestmark = pytest.mark.tool


def conditions(workflow: str) -> dict[str, str]:
    jobs = parsed(workflow)["jobs"].values()
    return {step["name"]: step["if"] for job in jobs for step in job["steps"] if "if" in step}


def test_no_tool_finds_anything(clean: Clean) -> None:
    texts = program(
        *(node(str(n), Agent("", words(*HOSTILE[n::3], ref("x"))), to(str(n + 1)), title=HOSTILE[n]) for n in range(3)),
        node("3", Ask("select", text("Which?"), options=tuple(map(text, HOSTILE))), to(COMPLETE)),
        slots={"x": "\0 and ::set-output name=x::y"},
    )
    choice = Input("choice", "choice", options=(*(item for item in HOSTILE if "\n" not in item), "\x9b"))
    for made in (texts, program(node("1", Agent("", words(ref("choice"))), to(COMPLETE)), inputs=(choice,))):
        clean(compiled(made, OPTIONS))


def test_a_straight_program_has_no_conditions() -> None:
    tasks: Sequence[Task] = (Agent("", text("One")), Tool("tracker", "x", text("{}")), sh("true"))
    onward = ("2", "3", COMPLETE)
    nodes = (node(str(n), task, to(onward[n - 1], "pass"), to(STOP, "fail")) for n, task in enumerate(tasks, 1))
    assert not any("next" in condition for condition in conditions(compiled(program(*nodes), OPTIONS)).values())


def test_commands_stand_in_their_steps_prompts_beside_them_and_conditions_name_what_rdc_made() -> None:
    workflow = compiled(triage(), OPTIONS)
    steps = {step["name"][:2]: step for step in parsed(workflow)["jobs"]["part_1"]["steps"]}
    assert steps["2a"]["env"]["COMMAND"].startswith('printf "%s" "$ISSUE"')
    assert steps["1."]["env"]["PROMPT"] == "Classify: {{issue}}"
    assert steps["2b"]["env"]["STEP"] == 'calls the tool tracker close\n{"issue": "{{issue}}"}\n'
    assert (steps["1."]["timeout-minutes"], steps["2b"]["timeout-minutes"]) == (31, 2)
    assert "timeout-minutes" not in steps["2a"]
    found = conditions(workflow).items()
    chosen = {name: each for name, each in found if "steps.close" not in each and "cancelled" not in each}
    assert chosen == {f"{name}. Step {name}": f"steps.s1.outputs.next == '{name}'" for name in ("2a", "2b")}


def test_steps_get_the_secrets_of_what_they_call() -> None:
    options = {"agent": {"run": AGENT, "secrets": ["KEY"]}, "tools": {"tracker": {"run": AGENT}}}
    jobs = parsed(compiled(triage(), {**options, "secrets": ["KEY", "DEPLOY"]}))["jobs"]
    found = {step["name"][:2]: set(step.get("env", ())) & {"KEY", "DEPLOY"} for step in jobs["part_1"]["steps"]}
    assert (found["1."], found["2a"], found["2b"]) == ({"KEY"}, {"KEY", "DEPLOY"}, set())
    assert not any({"KEY", "DEPLOY"} & set(step.get("env", ())) for step in jobs["approve_s4"]["steps"])


def test_a_workflow_has_the_program_and_a_later_part_takes_it_over() -> None:
    jobs = parsed(compiled(triage(), {**OPTIONS, **INLINE}))["jobs"]
    names = [step["name"] for step in jobs["part_1"]["steps"]]
    assert names[:4] == ["Stop if no one would be asked", "Write the program", "Open the run", "1. Step 1"]
    assert names[-3:] == ["Close the run", "Save the run and its workspace", "Save prompts and answers"]
    written = [step["name"] for step in jobs["part_2"]["steps"]]
    assert written[:3] == ["Load the run and its workspace", "Continue the run", "5. Step 5"]


def test_comments_say_where_a_step_leads() -> None:
    agent = Agent("", text("?"), Reading(("OK", "BAD")))
    made = program(
        node("a", agent, to("b", "OK"), to("b", "none"), to("c", "BAD"), to(STOP)),
        node("b", Branch(), to("d", SlotTest("x", "==", "one\ntwo")), to("c")),
        node("c", sh("true"), to("d", "pass"), to(COMPLETE, "fail")),
        node("d", sh("true"), to(COMPLETE)),
        slots=("x",),
    )
    workflow = compiled(made, OPTIONS)
    transitions = [
        'OK, x == "one two": GOTO d', "OK, otherwise: GOTO c", 'none, x == "one two": GOTO d',
        "none, otherwise: GOTO c", "BAD: GOTO c", 'otherwise: STOP "It failed."',
    ]  # fmt: skip
    assert "".join(f"      # {transition}\n" for transition in transitions) + "      - name: a Step a\n" in workflow
    assert "      # PASS: GOTO d\n      # FAIL: COMPLETE\n      - name: c Step c\n" in workflow


def test_an_answer_and_a_value_that_decide_together_need_the_program() -> None:
    asks = node("a", Ask("yes_no", text("Ready?")), to("b", "pass", SlotTest("x", "==", "1")), to(STOP))
    made = program(asks, node("b", sh("true"), to(COMPLETE, "pass"), to(STOP, "fail")), slots={"x": "1"})
    assert "CALL: step a" in compiled(made)


def test_a_run_with_everything(tmp_path: Path) -> None:
    answers = {"1": ['Well {"kind": "bug"}'], "3_1": [None, "fine"], "3b": ["OK"]}
    workflow = compiled(triage(), {**OPTIONS, "summary": True})
    done = run(tmp_path, workflow, answers, inputs={"issue": "it's $HOME"}, environments={"approval": ["approved"]})
    assert (ended(done), done.conclusion) == ("COMPLETE", "success"), done.log
    prompts = [(step, given) for step, given, _ in log(tmp_path)]
    assert prompts[0] == ("1", "Classify: it's $HOME")
    assert sorted(prompts[-6:])[:2] == [("3_0", "A "), ("3_0", "A from 2a")]
    assert (tmp_path / "issue").exists()
    assert prompts[-1] == ("5", "Publish done\n\nfine")
    assert "| 3b Step 3b | OK |" in done.summary


def test_attempts_wait_and_are_ended_when_their_time_is_up(tmp_path: Path) -> None:
    task = bash('echo "$RDC_ATTEMPT" >> "$FOLDER/tries"; [ "$RDC_ATTEMPT" = 2 ] || exec sleep 60')
    made = program(retried("1", task, 3, settings=Settings(timeout=1, delay=1)), counters=(TRIES,), limit=9)
    done = run(tmp_path, compiled(made), {})  # native steps do not count the limit
    assert ended(done) == "COMPLETE", done.log
    assert (tmp_path / "tries").read_text() == "1\n2\n"
    assert re.search(r"waiting (?:1\.0|0\.\d) s", done.log)  # less than a second is left on a busy machine
    assert "timeout after 1.0 s" in done.log


def test_a_continuation_does_not_wait_again_before_a_question(tmp_path: Path) -> None:
    asked = retried("1", Ask("confirm", text("Well?")), 3, words=("yes", "no"), settings=Settings(delay=1))
    workflow = compiled(program(asked, counters=(TRIES,)))
    run(tmp_path, workflow)
    done = run(tmp_path, workflow, None, 2, inputs={"resume": "1", "answers": "no"})
    assert (ended(done), done.log.count("waiting 1.0 s")) == ("WAITING 1", 1), done.log
    done = run(tmp_path, workflow, None, 3, inputs={"resume": "2", "answers": "yes"})
    assert (ended(done), done.log.count("waiting ")) == ("COMPLETE", 0), done.log


def test_entries_of_a_parallel_step_run_at_the_same_time(tmp_path: Path) -> None:
    wait = 'until [ -e "$FOLDER/$((1 - RDC_ENTRY))" ]; do sleep 0.01; done'
    meet = f'cat > /dev/null; touch "$FOLDER/$RDC_ENTRY"; {wait}; echo "$RDC_ENTRY"'
    both = program(
        node("1", Parallel((Agent("", text("A")), Agent("", text("B")))), to("2", "pass", do=[Keep("x")]), to(STOP)),
        node("2", sh('printf "%s" "$X" > "$FOLDER/x"'), to(COMPLETE), variables=(Variable("X", "x"),)),
        slots=("x",),
    )
    assert ended(run(tmp_path, compiled(both, {"agent": meet}), {})) == "COMPLETE"
    assert (tmp_path / "x").read_text() == "0\n\n1"


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
    return program(node("1", sh(script), to(COMPLETE), variables=variables), inputs=INPUTS)


def test_inputs_are_typed_and_reach_commands(tmp_path: Path) -> None:
    workflow = compiled(shown_inputs())
    assert {name: each["type"] for name, each in parsed(workflow)["on"]["workflow_dispatch"]["inputs"].items()} == {
        "one_line": "string", "number": "string", "flag": "boolean", "kind": "choice", "code": "string",
    }  # fmt: skip
    run(tmp_path, workflow, {}, inputs={"one_line": "it's $HOME", "flag": "false"})
    assert (tmp_path / "values").read_text() == "it's $HOME\n1.50\nfalse\nb\nunset\n"


def test_unfit_inputs_are_refused_before_anything_runs(tmp_path: Path) -> None:
    done = run(tmp_path, compiled(shown_inputs()), {}, inputs={"number": "1,5", "one_line": "a\nb", "code": "A"})
    reasons = [
        "input one_line: it has more than one line",
        "input number: it is not a decimal number",
        "input code: it does not match [a-z]+",
    ]
    assert done.conclusion == "failure"
    assert not (tmp_path / "values").exists()
    assert done.jobs["runbook"].annotations[:3] == tuple(("error", "rdc", reason) for reason in reasons)
    outcomes = {step.name: step.outcome for step in done.jobs["runbook"].steps}
    assert (outcomes["Open the run"], outcomes["1. Step 1"]) == ("failure", "skipped")


def test_inputs_keep_apart_from_those_of_rdc_and_of_the_options() -> None:
    asked = program(node("1", Ask("input", text("?")), to(COMPLETE)), inputs=[Input("Answers"), Input("resume")])
    workflow = parsed(compiled(asked, {"on": {"workflow_dispatch": {"inputs": {"Resume_2": {"type": "string"}}}}}))
    declared = workflow["on"]["workflow_dispatch"]["inputs"]
    assert list(declared) == ["Resume_2", "answers", "resume", "Answers_2", "resume_3"]
    (begin,) = (step for step in workflow["jobs"]["runbook"]["steps"] if step["name"] == "Open the run")
    assert begin["env"]["RDC_INPUT_resume"] == "${{ inputs.resume_3 }}"


def test_the_form_makes_no_choice_that_need_not_be_made_and_whoever_continues_a_run_gives_no_inputs() -> None:
    options = ("a", "b")
    inputs = [Input("x", "choice", options=options, required=False), Input("y", "choice", options=options)]
    runs, asks = node("1", sh("true"), to(COMPLETE)), node("1", Ask("input", text("?")), to(COMPLETE))
    declared = parsed(compiled(program(runs, inputs=inputs)))["on"]["workflow_dispatch"]["inputs"]
    assert {name: each["type"] for name, each in declared.items()} == {"x": "string", "y": "choice"}
    assert declared["y"]["required"] is True
    declared = parsed(compiled(program(asks, inputs=inputs)))["on"]["workflow_dispatch"]["inputs"]
    assert "required" not in declared["y"]
    for value, reply in ((Value("x", pattern="x[0-9]"), "the value"), (Value("x", "choice", ("eu", "us")), "eu")):
        asks = node("1", Ask("value", text("?"), value=value), to(COMPLETE, "pass"), to(STOP, "fail"))
        answers = parsed(compiled(program(asks)))["on"]["workflow_dispatch"]["inputs"]["answers"]
        assert answers["description"].endswith(f"for example: 1 {reply}")


def test_an_entry_of_a_loop_and_a_step_have_prompts_of_their_own() -> None:
    entries = (Agent("", text("zero")), Agent("", text("one")))
    made = program(
        node("review", Parallel(entries), to("review_1", "pass"), to(STOP)),
        node("review_1", Agent("", text("own")), to("review", "fail"), to(COMPLETE)),
    )
    steps = parsed(compiled(made, OPTIONS))["jobs"]["runbook"]["steps"]
    (loop,) = (step["env"]["STEP"] for step in steps if step["name"].startswith("Loop"))
    prompts = [line for line in loop.splitlines() if line.split()[-1] in {"one", "own", "zero"}]
    assert prompts == ["    zero", "    one", "  own"]


NAMES = ("open", "close", "check", "changes", "kept", "reviews", "Done", "done", "STOP", "...", "é", "1.2", "1 2", "_")


def test_no_two_steps_have_the_same_id() -> None:
    names = (*NAMES, "x" * 200, "x" * 199 + "y", "X" * 199 + "z")
    following = {**dict(pairwise(names)), names[-1]: "gate"}
    made = program(
        *(node(name, Agent("", text("?")), to(following[name])) for name in names),
        node("gate", Gate("p", text("?")), to("ask", "approved"), to(COMPLETE)),
        node("ask", Ask("input", text("?")), to(COMPLETE)),
    )
    for job in parsed(compiled(made, OPTIONS))["jobs"].values():
        found = [step["id"].lower() for step in job["steps"] if "id" in step]
        assert len(found) == len(set(found))


def looped(task: Any) -> Program:
    return program(node("1", task, to("1", "rejected" if isinstance(task, Gate) else "fail"), to(COMPLETE)))


REFUSED: Sequence[tuple[str, Program, dict[str, object]]] = [
    ("RD520", looped(Gate("p")), {"prompts": "agent", "agent": "cat"}),
    ("RD532", program(node("1", Agent("", text("?")), to(COMPLETE))), {}),
    ("RD532", program(node("1", Tool("t", "x", text("{}")), to(COMPLETE))), {"agent": "cat"}),
    ("RD534", program(node("1", Ask("input", text("?")), to(COMPLETE)), inputs=[Input("x")]), {"on": "push"}),
]


@pytest.mark.parametrize(("code", "made", "options"), REFUSED)
def test_what_github_cannot_do_is_refused(code: str, made: Program, options: dict[str, object]) -> None:
    emission = GithubBackend().emit(made, options)
    assert emission.text is None
    assert {found.code for found in emission.diagnostics} == {code}
