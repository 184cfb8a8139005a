"""Limits of visits and of the wait for a person, in all formats."""

from pathlib import Path

import pytest

from compiler.driver import Settings as Options
from compiler.driver import compile_file, format_opened, open_file
from compiler.ir.program import Program
from compiler.ir.semantics import Machine, Outcome
from compiler.ir.visits import VisitLimit, most_visits, with_visit_limits
from tests.support.runbooks import LOOP

HEADER = "---\nrdc:\n  steps: {STEPS}\n---\n"


LATER = "- FAIL: RETRY 2 STOP\n\n## 3. Later\n\n### 3.1 Sure?\n\n- PASS: COMPLETE\n- FAIL: STOP\n"


RUNBOOK = HEADER + LOOP + LATER
WORKFLOW = """\
name: w
steps:
  - name: draft
    prompt: Write.
    KEYS
    next: review
  - {name: review, human: true, prompt: Read., conditions: [{keyword: BAD, goto: draft}], end: true}
rdc: {steps: {STEPS}}
"""


PLAYBOOK = (
    '---\nrdc:\n  steps: {STEPS}\n---\n# P\n\n## STEP 1: A\nWhat?\n@elicit(confirm, "Go on?")\n\n## STEP 2: B\nDo.\n'
)
SPECIFICATION = """\
step_specs: [{id: plan, description: Plan, human_gate: required}, {id: build, description: Build}]
rdc: {steps: {STEPS}}
"""


FORMATS = {"runbook.md": RUNBOOK, "workflow.yaml": WORKFLOW, "playbook.md": PLAYBOOK, "stepspec.yaml": SPECIFICATION}


def found(path: Path, ending: str, steps: str, keys: str = "") -> tuple[Program | None, list[str]]:
    file = path / f"a.{ending}"
    written = FORMATS[ending].replace("{STEPS}", f"{{{steps}}}").replace("KEYS", keys or "end: false")
    file.write_text(written, encoding="utf-8")
    compiled = compile_file(str(file))
    own = [each for each in compiled.diagnostics if each.code in ("RD013", "RD412", "RD805")]
    return compiled.program, [f"{each.code} {each.message}" for each in own]


def words(program: Program, *outcomes: str) -> list[str]:
    """The steps of a run with these outcomes, and its end."""
    machine = Machine(program)
    state, steps = machine.start(), []
    for word in outcomes:
        steps.append(state.node)
        state = machine.advance(state, Outcome(word)).state
    end = machine.end(state)
    return [*steps, f"{end.result} {end.message}" if end else state.node]


def test_a_loop_ends_at_its_limit_and_its_start_counts(tmp_path: Path) -> None:
    program, output = found(tmp_path, "runbook.md", r"""1: {max-visits: 2, then: STOP "two \"bad\" reviews"}""")
    assert program
    assert (output, most_visits(program)) == ([], {"1": 2})
    assert words(program, "fail", "pass", "fail", "pass") == ["1", "2", "1", "2", 'stop two "bad" reviews']
    assert with_visit_limits(program, [VisitLimit("1", 5)]) == (program, set()), "it keeps its limit"
    program, output = found(tmp_path, "runbook.md", "2: {max-visits: 1}")
    assert program
    assert output == []
    end = words(program, "fail", "fail", "fail", "pass", "fail")[-1]
    assert end == "stop step 2 reached its limit of 1 visit", "a retry is no visit"


NO_LIMITS = {
    **dict.fromkeys(
        ("max-visits: 0", "max-visits: many", "max-visits: true"),
        "`max-visits` must be a whole number from 1 to 1,000,000",
    ),
    "then: STOP": "`then` has no effect without `max-visits`",
    **dict.fromkeys(
        [f"max-visits: 2, then: {then}" for then in ("GOTO 1", "stop", '"STOP \\"\\e[31m\\""', "[STOP]")],
        "`then` must be STOP, with or without a message in quotes",
    ),
    **dict.fromkeys(("expire: 24", "expire: 0s"), "`expire` must be a duration from a second to a year"),
}


@pytest.mark.parametrize("ending", FORMATS)
def test_what_no_limit_can_be_is_an_error(tmp_path: Path, ending: str) -> None:
    step = {"workflow.yaml": "draft", "stepspec.yaml": "plan"}.get(ending, "1")
    for settings, message in NO_LIMITS.items():
        program, output = found(tmp_path, ending, f"{step}: {{{settings}}}")
        assert program is None
        assert output == [f"RD013 the settings of step {step}: {message}"]


BACK = "RD412 the limit of visits has no effect on step {}: no transition leads back to it"
WHOLE = "RD805 `max_visits` of step `draft` is not a whole number from 1 to 1,000,000"
STOPS = "RD805 step `draft`: `then` must be STOP, with or without a message in quotes"
INSIDE = "RD013 `max-visits` has no effect on step 3: a run visits the steps inside it"


@pytest.mark.parametrize(
    ("ending", "steps", "keys", "message"),
    [
        ("runbook.md", "3: {max-visits: 2}", "", INSIDE),
        ("runbook.md", '"*": {max-visits: 2}', "", "RD013 `max-visits` limits one step, not all steps"),
        ("runbook.md", "2: {expire: 1h}", "", "RD013 `expire` has no effect on step 2: the step asks no person"),
        ("runbook.md", "9: {max-visits: 2}", "", "RD013 there is no step `9`"),
        ("workflow.yaml", "draf: {max-visits: 2}", "", "RD013 unknown step `draf`; did you mean `draft`?"),
        ("workflow.yaml", "draft: {expire: 1h}", "", "RD013 `expire` has no effect on step draft: it asks no person"),
        ("playbook.md", "2: {expire: 1h}", "", "RD013 `expire` has no effect on step 2: it asks no person"),
        ("playbook.md", "3: {max-visits: 2}", "", "RD013 unknown step `3`"),
        ("stepspec.yaml", "build: {expire: 1h}", "", "RD013 `expire` has no effect on step build: it asks no person"),
        # keys of an agent workflow beside the others of a step
        ("workflow.yaml", "", "max_visits: 0", WHOLE),
        ("workflow.yaml", "", "max_visits: [1]", WHOLE),
        ("workflow.yaml", "", "max_visits:", "RD805 `max_visits` of step `draft` has no value"),
        ("workflow.yaml", "", "then: STOP", "RD805 step `draft`: `then` has no effect without `max_visits`"),
        ("workflow.yaml", "", "max_visits: 2\n    then: GOTO x", STOPS),
        (
            "workflow.yaml",
            "draft: {max-visits: 5}",
            "max_visits: 2",
            "RD013 step draft has two limits of visits: 2 beside its other keys, and 5 here",
        ),
        # a warning
        *(
            (ending, f"{step}: {{max-visits: 2}}", "", BACK.format(step))
            for ending, step in {"playbook.md": "2", "stepspec.yaml": "plan", "runbook.md": "3.1"}.items()
        ),
    ],
)
def test_messages_about_limits(tmp_path: Path, ending: str, steps: str, keys: str, message: str) -> None:
    program, output = found(tmp_path, ending, steps, keys)
    assert (program is not None, output) == (message.startswith("RD412"), [message])


@pytest.mark.parametrize(
    ("ending", "step", "waits"),
    [
        ("runbook.md", "1", "1"),
        ("runbook.md", "3", "3.1"),
        ("runbook.md", '"*"', "3.1"),
        ("workflow.yaml", "review", "review/human"),
        ("playbook.md", "1", "1/elicit"),
        ("stepspec.yaml", "plan", "a:a:plan:hitl"),
    ],
)
def test_questions_and_gates_of_a_step_expire(tmp_path: Path, ending: str, step: str, waits: str) -> None:
    program, output = found(tmp_path, ending, f"{step}: {{expire: 2h}}")
    assert program
    assert output == []
    assert program.index()[waits].settings.expire == 7200
    assert not any(node.settings.expire for node in program.nodes if node.task.kind not in ("ask", "gate"))


def test_a_step_of_an_agent_workflow_has_the_keys_beside_its_others(tmp_path: Path) -> None:
    beside = 'max_visits: 2\n    then: STOP "enough"'
    program, output = found(tmp_path, "workflow.yaml", "review: {max-visits: 9}", beside)
    assert program
    assert output == []
    assert most_visits(program) == {"draft": 2, "review": 9}
    path = words(program, "none", "approved", "BAD", "none", "approved", "BAD")
    assert path == ["draft", "review/human", "review", "draft", "review/human", "review", "stop enough"]


def test_formatting_changes_the_name_of_a_limited_step_and_nothing_else(tmp_path: Path) -> None:
    file = tmp_path / "a.runbook.md"
    written = RUNBOOK.replace("{STEPS}", '{"4.1": {max-visits: 2, then: STOP "enough", expire: 1h}}')
    file.write_text(written.replace("## 3.", "## 4.").replace("3.1", "4.1"), encoding="utf-8")
    result = format_opened(open_file(str(file)), Options()).result
    assert result.text == written.replace("4.1", "3.1")
