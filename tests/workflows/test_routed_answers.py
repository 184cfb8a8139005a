"""Answers to what a workflow asks: given at once, in another run, by agents, by approvals; and what fits none."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from backends.github import GithubBackend
from compiler.ir.program import Program
from runtime_shim.editions import EDITIONS
from runtime_shim.engine.program import RefusedError
from runtime_shim.targets.github.api import HaltError
from runtime_shim.targets.github.steps import as_lines
from runtime_shim.tasks.answers import read_answers
from runtime_shim.tasks.replies import Script
from tests.workflows.routed import (
    COMPLETE,
    STOP,
    Agent,
    Ask,
    Gate,
    Keep,
    Shell,
    Variable,
    compiled,
    node,
    program,
    ref,
    text,
    to,
    words,
)
from tests.workflows.routed_runs import OPTIONS, ended, log, run


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
    answers = f"yes\nname<<END\n\t{NAME} \n\nEND\npick<<END\nfor {NAME}\nEND\nsure yes\ngate approved"
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
    assert done.summary.count("| ask Step ask | 1 | YES |") == 1


@pytest.mark.parametrize(
    ("given", "replies"),
    [
        ("a yes; b two words ;c x", [["a", "yes"], ["b", "two words"], ["c", "x"]]),
        ("b yes; no step", [["b", "yes; no step"]]),
        ("yes\n\nb  # text", [["", "yes"], ["b", " # text"]]),
        ("b<<E\n1\n\n2\nE\nc x", [["b", "1\n\n2"], ["c", "x"]]),
        ('{"b": ["1", "2"], "a": "yes"}', [["b", "1"], ["b", "2"], ["a", "yes"]]),
    ],
)
def test_the_forms_of_answers(given: str, replies: list[list[str]]) -> None:
    assert read_replies(_asked(a="confirm", b="input", c="select", d="shell"), given) == replies


def _asked(**kinds: str) -> dict[str, Any]:
    return {"nodes": {name: {"task": kind, "words": WORDS.get(kind, ["x", "Y"])} for name, kind in kinds.items()}}


WORDS = {"confirm": ["yes", "no"], "gate": ["approved", "rejected"]}


def read_replies(made: dict[str, Any], given: str) -> list[list[str]]:
    """The answers of the input `answers`, each with its step."""
    kinds = {task: kind for each in EDITIONS["agents"].kinds() for task, kind in each.performers.items()}
    lines = as_lines(made, given)
    found = read_answers("answers", lines, made["nodes"], lambda text, nodes: Script(nodes, kinds).read(text))
    return [[answer.step or "", answer.reply] for answer in found]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ('{"b": broken', "the answers look like JSON, but are not valid"),
        ('{"d": "yes"}', "d takes no answer"),
        ("a maybe", "expected one of yes, no for a"),
        ("g yes", "expected one of approved, rejected for g"),
        ("c y", "expected one of x, Y for c"),
        ('{"a": ["yes", 3]}', "the answers of a must be a string or a list of strings"),
    ],
)
def test_answers_that_fit_no_question_are_refused_before_anything_runs(given: str, says: str) -> None:
    with pytest.raises((RefusedError, HaltError), match=says):
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
    assert (ended(done), done.conclusion) == ("WAITING 1", "failure"), done.log
    assert "for me: expected one of for you, o" in done.log
    done = run(tmp_path, workflow, {}, 2, inputs={"answers": "o\napproved", "resume": "1"})
    assert ended(done) == "WAITING 2", done.log


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
    assert [(step, said) for step, said, _ in log(tmp_path)] == [("1", "One"), ("4", "Hello Ann")]


@pytest.mark.parametrize("kind", ["confirm", "select", "input"])
def test_an_agent_answers_nothing_but_yes_or_no(kind: str) -> None:
    options = (text("A b"), text("c")) if kind == "select" else ()
    made = program(node("1", Ask(kind, text("?"), options=options), to(COMPLETE)))  # type: ignore[arg-type]
    found = GithubBackend().emit(made, {**OPTIONS, "prompts": "agent"}).diagnostics
    assert [item.code for item in found] == ["RD533"]


def test_an_agent_answers_a_question(tmp_path: Path) -> None:
    made = program(
        node("1", Ask("pass_fail", text("?")), to("2", "pass"), to(STOP)),
        node("2", Ask("yes_no", text("?")), to(COMPLETE, "pass"), to(STOP)),
    )
    done = run(tmp_path, compiled(made, {**OPTIONS, "prompts": "agent"}), {"1": ["I think\n\n**PASS**"], "2": ["Yes."]})
    assert ended(done) == "COMPLETE", done.log


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


def test_a_command_that_people_may_copy_quotes_the_answer(tmp_path: Path) -> None:
    made = program(node("1", Ask("select", text("?"), options=(text("it's; touch x; '"), text("o"))), to(COMPLETE)))
    done = run(tmp_path, compiled(made), {})
    lines = re.findall(r"gh workflow run .* -f answers=.*", done.log + done.summary)
    assert len(lines) == 3
    assert {shlex.split(line)[-1] for line in lines} == {"answers=1 it's; touch x; '", "answers=1 o"}


def test_no_agent_answers_for_a_person_in_a_loop_that_has_both(tmp_path: Path) -> None:
    made = program(
        node("1", Agent("", text("Write")), to("2")),
        node("2", Ask("yes_no", text("Is it good?")), to(COMPLETE, "pass"), to("1", "fail")),
    )
    workflow = compiled(made, OPTIONS)
    assert "RDC_AGENT:" not in workflow
    done = run(tmp_path, workflow, {"1": ["Done."], "2": ["YES"]})
    assert ended(done) == "WAITING 2", done.log
    assert [step for step, *_ in log(tmp_path)] == ["1"]
