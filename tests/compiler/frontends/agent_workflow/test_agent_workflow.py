"""The form of agent workflows: what is read, and every finding at its place (W1 to W5)."""

from pathlib import Path
from unittest.mock import Mock

import pytest

from compiler.diagnostics.model import Severity
from compiler.driver import Settings, compile_file, format_opened, open_file
from compiler.frontends.common.interface import Formatted
from compiler.reading import yaml as yaml_text
from compiler.text import files
from tests.compiler.frontends.agent_workflow.workflows import compiled, findings, program_of, steps

GOOD = "- {name: one, prompt: Do it., end: true}"
PARALLEL = "- {name: one, check: all, parallel: [{agent: a, prompt: x}, {agent: b, prompt: y}], end: true}"


# Steps, from line 3 on, with what is found.
CASES = {
    GOOD: [],
    PARALLEL: [],
    "- {name: a.b_c-1, agent: 'jdi:a', prompt: x, human: yes, end: on}": [],
    # W1
    "- {prompt: x, end: true}": ["RD804 3:3"],
    "- {name: a b, prompt: x, end: true}": ["RD806 3:4"],
    "- {name: ../a, prompt: x, end: true}": ["RD806 3:4"],
    "- {name: -a, prompt: x, end: true}": ["RD806 3:4"],
    "- {name: ä, prompt: x, end: true}": ["RD806 3:4"],
    "- {name: 1.10, prompt: x, end: true}": ["RD805 3:4"],
    "- {name: '1.10', prompt: '5', end: true}": [],
    "- {name: one, prompt: 5, end: true}": ["RD805 3:15"],
    "- {name: one, prompt: x, agent: 2026-01-01, end: true}": ["RD805 3:26"],
    "- {name: one, prompt: x, end: 'true'}": ["RD805 3:26"],
    "- {name: one, prompt: x, end: 1}": ["RD831 3:3", "RD805 3:26"],
    "- {name: one, prompt: x, end: true, human: 'yes'}": ["RD805 3:37"],
    "- {name: one, prompt: x, end: true, human: }": ["RD805 3:37"],
    "- {name: one, prompt: x, end: true, human: ''}": ["RD805 3:37"],
    "- {name: one, prompt: x, end: true, human: no}": [],
    "- {name: one, prompt: x, end: true, agent: }": ["RD805 3:37"],
    "- {name: one, prompt: x, end: true, agent: '  '}": ["RD805 3:37"],
    "- {name: one, prompt: x, end: true, next: }": ["RD805 3:37"],
    "- {name: one, prompt: x, end: true, conditions: }": ["RD805 3:37"],
    "- {name: one, prompt: x, end: true, conditions: [{keyword: '', goto: one}]}": ["RD805 3:51"],
    "- {name: one, prompt: x, end: true, conditions: [{keyword: , goto: one}]}": ["RD805 3:51"],
    "- {name: one, prompt: x, end: true, conditions: [{keyword: 1, goto: one}]}": ["RD805 3:51"],
    "- {name: one, prompt: x, end: true, conditions: [{keyword: YES, goto: one}, {keyword: NO, goto: one}]}": [],
    "- {name: one, prompt: x, end: true, report: {name: a, format: }}": ["RD805 3:55"],
    "- {name: one, prompt: x, end: true, report: {name: a, format: '', validation: ''}}": ["RD805 3:55", "RD805 3:67"],
    "- {name: one, prompt: x, end: true, report: {name: a, format: b, validation: }}": ["RD805 3:66"],
    "- {name: one, check: all, parallel: [{agent: '', prompt: x}], end: true}": ["RD805 3:39"],
    "- {name: one, prompt: x, end: true, prmpt: y}": ["RD803 3:37"],
    "- {name: one, prompt: x, end: true, end: false}": ["RD831 3:3", "RD802 3:37"],
    "- {name: one, prompt: [x], end: true}": ["RD805 3:15"],
    "- {name: one, prompt: x, end: perhaps}": ["RD831 3:3", "RD805 3:26"],
    "- {name: [one], prompt: x, end: true}": ["RD805 3:4"],
    "- {name: , prompt: x, end: true}": ["RD805 3:4"],
    "- one": ["RD805 3:3"],
    "- {name: a, prompt: x, next: a}\n- {name: a, prompt: x, end: true}": ["RD807 4:4"],
    "- {name: a, prompt: x, next: A}\n- {name: A, prompt: x, end: true}": ["RD808 4:4"],
    "- {name: r, check: all, parallel: [{agent: a, prompt: x}], next: r_0}\n- {name: r_0, prompt: x, end: true}": [
        "RD808 4:4"
    ],
    "- {name: r, check: all, parallel: [{agent: a, prompt: x}], next: r_1}\n- {name: r_1, prompt: x, end: true}": [],
    "- {name: r, check: all, parallel: [{agent: a, prompt: x}], report: {name: R_0, format: x}, end: true}": [
        "RD808 3:36"  # the entry, after the report
    ],
    "- {name: a, prompt: x, report: {name: b, format: x}, next: b}\n- {name: b, prompt: x, end: true}": ["RD808 4:4"],
    "- {name: a, prompt: x, report: {name: a, format: x}, end: true}": [],
    # W2
    "- {name: one, end: true}": ["RD809 3:3"],
    "- {name: one, prompt: '  ', end: true}": ["RD809 3:15"],
    "- {name: one, prompt: x, check: all, parallel: [{agent: a, prompt: x}], end: true}": ["RD809 3:38"],
    "- {name: one, agent: x, check: all, parallel: [{agent: a, prompt: x}], end: true}": ["RD809 3:15"],
    "- {name: one, check: all, parallel: [], end: true}": ["RD809 3:27"],
    "- {name: one, check: all, parallel: [{prompt: x}], end: true}": ["RD804 3:38"],
    "- {name: one, check: all, parallel: [{agent: a, prompt: x, human: true}], end: true}": ["RD810 3:60"],
    "- {name: one, check: all, parallel: [{agent: a, prompt: x, next: one}], end: true}": ["RD803 3:60"],
    "- {name: one, agent: a=b, prompt: x, end: true}": ["RD806 3:15"],
    # W3
    "- {name: one, prompt: x, end: true, report: {name: a}}": ["RD804 3:37"],
    "- {name: one, prompt: x, end: true, report: {format: a}}": ["RD804 3:37"],
    "- {name: one, prompt: x, end: true, report: {name: /etc/passwd, format: a}}": ["RD806 3:46"],
    "- {name: one, prompt: x, end: true, report: {name: .., format: a}}": ["RD806 3:46"],
    "- {name: one, prompt: x, end: true, report: {name: a, format: b, validation: '('}}": ["RD811 3:66"],
    "- {name: one, prompt: x, end: true, report: {name: a, format: b, validation: '(a+)+'}}": ["RD811 3:66"],
    "- {name: one, prompt: x, end: true, report: {name: a, format: b, validation: '(?P<x>OK|NO)(?!\\w)'}}": [],
    # W4
    "- {name: one, prompt: x, next: two}": ["RD817 3:26"],
    "- {name: one, prompt: x, next: end}": ["RD817 3:26"],
    "- {name: one, prompt: x, end: true, conditions: [{keyword: A, goto: two}]}": ["RD817 3:63"],
    "- {name: one, prompt: x, end: true, conditions: [{keyword: A, goto: end}]}": ["RD812 3:63"],
    "- {name: one, prompt: x, end: true, conditions: [{keyword: A, goto: one, end: true}]}": ["RD812 3:74"],
    "- {name: one, prompt: x, end: true, conditions: [{keyword: A}]}": ["RD804 3:50"],
    "- {name: one, prompt: x, end: true, conditions: [{goto: one}]}": ["RD804 3:50"],
    "- {name: one, prompt: x, end: true, check: any}": ["RD813 3:37"],
    "- {name: one, prompt: 'Read `{{plan}}` and {{ other }}.', end: true}": ["RD140 3:15", "RD140 3:15"],
    "- {name: one, parallel: [{agent: a, prompt: '{{x}}'}], check: all, end: true}": ["RD140 3:37"],
    "- {name: one, prompt: '{{ .x }} ${{ x }} {{{x}}} `{{ x }}` {x} {{a b}}', end: true}": [],
    "- {name: one, prompt: x, end: true, check: some}": ["RD805 3:37"],
    "- {name: one, parallel: [{agent: a, prompt: x}], end: true}": ["RD814 3:3"],
    "- {name: one, prompt: x, end: true, conditions: [{keyword: TASK_DONE, goto: one}]}": ["RD815 3:51"],
    "- {name: one, prompt: x, end: true, conditions: [{keyword: task_done, goto: one}]}": ["RD815 3:51"],
    "- {name: one, prompt: x, end: true, conditions: [{keyword: A, goto: one}, {keyword: a, goto: one}]}": [
        "RD816 3:76"
    ],
    "- {name: one, prompt: x, end: true, conditions: [{keyword: ' A', goto: one}]}": ["RD818 3:51"],
    # W5
    "- {name: one, prompt: x, end: true}\n- {name: two, prompt: x, end: true}": ["RD401 4:3"],
    "- {name: one, prompt: x, end: true, next: two}\n- {name: two, prompt: x, end: true}": ["RD830 3:37", "RD401 4:3"],
    "- {name: one, prompt: x}": ["RD831 3:3"],
    "- {name: one, prompt: x, report: {name: a, format: b, validation: YES|NO}, conditions: "
    "[{keyword: YES, goto: one}, {keyword: MAYBE, goto: one}]}": ["RD832 3:117"],
    "- {name: one, prompt: x, report: {name: a, format: b, validation: 'VERDICT. .*'}, conditions: "
    "[{keyword: MAYBE, goto: one}]}": [],
    "- {name: one, prompt: x, report: {name: a, format: b, validation: IS_(A|B)}, conditions: "
    "[{keyword: A, goto: one}]}": [],
    "- {name: one, prompt: x, end: true, conditions: [{keyword: failed, goto: one}]}": ["RD834 3:3"],
    "- {name: one, prompt: x, end: true, report: {name: a, format: b, validation: passed|failed}}": [],
    "- {name: one, prompt: x, report: {name: a, format: b, validation: APPROVED}, conditions: "
    "[{keyword: DISAPPROVED, goto: one}]}": ["RD832 3:92"],
    # W7, W12
    "- {name: one, prompt: x, end: true, report: {name: r.md, format: b}}": ["RD836 3:46"],
    "- {name: one, prompt: x, end: true, report: {name: r.mdx, format: b}}": [],
    "- {name: one, check: all, parallel: [{agent: a, prompt: x}], end: true, "
    "report: {name: r, format: b, validation: APPROVED|REJECTED}}": ["RD835 3:15"],
    "- {name: one, check: any, parallel: [{agent: a, prompt: x}], end: true, "
    "report: {name: r, format: b, validation: APPROVED|REJECTED}}": [],
    "- {name: one, check: all, parallel: [{agent: a, prompt: x}], end: true, "
    "report: {name: r, format: b, validation: DONE}}": [],
    "- {name: one, check: all, parallel: [{agent: a, prompt: x}], end: true, conditions: [{keyword: A, goto: one}], "
    "report: {name: r, format: b, validation: A|B}}": [],
    # The newer schema
    "- {name: one, prompt: x, next: [{if: A, goto: one}, {goto: end}], human_gate: x}": ["RD819 3:26"],
    "- {name: one, prompt: x, next: {if: A, goto: one}}": ["RD819 3:26"],
    "- {name: one, prompt: x, next: [one]}": ["RD831 3:3", "RD805 3:26"],
    "- {name: one, prompt: 'End with <!-- DECISION: A -->', next: one}": ["RD819 3:3"],
    "- {name: one, check: all, parallel: [{agent: a, prompt: '<!--DECISION: A -->'}]}": ["RD819 3:3"],
    "- {name: one, prompt: 'Make a DECISION: yes or no', end: true}": [],
}  # fmt: skip


@pytest.mark.parametrize("text", CASES)
def test_findings_have_their_places(tmp_path: Path, text: str) -> None:
    made = steps(tmp_path, text)
    assert findings(made) == CASES[text]
    assert (made.program is None) == any(item.severity is Severity.ERROR for item in made.diagnostics)


ALIASES = (
    "name: a\nsteps:\n  - &first\n    name: one\n    prompt: &text Do it.\n    end: true\n"
    "    conditions: [{keyword: A, goto: two}]\n  - <<: *first\n    name: two\n    prompt: *text\n"
)


UNREADABLE = ("!vault x", "{? {q: r} : z}", "{<<: [1]}", "&self [*self]")


WHOLE = {
    "": ["RD804"],
    "# nothing\n": ["RD804 1:1", "RD804 1:1"],
    "name: a\n": ["RD804 1:1"],
    "name: a\nsteps: []\n": ["RD804 2:1"],
    "name: a\nsteps: x\n": ["RD805 2:1"],
    "steps: [{name: a, prompt: x, end: true}]\n": ["RD804 1:1"],
    "name: 'a\n\n  b'\nsteps: [{name: a, prompt: x, end: true}]\n": ["RD806 1:1"],
    "- a\n": ["RD800 1:1"],
    "name: a\n\tsteps: []\n": ["RD800 2:2"],
    "name: a\nsteps: [\n": ["RD800 3:1"],
    "name: a\n---\nname: b\n": ["RD800 2:1"],
    "name: a\x07\nsteps: []\n": ["RD800 1:1"],
    "name: a\nsteps: !!python/object:os.system x\n": ["RD800 2:1"],
    "name: a\nname: b\nsteps: [{name: a, prompt: x, end: true}]\n": ["RD802 2:1"],
    "name: a\nstpes: []\nsteps: [{name: a, prompt: x, end: true}]\n": ["RD803 2:1"],
    "name: a\nrdc: {max-steps: -1, x: y}\nsteps: [{name: a, prompt: x, end: true}]\n": ["RD013 2:7", "RD013 2:22"],
    "name: a\nrdc: 5\nsteps: [{name: a, prompt: x, end: true}]\n": ["RD805 2:1"],
    "name: a\r\nsteps:\r\n- {name: a, prompt: x, end: true}\r\n- {name: b, prompt: x}\r\n": ["RD401 4:3", "RD831 4:3"],
    "\ufeffname: a\nsteps:\n- {name: a, prompt: x}\n": ["RD831 3:3"],
    ALIASES: [],
    **{f"name: a\nsteps:\n- name: one\n  end: true\n  prompt: {value}\n": ["RD800 5:3"] for value in UNREADABLE},
}


@pytest.mark.parametrize("text", WHOLE)
def test_the_whole_file(tmp_path: Path, text: str) -> None:
    made = compiled(tmp_path, text.encode())
    assert findings(made) == WHOLE[text]
    if "RD800 5:3" in WHOLE[text]:
        assert "is not valid YAML: " in made.diagnostics[0].message


def test_everything_is_told_at_once_and_near_misses_are_named(tmp_path: Path) -> None:
    text = """
      - {name: plan, prompt: x, next: implemnt}
      - {name: implement, prmpt: x, human: perhaps, conditions: [{keyword: A, goto: plam}, 5], end: true}
      - 7
    """
    made = steps(tmp_path, text)
    assert sorted(item.code for item in made.diagnostics) == [
        *("RD401", "RD803", "RD805", "RD805", "RD805", "RD809", "RD817", "RD817")
    ]
    messages = " ".join(item.message for item in made.diagnostics)
    assert all(f"did you mean `{name}`" in messages for name in ("implement", "prompt", "plan"))
    made = steps(tmp_path, GOOD + '\n- {name: "a\\nb", prompt: x}')
    assert "RD401" in {item.code for item in made.diagnostics}
    assert not [item.message for item in made.diagnostics if "\n" in item.message], "names stand on one line"


VALIDATION = "name: a\nsteps: [{{name: a, prompt: x, report: {{name: a, format: b, validation: '{}'}}}}]"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("name: a\nsteps: " + "[" * 5000, "RD800"),
        ("name: a\nx: &p " + "z" * 3000 + "\nsteps:\n" + "- {name: a, prompt: *p}\n" * 400, "RD801"),
        ("name: a\nsteps:\n" + "- {name: a, prompt: x}\n" * 501, "RD801"),
        ("name: a\n" + "# comment\n" * 110_000, "RD801"),
        ("name: a\0b\n", "RD003"),
        (VALIDATION.format("(" * 3000), "RD811"),
        (VALIDATION.format("(" * 900), "RD811"),
        (VALIDATION.format("(" * 900 + ")" * 900), "RD811"),
        ("name: a\nsteps: {1: 2, [a]: b}\n", "RD800"),
        ("name: a\nsteps: [{name: 2020-99-99, prompt: x, end: true}]\n", "RD800"),
    ],
)  # fmt: skip
def test_hostile_input_gets_a_diagnostic(tmp_path: Path, text: str, code: str) -> None:
    made = compiled(tmp_path, text.encode())
    assert made.program is None
    assert code in {item.code for item in made.diagnostics}


def test_too_many_values_are_not_read_to_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LARGEST_VALUE", 1000)  # all that are allowed take seconds
    made = compiled(tmp_path, "name: a\nx:\n" + "- 1\n" * 2000 + "]")
    assert findings(made) == ["RD800 998:1"]  # before the bracket that is wrong
    assert "more than 1,000 values" in made.diagnostics[0].message


def test_a_document_is_read_once_to_recognize_and_compile_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = Mock(side_effect=yaml_text._compose)
    monkeypatch.setattr(yaml_text, "_compose", read)
    (tmp_path / "main.yaml").write_text("name: read once\nsteps: [{name: a, prompt: x, end: true}]\n", encoding="utf-8")
    assert compile_file(str(tmp_path / "main.yaml")).program
    assert read.call_count == 1


@pytest.mark.parametrize(
    ("text", "is_workflow"),
    [
        ("name: a\nsteps: [{name: a, prompt: x, end: true}]\n", True),
        ('{"name": "a", "steps": [{"name": "a", "prompt": "x", "end": true}]}', True),
        ("# about\nname: a\nsteps:\n  - name: a\n    prompt: [\n", True),
        ("name: a\nsteps:\n  - name: a\n    run: make\n", False),
        ("steps:\n  - name: a\n    prompt: x\n", False),
        ("name: a\njobs: {b: {steps: [{name: a, prompt: x}]}}\n", False),
    ],
)
def test_workflows_are_recognized_among_other_yaml(tmp_path: Path, text: str, is_workflow: bool) -> None:
    (tmp_path / "main.yaml").write_text(text, encoding="utf-8")
    assert compile_file(str(tmp_path / "main.yaml")).format == ("agent_workflow" if is_workflow else "")


def test_types_of_agents_are_held_against_tables(tmp_path: Path) -> None:
    (tmp_path / "rdc.toml").write_text('[github]\nagent = "llm"\nagents = {planner = "llm"}\n', encoding="utf-8")
    text = "name: a\nsteps: [{name: a, agent: planer, prompt: x, end: true}]\n"
    (tmp_path / "a.workflow.yaml").write_text(text, encoding="utf-8")
    made = compile_file(str(tmp_path / "a.workflow.yaml"))
    assert findings(made) == ["RD833 2:19"]
    assert "did you mean `planner`" in made.diagnostics[0].message


def test_options_and_limits(tmp_path: Path) -> None:
    assert program_of(steps(tmp_path, GOOD)).limit == 10
    four = (
        "".join(f"- {{name: s{n}, prompt: x, next: s{n + 1}}}\n" for n in range(3)) + "- {name: s3, prompt: x, end: on}"
    )
    assert program_of(steps(tmp_path, four)).limit == 12
    for number, limit in ((7, 7), (0, None)):
        text = (
            f"name: a\nrdc: {{max-steps: {number}, secrets: [KEY], steps: {{one: {{timeout: 9s}}}}}}\nsteps:\n{GOOD}\n"
        )
        program = program_of(compiled(tmp_path, text))
        assert (program.limit, program.secrets, program.index()["one"].settings.timeout) == (limit, ("KEY",), 9)
    (tmp_path / "rdc.toml").write_text("max-steps = 3\n", encoding="utf-8")
    assert program_of(compile_file(str(tmp_path / "main.workflow.yaml"))).limit is None


NORMAL = "name: a\nsteps:\n  - name: one # first\n    prompt: |\n      Do it.\n    end: true\n"


def formatted(folder: Path, data: bytes) -> Formatted:
    (folder / "rdc.toml").touch()
    (folder / "a.workflow.yaml").write_bytes(data)
    return format_opened(open_file(str(folder / "a.workflow.yaml")), Settings()).result


def normal_with(old: str, new: str) -> str:
    return NORMAL.replace(old, new)


@pytest.mark.parametrize(
    ("written", "normal"),
    [
        (NORMAL, NORMAL),
        (NORMAL.replace("\n", "  \n").replace("|  ", "|").replace("Do it.  ", "Do it."), NORMAL),
        ("\n\n" + NORMAL + "\n\n\n", NORMAL),
        (NORMAL.rstrip("\n"), NORMAL),
        (normal_with("steps:", "\n\n\nsteps:"), normal_with("steps:", "\nsteps:")),
        (normal_with("    end", "\n\n    # why  \n\n    end"), normal_with("    end", "\n    # why\n\n    end")),
        (NORMAL.replace("\n", "\r\n", 4), NORMAL.replace("\n", "\r\n")),  # the line end that most lines have
        *((text, text) for text in (normal_with("Do it.", "Do it.  \n\n\n\n      twice"),)),
        *((text, text) for text in (normal_with("|", "|+").replace("    end", "\n\n    end"),)),
        (normal_with("|\n      Do it.", '"Do   \n      it."  '), normal_with("|\n      Do it.", '"Do   \n      it."')),
    ],
)
def test_white_space_is_put_in_order(tmp_path: Path, written: str, normal: str) -> None:
    assert formatted(tmp_path, written.encode()).text == normal
    assert formatted(tmp_path, normal.encode()).text == normal
    for broken in (b"name: a  \nsteps: [\n", b"name: a  \nname: b\nsteps: []\n"):
        assert formatted(tmp_path, broken).text is None, "what has errors is left alone"
