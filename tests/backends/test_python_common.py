"""The python target says once what goes for all steps of a program with inputs and values, and exactly what differs."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backends.python.calls import Calls, calls
from backends.python.table import Table, table
from backends.registry import load
from compiler.driver import compile_file
from compiler.passes import optimize
from runtime_shim.data.shared import implied
from runtime_shim.editions import EDITIONS
from runtime_shim.engine.builder import built

EXTENSIONS = EDITIONS["agents"].kinds()

EXAMPLES = Path(__file__).parents[2] / "examples"
NAMES = ("host", "a_1", "VERSION")


def rebuilt(called: Calls) -> Table:
    """The table that the calls build."""
    found: dict[str, Any] = {}
    exec(f"def runbook({', '.join(called.parameters)}):\n" + "\n".join(called.lines) + "\n", found)
    return built(found["runbook"], EXTENSIONS)


def shown(name: str) -> str:
    return f"{{{{{name}}}}}"


# --- Tables in which most steps are alike, and some are not at all ----------------------------------------------------

MARKS: st.SearchStrategy[dict[str, Any]] = st.dictionaries(
    st.sampled_from([*map(shown, NAMES), "{N}", "{1.1}", shown("host") + "y", "{{host"]),
    st.sampled_from([["host", "", "", "{{host}}"], ["VERSION", "", "", "{{VERSION}}"], ["host", "<", "", ""], "{N}"]),
    max_size=3,
)
WORDS = st.lists(st.sampled_from([*map(shown, NAMES), "{N}", "{1.1}", "{host}", "y", "'\"\n\\ "]), max_size=4).map(
    "".join
)
OTHER = st.sampled_from([["{N}", "+", 1], ["reset", "keep"], ["host", "clear", []], ["host", "keep", ["answer"]]])


def keeping(names: tuple[str, ...], variables: dict[str, str]) -> list[list[Any]]:
    return [[variables.get(name, name), "keep", ["output", name]] for name in names]


@st.composite
def steps(draw: st.DrawFn, inputs: tuple[str, ...], values: tuple[str, ...]) -> Table:
    """A step as a runbook has it, or one that is different in some way."""
    is_usual = draw(st.integers(0, 3)) > 0
    task = draw(st.sampled_from(["shell", "shell", "ask", "end"]))
    step: Table = {"title": draw(WORDS), "task": task}
    step |= {"result": "stop", "message": draw(WORDS)} if task == "end" else {"at": "a.md:3"}
    step |= {"shell": "sh", "command": draw(WORDS)} if task == "shell" else {}
    step |= {"question": draw(st.sampled_from(["pass/fail", "yes/no"]))} if task == "ask" else {}
    texts = {name: name for name in (*inputs, *values)}
    kept = values
    if not is_usual:
        texts = draw(st.dictionaries(st.sampled_from(NAMES), st.sampled_from([*NAMES, "1/host"])))
        kept = tuple(draw(st.permutations(NAMES))[: draw(st.integers(0, 3))])
    marks: dict[str, Any] = {
        shown(name): [name, "", "", shown(name)] for name in (*inputs, *values) if shown(name) in str(step)
    }
    marks = marks if is_usual else draw(MARKS)
    keeps = keeping(kept, texts) if task == "shell" else []
    edges: list[Table] = []
    for word in () if task == "end" else ("pass", "fail"):
        first = keeps if is_usual or draw(st.booleans()) else draw(st.sampled_from([[], keeps[:1], keeps[::-1]]))
        do = [*first, *draw(st.lists(OTHER, max_size=1))]
        edges.append({"on": word, **({"do": do} if do else {}), "go": "end", "says": ""})
    if task == "shell":
        step |= {key: value for key, value in {"texts": texts, "outputs": sorted(kept)}.items() if value}
    return step | ({"placeholders": marks} if marks else {}) | {"edges": edges}


@st.composite
def tables(draw: st.DrawFn) -> Table:
    names = draw(st.permutations(NAMES))
    inputs, values = tuple(names[: draw(st.integers(0, 2))]), tuple(names[2 : draw(st.integers(2, 3))])
    initial = draw(st.sampled_from([None, None, None, "", "x"]))
    found: Table = {"name": "p", "title": "P", "source": "a.md", "entry": "1"}
    if inputs:
        found["inputs"] = [{"name": name, "type": "string", "required": True} for name in inputs]
    every = {name: draw(steps(inputs, values)) for name in ("1", "2", "3", "4")}
    end: Table = {"title": "", "task": "end", "result": "complete", "message": draw(WORDS), "edges": []}
    group = {"title": draw(WORDS), "prompt": draw(WORDS)}
    marks = draw(MARKS)
    found["groups"] = {"1": group | ({"placeholders": marks} if marks else {})}
    first = {**every["1"], "group": "1"}
    registers = {"{N}": 1, "1/host": None, **dict.fromkeys(NAMES, initial)}
    return found | {"registers": registers, "nodes": {**every, "1": first, "end": end}}


@pytest.mark.share(2)
@settings(max_examples=400, suppress_health_check=list(HealthCheck), deadline=None)
@given(tables())
def test_the_calls_build_the_very_table(wanted: Table) -> None:
    found = rebuilt(calls(wanted, {}))
    assert found == wanted
    for name, step in wanted["nodes"].items():
        marks = list(step.get("placeholders", ()))
        if any(one != other and one.startswith(other) for one in marks for other in marks):
            assert list(found["nodes"][name]["placeholders"]) == marks, "of two that begin alike the first one counts"


# --- What is said -----------------------------------------------------------------------------------------------------

RUNBOOK = """\
---
rdc:
  inputs:
    version: {}
  outputs: [host]
---
## 1. Find a host for {{version}}

```sh
echo "host=web" >> "$RDC_OUTPUT"
```

- FAIL: RETRY 2 STOP "No host"

## 2. Update {{host}}

```sh
echo "$version" '{{host}}'
```

- PASS: COMPLETE "{{host}} has {{version}}"
"""


def of_document(path: Path) -> tuple[Table, str]:
    made = compile_file(str(path)).program
    assert made
    wanted = table(optimize(made))
    return wanted, "\n".join(calls(wanted, {}).lines)


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
    wanted, said = of_document(saved(tmp_path, RUNBOOK.replace(" '{{host}}'\n```", "\n```")))
    assert rebuilt(calls(wanted, {})) == wanted
    assert said.count('outputs=["host"]') == 1
    assert 'on_fail=retry(2, then=stop("No host"))' in said
    assert 'on_pass=complete("{{host}} has {{version}}")' in said
    for absent in ("texts=", "placeholders=", "do=", "gives=", "attempt="):
        assert absent not in said


def test_what_only_looks_like_a_reference_stays_a_text(tmp_path: Path) -> None:
    wanted, said = of_document(saved(tmp_path, RUNBOOK.replace("## 2. Update {{host}}", "## 2. Update it")))
    found = rebuilt(calls(wanted, {}))
    assert "placeholders" not in found["nodes"]["2"]
    assert 'placeholders={"{{host}}": None}' in said
    assert found == wanted


@pytest.mark.parametrize("name", ["tagged-release", "database-failover", "nightly-report", "update-hosts"])
def test_the_examples_repeat_nothing(name: str) -> None:
    wanted, said = of_document(EXAMPLES / f"{name}.runbook.md")
    assert rebuilt(calls(wanted, {})) == wanted
    for absent in ("texts=", "gives=", '"keep"', '"{{'):
        assert absent not in said.replace('", "{{', '", {{').replace('("{{', "({{").replace('="{{', "={{")
    assert said.count("outputs=") <= 1


CLEARING = ["dependency-update", "security-audit", "plan-and-build", "name-a-feature", "first-note"]


@pytest.mark.parametrize("name", CLEARING)
def test_a_workflow_says_once_what_steps_clear_and_what_follows(name: str) -> None:
    wanted, said = of_document(EXAMPLES / f"workflows/{name}.workflow.yaml")
    assert rebuilt(calls(wanted, {})) == wanted
    assert "clears=[" in said
    for absent in ('"clear"', '"keep"', " words=", 'agent=""'):
        assert absent not in said
    assert said.count('"{task}":') == 1
    ends = [name for name, node in wanted["nodes"].items() if node["task"] == "end" and "/" in name]
    assert [said.count(f'"{name}"') for name in ends] == [1] * len(ends)


def test_only_what_all_transitions_clear_is_said_once() -> None:
    edges: list[dict[str, Any]] = [
        {
            "on": "pass",
            "do": [["a", "clear", []], ["b", "clear", []], ["b", "keep", ["answer"]]],
            "go": "1",
            "says": "",
        },
        {"on": "fail", "do": [["a", "clear", []], ["c", "clear", []]], "go": "1", "says": ""},
    ]
    node = {"title": "", "at": "x:1", "task": "agent", "agent": "", "prompt": "", "edges": edges}
    wanted: Table = {"name": "x", "title": "", "source": "x", "entry": "1", "nodes": {"1": node}}
    wanted["registers"] = {"a": None, "b": "at first", "c": None}
    found = calls(wanted, {})
    assert rebuilt(found) == wanted
    text = "\n".join(found.lines)
    assert 'clears=["a"]' in text
    assert 'do=[["b", "clear", []]], keeps=["b"]' in text
    assert 'do=[["c", "clear", []]]' in text


def test_a_mark_that_means_something_else_stays_with_its_step() -> None:
    def node(prompt: str, **marks: list[str]) -> Table:
        edges = [{"on": "pass", "go": "1", "says": ""}]
        places = {f"{{{name}}}": place for name, place in marks.items()}
        found = {"title": "", "at": "x:1", "task": "agent", "agent": "", "prompt": prompt, "edges": edges}
        return found | ({"placeholders": places} if places else {})

    nodes = {
        "1": node("{a} {b}", a=["a", "", "", ""], b=["b", "", "", ""]),
        "2": node("{a} {b}", a=["a", "", "", ""], b=["b", "<", ">", ""]),
        "3": node("{a} {b}", b=["b", "", "", ""]),
    }
    wanted: Table = {"name": "x", "title": "", "source": "x", "entry": "1", "nodes": nodes}
    wanted |= {"inputs": [{"name": "a", "type": "string", "required": True}], "registers": {"a": None, "b": None}}
    found = calls(wanted, {})
    assert rebuilt(found) == wanted
    text = "\n".join(found.lines)
    assert text.count('"{a}": ["a"') == 1
    assert text.count('"{a}": None') == 1
    assert text.count('"{b}": ["b"') == 3


def repeated(text: str) -> list[str]:
    """The names that a program imports twice for all of its functions."""
    imports = [node for node in ast.parse(text).body if isinstance(node, ast.Import | ast.ImportFrom)]
    names = Counter((getattr(node, "module", ""), one.name) for node in imports for one in node.names)
    return [f"{module} {name}".strip() for (module, name), count in names.items() if count > 1]


@pytest.mark.parametrize(("target", "options"), [("python", {}), ("python", {"runtime": "script"}), ("dbos", {})])
def test_no_program_imports_anything_twice(target: str, options: dict[str, object]) -> None:
    editions = set()
    for path in sorted(EXAMPLES.rglob("*.*")):
        program = compile_file(str(path)).program if path.suffix in {".md", ".yaml", ".json"} else None
        text = load(target).emit(program, options).text if program else None
        edition = re.search(r", edition (\w+) ", text) if text else None
        if text and edition and edition[1] not in editions:
            editions.add(edition[1])
            assert repeated(text) == [], path
    assert editions == ({"script"} if options else set(EDITIONS) - {"script", "commands" * (target == "dbos")})
    assert repeated("import sys\nimport sys\nfrom a import b, c\nfrom a import c\n") == ["sys", "a c"]
