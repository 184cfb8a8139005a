"""Whatever a document of any format contains, rdc gives diagnostics or a program, and formats it."""

import json
import random
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from compiler.driver import Compilation, Formatting, Settings, compile_file, format_opened, marks_of, open_file
from compiler.frontends.common.interface import Formatted
from compiler.frontends.playbook.check.rules import read
from compiler.frontends.rundown import LAYOUTS, Layout
from compiler.ir.program import Program
from compiler.text.source import Source
from tests.conftest import ROOT
from tests.differential.generate.agent_workflow import document, random_workflow
from tests.support.any_text import FRAGMENTS, check, check_compilation, mutated, texts
from tests.support.marked import check_marks
from tests.support.random_playbooks import playbook

# What these documents are made of, whole and broken, and what trips those who count lines and columns.
PLAYBOOKS = (
    *("# Title", "#  ", "#", "## STEP 1: One", "## STEP 2:  Two ", "##  STEP 07: x", "## STEP 1:   "),
    *(f"## STEP {9**40}: x", "## step 1: x", "## SYSTEM", "## system prompt", "## INPUTS", "## Artifacts"),
    *("## OUTPUT", "## Notes", "##", "##  ", "### STEP 1a: Sub", "### STEP 2b: {{a}}", "### STEP 1aa: x", "### Other"),
    *("- `a` (text)", "- `b` (enum: x, , y): z", "- `a` (number: ten)", "- `c` ( )", "- c (text)", "* x", "-"),
    *("type: json", "type: {{a}}", "Type: {{ a", "type:", "@output(a)"),
    *('@output( b : enum , "x","y" , extract: "f" )', "@output(a b)", "@output(", "@output()", "@x(y)", "@"),
    *('@elicit(input, "q {{a}}")', '@elicit(SELECT, "q", "x",\'no\', "y")', "@elicit(confirm)", "@elicit(odd)"),
    *("@elicit(select)", "@prompt(file:a.md)", "@prompt(file:../a.md)", "@prompt(file:/etc/passwd)", "@prompt({{a}})"),
    *("@prompt(mcp:s/n)", "@prompt(x:y)", "@prompt( )", '@tool(c, t, {"x": "{{a}}"})', "@tool(c, t)", "@tool(c)"),
    *("@tool(,,)", "@tool(c, t, [)", '```if a == "x"```', ' ```if  b!="" ``` ', '```elif a != "y"```', "```else```"),
    *("```endif```", "```if a```", "```", "~~~", "{{a}}", "{{b:text:dflt}}", "{{ a }}", "{{1}}"),
    *("{{__elicit_step_1}}", "{{", "}}", "text", "  indented", "| a | b |", "---", "---\nrdc: {secrets: [A]}\n---"),
    *("---\n[\n---", "---\nscenarios: {x: {result: STOP}}\n---", "---\na: &a [*a]\n---", "", " ", "\t", "\r", "\r\n"),
    *("\v", "\f", "\x1c", "\x85", "\u2028", "\u202e", "\ufeff", "é", "🚀", "\ud7ff", "\\", "\0"),
)  # fmt: skip


WORKFLOWS = (
    *("name: a", "description: |\n  two\n  lines", "steps:", "- name: one", "  - name: two", "    prompt: x"),
    *("    prompt: |\n      lines  \n\n", "    prompt: |+\n      keeps\n\n", "    prompt: >-\n      folds"),
    *("    agent: a", "    parallel:", "      - agent: a\n        prompt: b", "    check: any", "    check: maybe"),
    *("    human: yes", "    report: {name: r, format: f, validation: 'A|B'}", "    report:"),
    *("    report: {validation: '('}", "    conditions:", "      - {keyword: A, goto: one}", "      - keyword: YES"),
    *("        goto: end", "    end: true", "    next: two", "    next: end", "rdc: {max-steps: 3}"),
    *("rdc: {steps: {one: {timeout: 9}}}", "scenarios: {a: 5}"),
    *("scenarios: {a: {result: COMPLETE, agents: {one: x}}}", "&a", "*a", "<<: *a", "? [x]", ": y", "---", "..."),
    *("%YAML 1.1", "# comment", "  # indented  ", "[", "{", "]", "}", '"', "'", "|", ">", "!!binary eA=="),
    *("!!set {a, b}", "~", "5", "", " ", "\t", "\r", "\r\n", "\v", "\x0c", "\x1c", "\x85", "\u2028", "\u202e"),
    *("\ufeff", "é", "🚀", "\ud7ff", "\\", "\x00"),
)  # fmt: skip


SPECIFICATIONS = (
    *("workflow: {module: m, workflow: w}", "step_specs:", "- id: one", "  - id: two", "  - {id: '{a}'}", "config: x"),
    *("config: {hitl: {policy: {required_phases: [a]}}}", "config: {max_retries: 2, runtime: {max_retries: 3}}"),
    "config: {variables: {output_folder: out, a: ../b}}",
    *("config: {tools: {x: {command: y, arguments: {type: z}}}}", "config: {guardrails: {input: {patterns: ['(']}}}"),
    *("    human_gate: required", "    human_gate: maybe", "    outputs: ['{output_folder}/x']", "    outputs: [x]"),
    *("    retries: {max: 1}", "    retries: {max: -1}"),
    *("    inputs: {artifacts: ['{output_folder}/y', ../z], telis_line: x}", "    inputs:", "    evidence: L1/L2"),
    *("    tools: [{name: readFile, args: {path: x}, risk: high, gate: one}]", "    tools:", "      - name: x"),
    *("    validation: AST", "    description: |\n      {a} lines\n\n", "    id: two", "scenarios: {a: 5}", "rdc: 5"),
    *("[", "{", "]", "}", '"', "'", "&a", "*a", "<<: *a", "? [x]", "---", "!!binary eA==", ".nan", "2020-01-01", "~"),
    *("", " ", "\t", "\r", "\r\n", "\v", "\x0c", "\x85", "\u2028", "\u202e", "\ufeff", "é", "🚀", "\ud7ff", "\\"),
)  # fmt: skip


SPECIFICATION_EXAMPLES = [
    path.read_text(encoding="utf-8") for path in sorted(ROOT.glob("examples/specifications/*.stepspec.*"))
]


class Kind(NamedTuple):
    """A format: the name of a file, what it is made of, how one begins, and a whole document for a number."""

    file: str
    fragments: tuple[str, ...]
    beginning: str
    whole: Callable[[int], str]


KINDS = {
    "playbook": Kind("main.playbook.md", PLAYBOOKS, "# T\n## STEP 1: One", playbook),
    "agent workflow": Kind(
        "main.workflow.yaml",
        WORKFLOWS,
        "name: a\nsteps:\n  - name: one\n    prompt: x",
        lambda number: document(random_workflow(number).flow),
    ),
    "specification": Kind(
        "main.stepspec.yaml",
        SPECIFICATIONS,
        "step_specs:\n  - id: zero",
        lambda number: SPECIFICATION_EXAMPLES[number % len(SPECIFICATION_EXAMPLES)],
    ),
}
FOUND = [
    ("playbook", "\ufeff---\r\nname: x\r\n---\r\n# A\r\n\r\n## STEP 1: A\r\n\r\nx\r\n"),
    ("playbook", "# A\n## STEP 1: A\n---\nx\n---\n"),
    ("playbook", "\n---\na: b\n---\n# A\n## STEP 1: A\n"),
    ("playbook", "# A\n## STEP 1: A\na\t{{b}}\n"),
    ("agent workflow", "name: a\nsteps:\n- name: one\n  prompt: |+\n    x  \n\n\n\n\n- name: two\n  prompt: x"),
    ("agent workflow", "name: a\nsteps: &a\n- name: one\n  prompt: *a"),
]
FIXED = {"RD709", "RD717"}
"""What formatting fixes."""

many = settings(max_examples=400, suppress_health_check=[HealthCheck.too_slow])
kinds = pytest.mark.parametrize("kind", KINDS.values(), ids=list(KINDS))


def made(data: bytes, name: str) -> tuple[Compilation, Formatting]:
    """What becomes of these bytes as a document in a folder of its own, and its normal form."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "rdc.toml").touch()
        (Path(folder) / "a.md").write_text("The prompt of a file, {{a}}.", encoding="utf-8")
        path = Path(folder) / name
        path.write_bytes(data)
        return compile_file(str(path)), format_opened(open_file(str(path)), Settings())


def check_and_format(data: bytes, name: str) -> None:
    """What must hold of every document: its normal form is stable, and means the same."""
    compiled, formatted = made(data, name)
    check_compilation(compiled)
    assert not formatted.result.defect
    if compiled.facts:
        compiled.facts()
    text, before = formatted.result.text, formatted.opened.source
    if isinstance(before, Source):
        check_marks(marks_of(formatted.opened, Settings()), before.text)
    if text is None or not isinstance(before, Source):
        assert compiled.program is None
        return
    again, stable = made(before.encode(text), name)
    assert stable.result.text == text, "a second formatting changes nothing"
    assert stable.result.renumbered == ()
    if name.endswith(".md"):
        assert codes_of(Source(before.path, before.name, text, before.sha256, before.has_mark)) == codes_of(before)
    elif compiled.program:
        assert again.program
        assert [node.task for node in again.program.nodes] == [node.task for node in compiled.program.nodes]
        assert again.program.stepspec == compiled.program.stepspec


def codes_of(source: Source) -> list[str]:
    """The findings in a playbook, but of what formatting fixes."""
    return [item.code for item in read(source).found if item.code not in FIXED]


@kinds
@many
@given(data=st.data())
def test_any_text(kind: Kind, data: st.DataObject) -> None:
    text = data.draw(texts(kind.fragments, kind.beginning))
    check_and_format(text.encode("utf-8", "surrogatepass"), kind.file)


@pytest.mark.parametrize(("kind", "text"), FOUND)
def test_a_text_that_was_wrong_once(kind: str, text: str) -> None:
    check_and_format(text.encode(), KINDS[kind].file)


@kinds
@settings(max_examples=60)
@given(data=st.data())
def test_any_bytes(kind: Kind, data: st.DataObject) -> None:
    check_and_format(data.draw(st.binary()), kind.file)
    check_and_format(
        data.draw(texts(kind.fragments)).encode("utf-8", "replace") + data.draw(st.binary(max_size=4)), kind.file
    )


@pytest.mark.most(10)
@kinds
@many
@given(seed=st.integers(0, 10_000), number=st.integers(0, 10_000))
def test_any_document_with_errors(kind: Kind, seed: int, number: int) -> None:
    text = kind.whole(seed)
    check_and_format(text.encode(), kind.file)
    check_and_format(mutated(text, random.Random(number), kind.fragments).encode("utf-8", "surrogatepass"), kind.file)


_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
_keys = st.sampled_from(["id", "name", "inputs", "outputs", "templates", "tools", "validation", "evidence", "retries"])
_steps = st.lists(st.dictionaries(_keys, _values, max_size=5), max_size=3)
_json = st.fixed_dictionaries({"step_specs": _steps}, optional={"config": _values, "workflow": _values}) | _steps


@many
@given(value=_json)
def test_any_json(value: object) -> None:
    check_and_format(json.dumps(value).encode(), "main.stepspec.json")


ToPython = Callable[[Program], str]

EXAMPLES = sorted((ROOT / "examples").rglob("*.runbook.md"))

_texts = texts(FRAGMENTS)


def compiled(data: bytes, layout: Layout | None = None, *, link: bool = True) -> Compilation:
    """What becomes of these bytes as a runbook in a folder of its own, of which the normal form is one, too."""
    settings = Settings("rundown", {"transitions": layout} if layout else {}, link)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "rdc.toml").touch()
        path = Path(folder) / "main.runbook.md"
        path.write_bytes(data)
        found, formatted = compile_file(str(path), settings), format_opened(open_file(str(path)), settings)
        result, source = formatted.result, formatted.opened.source
        assert not result.defect
        assert (result.text is None) == bool(result.diagnostics)
        if result.text is not None and isinstance(source, Source):
            path.write_bytes(source.encode(result.text))
            assert format_opened(open_file(str(path)), settings).result == Formatted(result.text)
        return found


@settings(max_examples=400, suppress_health_check=[HealthCheck.too_slow])
@given(text=_texts, layout=st.sampled_from([None, "after-body", "after-header"]), link=st.booleans())
@example(text="", layout=None, link=True)
@example(text="## 1. A\r\r- PASS: STOP\n", layout=None, link=True)
@example(text="## 1. A\n- PASS: CONTINUE\n\x1c\n- FAIL: STOP\n", layout=None, link=True)
@example(text="\ufeff---\r\nname: x\r\n---\r\n\r\n## 1. A\r\n\r\n- PASS: GOTO 7\r\n", layout=None, link=True)
def test_any_runbook(text: str, layout: Layout | None, link: bool, to_python: ToPython) -> None:
    check(compiled(text.encode("utf-8", "surrogatepass"), layout, link=link), to_python)


@settings(max_examples=150)
@given(data=st.binary() | st.tuples(_texts, st.binary(max_size=4)).map(lambda both: both[0].encode() + both[1]))
def test_any_bytes_as_a_runbook(data: bytes, to_python: ToPython) -> None:
    check(compiled(data), to_python)


@settings(max_examples=100)
@given(data=st.binary(max_size=200))
def test_any_bytes_in_a_file_of_any_name(data: bytes, to_python: ToPython) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "notes.txt"
        path.write_bytes(data)
        check(compile_file(str(path)), to_python)


@pytest.mark.share(5)
@pytest.mark.parametrize("document", EXAMPLES, ids=lambda path: path.name.removesuffix(".runbook.md"))
def test_runbooks_with_errors(document: Path, to_python: ToPython) -> None:
    text = document.read_text(encoding="utf-8")
    check(compiled(text.encode(), link=False), to_python)
    moves = random.Random(document.name)
    for _ in range(8):
        layout = moves.choice([None, *LAYOUTS])
        check(compiled(mutated(text, moves).encode(), layout, link=False), to_python)
