"""Scenarios whatever their format: what is common, and how a front end brings keys of its own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from compiler.frontends.rundown.commands import scenario_keys
from compiler.scenarios import (
    Event,
    Flaw,
    Goto,
    Keys,
    Locate,
    Mistake,
    Reply,
    Scenario,
    Script,
    Unclear,
    read_scenarios,
)
from compiler.source import Span
from rdc.trials.rehearsal import Rehearsal, rehearse
from tests.compiler.documents import compiled

SPANS = {(): Span(1, 1, 9, 1), ("a",): Span(2, 1, 2, 9), ("a", "agents"): Span(3, 1, 3, 9)}


def _answers_by_unit(content: Mapping[str, object], _: Locate) -> Script | list[Flaw]:
    """As a format might have it whose agents are asked: inputs, and the answers of each unit."""
    agents, inputs = content.get("agents", {}), content.get("inputs", {})
    if not isinstance(agents, dict) or not isinstance(inputs, dict):
        return [Flaw(("agents",), "`agents` is not a mapping")]
    replies = tuple(Reply(unit, text) for unit, texts in agents.items() for text in texts)
    return Script(replies, inputs=inputs)


KEYS = Keys(frozenset({"agents", "inputs"}), _answers_by_unit)


def read(content: object) -> tuple[tuple[Scenario, ...], list[Mistake]]:
    return read_scenarios({"a": content}, SPANS, KEYS)


def test_a_format_brings_keys_of_its_own() -> None:
    content = {"agents": {"2": ["one", "two\nlines"], "1": ["x"]}, "inputs": {"name": "v"}, "result": "STOP"}
    (scenario,), mistakes = read(content)
    assert mistakes == []
    assert scenario == Scenario("a", "", prompted=False, inputs={"name": "v"}, replies=scenario.replies, ends="STOP")
    assert scenario.replies == (Reply("2", "one"), Reply("2", "two\nlines"), Reply("1", "x"))
    assert [reply.line for reply in scenario.answers] == ["2 one", "2 two\nlines", "1 x"]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (5, [Mistake("scenario `a`: it is not a mapping", SPANS["a",])]),
        ({"agents": 5, "result": "STOP"}, [Mistake("scenario `a`: `agents` is not a mapping", SPANS["a", "agents"])]),
        ({"agents": {}}, [Mistake("scenario `a`: `result` is COMPLETE or STOP", SPANS["a",])]),
        (
            {"commands": [], "result": "STOP"},
            [
                Mistake(
                    "scenario `a`: there is no key `commands`; the keys are agents, description, inputs, result",
                    SPANS["a",],
                )
            ],
        ),
        (
            {"result": "STOP", "description": ["x"]},
            [Mistake("scenario `a`: `description` is not a text", SPANS["a",])],
        ),
    ],
    ids=["no-mapping", "own", "result", "key-of-another-format", "description"],
)
def test_mistakes_have_their_places_in_every_format(content: object, expected: list[Mistake]) -> None:
    assert read(content) == ((), expected)


def test_the_commands_of_a_runbook() -> None:
    lines = ["rd run --prompted x.md", "rd yes # sure", "rd no", "rd goto '1.2'", "# nothing", "rd dance"]
    (scenario,), mistakes = read_scenarios({"a": {"commands": lines, "result": "STOP"}}, SPANS, scenario_keys("x.md"))
    assert mistakes == []
    assert scenario.prompted
    assert scenario.inputs == {}
    assert scenario.replies == (
        Reply(None, "pass"),
        Reply(None, "fail"),
        Goto("1.2", SPANS["a",], "rd goto"),
        Unclear("`rd dance` is not one of `rd pass|yes|ok`, `rd fail|no` and `rd goto ID`", SPANS["a",]),
    )


# --- Rehearsal --------------------------------------------------------------------------------------------------------

ASKS = "## 1. One\n\nDone?\n\n- FAIL: CONTINUE\n\n## 2. Two\n\nDone?\n\n- FAIL: STOP\n"


def played(tmp_path: Path, *replies: Event) -> Rehearsal:
    compilation = compiled(tmp_path, ASKS)
    assert compilation.program
    return rehearse(compilation.program, Scenario("a", "", False, {}, replies, "STOP"))


def test_a_reply_of_a_unit_waits_for_it(tmp_path: Path) -> None:
    rehearsal = played(tmp_path, Reply("2", "fail"), Reply(None, "pass"))
    assert [(made.unit, made.outcome.word) for made in rehearsal.walk.visits] == [("1", "pass"), ("2", "fail")]
    assert rehearsal.problem == ""


def test_a_reply_of_a_unit_answers_no_other(tmp_path: Path) -> None:
    rehearsal = played(tmp_path, Reply("2", "pass"), Reply("2", "pass"))
    assert rehearsal.walk.visits == ()
    assert rehearsal.problem == "it waits at 1, and no answer is left"


def test_a_jump_is_called_what_its_format_calls_it(tmp_path: Path) -> None:
    assert played(tmp_path, Goto("9", None, "skip to")).problem == "`skip to 9`: there is no such unit"
