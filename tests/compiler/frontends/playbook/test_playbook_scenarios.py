"""The scenarios of playbooks: how they are read, what is told of them, and what they come to."""

from pathlib import Path
from textwrap import dedent, indent

import pytest

from compiler.driver import Compilation, compile_file
from rdc.testing.tester import try_scenarios

BODY = (
    "\n# A\n## INPUTS\n- `topic` (string): what about\n- `size` (number: 3): how long\n"
    '## STEP 1: Get it\n@tool(conn, find, {"q": "{{topic}}"})\n@output(facts)\n'
    '## STEP 2: Ask\n@elicit(select, "How?", "short", "long {{topic}}")\n@output(how)\n'
    '## STEP 3: Write\n@prompt(library:style)\n\nWrite {{facts}}.\n@output(text, extract:"text")\n'
    '## STEP 4: Approve\n@elicit(confirm, "Good?")\n'
)


GOOD = """
a:
  inputs: {topic: cats, size: 1.50}
  tools: {1: "they purr", 3/prompt: kindly}
  answers: ["2 long cats", "yes"]
  agents: {3: ['{"text": "Cats purr."}']}
  result: COMPLETE
  outputs: {text: Cats purr., how: long cats, 4: yes, 3: '{"text": "Cats purr."}'}
"""


def compiled(tmp_path: Path, scenarios: str, beside: str = "") -> Compilation:
    (tmp_path / "rdc.toml").touch()
    front = f"---\nscenarios:\n{indent(dedent(scenarios).strip(), '  ')}\n---\n" if scenarios else ""
    path = tmp_path / "a.playbook.md"
    path.write_text(front + BODY, encoding="utf-8")
    if beside:
        (tmp_path / "a.scenarios.yaml").write_text(dedent(beside), encoding="utf-8")
    return compile_file(str(path))


def tried(found: Compilation) -> list[tuple[str, str]]:
    return [(result.status.value, result.message) for result in try_scenarios(found, (), 10.0)]


def with_(old: str, new: str) -> str:
    assert old in GOOD
    return GOOD.replace(old, new)


def test_scenarios_may_stand_in_a_file_beside(tmp_path: Path) -> None:
    found = compiled(tmp_path, "", GOOD)
    assert tried(found) == [("passed", "")]
    assert any(path.endswith("a.scenarios.yaml") for path in found.sources)
    assert len(compiled(tmp_path, GOOD, GOOD.replace("a:", "b:")).scenarios) == 2


AGENTS = '3: [\'{"text": "Cats purr."}\']'
BY_STEP = with_('answers: ["2 long cats", "yes"]', 'answers: {2: short, 4: ["no"]}')
FAILING = (('1: "they purr"', '1: {fail: "no server"}'), (AGENTS, '3: {fail: "no answer"}'), (AGENTS, '3: "  "'))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (GOOD, ""),
        (with_(", 3/prompt: kindly", ""), ""),
        (BY_STEP.replace("how: long cats, 4: yes", "how: short, 4: no"), ""),
        *((with_(*change).replace("COMPLETE", "STOP").split("  outputs:")[0], "") for change in FAILING),
        (with_("COMPLETE", "STOP"), "it should end with STOP"),
        (
            with_("text: Cats purr., how", "text: Dogs bark., how"),
            "the output `text` is “Cats purr.”; expected “Dogs bark.”",
        ),
        (
            GOOD.replace('\'{"text"', '\'{"test"', 1),
            'the output `text` is “{"test": "Cats purr."}”; expected “Cats purr.”',
        ),
        (
            with_('"2 long cats", ', '"2 long dogs", '),
            "`long dogs` is not an outcome of step 2; use one of short, long {{topic}}",
        ),
        (with_(', "yes"', ""), "the run waits at step 4, but the scenario has no answer left"),
        (with_(AGENTS, ""), "step 3 calls its agent, but the scenario has no answer for it"),
        (with_('1: "they purr", ', ""), "step 1 calls the tool conn.find, but the scenario has no answer for it"),
    ],
)
def test_runs_of_scenarios(text: str, problem: str, tmp_path: Path) -> None:
    found = compiled(tmp_path, text)
    assert found.diagnostics == ()
    assert tried(found) == [("failed" if problem else "passed", problem)]


UNCLEAR = {
    "there is no input `tropic`": ("topic: cats", "topic: cats, tropic: x"),
    "input `topic` is required": ("topic: cats, ", ""),
    "the value of input `size` is not valid: it is not a decimal number": ("1.50", "much"),
    "no step `9` calls an agent": ("agents: {", "agents: {9: x, "),
    "no step `3` calls a tool": ("tools: {", "tools: {3: x, "),
    "there is no output `nothing`": ("outputs: {", "outputs: {nothing: x, "),
}


@pytest.mark.parametrize("problem", UNCLEAR)
def test_what_does_not_fit_the_playbook_is_told_at_its_place(problem: str, tmp_path: Path) -> None:
    found = compiled(tmp_path, "", with_(*UNCLEAR[problem]))
    assert [(item.code, item.message) for item in found.diagnostics] == [
        ("RD014", f"scenario `a` cannot be tested: {problem}")
    ]
    [item] = found.diagnostics
    assert item.span
    assert item.path.endswith("a.scenarios.yaml")
    assert tried(found) == [("failed", problem)]


FLAWS = {
    "there is no key `agent`": ("agents:", "agent:"),
    "`inputs` must be a mapping of names to strings": ("inputs: {topic: cats, size: 1.50}", "inputs: [cats]"),
    "`topic` must be a string": ("topic: cats", "topic: [cats]"),
    "an answer of `3` must be a string or": ("3: ['", "3: [{fails: x}, '"),
    "a reply to `2` must be a string": ('answers: ["2 long cats", "yes"]', "answers: {2: [[x]]}"),
    "each reply must be a string": ('"yes"]', "[yes]]"),
    "`result` must be COMPLETE or STOP": ("COMPLETE", "DONE"),
}


@pytest.mark.parametrize("problem", FLAWS)
def test_errors_of_form_are_errors(problem: str, tmp_path: Path) -> None:
    found = compiled(tmp_path, with_(*FLAWS[problem]))
    assert found.program is None
    assert [item.code for item in found.diagnostics] == ["RD013"]
    assert problem in found.diagnostics[0].message


@pytest.mark.parametrize("beside", ["a: b: c", "- a", "a: [", "x\0y", "LINK"])
def test_a_file_beside_that_cannot_be_used_is_an_error(beside: str, tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    if beside == "LINK":
        (tmp_path / "b.yaml").write_text(GOOD)
        (project / "a.scenarios.yaml").symlink_to(tmp_path / "b.yaml")
    (found,) = compiled(project, "", beside.replace("LINK", "")).diagnostics
    assert (found.code, "through a link" in found.message) == ("RD743", beside == "LINK")


def test_keys_that_stand_twice_in_the_file_beside_are_errors(tmp_path: Path) -> None:
    found = compiled(tmp_path, "", "a:\n  result: STOP\n  result: COMPLETE\na:\n  result: STOP\n")
    assert found.program is None
    assert sorted(item.message for item in found.diagnostics if item.code == "RD013") == [
        "duplicate key `a`; only the last one would count",
        "duplicate key `result` in `a`; only the last one would count",
    ]
