"""The oracles by hand-derived examples: rules that random cases seldom meet; E1 to E10 are what runbooks declare.

All else of them `test_targets` compares with the semantics, which have such examples of their own.
"""

from dataclasses import replace

import pytest

from tests.differential.case import Case, Json
from tests.differential.generate import agent_workflow
from tests.differential.generate import rundown_model as model
from tests.differential.generate.rundown import Drawn, Outcomes
from tests.differential.oracles import agent_workflow as of_workflows
from tests.differential.oracles import rundown
from tests.differential.oracles.answers import MalformedError, extracted, joined, values_of, word_of
from tests.differential.oracles.program import walk
from tests.differential.oracles.rundown_parts import Scope, Slots, trace_of
from tests.differential.oracles.rundown_parts import written as what_commands_write
from tests.support.program_json import edge, node
from tests.support.program_json import program_of as program

# --- Answers, values and fields (I7, I9, I12, I19) --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "word", "more"),
    [
        ("It is rejected.", "ambiguous", {"keywords": ["REJECTED"]}),
        ("- 1. `Done`.", "DONE", {}),
        ("DONE: it fails", "DONE", {"failing": ["DONE"]}),
        ("DONE - it fails", "DONE", {"failing": ["DONE"]}),
        ("DONE-it fails", "ambiguous", {"failing": ["DONE"]}),
        ("a\n\n    DONE", "none", {}),
        ("<!-- DONE -->", "none", {}),
        ("\x1b]0;DONE\x07RETRY\x1b[0m", "RETRY", {}),
        ("NOT DONE, DONE", "ambiguous", {}),
        ("a\nok", "invalid", {"validation": "^ok"}),  # ^ is the beginning of the answer
    ],
)
def test_the_word_of_an_answer(answer: str, word: str, more: Json) -> None:
    reading = {"keywords": ["DONE", "RETRY", "NOT DONE"], "excused": ["RETRY"], **more}
    assert word_of(answer, reading) == word


def test_a_keyword_may_count_only_where_all_agents_of_a_step_give_it() -> None:
    entries = [{"reading": {"keywords": ["OK", "NO"]}}]
    assert joined(["OK", "OK"], {"entries": entries, "unanimous": ["OK"], "failing": ["OK"]}) == "OK"


@pytest.mark.parametrize(
    "written",
    ["other=1\n", " a=1\n", "a\n", "\n", "a<<E\nno end\nE \n", "a<<\n\n", "a=\0\n", f"a={'x' * 65_537}\n", "=x\n"],
)
def test_a_malformed_line_is_noticed(written: str) -> None:
    with pytest.raises(MalformedError):
        values_of(f"b=1\n{written}", {"a", "b"})


def test_a_variable_that_does_not_fit_does_not_let_a_task_begin() -> None:
    ask = {"kind": "ask", "question": "input", "prompt": ""}
    first = node("1", ask, edge("2", {"kind": "keep", "slot": "s"}))
    agent = {"kind": "agent", "agent": "", "prompt": "p", "reading": {"keywords": ["OK"]}}
    second = node("2", agent, edge("end"), variables=[{"name": "V", "register": "s"}])
    replies: dict[str, list[Json]] = {"1": [{"reply": "x" * 65_537}], "2": [{"exit": 0, "answer": "OK"}]}
    visit = walk(Case(program(first, second, slots=[{"name": "s"}]), {}, replies)).visits[1]
    assert (visit.word, visit.calls, visit.text) == ("failed", (), "")


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        ('{"f": NaN}', '{"f": NaN}'),
        ('{"f": {"f": {"g": 1}}}', '{"g":1}'),  # the inner object begins later
        ('{"f": "a\\u0000b\\ud800"}', "a\ufffdb\ufffd"),
    ],
)
def test_the_last_object_with_the_field_counts(answer: str, value: str) -> None:
    assert extracted(answer, "f") == value


# --- Declarations of runbooks (E1 to E10) -----------------------------------------------------------------------------

PROMPT = model.Leaf("Is {{version}} good?")
INNER = "a.runbook.md"


def scope(declared: model.Declared, given: model.Given = model.NOTHING_GIVEN) -> Scope:
    """What the outermost document sees when a run begins."""
    return Scope(Slots(given)).include(declared, "", ())


def test_inputs_are_what_is_given_else_the_default() -> None:
    declared = model.Declared(
        (model.Input("a", default="1"), model.Input("b", default="2"), model.Input("c", required=False))
    )
    seen = scope(declared, model.Given((("a", ""),)))
    assert seen.filled("{{a}}|{{b}}|{{c}}|${{b}}|{{d}}", {}) == "|2|{{c}}|${{b}}|{{d}}"


def test_values_are_filled_in_one_pass_and_masked() -> None:
    seen = scope(model.Declared(outputs=("a", "b")), model.Given(secrets=(("KEY", "se"), ("LONG", "secret\nline"))))
    seen.keep((("a", "{{b}}"), ("b", "x")))
    assert seen.filled("{{a}}{{b}}{N}", {"N": 3}) == "{{b}}x3"
    assert seen.slots.masked("secret sea line secret\nline") == "*** ***a *** ***"


def test_a_nested_runbook_shares_what_both_declare() -> None:
    outer = scope(model.Declared(outputs=("a",)))
    outer.keep((("a", "outer"),))
    inner = outer.include(model.Declared((model.Input("c", default="own"),), ("a", "b")), "1/x/", ("1", "1/x"))
    inner.keep((("a", "new"), ("b", "lost")))
    assert inner.filled("{{a}}{{b}}{{c}}", {}) == "newlostown"
    assert outer.filled("{{a}}{{b}}", {}) == "new{{b}}"
    again = outer.include(model.Declared(outputs=("b",)), "1/x/", ())
    assert again.filled("{{a}}{{b}}", {}) == "{{a}}{{b}}"


def test_the_nearest_setting_counts_and_variables_are_merged() -> None:
    steps = (
        ("*", model.Settings(90, 1, env=(("A", "1"), ("B", "1")))),
        ("2", model.Settings(backoff=3)),
        ("2.1", model.Settings(60, env=(("A", "2"),))),
    )
    seen = scope(model.Declared(steps=steps))
    assert seen.settings(("2", "2.1")) == model.Settings(60, 1, 3, (("A", "2"), ("B", "1")))
    assert seen.visit(PROMPT, ("2", "2.1"), 4, 0, "").waits == 9


def test_what_is_malformed_fails_the_command() -> None:
    given = next(
        model.Given(writes=seed)
        for seed in range(1, 999)
        if what_commands_write(model.Given(writes=seed), 0, ("a",)).startswith("undecl")
    )
    runbook = model.Runbook((model.Step("1", model.COMMAND),), declared=model.Declared(outputs=("a",)))
    assert str(trace_of(rundown.walk(Drawn(runbook, given=given, outcomes=Outcomes((True,)))))) == "1- => STOP"


def test_an_operator_jumps_as_a_goto_would() -> None:
    asked = model.Transitions(on_fail=model.Continue())
    children = model.Substeps((model.Substep("1", PROMPT, asked), model.Substep("2", model.Runbooks((INNER,)))))
    runbook = model.Runbook(
        (model.Step("1", children, model.Transitions(on_fail=model.Goto("2"))), model.Step("2", PROMPT))
    )
    found = Drawn(
        runbook, {INNER: model.Runbook((model.Step("1", PROMPT),))}, outcomes=Outcomes((False, True, True, True, True))
    )
    traces = [str(trace_of(rundown.walk(replace(found, jumps=((1, pick),))))) for pick in range(6)]
    assert traces == [
        "1.1- [1.2/a.runbook.md/1]1 1.1+ 1.2/a.runbook.md/1+ 2+ => COMPLETE",
        "1.1- [1.2/a.runbook.md/1]1.1 1.1+ 1.2/a.runbook.md/1+ 2+ => COMPLETE",
        "1.1- [1.2/a.runbook.md/1]1.2 1.2/a.runbook.md/1+ 2+ => COMPLETE",
        "1.1- [1.2/a.runbook.md/1]1.2/a.runbook.md/1 1.2/a.runbook.md/1+ 2+ => COMPLETE",
        "1.1- [1.2/a.runbook.md/1]2 2+ => COMPLETE",
        "1.1- [1.2/a.runbook.md/1]1 1.1+ 1.2/a.runbook.md/1+ 2+ => COMPLETE",
    ]


# --- Prompts and reports of a workflow, word by word ------------------------------------------------------------------


def two_steps() -> agent_workflow.Drawn:
    """A step, and one that sends it back once."""
    report = agent_workflow.Report("verdict", "One word", "GOOD|BAD", ("GOOD", "BAD"))
    back = (("BAD", "write"),)
    check = agent_workflow.Step("check", "Check it.", "critic", report=report, end=True, conditions=back)
    steps = (agent_workflow.Step("write", "Write it.", next="check"), check)
    answers = {"write": ["first", "second"], "check": ["It is:\n\nBAD", "GOOD"]}
    replies = {step: [{"exit": 0, "answer": answer} for answer in each] for step, each in answers.items()}
    return agent_workflow.Drawn(agent_workflow.Flow(steps, "a", "Do it."), "The task", replies)


def test_prompts_and_reports_of_a_workflow_are_known_word_by_word() -> None:
    taken = of_workflows.walk(two_steps())
    head = "Workflow: a\nStep: {}\nReports are in: /…/reports\n\nTask:\nThe task\n\n"
    asked = "End your answer with a line that has nothing but BAD or GOOD."
    check = f"Check it.\n\nA report like this is expected:\n\nOne word\n\n{asked}"
    assert [call.given for visit in taken.visits for call in visit.calls] == [
        head.format("write") + "Write it.",
        head.format("check") + check,
        head.format("write") + "What check said, and why this step runs again:\n\nIt is:\n\nBAD\n\nWrite it.",
        head.format("check") + check,
    ]
    assert taken.reports == {"write": ["first", "second"], "verdict": ["It is:\n\nBAD", "GOOD"]}
