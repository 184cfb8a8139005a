"""Rules in workflows: the proof is enough there, except where only a person may answer."""

import pytest

from backends.github import GithubBackend
from compiler.ir.program import Program
from compiler.ir.rules import Event, Rule
from compiler.ir.tasks import Ask, Gate, Task
from compiler.ir.texts import text
from tests.support.runtime_programs import edge, node, program, sh


def deploys(task: Task, word: str, *persons: str, command: str = "true") -> Program:
    rule = Rule("approved", "1 before 2", (Event("2"),), (Event("1", word),), needs="1", persons=persons)
    no = "rejected" if word == "approved" else "fail"
    return program(
        node("1", task, edge("2", word), edge("STOP", no)),
        node("2", sh(command), edge("COMPLETE", "pass"), edge("STOP", "fail")),
        rules=(rule,),
    )


QUESTION, GATE = Ask("yes_no", text("Deploy?")), Gate("1", text("Deploy?"))


@pytest.mark.parametrize("persons", [(), ("1",)])
def test_native_steps_need_nothing_for_rules(persons: tuple[str, ...]) -> None:
    emission = GithubBackend().emit(deploys(QUESTION, "pass", *persons), {})
    assert emission.text is not None
    assert emission.reason is None
    assert emission.text == GithubBackend().emit(deploys(QUESTION, "pass"), {}).text


def test_a_question_that_a_workflow_gives_to_anyone_is_refused_by_its_rule() -> None:
    emission = GithubBackend().emit(deploys(QUESTION, "pass", "1"), {"prompts": "answers"})
    assert emission.text is None
    messages = [one.message for one in emission.diagnostics]
    assert messages == ["rule approved needs a person's answer at step 1, but a workflow can't see who answers"]
    assert GithubBackend().emit(deploys(QUESTION, "pass"), {"prompts": "answers"}).text is not None


@pytest.mark.parametrize(
    ("options", "is_written"),
    [({"environment": "production"}, True), ({}, False), ({"environment": "production", "prompts": "answers"}, False)],
)
def test_a_gate_needs_an_environment_with_reviewers(options: dict[str, str], is_written: bool) -> None:
    emission = GithubBackend().emit(deploys(GATE, "approved", "1"), options)
    assert (emission.text is not None) == is_written, emission.diagnostics
