"""What a workflow means: prompts, feedback, gates, limits, ends and reports (W6, W7, W10 to W15)."""

from pathlib import Path

import pytest

from compiler.ir.answers import of_reply
from compiler.ir.semantics import Machine, State
from compiler.ir.tasks import Agent, Gate, Parallel
from compiler.ir.verify import verify
from tests.compiler.frontends.agent_workflow.workflows import answered, compiled, end, program_of, prompt

LOOP = """
name: ship it
description: |
  Make a change.
steps:
  - name: plan
    agent: planner
    prompt: |

      Plan it: {{braces}} ${{ x }} {task}

    report: {name: the-plan, format: "## Plan\\n", validation: PLANNED}
    next: code
  - name: code
    prompt: Write it.
    next: review
  - name: review
    parallel: [{agent: a, prompt: "Secure?"}, {agent: b, prompt: "Good?"}]
    check: all
    conditions: [{keyword: APPROVED, goto: finish}, {keyword: REJECTED, goto: code}]
  - {name: finish, human: true, prompt: Finish., end: true, conditions: [{keyword: AGAIN, goto: finish}]}
"""


def start(tmp_path: Path, text: str = LOOP, **inputs: str) -> tuple[Machine, State]:
    program = program_of(compiled(tmp_path, text))
    verify(program)
    machine = Machine(program)
    return machine, machine.start(inputs, "/state/reports")


def replied(machine: Machine, state: State, word: str) -> State:
    """Where a run goes on when a person replies at a gate."""
    task = machine.nodes[state.node].task
    assert isinstance(task, Gate)
    outcome = of_reply(task, word)
    assert outcome
    return machine.advance(state, outcome).state


HEAD = "Workflow: ship it\nStep: {}\nReports are in: /state/reports\n\nTask:\n{}\n\n"


def last(words: str) -> str:
    """The sentence that asks for a verdict (W6)."""
    return f"\n\nEnd your answer with a line that has nothing but {words}."


@pytest.mark.parametrize(
    ("step", "words"),
    [
        ("{prompt: x, report: {name: r, format: f, validation: 'A|B'}}", "A or B"),
        ("{prompt: Or say TASK_DONE., report: {name: r, format: f, validation: A}}", "A or TASK_DONE"),
        (
            "{prompt: x, report: {name: r, format: f, validation: 'Say: (A|B)'}, conditions: [{keyword: A, goto: a}]}",
            "Say: A or Say: B",  # a line with only A would not match
        ),
        (r"{prompt: x, report: {name: r, format: f, validation: '^Say:\s*(A|B)'}}", "Say: A or Say: B"),
        ("{prompt: x, report: {name: r, format: f, validation: 'IS_(A|B)'}}", "IS_A or IS_B"),
        ("{prompt: x, conditions: [{keyword: A, goto: a}, {keyword: B, goto: a}, {keyword: C, goto: a}]}", "A, B or C"),
        ("{prompt: Or TASK_DONE.}", None),
        ("{prompt: x, report: {name: r, format: f, validation: .+}}", None),
    ],
)
def test_a_prompt_asks_for_a_verdict(tmp_path: Path, step: str, words: str | None) -> None:
    machine, state = start(tmp_path, f"name: x\nsteps:\n- {step.replace('{', '{name: a, end: true, ', 1)}\n")
    asked = prompt(machine, state)
    assert asked.endswith(last(words)) if words else "End your answer" not in asked


def test_what_an_agent_is_told(tmp_path: Path) -> None:
    machine, state = start(tmp_path)
    own = "Plan it: {{braces}} ${{ x }} {task}\n\nA report like this is expected:\n\n## Plan" + last("PLANNED")
    assert prompt(machine, state) == HEAD.format("plan", "Make a change.") + own
    _, given = start(tmp_path, task="a {{b}}\n")
    assert prompt(machine, given) == HEAD.format("plan", "a {{b}}\n") + own
    machine, state = start(tmp_path, LOOP.replace("description: |\n  Make a change.\n", ""))
    assert prompt(machine, state) == "Workflow: ship it\nStep: plan\nReports are in: /state/reports\n\n" + own


def test_feedback_is_carried_once(tmp_path: Path) -> None:
    machine, state = start(tmp_path)
    state = answered(machine, answered(machine, state, "PLANNED"), "written")
    assert (prompt(machine, state), prompt(machine, state, 1)) == (
        HEAD.format("review", "Make a change.") + "Secure?" + last("APPROVED or REJECTED"),
        HEAD.format("review", "Make a change.") + "Good?" + last("APPROVED or REJECTED"),
    )
    state = answered(machine, state, "no: {{x}}\nREJECTED", "APPROVED")
    heading = "What review said, and why this step runs again:\n\n"
    expected = f"{heading}no: {{{{x}}}}\nREJECTED\n\nAPPROVED\n\nWrite it."
    assert prompt(machine, state) == HEAD.format("code", "Make a change.") + expected
    state = answered(machine, answered(machine, state, "written"), "APPROVED", "Fine: APPROVED")
    assert state.node == "finish/human"
    state = replied(machine, state, "approved")
    forward = "What review said:\n\nAPPROVED\n\nFine: APPROVED\n\nFinish." + last("AGAIN")
    assert prompt(machine, state) == HEAD.format("finish", "Make a change.") + forward
    state = replied(machine, answered(machine, state, "AGAIN"), "approved")
    again = "What finish said, and why this step runs again:\n\nAGAIN\n\nFinish." + last("AGAIN")
    assert prompt(machine, state) == HEAD.format("finish", "Make a change.") + again
    assert end(machine, answered(machine, state, "done")) == "complete"


def test_the_next_round_has_its_own_feedback(tmp_path: Path) -> None:
    machine, state = start(tmp_path)
    state = answered(machine, answered(machine, state, "PLANNED"), "written")
    for reason in ("first", "second"):
        state = answered(machine, state, f"{reason}: REJECTED", "hm")
        assert f"{reason}: REJECTED" in prompt(machine, state)
        assert reason == "first" or "first" not in prompt(machine, state)
        state = answered(machine, state, "written")


def test_ways_that_no_condition_takes_carry_nothing(tmp_path: Path) -> None:
    text = LOOP.replace("prompt: Write it.", "prompt: Write it.\n    conditions: [{keyword: X, goto: review}]")
    machine, state = start(tmp_path, text)
    state = answered(machine, answered(machine, state, "PLANNED"), "written")
    assert prompt(machine, state) == HEAD.format("review", "Make a change.") + "Secure?" + last("APPROVED or REJECTED")


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ((None,), "stop step plan: the agent gave no answer"),
        (("hm",), "stop step plan: the agent gave an answer that does not match the validation pattern"),
        (("PLANNED", "x", ("APPROVED or so", "APPROVED")), "stop step review: the agents gave no clear common verdict"),
        (("TASK_DONE",), "complete"),
        (("PLANNED", "x", ("hm", "hm")), "stop step review: the agents gave no clear common verdict"),
        (("PLANNED", "x", ("hm", None)), "stop step review: one of the agents gave no answer"),
    ],
)
def test_ends_say_why(tmp_path: Path, answers: tuple[str | tuple[str, str | None] | None, ...], message: str) -> None:
    machine, state = start(tmp_path)
    for answer in answers:
        state = answered(machine, state, *(answer if isinstance(answer, tuple) else (answer,)))
    assert end(machine, state) == message


def test_gates_limits_and_names_of_ends(tmp_path: Path) -> None:
    machine, state = start(tmp_path, LOOP.replace("agent: planner", "agent: planner\n    human: true"))
    gate = machine.nodes[state.node].task
    assert isinstance(gate, Gate)
    assert (state.node, "plan" in str(gate.reason)) == ("plan/human", True)
    assert end(machine, replied(machine, state, "rejected")) == "stop step plan was rejected"
    assert machine.jump(state, "plan").node == "plan/human"  # an operator goes through the gate, too
    assert machine.jump(state, "code").node == "code"
    text = "name: a\nrdc: {max-steps: 2}\nsteps: [{name: one, human: true, prompt: x, next: one}]\n"
    machine, state = start(tmp_path, text)
    for _ in range(2):
        state = answered(machine, replied(machine, state, "approved"), "x")
    state = replied(machine, state, "approved")
    assert end(machine, state) == "stop one: the limit of 2 steps was reached", "it counts no gates"
    text = "name: a\nsteps: [{name: COMPLETE, prompt: x, next: STOP}, {name: STOP, prompt: x, end: true}]\n"
    machine, state = start(tmp_path, text)
    assert end(machine, answered(machine, answered(machine, state, "x"), "x")) == "complete"


def test_reports_agents_and_names(tmp_path: Path) -> None:
    program = program_of(compiled(tmp_path, LOOP))
    nodes = program.index()
    tasks = {name: nodes[name].task for name in ("plan", "code", "review", "finish")}
    reports = {name: task.report for name, task in tasks.items() if isinstance(task, Agent | Parallel)}
    assert reports == {"plan": "the-plan", **{name: name for name in ("code", "review", "finish")}}
    assert isinstance(tasks["plan"], Agent)
    assert isinstance(tasks["code"], Agent)
    assert (tasks["plan"].agent, tasks["code"].agent) == ("planner", "")
    assert (program.name, program.title, program.kind, program.entry) == ("main", "ship it", "workflow", "plan")
    assert [(item.name, item.type, item.required, item.default) for item in program.inputs] == [
        ("task", "text", False, "Make a change.")
    ]
