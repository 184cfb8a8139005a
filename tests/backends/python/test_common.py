"""The python target states once what all steps have in common, and its header explains only what there is."""

import ast
import re
from collections import Counter as Tally
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backends.python.calls import Calls, calls
from backends.python.program import wrapped
from backends.registry import load
from compiler.ir.edges import Add, Clear, Edge, Effect, Keep, Origin, OutcomeTest, Reset
from compiler.ir.program import Counter, Group, Input, Node, Program, Slot, SourceFile, Variable
from compiler.ir.tasks import Agent, Ask, End, Shell, Task
from compiler.ir.texts import Reference, Text, joined
from compiler.passes import optimize
from compiler.text.source import Span
from runtime_shim.editions import EDITIONS
from runtime_shim.engine.program import built
from runtime_shim.values.defaults import implied
from tests.conftest import ROOT
from tests.support.documents import program_at
from tests.support.plain_table import Table, table
from tests.support.runbooks import command

EXAMPLES = Path(__file__).parents[3] / "examples"
NAMES = ("host", "a_1", "VERSION")
ORIGIN = Origin("a.md", Span(3, 1, 3, 2))


def rebuilt(called: Calls) -> Table:
    """The table that the calls build, as Python executes them."""
    found: dict[str, Any] = {}
    exec(f"def runbook({', '.join(called.parameters)}):\n" + "\n".join(called.lines) + "\n", found)
    return built(found["runbook"], EDITIONS["agents"].kinds())


def reference(name: str, **more: str) -> Reference:
    return Reference(name, f"{{{{{name}}}}}", missing=f"{{{{{name}}}}}", **more)


COUNTER = Reference("{N}", "{N}")
STRINGS: list[str | Reference] = ["{{host}}", "{N}", "{1.1}", "{host}", "y", "'\"\n\\ "]
OTHERS = (COUNTER, reference("host", before="<"), Reference("host", "{{host}}y"))
WORDS = st.lists(st.sampled_from([*map(reference, NAMES), *OTHERS, *STRINGS]), max_size=4).map(joined)
OTHER: st.SearchStrategy[Effect] = st.sampled_from([Add("{N}", 1), Reset("keep"), Clear("host"), Keep("host")])


@st.composite
def steps(draw: st.DrawFn, name: str, inputs: tuple[str, ...], values: tuple[str, ...]) -> Node:
    """A step as a runbook has it, or one that is different in some way."""
    is_usual, words = draw(st.integers(0, 3)) > 0, draw(WORDS)
    tasks: list[Task] = [Shell("sh", words), Shell("bash", words), Ask("pass_fail", words), Ask("yes_no", words)]
    task = draw(st.sampled_from([*tasks, Agent("", words), End("stop", words)]))
    variables, keeping = {name: name for name in (*inputs, *values)}, values
    if not is_usual:
        variables = draw(st.dictionaries(st.sampled_from(NAMES), st.sampled_from([*NAMES, "1/host"])))
        keeping = tuple(draw(st.permutations(NAMES))[: draw(st.integers(0, 3))])
    keeps = tuple(Keep(variables.get(each, each), "output", each) for each in keeping if task.kind == "shell")
    edges: list[Edge] = []
    for word in () if task.kind == "end" else ("pass", "fail"):
        first = keeps if is_usual or draw(st.booleans()) else draw(st.sampled_from([(), keeps[:1], keeps[::-1]]))
        edges.append(Edge((OutcomeTest(word),), (*first, *draw(st.lists(OTHER, max_size=1))), "end"))
    pairs = tuple(Variable(*pair) for pair in variables.items())
    return Node(name, draw(WORDS), ORIGIN, task, tuple(edges), group="1" if name == "1" else "", variables=pairs)


@st.composite
def programs(draw: st.DrawFn) -> Program:
    names = draw(st.permutations(NAMES))
    inputs, values = tuple(names[: draw(st.integers(0, 2))]), tuple(names[2 : draw(st.integers(2, 3))])
    initial = draw(st.sampled_from([None, None, None, "", "x"]))
    every = [draw(steps(name, inputs, values)) for name in ("1", "2", "3", "4")]
    end = Node("end", Text(), ORIGIN, End("complete", draw(WORDS)), ())
    return Program(
        "p", "P", (SourceFile("a.md", "0"),), "1", (*every, end),
        groups=(Group("1", draw(WORDS), draw(WORDS), "step", "", ORIGIN),),
        counters=(Counter("{N}", "", 1),),
        slots=(*(Slot(name, initial) for name in NAMES), Slot("1/host")),
        inputs=tuple(map(Input, inputs)),
    )  # fmt: skip


@pytest.mark.share(20)
@settings(max_examples=400, suppress_health_check=list(HealthCheck), deadline=None)
@given(programs())
def test_the_calls_build_what_the_graph_says(program: Program) -> None:
    wanted, called = table(program), calls(program)
    assert called.built() == wanted
    found = rebuilt(called)
    assert found == wanted
    for name, step in wanted["nodes"].items():
        marks = list(step.get("placeholders", ()))
        if any(one != other and one.startswith(other) for one in marks for other in marks):
            assert list(found["nodes"][name]["placeholders"]) == marks, "of two that begin alike the first one counts"


RUNBOOK = (
    "---\nrdc:\n  inputs:\n    version: {}\n  outputs: [host]\n---\n"
    + command(
        "1. Find a host for {{version}}", 'echo "host=web" >> "$RDC_OUTPUT"', 'FAIL: RETRY 2 STOP "No host"', shell="sh"
    )
    + command(
        "2. Update {{host}}", "echo \"$version\" '{{host}}'", 'PASS: COMPLETE "{{host}} has {{version}}"', shell="sh"
    )
)


def of_document(path: Path) -> tuple[Table, str]:
    """The table of a document, which its calls build, and these calls."""
    made = optimize(program_at(path))
    wanted, called = table(made), calls(made)
    assert rebuilt(called) == wanted
    return wanted, "\n".join(called.lines)


def saved(folder: Path, body: str) -> Path:
    path = folder / "main.runbook.md"
    path.write_text(body, encoding="utf-8")
    return path


OUTCOMES = {"gate": ["approved", "rejected"], "confirm": ["yes", "no"], "input": ["pass"]}
UNREAD = ["none", "invalid", "ambiguous", "failed"]


@pytest.mark.parametrize(
    "task", ["shell", "ask", "input", "select", "confirm", "gate", "agent", "tool", "branch", "end"]
)
@pytest.mark.parametrize("keywords", [[], ["GO", "STOP", "GO"]])
def test_what_follows_from_a_task_and_its_keywords(task: str, keywords: list[str]) -> None:
    words = {"words": ["GO", "STOP", *UNREAD]} if keywords else {"words": OUTCOMES[task]} if task in OUTCOMES else {}
    agent = {"agent": ""} if task == "agent" else {}
    assert implied({"task": task, "keywords": keywords}) == agent | words
    parallel: Table = {"task": "parallel", "entries": [{"keywords": keywords}, {"keywords": ["MORE"]}]}
    assert implied(parallel) == {"words": [*dict.fromkeys(keywords), "MORE", *UNREAD]}


def test_what_all_commands_share_is_said_once(tmp_path: Path) -> None:
    _, text = of_document(saved(tmp_path, RUNBOOK.replace(" '{{host}}'\n```", "\n```")))
    assert text.count('outputs=["host"]') == 1
    assert 'on_fail=retry(2, then=stop("No host"))' in text
    assert 'on_pass=complete("{{host}} has {{version}}")' in text
    for absent in ("texts=", "placeholders=", "do=", "gives=", "attempt=", "retries"):
        assert absent not in text


def test_what_only_looks_like_a_reference_stays_a_text(tmp_path: Path) -> None:
    wanted, text = of_document(saved(tmp_path, RUNBOOK.replace("## 2. Update {{host}}", "## 2. Update it")))
    assert "placeholders" not in wanted["nodes"]["2"]
    assert 'placeholders={"{{host}}": None}' in text


@pytest.mark.parametrize("name", ["tagged-release", "database-failover", "nightly-report", "update-hosts"])
def test_the_examples_repeat_nothing(name: str) -> None:
    _, text = of_document(EXAMPLES / f"{name}.runbook.md")
    for absent in ("texts=", "gives=", '"keep"', '"{{'):
        assert absent not in text.replace('", "{{', '", {{').replace('("{{', "({{").replace('="{{', "={{")
    assert text.count("outputs=") <= 1


CLEARING = ["dependency-update", "security-audit", "plan-and-build", "name-a-feature", "first-note"]


@pytest.mark.parametrize("name", CLEARING)
def test_a_workflow_says_once_what_steps_clear_and_what_follows(name: str) -> None:
    wanted, text = of_document(EXAMPLES / f"workflows/{name}.workflow.yaml")
    assert "clears=[" in text
    for absent in ('"clear"', '"keep"', " words=", 'agent=""'):
        assert absent not in text
    assert text.count('"{task}":') == 1
    ends = [end for end, node in wanted["nodes"].items() if node["task"] == "end"]
    assert {text.count(f'"{end}"') for end in ends if "/" in end.replace("/visits/", "")} <= {1}


def of_agents(*nodes: Node, **more: Any) -> str:
    """The calls of a program of agents, which build its table."""
    made = Program("x", "", (SourceFile("x", "0"),), "1", nodes, **more)
    called = calls(made)
    assert rebuilt(called) == table(made)
    return "\n".join(called.lines)


def agent(name: str, prompt: Text, *edges: Edge) -> Node:
    return Node(name, Text(), ORIGIN, Agent("", prompt), edges or (Edge((OutcomeTest("pass"),), (), "1"),))


def test_only_what_all_transitions_clear_is_said_once() -> None:
    edges = (
        Edge((OutcomeTest("pass"),), (Clear("a"), Clear("b"), Keep("b")), "1"),
        Edge((OutcomeTest("fail"),), (Clear("a"), Clear("c")), "1"),
    )
    text = of_agents(agent("1", Text(), *edges), slots=(Slot("a"), Slot("b", "at first"), Slot("c")))
    for each in ('clears=["a"]', 'do=[["b", "clear", []]], keeps=["b"]', 'do=[["c", "clear", []]]'):
        assert each in text


def test_a_mark_that_means_something_else_stays_with_its_step() -> None:
    a, b, other = Reference("a", "{a}"), Reference("b", "{b}"), Reference("b", "{b}", before="<", after=">")
    nodes = [agent("1", joined((a, " ", b))), agent("2", joined((a, " ", other)))]
    text = of_agents(*nodes, agent("3", joined(("{a} ", b))), inputs=(Input("a"),), slots=(Slot("a"), Slot("b")))
    assert (text.count('"{a}": ["a"'), text.count('"{a}": None'), text.count('"{b}": ["b"')) == (1, 1, 3)


def repeated(text: str) -> list[str]:
    """The names that a program imports twice for all of its functions."""
    imports = [node for node in ast.parse(text).body if isinstance(node, ast.Import | ast.ImportFrom)]
    names = Tally((getattr(node, "module", ""), one.name) for node in imports for one in node.names)
    return [f"{module} {name}".strip() for (module, name), count in names.items() if count > 1]


OF_EDITIONS = ("code-review.runbook.md", "update-hosts.runbook.md", "workflows/dependency-update.workflow.yaml",
               "specifications/plan-product.stepspec.yaml")  # fmt: skip
"""An example for each edition."""


@pytest.mark.parametrize(("target", "options"), [("python", {}), ("python", {"runtime": "script"}), ("dbos", {})])
def test_no_program_imports_anything_twice(target: str, options: dict[str, object]) -> None:
    editions = set()
    for name in OF_EDITIONS:
        text = load(target).emit(program_at(EXAMPLES / name), options).text
        edition = re.search(r", edition (\w+) ", text) if text else None
        if text and edition:
            editions.add(edition[1])
            assert repeated(text) == [], name
    assert editions == ({"script"} if options else set(EDITIONS) - {"script", "commands" * (target == "dbos")})
    assert repeated("import sys\nimport sys\nfrom a import b, c\nfrom a import c\n") == ["sys", "a c"]


def header(path: Path, target: str = "python") -> str:
    text = load(target).emit(program_at(path), {}).text or ""
    return " ".join(line.removeprefix("#").strip() for line in text.partition("\n\n")[0].splitlines())


SAID = {
    "deploy-with-rollback.runbook.md": ("`bash -c STRING`, without `-e` and `pipefail`", "`agent"),
    "database-failover.runbook.md": ("`{{NAME}}` shows the value. It is never put into a command.", "--agent COMMAND"),
    "playbooks/issue-triage.playbook.md": ("The inputs `issue` and `project` go into prompts unchanged", "`bash"),
    "playbooks/change-review.playbook.md": ("--tool CONNECTION=COMMAND` sets", "`parallel`"),
    "workflows/security-audit.workflow.yaml": ("In `parallel`, all agents must answer with it", "`none` means"),
    "specifications/checked-code.stepspec.yaml": (
        "Without mypy, this check is skipped: the run says so, and the step can pass.",
        "`gate`",
    ),
    "specifications/publish-notes.stepspec.yaml": ("A tool without `required` may fail", "is tried again"),
}
"""A document, a sentence that its header has, and a string that it does not have."""


@pytest.mark.parametrize("target", ["python", "dbos"])
@pytest.mark.parametrize("name", SAID)
def test_the_header_explains_the_settings_of_the_program(name: str, target: str) -> None:
    has, lacks = SAID[name]
    text = header(EXAMPLES / name, target)
    assert has in text
    assert lacks not in text


def test_the_header_names_the_outcomes_that_end_with_exit_code_0_and_the_programs_of_checks() -> None:
    ends = "`audit` (TASK_DONE), `triage` (TASK_DONE) and `report` (TASK_DONE, other outcomes)."
    text = header(EXAMPLES / "workflows/security-audit.workflow.yaml")
    assert f"Exit code 0 means COMPLETE, which follows after {ends}" in text
    text = header(EXAMPLES / "specifications/checked-code.stepspec.yaml")
    assert "Python 3.9 or newer. Uses mypy and ruff if they are installed." in text


def test_workers_of_a_project_with_a_name_share_no_runs(tmp_path: Path) -> None:
    (tmp_path / "a.runbook.md").write_text("## 1. Do\n\n```bash\ntrue\n```\n", encoding="utf-8")
    assert "of another project has the same runs" in header(tmp_path / "a.runbook.md", "dbos")
    assert "[project]` in rdc.toml. Workers of another" not in header(tmp_path / "a.runbook.md", "dbos")
    (tmp_path / "rdc.toml").write_text('[project]\nname = "shop"\n', encoding="utf-8")
    text = header(tmp_path / "a.runbook.md", "dbos")
    assert "of another project has the same runs" not in text
    assert "`project` is the `name` under `[project]` in rdc.toml." in text


def test_workers_pin_the_versions_that_rdc_is_tested_with() -> None:
    locked = re.findall(r"^(\S+==\S+)", (ROOT / "requirements.lock").read_text(encoding="utf-8"), re.MULTILINE)
    text = header(EXAMPLES / "specifications/checked-code.stepspec.yaml", "dbos")
    pinned = re.findall(r"\"(\S+==[^\"]+)\"", text)
    assert [each.partition("==")[0] for each in pinned] == ["dbos", "prometheus-client", "mypy", "ruff"]
    assert set(pinned) <= set(locked)
    assert '"mypy==' not in header(EXAMPLES / "specifications/publish-notes.stepspec.yaml", "dbos")


def test_a_long_sentence_continues_between_code_spans() -> None:
    span = "`a code span`"
    lines = wrapped(" ".join([span] * 40) + "\nshort").splitlines()
    assert lines[-1] == "# short"
    assert all(re.fullmatch(rf"#(?: {span})+", line) and len(line) <= 120 for line in lines[:-1])
    assert wrapped("one\x1b[31m\ntwo") == "# one [31m\n# two\n"
