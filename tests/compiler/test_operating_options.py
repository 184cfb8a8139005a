"""`logs` and `notify` in documents of all formats, and in the project's configuration."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from backends.registry import load
from compiler.driver import compile_file
from compiler.ir.serialize import to_json
from compiler.ir.verify import InvalidProgramError, verify
from rdc.build.lock import items_of
from rdc.output.generate import Product

STEPS = "name: look\ndescription: Look\nsteps:\n  - name: look\n    agent: a\n    prompt: Look\n"
SPECS = "workflow: {module: m, workflow: w}\nstep_specs:\n  - {id: a, outputs: ['{output_folder}/a.md']}\n"
DOCUMENTS = {
    "a.runbook.md": "---\nrdc: {OPTIONS}\n---\n\n## 1. Look\n\nIs it good?\n\n- YES: COMPLETE\n- NO: STOP\n",
    "a.playbook.md": "---\nrdc: {OPTIONS}\n---\n\n# Look\n\n## STEP 1: Look\n\nLook at it.\n",
    "a.workflow.yaml": f"rdc: {{OPTIONS}}\n{STEPS}",
    "a.stepspec.yaml": f"rdc: {{OPTIONS}}\n{SPECS}",
}
WRONG = ["logs: 1", "logs: 'yes'", "notify: ''", "notify: [a]", r'notify: "a\nb"', r'notify: "a\u202eb"']


def compiled(folder: Path, name: str, options: str, project: str = "") -> tuple[bool, str, list[str]]:
    """The settings of a program, and the errors."""
    (folder / "rdc.toml").write_text(project)
    (folder / name).write_text(DOCUMENTS[name].replace("OPTIONS", options))
    found = compile_file(str(folder / name))
    errors = [f"{one.code} {one.message}" for one in found.diagnostics if one.code in ("RD013", "RD501")]
    return (found.program.logs, found.program.notify, errors) if found.program else (False, "", errors)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_document_overrides_the_project(name: str, tmp_path: Path) -> None:
    project = 'logs = true\nnotify = "./project.sh"\n'
    assert compiled(tmp_path, name, "") == (False, "", [])
    assert compiled(tmp_path, name, "logs: true, notify: ./own.sh") == (True, "./own.sh", [])
    assert compiled(tmp_path, name, "", project) == (True, "./project.sh", [])
    assert compiled(tmp_path, name, "logs: false, notify: ./own.sh", project) == (False, "./own.sh", [])


@pytest.mark.parametrize("name", DOCUMENTS)
def test_other_values_are_errors(name: str, tmp_path: Path) -> None:
    for wrong in WRONG:
        *_, (error,) = compiled(tmp_path, name, wrong)
        assert error.startswith(f"RD013 `{wrong.partition(':')[0]}` must be")


def test_a_command_for_notices_needs_a_review_and_is_one_line(tmp_path: Path) -> None:
    compiled(tmp_path, "a.runbook.md", "notify: ./own.sh --all")
    program = compile_file(str(tmp_path / "a.runbook.md")).program
    assert program
    for target in ("python", "make", "github", "dbos"):
        backend = load(target)
        text = backend.emit(program, {}).text
        assert text
        items = items_of(program, backend, Product(text.encode()), {"a": text.encode()})
        assert "notify ./own.sh --all" in items["a"]
    assert to_json(program).count('"notify": "./own.sh --all"') == 1
    with pytest.raises(InvalidProgramError, match="notify"):
        verify(replace(program, notify="a\nb"))
