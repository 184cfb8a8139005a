"""The form of step specifications: what is read, and every finding at its place (B1 to B3)."""

import json
import sys
from pathlib import Path

import pytest

from compiler.diagnostics.model import CODES, Severity
from compiler.driver import Settings, compile_file
from tests.support.stepspec_documents import compiled, findings, program_of, steps

FULL = """
- id: step-02
  name: draft-prd
  description: Generate the PRD
  phase: Phase 2 Planning
  inputs: {context: minimal, artifacts: ["{output_folder}/brief.md"], since: 2025-01-31}
  outputs: ["{output_folder}/prd.md"]
  templates: ["template:{template_folder}/prd.md"]
  tools: [{name: getCurrentTime, args: {timezone: UTC}, required: no, risk: low}]
  validation: Template/schema validation
  evidence: L1
  human_gate: required
  retries: {max: 1, backoff_seconds: 2}
"""


def test_what_is_right_has_no_findings(tmp_path: Path) -> None:
    made = steps(tmp_path, FULL)
    assert findings(made) == []
    stepspec = program_of(made).stepspec
    assert stepspec
    assert json.loads(str(stepspec.steps[0].spec))["inputs"]["since"] == "2025-01-31"


# Steps, from line 4 on, with what is found.
CASES = {
    # What keys there are, and what they may hold: B2.
    "- {name: x}": ["RD854 4:3"],
    "- {id: , name: x}": ["RD855 4:4"],
    "- x": ["RD855 4:3"],
    "- {id: 5}": ["RD855 4:4"],
    "- {id: a, naem: x}": ["RD853 4:11"],
    "- {id: a, human_gat: required}": ["RD873 4:11"],
    "- {id: a, id: b}": ["RD852 4:11"],
    "- {id: a, outputs: x}": ["RD855 4:11"],
    "- {id: a, outputs: [5]}": ["RD855 4:21"],
    "- {id: a, inputs: []}": ["RD855 4:11"],
    "- {id: a, human_gate: maybe}": ["RD855 4:11"],
    "- {id: a, tools: [{name: readFile, args: {path: x}, risk: huge}]}": ["RD855 4:53"],
    "- {id: a, tools: [{args: {}}]}": ["RD854 4:19"],
    "- {id: a, tools: [{name: gitStatus, args: [x]}]}": ["RD855 4:37"],
    "- {id: a, tools: [{name: gitStatus, required: 1}]}": ["RD855 4:37"],
    "- {id: a, retries: {max: -1}}": ["RD855 4:21"],
    "- {id: a, retries: {max: 1.5, backoff_seconds: x}}": ["RD855 4:21", "RD855 4:31"],
    "- {id: a, retries: {max: true}}": ["RD855 4:21"],
    "- {id: a, retries: {most: 1}}": ["RD853 4:21"],
    "- {id: a, evidence: L3}": ["RD855 4:11"],
    "- {id: a, evidence: L1/L2, outputs: ['{output_folder}/x']}": ["RD863 4:11"],
    "- {id: a, evidence: L1}": ["RD877 4:11"],
    "- {id: a, evidence: L0, outputs: []}": ["RD877 4:11"],
    "- {id: a, evidence: none, inputs: null, retries: null}": [],
    # Safeguards are not left empty.
    "- {id: a, human_gate: }": ["RD855 4:11"],
    "- {id: a, human_gate: null}": ["RD855 4:11"],
    "- {id: a, tools: [{name: gitStatus, gate: , risk: ~, required: }]}": ["RD855 4:37", "RD855 4:45", "RD855 4:54"],
    "- {id: a, inputs: {human_gate: , gate: null}}": [],
    "- {id: a, validation: as usual}": ["RD867 4:11"],
    # What can be an id: B2.
    "- {id: a b.c:d é}": [],
    "- {id: ' a'}": ["RD856 4:4"],
    "- {id: a/b}": ["RD856 4:4"],
    "- {id: ..}": ["RD856 4:4"],
    "- {id: --help}": ["RD856 4:4"],
    "- {id: a, tools: [{name: -x, gate: -n}]}": ["RD865 4:20", "RD856 4:30"],
    '- {id: "a\\nb"}': ["RD856 4:4"],
    '- {id: "a\\u202eb"}': ["RD856 4:4"],
    f"- {{id: {'a' * 101}}}": ["RD856 4:4"],
    "- {id: a}\n- {id: a}": ["RD857 5:4"],
    "- {id: a}\n- {id: A}": ["RD858 5:4"],
    "- {id: a, tools: [{name: ' x'}]}": ["RD856 4:20", "RD865 4:20"],
    "- {id: a, tools: [{name: gitStatus, gate: ''}]}": ["RD856 4:37"],
    # Gates
    "- {id: a, tools: [{name: gitStatus, gate: b}]}\n- {id: b}": ["RD858 4:37"],
    "- {id: a, tools: [{name: gitStatus, gate: a/OUTPUTS}]}": ["RD858 4:37"],
    "- {id: a, tools: [{name: gitStatus, gate: g}]}\n- {id: b, tools: [{name: gitStatus, gate: G}]}": ["RD858 5:37"],
    "- {id: a, tools: [{name: gitStatus, gate: g}]}\n- {id: b, tools: [{name: gitStatus, gate: g}]}": [],
    "- {id: 'b:c', tools: [{name: a}]}\n- {id: c, tools: [{name: 'a:b'}]}": ["RD865 4:24", "RD858 5:20", "RD865 5:20"],
    # Outputs and paths are in the project.
    "- {id: a, outputs: [notes.md]}": ["RD859 4:21"],
    "- {id: a, outputs: ['{bmb_creations_output_folder}/x']}": [],
    "- {id: a, outputs: ['{output_folder}/../x']}": ["RD860 4:21"],
    "- {id: a, outputs: ['/{output_folder}']}": ["RD860 4:21"],
    "- {id: a, outputs: ['{output_folder}/']}": ["RD876 4:21"],
    "- {id: a, outputs: ['{output_folder}/x/.', '{output_folder}/x']}": ["RD876 4:21"],
    "- {id: a, inputs: {validation_targets: [x/]}, templates: [y/]}": [],
    # Checks that are skipped: B11
    "- {id: a, validation: AST + lint, outputs: ['{output_folder}/x.md']}": ["RD878 4:11"],
    "- {id: a, validation: type, outputs: ['{output_folder}/x.md', '{output_folder}/x.json']}": [],
    "- {id: a, validation: lint, outputs: ['{output_folder}/{name}']}": [],
    "- {id: a, validation: Template/schema validation, outputs: ['{output_folder}/x.md']}": [],
    "- {id: a, validation: AST}": [],
    "- {id: a, templates: [/etc/passwd]}": ["RD860 4:23"],
    "- {id: a, templates: ['template:../x']}": ["RD860 4:23"],
    "- {id: a, inputs: {artifacts: [../x, ok.md]}}": ["RD860 4:32"],
    "- {id: a, inputs: {deep: [{report_file: '\\x'}]}}": ["RD860 4:28"],
    "- {id: a, inputs: {question: ../x}}": [],
    "- {id: a, inputs: {validation_targets: [/x]}}": ["RD860 4:41"],
    "- {id: a, inputs: {validation_targets: x}}": ["RD855 4:20"],
    # What the context is looked up by: B17.
    "- {id: a, inputs: {telis_language: yaml, telis_method: signatureHelp, telis_line: 0, telis_min_score: 0.5}}": [],
    "- {id: a, inputs: {telis_language: pascal}}": ["RD861 4:20"],
    "- {id: a, inputs: {telis_language: [python]}}": ["RD861 4:20"],
    "- {id: a, inputs: {telis_line: -1}}": ["RD861 4:20"],
    "- {id: a, inputs: {telis_document_path: ../x}}": ["RD860 4:20"],
    "- {id: a, inputs: {telis_max_fase: 1}}": ["RD862 4:20"],
    # Which tools there are: B9.
    "- {id: a, tools: [{name: readfile}]}": ["RD865 4:20"],
    "- {id: a, tools: [{name: readFile}]}": ["RD864 4:19"],
    "- {id: a, tools: [{name: readFile, args: {file: x}}]}": ["RD864 4:36"],
    "- {id: a, tools: [{name: readFile, args: {path: '{output_folder}/x', more: 1}}]}": [],
    # What the policy says of a step (B8)
    "- {id: a, human_gate: conditional}": ["RD872 4:11"],
}  # fmt: skip


@pytest.mark.parametrize("text", CASES)
def test_findings_have_their_places(tmp_path: Path, text: str) -> None:
    made = steps(tmp_path, text)
    assert findings(made) == CASES[text]
    has_error = any(CODES[item.split()[0]].severity is Severity.ERROR for item in CASES[text])
    assert (made.program is None) == has_error


# The configuration of a specification with one step and one placeholder, with what is found.
CONFIGURED = {
    "{max_retries: 2, step_timeout_seconds: 60}": [],
    "{runtime: {max_retries: 2}, max_retries: 2}": [],
    "{runtime: {max_retries: 2}, max_retries: 3}": ["RD869 2:37"],
    "{hitl: {policy: {required_phases: [x]}}, runtime: {hitl: {policy: {}}}}": ["RD869 2:10"],
    "{hitl: {polcy: {}}}": ["RD873 2:17"],
    "{hitl: }": ["RD855 2:10"],
    "{hitl: {policy: }}": ["RD855 2:17"],
    "{hitl: {policy: {required_phases: }}}": ["RD855 2:26"],
    "{runtime: {hitl: {policy: {conditional_required: ~}}}}": ["RD855 2:36"],
    "{guardrails: {input: {blocklist: }}}": ["RD855 2:31"],
    "{max_retries: , variables: }": [],
    "{variables: {output_folder: out/}}": [],
    "{hitl: {policy: {required_phase: [x]}}}": ["RD873 2:26"],
    "{hitl: {policy: {color: x}}}": ["RD853 2:26"],
    "{hitl: {required_phases: [x]}}": ["RD873 2:17"],
    "{required_phases: [x]}": ["RD873 2:10"],
    "{runtime: {high_risk_keywords: [x]}}": ["RD873 2:20"],
    "{policy: {required_phases: [x]}}": ["RD873 2:10"],
    "{approval: true}": ["RD873 2:10"],
    "{hitl: {policy: {required_phases: x}}}": ["RD855 2:26"],
    "{hitl: {policy: {conditional_required: 1}}}": ["RD855 2:26"],
    "{runtime: {step_timeout_seconds: 0}}": ["RD855 2:20"],
    "{tools: {readFile: {command: cat}}}": ["RD871 2:18"],
    "{tools: {x: {}}}": ["RD854 2:18"],
    "{tools: {x: {command: ''}}}": ["RD854 2:22"],
    "{guardrails: {input: {patterns: [5]}}}": ["RD855 2:42"],
    "{runtime: {variables: {outputs_folder: out}}}": ["RD866 2:32"],
    "{tools: {x: {command: c, arguments: {type: text}}}}": ["RD855 2:34"],
    "{tools: {x: {command: cat, argumnts: {}}}}": ["RD853 2:36"],
    "{runtime: {guardrails: {input: {patterns: ['(']}}}}": ["RD870 2:52"],
    "{guardrails: {output: {patterns: ['(a+)+']}}}": ["RD870 2:43"],
    "{variables: {output_folder: out}}": [],
    "{variables: {outputs_folder: out}}": ["RD866 2:22"],
    "{variables: {output_folder: 5}}": ["RD855 2:22"],
    "{variables: {output_folder: ../x}}": ["RD860 4:23"],
    '{variables: {output_folder: "a\\nb"}}': ["RD855 2:22", "RD860 4:23"],
    "5": ["RD855 2:1"],
    "none.yaml": ["RD868 2:1"],
    "../x.yaml": ["RD868 2:1"],
    "/etc/passwd": ["RD868 2:1"],
}


@pytest.mark.parametrize("config", CONFIGURED)
def test_findings_in_the_configuration_have_their_places(tmp_path: Path, config: str) -> None:
    made = steps(tmp_path, "- {id: abc, outputs: ['{output_folder}/x']}", config)
    assert findings(made) == CONFIGURED[config]


def test_everything_is_told_at_once_and_near_misses_are_named(tmp_path: Path) -> None:
    made = steps(tmp_path, "- {id: a, human_gat: x, tools: [{name: readfile}]}\n- {naem: b}\n- {id: a}")
    messages = " ".join(item.message for item in made.diagnostics)
    assert findings(made) == ["RD873 4:11", "RD865 4:34", "RD854 5:3", "RD853 5:4", "RD857 6:4"]
    assert "`human_gate`?" in messages
    assert "`readFile`?" in messages
    assert "`name`?" in messages


@pytest.mark.parametrize(
    ("program", "policy", "target"), [("mypy", "type", "x.py"), ("ruff", "AST + lint", "x.pyi"), ("", "AST", "x.py")]
)
def test_a_check_without_its_program_is_named(
    program: str, policy: str, target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    made = steps(tmp_path, f"- {{id: a, validation: {policy}, outputs: ['{{output_folder}}/{target}']}}")
    expected = [f"{program} is not installed here, so a run here skips its check"] if program else []
    assert [item.message for item in made.diagnostics] == expected
    if program:
        (tmp_path / program).touch(0o755)
        made = steps(tmp_path, f"- {{id: a, validation: {policy}, outputs: ['{{output_folder}}/{target}']}}")
        assert made.diagnostics == ()


TWICE = '[\n\t{"id": "a", "human_gate": "maybe"},\n\t{"id": "\\u0061", "id": "b", "tools": [{"nam\\u0065": 5}]}\n]\n'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (TWICE, ["RD855 2:14", "RD852 3:19", "RD855 3:41"]),
        ('{"step_specs": [,]}', ["RD850 1:17"]),
        ('{"step_specs": [{"id": "a"},]}', ["RD850 1:28"]),
        ('["a"\n', ["RD850 2:1"]),
        ('[{"id": "\\ud800"}]', ["RD850 1:3"]),
        ('[{"id": "a", "inputs": {"x": NaN}}]', ["RD850 1:25"]),
    ],
)
def test_what_is_no_json_has_its_place(tmp_path: Path, text: str, expected: list[str]) -> None:
    assert findings(compiled(tmp_path, text.encode(), name="main.stepspec.json")) == expected


def test_of_a_bare_list_the_file_names_the_workflow(tmp_path: Path) -> None:
    (tmp_path / "yml").mkdir()
    named = program_of(compiled(tmp_path, "- {id: a, human_gate: required}", name="a\nb.stepspec.yaml"))
    assert named.entry == "a-b:a-b:a:hitl", "on one line"
    as_json = compiled(tmp_path, '[{"id": "a", "human_gate": "required"}]', name="plan.stepspec.json")
    as_yaml = compiled(tmp_path / "yml", "- {id: a, human_gate: required}", name="plan.stepspec.yml")
    for program in (program_of(as_json), program_of(as_yaml)):
        assert (program.entry, program.name, program.title) == ("plan:plan:a:hitl", "plan", "plan")
        assert program.stepspec
        assert json.loads(program.stepspec.workflow) == {"module": "plan", "workflow": "plan"}
    made = compiled(tmp_path, "workflow: {module: m, workflow: w, owner: {name: core}}\nstep_specs: [{id: a}]")
    stepspec = program_of(made).stepspec
    assert stepspec
    assert json.loads(stepspec.workflow) == {"module": "m", "workflow": "w", "owner": {"name": "core"}}


@pytest.mark.parametrize(
    ("text", "is_specification"),
    [
        ("step_specs:\n  - id: a\n", True),
        ("- id: a\n  human_gate: required\n", True),
        ('{"step_specs": [{"id": "a"}]}', True),
        ('[{"id": "a", "retries": {"max": 1}}]', True),
        ("step_specs:\n  - id: a\n  broken: [\n", True),
        ('{"workflow": {}, "step_specs": [{"id": "a"}]}', True),
        ("step_specs:\n  - name: without an id\n", True),
        ("workflow: {}\nstep_specs: []\n", True),
        ('{"step_specs": {"id": "a"}}', True),
        ('[{"text": "step_specs: none"}]', False),
        ("- name: x\n  id: a\n  evidence: L1\n", True),
        ("# Broken: [\n\nWrite {step_specs: now.\n", False),
        ("- id: a\n  price: 5\n", False),
        ("name: a\nsteps:\n  - name: b\n    prompt: c\n    end: true\n", False),
        ('{"entry": "a", "nodes": []}', False),
        ("# Plan\n\n## 1. Build\n\n```bash\nmake\n```\n", False),
        ("- hosts: all\n  tasks: []\n", False),
        ("# Notes\n\n## STEP 1: Greet\n\nWrite step_specs: now.\n", False),
    ],
)
def test_specifications_are_recognized_among_other_files(tmp_path: Path, text: str, is_specification: bool) -> None:
    (tmp_path / "rdc.toml").touch()
    (tmp_path / "document").write_text(text, encoding="utf-8")
    assert (compile_file(str(tmp_path / "document")).format == "stepspec") == is_specification


LAUGHS = "".join(f"x{n}: &x{n} [{', '.join([f'*x{n - 1}'] * 9)}]\n" for n in range(1, 10))


HOSTILE = [
    ("", "RD854"),
    ("step_specs: []\n", "RD854"),
    ("step_specs: {}\n", "RD855"),
    (f"x0: &x0 [lol]\n{LAUGHS}step_specs: []\n", "RD850"),
    ("step_specs: " + "[" * 5000, "RD850"),
    ("step_specs: [{id: a, inputs: " + "{a: " * 40 + "x" + "}" * 41 + "]", "RD850"),
    ("step_specs: &a [*a]\n", "RD850"),
    ("step_specs: [{id: a, inputs: {x: .nan}}]\n", "RD850"),
    ("step_specs: [{id: a, inputs: {x: !!binary eA==}}]\n", "RD850"),
    ("step_specs: [{id: a, inputs: {? [x] : y}}]\n", "RD850"),
    ("x: &p " + "z" * 3000 + "\nstep_specs:\n" + "- {id: a, description: *p}\n" * 400, "RD851"),
    ("step_specs:\n" + "- {id: a}\n" * 501, "RD851"),
    ("# comment\n" * 110_000, "RD851"),
    ("step_specs: [{id: a\0b}]\n", "RD003"),
    ("--- a\n--- b\n", "RD850"),
    ("config: {guardrails: {input: {patterns: ['" + "(" * 3000 + "']}}}\nstep_specs: [{id: a}]", "RD870"),
]


@pytest.mark.share(2)
@pytest.mark.parametrize(("text", "code"), HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_input_gets_a_diagnostic(tmp_path: Path, text: str, code: str) -> None:
    made = compiled(tmp_path, text.encode())
    assert made.program is None
    assert code in {item.code for item in made.diagnostics}


def test_hostile_json_gets_a_diagnostic(tmp_path: Path) -> None:
    for text in ("[" * 100_000, '[{"id": ' + "[" * 40 + "]" * 40 + "}]", "", '"a"', "[1" + "0" * 5000 + "]"):
        made = compiled(tmp_path, text.encode(), name="main.stepspec.json")
        assert (made.program, bool(made.diagnostics)) == (None, True), text[:50]


def test_messages_name_what_they_are_about(tmp_path: Path) -> None:
    (found,) = steps(tmp_path, "- {id: a, tools: [{name: readFile}]}").diagnostics
    assert found.message == "the arguments of readFile are not valid: path is missing"
    made = steps(tmp_path, "- {id: a}", "{max_retris: 1, tools: {input: {comand: x, command: y}}}")
    messages = [f"{item.message} {item.help}" for item in made.diagnostics]
    assert [one.partition(",")[0].partition(" in ")[2] for one in messages] == ["the configuration", "the tool `input`"]
    assert "command, arguments, risk" in messages[1]
    made = steps(tmp_path, '- {id: "a\\nb", "x\\ny": 1, evidence: "L\\n"}')
    assert len(made.diagnostics) >= 3
    assert all(text.isprintable() for item in made.diagnostics for text in (item.message, item.help)), "on one line"
    unread = {
        "step_specs: [{id: a, inputs: {x: .nan}}]": "a number is infinite or not a number",
        "step_specs: [": "the specification is not valid YAML: ",
        "a: 1\n--- b\n": "the specification is not valid YAML: a second document starts here",
    }
    for text, output in unread.items():
        message = compiled(tmp_path, text).diagnostics[0].message
        assert message.startswith(output) or message.endswith(f": {output}")


def test_values_that_are_given_are_checked_as_those_of_the_configuration(tmp_path: Path) -> None:
    path = tmp_path / "main.stepspec.yaml"
    path.write_text("step_specs: [{id: a, outputs: ['{output_folder}/x']}]", encoding="utf-8")
    made = compile_file(str(path), Settings(options={"var": ("output_folder=../x", "output_folde=y")}))
    assert {(item.code, item.span is None) for item in made.diagnostics} == {("RD866", True), ("RD860", False)}
