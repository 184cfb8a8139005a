"""Marks: which names a document has and where, also while a person writes it."""

import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler.driver import Settings, compile_file, marks_of, open_file
from compiler.frontends import FRONT_ENDS
from compiler.frontends.common.marks import Item, Kind, Mark, Role, folds, mark_at, names, of_same_part, outline
from compiler.ir.program import Program
from compiler.ir.tasks import Agent, Parallel
from tests.compiler.frontends.sample_format import FORMAT as SAMPLE
from tests.conftest import ROOT
from tests.support.any_text import FRAGMENTS, mutated, texts
from tests.support.marked import (
    DOCUMENTS,
    PLAYBOOK,
    RUNBOOK,
    SPECIFICATION,
    WORKFLOW,
    check_marks,
    marked,
    opened,
    shown,
)

EXAMPLES = sorted(
    str(path.relative_to(ROOT))
    for path in (ROOT / "examples").rglob("*.*")
    if any(form.has(str(path)) for form in FRONT_ENDS.values())
)

documents = pytest.mark.parametrize(("name", "text"), DOCUMENTS.items(), ids=list(DOCUMENTS))
pace = pytest.mark.parametrize("step", [3, pytest.param(1, marks=pytest.mark.soak)])
"""After how many keys a document is looked at."""


MARKS: dict[tuple[str, str], dict[tuple[Kind, ...], list[str]]] = {
    ("a.runbook.md", RUNBOOK): {
        (Kind.STEP,): [
            *("8:6 3", "9:5 Restore", "11:11 Restore", "15:62 Restore"),
            *("21:4 =1", "27:22 Restore", "29:4 =2", "31:5 2", "31:7 =2.1", "33:13 2", "33:15 2.Last"),
            *("36:5 2", "36:7 =2.Last", "40:4 =3", "42:12 Restore", "44:4 =Restore"),
        ],
        (Kind.INPUT,): ["5:5 =version", "14:14 version", "24:15 version", "29:17 version", "40:14 version"],
        (Kind.OUTPUT,): ["6:13 =backup", "24:7 backup", "34:18 backup", "46:7 backup"],
        (Kind.PLACEHOLDER,): ["46:22 other"],
        (Kind.DOCUMENT,): ["38:3 lint.runbook.md"],
    },
    ("a.playbook.md", PLAYBOOK): {
        (Kind.STEP,): ["5:15 1", "5:23 2a", "15:9 =1", "20:9 =2", "27:10 =2a", "29:27 2"],
        (Kind.INPUT, Kind.OUTPUT): [
            *("4:14 topic", "13:4 =topic", "17:6 topic", "18:9 =draft", "22:24 draft", "25:7 topic", "29:3 draft")
        ],
        (Kind.PLACEHOLDER,): ["29:33 unknown"],
        (Kind.DOCUMENT,): ["23:14 prompts/check.md"],
    },
    ("a.workflow.yaml", WORKFLOW): {
        (Kind.STEP,): [
            *("3:11 review", "5:11 =plan", "9:11 review", "10:11 =review", "14:31 plan", "16:16 ship", "18:11 =ship")
        ],
        (Kind.AGENT,): ["6:12 planner", "12:17 critic"],
    },
    ("a.stepspec.yaml", SPECIFICATION): {
        (Kind.STEP,): ["5:5 draft", "7:9 =draft", "10:10 =check"],
        (Kind.INPUT,): [
            *("2:15 =output_folder", "2:35 =subject", "8:25 subject", "9:17 output_folder", "10:40 output_folder")
        ],
    },
    ("a.stepspec.yaml", "- id: draft\n  description: About {subject}\n- {id: check}\n"): {
        (): ["1:7 =draft", "2:23 subject", "3:8 =check"]
    },
}


@pytest.mark.parametrize(("name", "text"), MARKS)
def test_what_documents_mark(name: str, text: str) -> None:
    found = marked(name, text)
    assert {kinds: shown(found, *kinds) for kinds in MARKS[name, text]} == MARKS[name, text]


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("- PASS: GOTO {N}.{n}", ["3:14 {N}", "3:18 {N}.{n}"]),
        ("- PASS: GOTO NEXT {N}.{n}", ["3:19 {N}", "3:23 {N}.{n}"]),
        ("- PASS: RETRY 2 GOTO Last", ["3:22 Last"]),
        ("- PASS: GOTO  Last", ["3:15 Last"]),
        ("- PASS: GOTO NEXT", []),
        ("- PASS: GOTO", []),
        ("- PASS: STOP Last", []),
        ("* YES: GOTO 01", ["3:13 1"]),
    ],
)
def test_a_transition_marks_its_target(line: str, wanted: list[str]) -> None:
    found = marked("a.runbook.md", f"## {{N}}. A\n\n{line}\n")
    assert [one for one in shown(found, Kind.STEP) if "=" not in one] == wanted


@pytest.mark.parametrize(
    ("command", "wanted"),
    [
        ('echo "$region ${region} ${region:-x} ${#region}"', [8, 17, 27, 41]),
        ("echo \\$region $regions region {{region}}", []),
        ("region=1", []),
        ('echo "region=1" >> "$RDC_OUTPUT"; echo --region=2', [7]),
    ],
)
def test_a_command_marks_the_variables_that_are_inputs_or_outputs(command: str, wanted: list[int]) -> None:
    text = f"---\nrdc: {{outputs: [region]}}\n---\n\n## 1. A\n\n```sh\n{command}\n```\n"
    assert [one.span.column for one in marked("a.runbook.md", text) if one.span.line == 8] == wanted


@pytest.mark.parametrize(
    ("reference", "wanted"),
    [("draft", "draft"), ("draft/validation", "draft"), ("draft_0", "draft"), ("m:w:draft:hitl", "draft"), ("x", "")],
)
def test_the_part_of_a_step_refers_to_the_step(reference: str, wanted: str) -> None:
    text = f'step_specs: [{{id: draft}}]\nscenarios:\n  a: {{answers: {{"{reference}": pass}}}}\n'
    found = [one.name for one in marked("a.stepspec.yaml", text) if one.span.line == 3 and one.kind is Kind.STEP]
    assert found == ([wanted] if wanted else [])


def test_a_rule_marks_steps_labels_and_secrets() -> None:
    head = "---\nrdc:\n  secrets: [TOKEN]\n  steps: {Deploy: {labels: [live]}}\n  rules:\n"
    rules = '    a: "Test PASS before any step labeled live"\n    b: no "Deploy" after any step with secret TOKEN\n'
    found = marked("a.runbook.md", f"{head}{rules}---\n\n## Test\n\n## Deploy\n")
    assert [one for one in shown(found) if one[:2] in ("6:", "7:")] == [
        "6:9 Test",
        "6:43 live",
        "7:12 Deploy",
        "7:47 TOKEN",
    ]


def test_prose_has_no_marks_and_columns_count_characters() -> None:
    text = "---\nrdc: {prose: [Notes], inputs: {a: {}}}\n---\n\n# T {{a}}\n\n{{a}}\n\n## 1. A\n\n## Notes\n\n{{a}}\n"
    assert shown(marked("a.runbook.md", text)) == ["2:32 =a", "9:4 =1"]
    text = "## 1. 🚀 é\r\n\r\nä\fb {{x}}\r\n\r\n- PASS: GOTO Ümlaut\r\n- FAIL: GOTO Last\r\n\r\n## Last\r\n"
    assert shown(marked("a.runbook.md", text)) == ["1:4 =1", "3:7 x", "6:14 Last", "8:4 =Last"]


@pytest.mark.parametrize("name", EXAMPLES)
def test_marks_of_an_example_agree_with_its_program(name: str) -> None:
    path = str(ROOT / name)
    found, program = marks_of(open_file(path), Settings()), compile_file(path).program
    check_marks(found, Path(path).read_text(encoding="utf-8"))
    assert program
    steps = [one.id for one in found if one.role is Role.DEFINITION and one.kind is Kind.STEP]
    assert len(steps) == len(set(steps))
    assert set(steps) == set(own_steps(program))
    assert set(names(found, Kind.INPUT)) >= {one.name for one in program.inputs} - implicit(program)
    for written in gotos(program):
        assert any(one.id == written and one.role is Role.REFERENCE for one in found), written
    agents = {agent.agent for node in program.nodes for agent in agents_in(node.task)} - {""}
    assert agents == {one.name for one in found if one.kind is Kind.AGENT and one.role is Role.REFERENCE}


def own_steps(program: Program) -> Iterator[str]:
    """The ids that an author gives, from the program: parts of steps, included steps and ends are rdc's own."""
    if program.stepspec:
        yield from (one.id for one in program.stepspec.steps)
    elif program.kind == "program":
        yield from (one.id for one in program.nodes)
    else:
        groups = [one.id for one in program.groups if one.kind == "step"]
        nodes = [one.id for one in program.nodes if one.task.kind != "end"]
        yield from dict.fromkeys(name for one in (*groups, *nodes) for name in [one.partition("/")[0]])


def implicit(program: Program) -> set[str]:
    """The inputs that the document declares nowhere: a workflow's task, and placeholders of a specification."""
    return {one.name for one in program.inputs} if program.kind in ("workflow", "specification") else set()


def gotos(program: Program) -> set[str]:
    """The targets that authors wrote: `GOTO 3`, `next ship` or `DONE goto ship`."""
    own = (node for node in program.nodes if node.origin.path == program.sources[0].path)
    every = chain.from_iterable(edge.written for node in own for edge in node.edges)
    found = (re.search(r"(?:GOTO|goto|next|to) (?!NEXT)(.+)$", one.action) for one in every)
    return {match[1] for match in found if match}


def agents_in(task: object) -> tuple[Agent, ...]:
    return task.entries if isinstance(task, Parallel) else (task,) if isinstance(task, Agent) else ()


def places(found: tuple[Mark, ...], *, below: int) -> set[tuple[int, int, str]]:
    return {(one.span.line, one.span.column, one.name) for one in found if one.span.line < below}


@pace
@documents
def test_each_key_of_a_typed_document_keeps_the_marks_above(name: str, text: str, step: int) -> None:
    """Line by line from the top: a line that is complete keeps its marks while the lines below it are written."""
    settled: set[tuple[int, int, str]] = set()
    for end in range(len(text)):
        if end % step and text[end - 1] != "\n":
            continue
        written = text[:end]
        found = marked(name, written)
        check_marks(found, written)
        line = written.count("\n") + 1
        assert settled <= places(found, below=line), written
        if written.endswith("\n\n") or (written.endswith("\n") and not name.endswith(".md")):
            settled = places(found, below=line - 1)
    assert settled


@pace
@documents
def test_each_key_of_one_line_keeps_the_marks_of_the_other_lines(name: str, text: str, step: int) -> None:
    """For each line that the others don't need: without it, they have the same marks."""
    lines, whole, count = text.split("\n"), marked(name, text), 0

    def others(number: int, line: str) -> set[tuple[int, int, str]]:
        written = "\n".join([*lines[: number - 1], line, *lines[number:]])
        found = marked(name, written)
        check_marks(found, written)
        return {place for place in places(found, below=len(lines) + 1) if place[0] != number}

    for number, line in enumerate(lines, 1):
        wanted = others(number, "")
        if name.endswith(".playbook.md") and line.startswith("## "):
            continue  # any other heading hides the lines below it
        if line and wanted >= {place for place in places(whole, below=len(lines) + 1) if place[0] != number}:
            count += 1
            for end in range(1, len(line), step):
                assert wanted <= others(number, line[:end]), line[:end]
    assert count > len([line for line in lines if line]) / 3


@documents
@settings(max_examples=60)
@given(data=st.data(), seed=st.randoms(use_true_random=False))
def test_marks_of_any_text(name: str, text: str, data: st.DataObject, seed: object) -> None:
    for written in (data.draw(texts(FRAGMENTS, text[:80])), mutated(text, seed)):  # type: ignore[arg-type]
        check_marks(marked(name, written), written)


def test_a_document_of_no_format_or_a_format_without_marks_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    assert marked("a.txt", "nothing") == ()
    monkeypatch.setitem(FRONT_ENDS, "sample", SAMPLE)
    assert marks_of(opened("a.steps.yml", "steps: []"), Settings()) == ()


def tree(items: list[Item]) -> list[object]:
    return [one.mark.title if not one.inside else {one.mark.title: tree(one.inside)} for one in items]


def test_the_outline_nests_steps_and_keys() -> None:
    text = "---\nname: a\nrdc:\n  inputs:\n    x: {}\n---\n\n## 1. A\n\n### 1.1 B\n\n## 2. C\n"
    assert tree(outline(marked("a.runbook.md", text))) == [
        "name",
        {"rdc": [{"inputs": ["x"]}]},
        {"1. A": ["1.1 B"]},
        "2. C",
    ]
    assert tree(outline(marked("a.workflow.yaml", WORKFLOW)))[2] == {"steps": ["plan", "review", "ship"]}


def test_folds_are_the_parts_of_several_lines_without_blank_lines_at_their_end() -> None:
    text = "---\nrdc:\n  shell: strict\n---\n\n## 1. A\n\ntext\n\n\n## 2. B\n\n### 2.1 C\n\ntext\n"
    assert folds(marked("a.runbook.md", text)) == ((2, 3), (6, 8), (11, 15), (13, 15))
    branch = '# T\n\n## STEP 1: A\n\n```if a == "b"```\n\n### STEP 1a: B\n\nx\n\n```endif```\n\nend\n'
    assert folds(marked("a.playbook.md", branch)) == ((3, 13), (7, 9))


def test_the_mark_at_a_position_and_the_others_of_its_part() -> None:
    found = marked("a.runbook.md", RUNBOOK)
    at_end = mark_at(found, 27, 29)
    assert at_end == mark_at(found, 27, 22)
    assert at_end
    assert at_end.id == "Restore"
    assert mark_at(found, 27, 21) is None
    lines = [one.span.line for one in of_same_part(found, at_end)]
    assert lines == [44, 9, 11, 15, 27, 42]
