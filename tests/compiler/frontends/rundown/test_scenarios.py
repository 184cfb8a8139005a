"""Scenarios whatever their format: what is common, and how a front end brings keys of its own."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from compiler.diagnostics.issues import InvalidError, OptionSource, diagnostics
from compiler.diagnostics.model import Issue
from compiler.frontends.rundown.declarations.frontmatter import scenario_keys
from compiler.scenarios.mock import mock
from compiler.scenarios.model import Event, Goto, InvalidEvent, Keys, Locate, Reply, Scenario, Script, read_scenarios
from compiler.text.source import Span
from tests.support.documents import compiled

SPANS = {(): Span(1, 1, 9, 1), ("a",): Span(2, 1, 2, 9), ("a", "agents"): Span(3, 1, 3, 9)}


def _answers_by_step(content: Mapping[str, object], _: Locate) -> Script:
    """As a format might have it whose agents are asked: inputs, and the answers of each step."""
    agents, inputs = content.get("agents", {}), content.get("inputs", {})
    if not isinstance(agents, dict) or not isinstance(inputs, dict):
        raise InvalidError(Issue(("agents",), "`agents` is not a mapping"))
    return Script(tuple(Reply(step, text) for step, texts in agents.items() for text in texts), inputs=inputs)


KEYS = Keys(frozenset({"agents", "inputs"}), _answers_by_step)


THE_KEYS = "the keys are agents, description, inputs, result"


def read(content: object) -> tuple[tuple[Scenario, ...], list[tuple[str, Span | None]]]:
    scenarios, issues = read_scenarios({"a": content}, SPANS, KEYS)
    found = diagnostics(issues, OptionSource("RD013", "x.md", None).around(SPANS))
    return scenarios, [(one.message, one.span) for one in found]


def test_a_format_brings_keys_of_its_own() -> None:
    content = {"agents": {"2": ["one", "two\nlines"], "1": ["x"]}, "inputs": {"name": "v"}, "result": "STOP"}
    (scenario,), problems = read(content)
    assert problems == []
    assert scenario == Scenario("a", "", prompted=False, inputs={"name": "v"}, replies=scenario.replies, ends="STOP")
    assert scenario.replies == (Reply("2", "one"), Reply("2", "two\nlines"), Reply("1", "x"))
    assert [reply.line for reply in scenario.answers] == ["2 one", "2 two\nlines", "1 x"]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (5, [("scenario `a`: it must be a mapping", SPANS["a",])]),
        ({"agents": 5, "result": "STOP"}, [("scenario `a`: `agents` is not a mapping", SPANS["a", "agents"])]),
        ({"agents": {}}, [("scenario `a`: `result` must be COMPLETE or STOP", SPANS["a",])]),
        ({"commands": [], "result": "STOP"}, [(f"scenario `a`: there is no key `commands`; {THE_KEYS}", SPANS["a",])]),
        ({"result": "STOP", "description": ["x"]}, [("scenario `a`: `description` must be a string", SPANS["a",])]),
    ],
    ids=["no-mapping", "own", "result", "key-of-another-format", "description"],
)
def test_errors_have_their_places_in_every_format(content: object, expected: list[tuple[str, Span | None]]) -> None:
    assert read(content) == ((), expected)


def test_the_commands_of_a_runbook() -> None:
    lines = ["rd run --prompted x.md", "rd yes # sure", "rd no", "rd goto '1.2'", "# nothing", "rd dance"]
    (scenario,), problems = read_scenarios({"a": {"commands": lines, "result": "STOP"}}, SPANS, scenario_keys("x.md"))
    assert problems == []
    assert scenario.prompted
    assert scenario.inputs == {}
    assert scenario.replies == (
        Reply(None, "pass"),
        Reply(None, "fail"),
        Goto("1.2", SPANS["a",], "rd goto"),
        InvalidEvent("`rd dance` must be `rd pass|yes|ok`, `rd fail|no` or `rd goto ID`", SPANS["a",]),
    )


ASKS = "## 1. One\n\nDone?\n\n- FAIL: CONTINUE\n\n## 2. Two\n\nDone?\n\n- FAIL: STOP\n"


WAITS = "the run waits at step 1, but the scenario has no answer left"


@pytest.mark.parametrize(
    ("replies", "visits", "message"),
    [
        ((Reply("2", "fail"), Reply(None, "pass")), [("1", "pass"), ("2", "fail")], ""),
        ((Reply("2", "pass"), Reply("2", "pass")), [], WAITS),
        ((Goto("9", None, "skip to"),), [], "there is no step `9`"),
    ],
)
def test_what_replies_answer(
    tmp_path: Path, replies: tuple[Event, ...], visits: list[tuple[str, str]], message: str
) -> None:
    program = compiled(tmp_path, ASKS).program
    assert program
    found = mock(program, Scenario("a", "", False, {}, replies, "STOP"))
    assert ([(made.step, made.outcome.word) for made in found.path.visits], found.message) == (visits, message)
