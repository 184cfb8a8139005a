"""The oracles by hand-derived examples: the rules that are easily misread.

Those of programs are in docs/reference/program-rules.md; E1 to E10 are what runbooks declare.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.differential.case import Case, Json
from tests.differential.generate import agent_workflow, playbook
from tests.differential.generate import rundown_model as model
from tests.differential.generate.rundown import Drawn, Outcomes
from tests.differential.oracles import agent_workflow as of_workflows
from tests.differential.oracles import playbook as of_playbooks
from tests.differential.oracles import rundown
from tests.differential.oracles.answers import (
    MalformedError,
    answer_of,
    extracted,
    filled,
    fits,
    joined,
    passed,
    values_of,
    word_of,
    written,
)
from tests.differential.oracles.program import walk
from tests.differential.oracles.rundown_parts import Scope, Slots, trace_of
from tests.differential.oracles.rundown_parts import written as what_commands_write
from tests.support.program_json import edge, node
from tests.support.program_json import program_of as program

INPUT = {"kind": "ask", "question": "input", "prompt": ""}
SHELL = {"kind": "shell", "interpreter": "sh", "command": ["x"]}
GATE = {"kind": "gate", "gate": "g"}
KEEP = {"kind": "keep", "slot": "s"}


def ask(*replies: str) -> list[Json]:
    return [{"reply": reply} for reply in replies]


# --- Texts (I6) -------------------------------------------------------------------------------------------------------

REFERENCE = {"register": "s", "written": "{{s}}", "missing": "none", "before": "<", "after": ">"}


@pytest.mark.parametrize(
    ("held", "text"),
    [({"s": "v"}, "a<v>b"), ({"s": ""}, "a<>b"), ({"s": None}, "anoneb"), ({"s": "{{s}}"}, "a<{{s}}>b")],
)
def test_a_reference_is_filled_in_one_pass(held: dict[str, Any], text: str) -> None:
    assert filled(["a", REFERENCE, "b"], held) == text
    assert written(["a", REFERENCE, "b"]) == "a{{s}}b"


def test_a_counter_is_never_missing() -> None:
    assert filled([{"register": "c", "missing": "none"}], {"c": 0}) == "0"


# --- Answers and words (I11, I12) -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("printed", "answer"),
    [
        (" \t\r\n\v\f yes \n", "yes"),
        ("\xa0yes\u2028", "\xa0yes\u2028"),
        ("a\0b", "a\ufffdb"),
        ("\udcff", "\ufffd"),
        ("\n", None),
        ("x" * 1_048_577, None),
    ],
)
def test_what_an_answer_is(printed: str, answer: str | None) -> None:
    assert answer_of({"exit": 0, "answer": printed}) == answer


def test_only_a_tool_may_answer_with_nothing() -> None:
    assert answer_of({"exit": 0, "answer": "\n"}, may_be_empty=True) == ""
    assert answer_of({"exit": 1, "answer": "yes"}, may_be_empty=True) is None


WORDS: list[tuple[str | None, str, Json]] = [
    (None, "failed", {}),
    ("It is DONE.", "ambiguous", {}),
    ("It is done.", "none", {}),
    ("It is rejected.", "ambiguous", {"keywords": ["REJECTED"]}),
    ("It is REJECTED.", "none", {"keywords": ["REJECTED"], "excused": ["REJECTED"]}),
    ("UNDONE DONE_ éDONE 1DONE", "none", {}),
    ("**DONE**", "DONE", {}),
    ("- 1. `Done`.", "DONE", {}),
    ("not done", "NOT DONE", {}),
    ("Result: done!", "DONE", {}),
    ("No result: done", "none", {}),
    ("No result: DONE", "ambiguous", {}),
    ("Verdict: DONE", "ambiguous", {"validation": "Verdict: (.*NE|)X?", "keywords": ["RETRY", "DON"]}),
    ("Verdict: DONE", "DONE", {"validation": "Verdict: (.*NE|)X?"}),
    ("done\nRETRY\nok", "ambiguous", {}),
    ("RETRY\nit is done", "RETRY", {}),
    ("RETRY\nSo: DONE", "DONE", {}),
    ("So: RETRY\nSo: DONE", "ambiguous", {}),
    ("DONE: it fails", "ambiguous", {}),
    ("DONE: it fails", "DONE", {"failing": ["DONE"]}),
    ("DONE - it fails", "DONE", {"failing": ["DONE"]}),
    ("DONE-it fails", "ambiguous", {"failing": ["DONE"]}),
    ("> DONE\n\nRETRY", "RETRY", {}),
    ("> a\nDONE", "DONE", {}),
    ("```\nDONE\n```\nRETRY", "RETRY", {}),
    ("```\nDONE", "ambiguous", {}),
    ("a\n\n    DONE", "none", {}),
    ("<!-- DONE -->", "none", {}),
    ("# done", "none", {}),
    ("# DONE", "DONE", {}),
    ("\x1b]0;DONE\x07RETRY\x1b[0m", "RETRY", {}),
    ("DONE RETRY\nso done", "ambiguous", {}),
    ("NOT DONE, DONE", "ambiguous", {}),
    ("DONE\rRETRY", "ambiguous", {}),
    ("NOT\nDONE", "DONE", {}),
    ("x", "invalid", {"validation": "score"}),
    ("DONE", "invalid", {"validation": "score"}),
    ("DONE\nscores", "invalid", {"validation": "score"}),
    ("RETRY", "RETRY", {"validation": "score"}),  # excused
    ("RETRY DONE", "invalid", {"validation": "score"}),
    ("Score: 1\nDONE", "DONE", {"validation": "score"}),
    ("score RETRY DONE", "ambiguous", {"validation": "score"}),
    ("a\nscore", "none", {"validation": "score"}),
    ("a\nok", "invalid", {"validation": "^ok"}),  # ^ is the beginning of the answer
]


@pytest.mark.parametrize(("answer", "word", "more"), WORDS)
def test_the_word_of_an_answer(answer: str | None, word: str, more: Json) -> None:
    reading = {"keywords": ["DONE", "RETRY", "NOT DONE"], "excused": ["RETRY"], **more}
    assert word_of(answer, reading) == word


def test_without_keywords_an_answer_is_enough() -> None:
    assert (word_of("x", {}), word_of(None, {})) == ("pass", "fail")


# --- Parallel steps (I14) ---------------------------------------------------------------------------------------------

FAILING = {"failing": ["NO", "BAD"]}
JOINED: list[tuple[str, str, Json]] = [
    ("OK invalid failed ambiguous", "failed", {}),
    ("OK ambiguous invalid", "invalid", {}),
    ("NO ambiguous", "ambiguous", FAILING),
    ("OK OK none", "ambiguous", {}),
    ("NO OK none", "NO", FAILING),
    ("OK none", "OK", {"check": "any"}),
    ("OK GOOD", "ambiguous", {}),
    ("none none", "ambiguous", {}),
    ("OK BAD NO", "BAD", FAILING),
    ("OK GOOD NO", "NO", FAILING),
    ("NO GOOD OK", "GOOD", {**FAILING, "check": "any"}),
    ("none NO BAD", "NO", {**FAILING, "check": "any"}),
    ("none none", "none", {"check": "any"}),
    ("OK OK", "OK", {"unanimous": ["OK"], "failing": ["OK"]}),
    ("OK none", "ambiguous", {"unanimous": ["OK"]}),
    ("OK none", "none", {"unanimous": ["OK", "NO", "BAD", "GOOD"]}),
    ("OK GOOD", "ambiguous", {"unanimous": ["OK"]}),
    ("OK GOOD", "GOOD", {"unanimous": ["OK"], "check": "any"}),
]


@pytest.mark.parametrize(("words", "word", "task"), JOINED)
def test_the_words_of_a_parallel_step_are_joined(words: str, word: str, task: Json) -> None:
    entries = [{"reading": {"keywords": ["OK", "NO", "BAD", "GOOD"]}}]
    assert joined(words.split(), {"entries": entries, **task}) == word


def test_a_parallel_step_without_keywords() -> None:
    assert [passed(("x", None), task) for task in ({}, {"check": "any"})] == ["fail", "pass"]


def test_the_text_of_a_parallel_step_is_the_answers_that_exist() -> None:
    agent = {"kind": "agent", "agent": "", "prompt": "p"}
    step = node("1", {"kind": "parallel", "entries": [agent] * 3}, edge("end"))
    answers = [{"exit": code, "answer": answer} for code, answer in ((0, "a\n"), (1, "b"), (0, "c"))]
    (visit,) = walk(Case(program(step), {}, {"1": [{"entries": answers}]})).visits
    assert (visit.word, visit.text) == ("fail", "a\n\nc")
    assert [call.entry for call in visit.calls] == [0, 1, 2]


# --- Values (I9, I7) --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "values"),
    [
        ("", {}),
        ("a=1\na=2\n", {"a": "2"}),
        ("a=b=c<<d", {"a": "b=c<<d"}),
        ("a<<E=x\n=\nE=x\nb=\n", {"a": "=", "b": ""}),
        ("a<<E\nE\n", {"a": ""}),
        ("a<<E\none\n\nE\n", {"a": "one\n"}),
        ("a=x\r\n", {"a": "x\r"}),
    ],
)
def test_values_are_read(written: str, values: dict[str, str]) -> None:
    assert values_of(written, {"a", "b"}) == values


@pytest.mark.parametrize(
    "written",
    ["other=1\n", " a=1\n", "a\n", "\n", "a<<E\nno end\nE \n", "a<<\n\n", "a=\0\n", f"a={'x' * 65_537}\n", "=x\n"],
)
def test_a_malformed_line_is_noticed(written: str) -> None:
    with pytest.raises(MalformedError):
        values_of(f"b=1\n{written}", {"a", "b"})


def test_a_value_fits_by_its_bytes() -> None:
    assert fits("x" * 65_536)
    assert not fits("é" * 32_769)


KEEPING = (
    edge(
        "end", {"kind": "keep", "slot": "s", "of": "output", "name": "v"}, guard=({"kind": "outcome", "word": "pass"},)
    ),
    edge("end", {"kind": "keep", "slot": "s", "of": "output", "name": "v"}),
)


@pytest.mark.parametrize(
    ("reply", "word", "held"),
    [
        ({"exit": 0, "output": "v=new\n"}, "pass", "new"),
        ({"exit": 1, "output": "v=new\n"}, "fail", "new"),  # what a failing command wrote counts too
        ({"exit": 0, "output": "v=new\nv\n"}, "fail", "old"),  # none counts
        ({"exit": 0, "output": None}, "pass", "old"),
    ],
)
def test_a_command_gives_values(reply: Json, word: str, held: str) -> None:
    found = program(node("1", SHELL, *KEEPING), slots=[{"name": "s", "initial": "old"}])
    taken = walk(Case(found, {}, {"1": [{"says": "", **reply}]}))
    assert (taken.visits[0].word, taken.held["s"]) == (word, held)


def test_a_variable_that_does_not_fit_does_not_let_a_task_begin() -> None:
    first = node("1", INPUT, edge("2", KEEP))
    agent = {"kind": "agent", "agent": "", "prompt": "p", "reading": {"keywords": ["OK"]}}
    second = node("2", agent, edge("end"), variables=[{"name": "V", "register": "s"}])
    replies = {"1": ask("x" * 65_537), "2": [{"exit": 0, "answer": "OK"}]}
    visit = walk(Case(program(first, second, slots=[{"name": "s"}]), {}, replies)).visits[1]
    assert (visit.word, visit.calls, visit.text) == ("failed", (), "")


# --- Extraction (I19) -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        ("none", "none"),
        (" {} ", " {} "),
        ('x {"f": " one "} y', "one"),
        ('{"f": 1} {"f": 2} {"g": 3}', "2"),
        ('{"f": {"f": {"g": 1}}}', '{"g":1}'),  # the inner object begins later
        ('{"f": 1, "g": {"h": 2}}', "1"),
        ('{"f": 1} {"f": 2', "1"),
        ('{"g": "{\\"f\\": 1}", "f": ["é", true, null]}', '["é",true,null]'),
        ('{"f": NaN}', '{"f": NaN}'),
        ('{"f": "\\"\\\\\\n"}x', '"\\'),
        ('{"f": "a\\u0000b\\ud800"}', "a\ufffdb\ufffd"),
    ],
)
def test_the_last_object_with_the_field_counts(answer: str, value: str) -> None:
    assert extracted(answer, "f") == value


# --- Guards, effects, limits (I17 to I24) -----------------------------------------------------------------------------


def test_guards_see_what_was_before_and_branches_what_came_of_it() -> None:
    tests = ({"kind": "counter", "register": "c", "operator": ">=", "value": 1},)
    one = node("1", INPUT, edge("end", guard=tests), edge("2", {"kind": "add", "register": "c", "amount": 1}))
    two = node("2", {"kind": "branch"}, edge("1", {"kind": "add", "register": "c", "amount": "c"}, guard=tests))
    two["edges"].append(edge("end"))
    taken = walk(Case(program(one, two, registers=[{"name": "c", "scope": ""}]), {}, {"1": ask("")}))
    assert [visit.before["c"] for visit in taken.visits] == [0, 2]


def test_effects_apply_in_order() -> None:
    effects: list[Json] = [
        {"kind": "set", "register": "c", "value": 3},
        {"kind": "add", "register": "d", "amount": "c"},
        {"kind": "at_least", "register": "c", "value": 5},
        {"kind": "at_least", "register": "d", "value": 1},
        KEEP,
        {"kind": "clear", "slot": "s"},
    ]
    registers = [{"name": "c", "scope": ""}, {"name": "d", "scope": "", "initial": -1}]
    found = program(node("1", INPUT, edge("end", *effects)), registers=registers, slots=[{"name": "s"}])
    assert walk(Case(found, {}, {"1": ask("x")})).held == {"c": 5, "d": 2, "s": None}


def test_a_reset_reaches_the_scopes_inside() -> None:
    names = {"c": "2", "d": "2/a", "e": "2a", "f": ""}
    registers = [{"name": name, "scope": scope, "initial": 7} for name, scope in names.items()]
    changed: list[Json] = [{"kind": "set", "register": name, "value": 1} for name in names]
    found = program(node("1", INPUT, edge("end", *changed, {"kind": "reset", "scope": "2"})), registers=registers)
    assert walk(Case(found, {}, {"1": ask("")})).held == {"c": 7, "d": 7, "e": 1, "f": 1}


def test_an_unset_slot_is_the_empty_text() -> None:
    tests = ({"kind": "slot", "slot": "s", "operator": "!=", "text": ""},)
    one = node("1", {"kind": "branch"}, edge("2", guard=tests), edge("end"))
    two = node("2", INPUT, edge("end"))
    assert walk(Case(program(one, two, slots=[{"name": "s"}]), {}, {"2": ask("")})).visits == ()


def test_a_limit_counts_tasks_but_no_gates() -> None:
    one = node("1", INPUT, edge("2"))
    two = node("2", GATE, edge("1"))
    taken = walk(Case(program(one, two, limit=2), {}, {"1": ask(""), "2": [{"reply": True}]}))
    assert str(taken) == "1+ 2=approved 1+ 2=approved => STOP 1: the limit of 2 steps was reached"


def test_an_attempt_is_one_more_than_its_counter() -> None:
    again = edge("1", {"kind": "add", "register": "c", "amount": 1})
    registers = [{"name": "c", "scope": "", "initial": 2}]
    taken = walk(Case(program(node("1", INPUT, again, retries="c"), limit=2, registers=registers), {}, {"1": ask("")}))
    assert [visit.attempt for visit in taken.visits] == [3, 4]


# --- Questions (I10) --------------------------------------------------------------------------------------------------


def test_of_two_options_that_are_filled_in_alike_the_first_counts() -> None:
    options = ["x", [{"register": "s", "written": "{a}"}], [{"register": "s", "written": "{b}"}]]
    select = {"kind": "ask", "question": "select", "prompt": "p", "options": options}
    found = program(node("1", select, edge("end")), slots=[{"name": "s", "initial": "v"}])
    (visit,) = walk(Case(found, {}, {"1": [{"reply": 2}]})).visits
    assert (visit.word, visit.text) == ("{a}", "v")
    assert visit.question
    assert visit.question.options == ("x", "v", "v")


@pytest.mark.parametrize(
    ("question", "word", "text"), [("pass_fail", "fail", "fail"), ("yes_no", "fail", "no"), ("confirm", "no", "no")]
)
def test_the_words_of_yes_and_no(question: str, word: str, text: str) -> None:
    task = {"kind": "ask", "question": question, "prompt": ""}
    (visit,) = walk(Case(program(node("1", task, edge("end"))), {}, {"1": [{"reply": False}]})).visits
    assert (visit.word, visit.text) == (word, text)


def test_a_tool_gets_values_as_json_needs_them() -> None:
    arguments = ['{"q": "', {"register": "s"}, {"register": "t", "missing": '"'}, '"}']
    tool = {"kind": "tool", "connection": "c", "tool": "t", "arguments": arguments}
    found = program(node("1", tool, edge("end")), slots=[{"name": "s", "initial": 'a"\n\\'}, {"name": "t"}])
    (visit,) = walk(Case(found, {}, {"1": [{"exit": 0, "answer": ""}]})).visits
    assert visit.calls[0].given == '{"tool": "t", "arguments": {"q": "a\\"\\n\\\\\\""}}'
    assert (visit.word, visit.text) == ("pass", "")


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


# --- Prompts of playbooks and workflows, word by word -----------------------------------------------------------------


def test_the_prompt_of_a_second_step_has_what_came_of_the_first() -> None:
    first = playbook.Step("1", "First", ("Say it.",), playbook.Output("topic"))
    second = playbook.Step("2", "Second", ("About ", playbook.Name("topic")))
    drawn = playbook.Drawn(playbook.Book((first, second)), {}, {"1": {"exit": 0, "answer": "cats"}})
    prompts = [call.given for visit in of_playbooks.walk(drawn).visits for call in visit.calls]
    assert prompts == ["Say it.", "## Output of step 1: First (topic)\n\ncats\n\nAbout cats"]


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
