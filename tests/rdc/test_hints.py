"""Hints at positions: keys and values from the JSON Schemas, in documents that are half written."""

import random
from importlib import import_module

import pytest

from compiler.driver import Settings
from compiler.frontends import FRONT_ENDS
from compiler.frontends.common import schemas
from compiler.frontends.common.limits import KEYS as LIMITS
from compiler.frontends.common.marks import Kind
from compiler.frontends.common.names import KEYS as OF_ALL
from compiler.frontends.common.scenarios import NAMES
from compiler.frontends.rundown.declarations import asks, steps
from compiler.frontends.rundown.declarations import schema as of_runbooks
from compiler.project.rules import OWN_KEYS
from rdc.documents import hints as hinting
from rdc.documents import table
from rdc.documents.hints import Hints, hints_at
from tests.support.any_text import mutated
from tests.support.marked import DOCUMENTS, opened

HEAD = "---\nrdc:\n  {}\n---\n\n## 1. A\n"


def possible(name: str, text: str) -> Hints | None:
    before, _, after = text.partition("¦")
    line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
    return hints_at(opened(name, before + after), Settings(), line, column)


def hinted(name: str, text: str) -> Hints:
    found = possible(name, text)
    assert found
    return found


CASES = [
    # file, text with the position, path, a choice, what does not fit
    ("a.runbook.md", "---\n¦\n", "", "rdc: ", "timeout: "),
    ("a.runbook.md", HEAD.format("in¦"), "rdc.in", "inputs: ", "name: "),
    ("a.runbook.md", HEAD.format("inputs:\n    x:\n      type: c¦"), "rdc.inputs.x.type", "choice", "text"),
    ("a.runbook.md", HEAD.format("inputs: {x: {type: string, re¦}}"), "rdc.inputs.x.re", "required: ", "type: "),
    ("a.runbook.md", HEAD.format('steps:\n    "1":\n      timeout: 1m\n      ¦'), "rdc.steps.1.", "env: ", "timeout: "),
    ("a.runbook.md", HEAD.format('steps: {"1": {¦}}'), "rdc.steps.1.", "asks: ", "inputs: "),
    ("a.runbook.md", HEAD.format("steps:\n    A: {by: ¦}"), "rdc.steps.A.by", "agent", "human"),
    ("a.runbook.md", HEAD.format("shell: ¦"), "rdc.shell", "strict", "bash"),
    ("a.runbook.md", HEAD.format("logs: t¦"), "rdc.logs", "true", "strict"),
    ("a.runbook.md", HEAD.format("github:\n    ¦"), "rdc.github.", "runs-on: ", "needs-nothing: "),
    ("a.runbook.md", "---\nscenarios:\n  a:\n    result: ¦\n---\n", "scenarios.a.result", "STOP", "PASS"),
    ("a.runbook.md", "---\nscenarios:\n  a:\n    c¦\n---\n", "scenarios.a.c", "commands: ", "answers: "),
    ("a.playbook.md", "---\nscenarios:\n  a:\n    a¦\n---\n", "scenarios.a.a", "answers: ", "commands: "),
    ("a.playbook.md", HEAD.format("steps: {1: {¦}}"), "rdc.steps.1.", "timeout: ", "asks: "),
    ("a.workflow.yaml", "name: a\n¦", "", "steps: ", "name: "),
    ("a.workflow.yaml", "steps:\n  - name: a\n    pro¦\n  - name: b\n", "steps.0.pro", "prompt: ", "name: "),
    ("a.workflow.yaml", "steps:\n  - ¦\n", "steps.0.", "name: ", "steps: "),
    ("a.workflow.yaml", "steps:\n  - name: a\n    check: ¦\n", "steps.0.check", "any", "some"),
    ("a.workflow.yaml", "steps:\n  - name: 'a\n    report:\n      n¦\n", "steps.0.report.n", "name: ", "goto: "),
    ("a.workflow.yaml", "steps:\n  - conditions:\n      - k¦\n", "steps.0.conditions.0.k", "goto: ", "name: "),
    ("a.stepspec.yaml", "step_specs:\n  - id: a\n    human_gate: ¦", "step_specs.0.human_gate", "required", "yes"),
    ("a.stepspec.yaml", "- id: a\n  tools:\n    - name: x\n      risk: ¦", "0.tools.0.risk", "high", "huge"),
    ("a.stepspec.json", '{"step_specs": [{"id": "a", ¦}]}', "step_specs.0.", '"outputs": ', '"id": '),
    ("a.stepspec.json", '{"step_specs": [{"id": "a", "o¦"}]}', "step_specs.0.o", "outputs", "id"),
    ("a.program.json", '{"nodes": [{"task": {"kind": ¦}}]}', "nodes.0.task.kind", '"shell"', '"node"'),
    ("a.program.json", '{"nodes": [{"task": {"kind": "¦"}}]}', "nodes.0.task.kind", "shell", "node"),
    ("rdc.toml", "¦", "", "build = ", "source = "),
    ("rdc.toml", '[[build]]\nsource = "x"\n¦\n[check]\n', "build.0.", "to = ", "source = "),
    ("rdc.toml", "[mcp]\noutput = ¦", "mcp.output", '"none"', '"all"'),
    ("rdc.toml", '[mcp]\noutput = "¦"', "mcp.output", "none", "all"),
    ("rdc.toml", "[che¦]", "che", "check", "ignore"),
    ("rdc.toml", "[[¦", "", "build", "to"),
    ("rdc.toml", "[github]\nruns¦", "github.runs", "runs-on = ", "to = "),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "path", "fit", "unfit"), CASES)
def test_keys_and_values_that_fit(name: str, text: str, path: str, fit: str, unfit: str) -> None:
    found = hinted(name, text)
    assert ".".join(found.path) == path
    texts = [one.text for one in found.choices]
    assert fit in texts
    assert unfit not in texts
    assert len(texts) == len(set(texts))


@pytest.mark.parametrize(
    ("name", "text", "about"),
    [
        ("a.runbook.md", HEAD.format("sh¦ell: strict"), "How bash runs code blocks"),
        ("a.runbook.md", HEAD.format('steps: {"1": {time¦out: 1m}}'), "The time limit of one attempt"),
        ("a.runbook.md", HEAD.format("github: {runs-on: ubun¦tu}"), "The label of the runner"),
        ("a.workflow.yaml", "steps:\n  - na¦me: a\n", "The name of the step."),
        ("a.workflow.yaml", "steps:\n  - name: a¦\n", "The name of the step."),
        ("a.stepspec.yaml", "step_specs:\n  - evid¦ence: L0\n", "The level of recorded evidence"),
        ("a.program.json", '{"nodes": [{"ta¦sk": {}}]}', ""),
        ("rdc.toml", "[mcp]\nout¦put = 1", "How much of the commands' output agents get"),
        ("rdc.toml", "[check]\nignore = [¦]", "Warnings and notes to ignore"),
        ("rdc.toml", "[che¦ck]\n", "Settings of `rdc check`."),
    ],
)
def test_a_key_or_value_has_the_description_of_its_schema(name: str, text: str, about: str) -> None:
    assert hinted(name, text).description.startswith(about)


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("a.runbook.md", HEAD.format("steps:\n    ¦"), Kind.STEP),
        ("a.runbook.md", "---\nscenarios:\n  a:\n    inputs: {¦}\n---\n", Kind.INPUT),
        ("a.workflow.yaml", "steps:\n  - next: ¦\n", Kind.STEP),
        ("a.workflow.yaml", "steps:\n  - conditions: [{goto: x¦}]\n", Kind.STEP),
        ("a.workflow.yaml", "steps:\n  - agent: ¦\n", Kind.AGENT),
        ("a.workflow.yaml", "steps:\n  - name: ¦\n", None),
        ("a.workflow.yaml", "scenarios:\n  a:\n    agents: {¦}\n", Kind.STEP),
        ("a.program.json", '{"entry": ¦}', Kind.STEP),
    ],
)
def test_names_of_the_document_fit_where_it_refers_to_them(name: str, text: str, kind: Kind | None) -> None:
    assert hinted(name, text).names is kind


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.runbook.md", "---\nrdc: {}\n---\n\n## 1. A¦\n"),
        ("a.runbook.md", "## 1. ¦A\n"),
        ("a.runbook.md", "---¦\nrdc: {}\n---\n"),
        ("a.workflow.yaml", "name: a\n# com¦ment\n"),
        ("rdc.toml", "# com¦ment\n"),
        ("a.txt", "a: ¦"),
    ],
)
def test_other_places_have_no_hints(name: str, text: str) -> None:
    assert possible(name, text) is None
    document = opened("a.workflow.yaml", "name: a\n")
    assert [hints_at(document, Settings(), line, 1) for line in (0, 3)] == [None, None]


def test_the_word_at_the_position_is_replaced() -> None:
    found = hinted("a.workflow.yaml", "steps:\n  - na¦me: a\n")
    assert (found.span.column, found.span.end_column) == (5, 9)
    assert {"name", "prompt"} <= {one.text for one in found.choices}, "the colon is already there"
    empty = hinted("a.workflow.yaml", "steps:\n  - ¦\n")
    assert (empty.span.column, empty.span.end_column) == (5, 5)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_any_position_in_any_text_has_hints_or_none(name: str) -> None:
    moves = random.Random(name)
    for _ in range(200):
        document = opened(name, mutated(DOCUMENTS[name], moves))
        lines = document.source.lines  # type: ignore[union-attr]
        line = moves.randrange(len(lines)) + 1
        hints_at(document, Settings(), line, moves.randrange(len(lines[line - 1]) + 2) + 1)


def test_the_schemas_have_the_keys_that_are_read() -> None:
    def keys(schema: schemas.Schema) -> set[str]:
        return set(schema["properties"])

    assert keys(of_runbooks.INPUT) == set(steps.INPUT_KEYS)
    assert keys(of_runbooks.STEP_OF_RUNBOOK) == set(steps.KEYS)
    assert keys(schemas.STEP) == set(OF_ALL)
    assert keys(schemas.STEP) > set(LIMITS)
    assert keys(of_runbooks.ASKS) == set(asks.KEYS)
    assert keys(schemas.RULE) == set(OWN_KEYS)
    assert keys(schemas.SCENARIO) == {*NAMES, "result", "description"}
    assert of_runbooks.INPUT["properties"]["type"]["enum"] == list(steps.TYPES)
    assert of_runbooks.ASKS["properties"]["type"]["enum"] == list(asks.TYPES)


@pytest.mark.parametrize("name", FRONT_ENDS)
def test_each_reference_in_a_schema_leads_somewhere(name: str) -> None:
    root = hinting.document_schema_of(name)
    own = import_module(FRONT_ENDS[name].schema).schema() if FRONT_ENDS[name].schema else {}
    assert set(own.get("$defs", {})).isdisjoint(table.schema()["$defs"]), "one would hide the other"
    pending: list[object] = [root]
    while pending:
        one = pending.pop()
        if isinstance(one, dict):
            assert one.get("$ref", "#/$defs/Build").removeprefix("#/$defs/") in {*root["$defs"], "Build"}
            pending += one.values()
        elif isinstance(one, list):
            pending += one
