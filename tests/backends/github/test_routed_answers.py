"""Answers to what a workflow asks: in runs that continue others, by agents; and what fits none."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from backends.github import GithubBackend
from compiler.ir.program import Program
from tests.backends.github.routed import (
    COMPLETE,
    STOP,
    Agent,
    Ask,
    End,
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
from tests.backends.github.routed_runs import OPTIONS, ended, log, run

pytestmark = pytest.mark.tool


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
        node("gate", Gate("p", words("Let ", ref("name"), " in")), to("last", "approved"), to("sure", "rejected")),
        node(
            "last",
            Shell("sh", text('printf "%s" "$NAME" > "$FOLDER/name"')),
            to(COMPLETE),
            variables=(Variable("NAME", "name"),),
        ),
        slots=("name",),
    )


def test_the_page_shows_the_question_and_what_each_answer_leads_to(tmp_path: Path) -> None:
    made = program(
        node("1", Ask("yes_no", text("")), to("Bad", "pass"), to("2", "fail"), title="Does it <b>hold</b> a password?"),
        node("2", Ask("yes_no", text("Look `twice`.")), to("1", "pass"), to(COMPLETE, "fail"), title="Is it good?"),
        node("Bad", End("stop", text("Revoke $(it)"))),
    )
    done = run(tmp_path, compiled(made), {})
    first, _, rest = done.summary.partition("### WAITING 1\n")
    assert not first.strip()
    assert "    1. Does it <b>hold</b> a password?\n" in rest, "in a block of code"
    command = "gh workflow run workflow.yml --ref main -f resume=1 -f answers="
    assert f"    YES: STOP Revoke $(it)\n        {command}'1 yes'\n" in rest
    assert f"    NO: continue with 2. Is it good?\n        {command}'1 no'\n" in rest
    assert "1 needs an answer: 1. Does it <b>hold</b> a password?" in done.log
    done = run(tmp_path, compiled(made), None, 2, inputs={"resume": "1", "answers": "no"})
    assert "    Look `twice`.\n" in done.summary
    assert "    NO: COMPLETE\n" in done.summary


NAME = "Ann; $(touch x)\n# B. yes"


def test_each_answer_is_given_in_a_run_that_continues_the_one_that_waits(tmp_path: Path) -> None:
    workflow = compiled(asking(), {"summary": True})
    done = run(tmp_path, workflow, {})
    replies = [
        *("yes", f"name {NAME}", f"for {NAME}", "sure yes", "gate rejected"),
        *("yes", "approved"),
    ]
    waits = ["ask", "name", "pick", "sure", "gate", "sure", "gate"]
    for number, (reply, place) in enumerate(zip(replies, waits, strict=True), 1):
        assert ended(done) == f"WAITING {place}", done.log
        done = run(tmp_path, workflow, None, number + 1, inputs={"answers": reply, "resume": str(number)})
    assert ended(done) == "COMPLETE", done.log
    assert (tmp_path / "name").read_text() == NAME
    assert not list(tmp_path.rglob("x"))
    assert done.summary.count("| ask Step ask | YES, answered by line") == 1


def test_an_answer_that_does_not_fit_leaves_the_run_waiting(tmp_path: Path) -> None:
    made = program(
        node("1", Ask("select", text("?"), options=(words("for ", ref("x")), text("o"))), to(COMPLETE, "o"), to(STOP)),
        slots={"x": "you"},
    )
    workflow = compiled(made)
    run(tmp_path, workflow, {})
    done = run(tmp_path, workflow, None, 2, inputs={"answers": "1 for me", "resume": "1"})
    assert (ended(done), done.conclusion) == ("WAITING 1", "failure"), done.log
    assert "for me: expected one of for you, o" in done.log
    done = run(tmp_path, workflow, None, 3, inputs={"answers": "o", "resume": "2"})
    assert ended(done) == "COMPLETE", done.log


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


def test_a_command_that_people_may_copy_quotes_the_answer(tmp_path: Path) -> None:
    made = program(node("1", Ask("select", text("?"), options=(text("it's; touch x; '"), text("o"))), to(COMPLETE)))
    done = run(tmp_path, compiled(made), {})
    lines = re.findall(r"gh workflow run .* -f answers=.*", done.log + done.summary)
    assert len(lines) == 4
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
