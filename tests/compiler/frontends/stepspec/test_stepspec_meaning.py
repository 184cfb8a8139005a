"""What a step specification becomes: stages, retries, gates and contract (I32), and the ends of runs."""

import json
from pathlib import Path

import pytest

from compiler.ir.semantics import Machine, Outcome
from compiler.ir.tasks import End, Gate, Stage
from compiler.ir.verify import issues
from compiler.passes import optimize
from tests.support.stepspec_documents import compiled, program_of, steps

WHOLE = """
- id: s
  name: write it
  description: Into {output_folder}
  inputs: {artifacts: ["{output_folder}/in.md"], validation_targets: [lib.py]}
  templates: ["template:t.md"]
  outputs: ["{output_folder}/out.md"]
  tools:
    - {name: gitStatus}
    - {name: gitStatus, required: true}
    - {name: inputs, required: true}
  validation: AST + type + lint, format
  evidence: L1/L2
  retries: {max: 1, backoff_seconds: 3}
- {id: t}
"""
CONFIG = (
    "{context: look, guardrails: {input: {blocklist: [x]}, output: {patterns: [y]}}, tools: {inputs: {command: c}},"
    " variables: {output_folder: out}}"
)


def test_a_step_becomes_its_stages(tmp_path: Path) -> None:
    program = program_of(steps(tmp_path, WHOLE, CONFIG))
    assert not issues(program)
    assert not issues(optimize(program))
    stages = {node.id: node.task for node in program.nodes if isinstance(node.task, Stage)}
    assert list(stages) == [
        *("s/inputs", "s/context", "s/gitStatus", "s/gitStatus~2", "s/inputs~2", "s"),
        *("s/guardrails", "s/validation", "s/outputs"),
        *("t/inputs", "t/context", "t", "t/guardrails"),
    ]
    assert [str(path) for path in stages["s/inputs"].paths] == ["{output_folder}/in.md", "{template_folder}/t.md"]
    assert (stages["s/inputs~2"].subject, stages["s/inputs~2"].place) == ("inputs", 2)
    assert stages["s/validation"].checks == ("exists", "parses", "ast", "types", "lint")
    assert [str(path) for path in stages["s/validation"].paths] == ["lib.py", "{output_folder}/out.md"]
    assert (stages["s/outputs"].subject, [str(path) for path in stages["s/outputs"].paths]) == (
        "L1",
        ["{output_folder}/out.md"],
    )
    assert [(one.name, one.default) for one in program.inputs] == [("output_folder", "out"), ("template_folder", None)]
    assert [(group.id, str(group.title), str(group.prompt)) for group in program.groups] == [
        ("s", "write it", "Into {output_folder}"),
        ("t", "", ""),
    ]


def test_only_what_has_something_to_do_is_there(tmp_path: Path) -> None:
    program = program_of(steps(tmp_path, "- {id: a}\n- {id: b, evidence: L0}\n- {id: c, validation: format}"))
    assert [node.id for node in program.nodes if isinstance(node.task, Stage)] == [
        *("a", "b", "b/outputs", "c", "c/validation")
    ]


@pytest.mark.parametrize(
    ("policy", "checks"),
    [
        ("Template/schema validation", ["parses"]),
        ("FORMAT", ["parses"]),
        ("AST + type + lint (as applicable)", ["ast", "types", "lint"]),
        ("types and linting", ["types", "lint"]),
        ("TypeScript by a prototype, fast", []),
        ("", []),
    ],
)
def test_words_of_the_policy_name_checks(tmp_path: Path, policy: str, checks: list[str]) -> None:
    program = program_of(steps(tmp_path, f"- {{id: a, validation: '{policy}', outputs: ['{{output_folder}}/x']}}"))
    task = program.index()["a/validation"].task
    assert isinstance(task, Stage)
    assert list(task.checks) == ["exists", *checks]


def test_what_must_exist_when_a_step_starts(tmp_path: Path) -> None:
    text = """
        - id: a
          inputs:
            artifacts: [one.md, {file: two.md, note: none.md}]
            report_path: three.md
            quote: "{output_folder}/four.md"
            telis_document_path: five.py
            telis_query: "{output_folder}/none.py"
            validation_targets: ["{output_folder}/none.py"]
            question: is {output_folder}/none.md there?
          templates: [six.md, "template:seven.md", "template:{template_folder}/deep/eight.md", "one.md"]
    """
    task = program_of(steps(tmp_path, text)).index()["a/inputs"].task
    assert isinstance(task, Stage)
    expected = "one.md two.md three.md {output_folder}/four.md five.py six.md {template_folder}/seven.md"
    assert [str(path) for path in task.paths] == [*expected.split(), "{template_folder}/deep/eight.md"]


def walk(tmp_path: Path, text: str, config: str = "{}", **words: str) -> tuple[list[str], str]:
    """The steps of a run in order, and its end; `words` are the outcomes of steps, one after the other."""
    program = program_of(steps(tmp_path, text, config))
    machine = Machine(program)
    given = {name.replace("_", "/"): iter(output.split()) for name, output in words.items()}
    state, seen = machine.start({item.name: "x" for item in program.inputs}), []
    while (end := machine.end(state)) is None:
        task = machine.nodes[state.node].task
        usual = "approved" if isinstance(task, Gate) else "pass"
        seen.append(state.node)
        state = machine.advance(state, Outcome(next(given.get(state.node, iter(())), usual))).state
    return seen, f"{end.result} {end.message}".strip()


TRIED = """
- {id: a, inputs: {path: x}, tools: [{name: gitStatus, required: true}, {name: gitDiff}], retries: {max: 1}}
- {id: b}
"""
ALL = ["a/inputs", "a/gitStatus", "a/gitDiff", "a"]


OFTEN = "- {id: a, retries: {backoff_seconds: 7}}\n- {id: b, retries: {max: 0}}"
REJECTED = "- {id: a, human_gate: required}"


@pytest.mark.parametrize(
    ("text", "words", "nodes", "end"),
    [
        (TRIED, {}, [*ALL, "b"], "complete"),
        (TRIED, {"a": "fail pass"}, [*ALL, *ALL, "b"], "complete"),
        (TRIED, {"a": "fail fail"}, [*ALL, *ALL], "stop step a failed"),
        (TRIED, {"a_gitStatus": "fail fail"}, [*ALL[:2], *ALL[:2]], "stop step a failed"),
        (TRIED, {"a_gitStatus": "fail pass", "a": "fail"}, [*ALL[:2], *ALL], "stop step a failed"),
        (TRIED, {"a_gitDiff": "fail"}, [*ALL, "b"], "complete"),
        (TRIED, {"a_inputs": "fail"}, ALL[:1], "stop step a failed"),
        (TRIED, {"a": "fail", "a_inputs": "pass fail"}, [*ALL, *ALL[:1]], "stop step a failed"),
        (TRIED, {"b": "fail"}, [*ALL, "b"], "stop step b failed"),
        # The configuration decides how often, where the step does not.
        (OFTEN, {"a": "fail fail"}, ["a", "a", "a", "b"], "complete"),
        (OFTEN, {"b": "fail"}, ["a", "b"], "stop step b failed"),
        (REJECTED, {"m:w:a:hitl": "rejected"}, ["m:w:a:hitl"], "stop step a was rejected"),
        ("- {id: complete}\n- {id: failed}\n- {id: rejected}", {}, ["complete", "failed", "rejected"], "complete"),
    ],
)
def test_failures_are_tried_again(tmp_path: Path, text: str, words: dict[str, str], nodes: list[str], end: str) -> None:
    config = "{max_retries: 2}" if text == OFTEN else "{}"
    assert walk(tmp_path, text, config, **words) == (nodes, end)
    if text == OFTEN:
        assert program_of(steps(tmp_path, text, config)).index()["a"].settings.delay == 7


@pytest.mark.parametrize(
    "text",
    [
        "- {id: a, tools: [{name: gitStatus, gate: COMPLETE}, {name: gitStatus, gate: complete/end}]}",
        "- {id: COMPLETE, tools: [{name: end}]}",
    ],
)
def test_gates_and_tools_may_have_the_names_of_ends(tmp_path: Path, text: str) -> None:
    nodes = program_of(steps(tmp_path, text)).nodes
    assert len({node.id for node in nodes}) == len(nodes)
    assert nodes[-1].task == End("complete")


def test_the_contract_has_all_fields(tmp_path: Path) -> None:
    stepspec = program_of(steps(tmp_path, WHOLE, CONFIG)).stepspec
    assert stepspec
    first, second = (json.loads(str(step.spec)) for step in stepspec.steps)
    nothing: dict[str, object] = dict.fromkeys(("description", "phase", "validation"), "")
    nothing |= {"inputs": {}, "outputs": [], "templates": [], "tools": [], "evidence": "none", "human_gate": "optional"}
    assert second == {"id": "t", "name": "t", "retries": {"max": 0, "backoff_seconds": 0}, **nothing}
    assert first["evidence"] == "L1"
    assert first["tools"][0] == {"name": "gitStatus", "args": {}, "required": False, "risk": "low"}
    assert first["templates"] == ["template:t.md"]
    assert json.loads(stepspec.config) == {
        "context": "look",
        "guardrails": {"input": {"blocklist": ["x"], "patterns": []}, "output": {"blocklist": [], "patterns": ["y"]}},
        "tools": {"inputs": {"command": "c"}},
    }


def test_placeholders_are_references_where_they_are_filled_in(tmp_path: Path) -> None:
    text = r"""
        - id: "{a}"
          name: "{b}"
          description: 'say "{c}" \ {c} {not-one} {d}{e}'
          inputs: {"{key}": ["{f}"], quote: "\"{g}\\"}
          tools: [{name: writeFile, args: {path: "{h}", text: "{{i}}"}}]
          validation: "format {j}"
    """
    program = program_of(steps(tmp_path, text))
    assert [item.name for item in program.inputs] == ["c", "d", "e", "f", "g", "h", "i"]
    assert not issues(program)
    assert program.stepspec
    spec, values = program.stepspec.steps[0].spec, dict.fromkeys("cdefghi", '"\n\\')
    found = json.loads(spec.filled(values, lambda value: json.dumps(value)[1:-1]))
    assert found["description"] == 'say ""\n\\" \\ "\n\\ {not-one} "\n\\"\n\\'
    assert (found["id"], found["name"], found["validation"]) == ("{a}", "{b}", "format {j}")
    assert found["inputs"] == {"{key}": ['"\n\\'], "quote": '""\n\\\\'}


def test_json_and_yaml_mean_the_same(tmp_path: Path) -> None:
    value = [{"id": "a", "human_gate": "required", "outputs": ["{output_folder}/x"], "retries": {"max": 1}}]
    (tmp_path / "json").mkdir()
    (tmp_path / "yaml").mkdir()
    one = program_of(compiled(tmp_path / "json", json.dumps(value), name="p.stepspec.json"))
    other = program_of(compiled(tmp_path / "yaml", json.dumps(value, indent=1), name="p.stepspec.yaml"))
    assert [node.task for node in one.nodes] == [node.task for node in other.nodes]
    assert one.stepspec == other.stepspec
