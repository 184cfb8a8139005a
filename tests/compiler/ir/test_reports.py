"""Reports, the folder they lie in, and what a document is: what the verifier refuses, how it is written (I29, I30)."""

import ast
import json
from pathlib import Path
from typing import get_args

import pytest
from msgspec.structs import replace

import runtime_shim
from backends.registry import load
from compiler.frontends.json.shapes import schema
from compiler.ir.edges import Clear, Edge, Effect, Keep, SlotTest, Test
from compiler.ir.features import Feature, features_of
from compiler.ir.program import Artifact, Input, Jump, Noun, Program, Slot
from compiler.ir.semantics import Machine
from compiler.ir.serialize import to_json
from compiler.ir.tasks import Agent, End, Parallel, Task
from compiler.ir.texts import Reference, joined, text
from compiler.ir.verify import issues, verify
from runtime_shim.editions import EDITIONS
from tests.support.sample_programs import node, program
from tests.support.text_form import to_text_form

HERE = joined(["They lie in ", Reference("where", "{where}", missing="?")])


def agent(report: str) -> Agent:
    return Agent("", HERE, report=report)


def both(report: str, *entry: str) -> Parallel:
    return Parallel(tuple(replace(agent(""), report=name) for name in (*entry, "")), report=report)


def walk(*tasks: tuple[str, Task], effects: tuple[Effect, ...] = (), guard: tuple[Test, ...] = ()) -> Program:
    """Tasks one after the other, by their ids."""
    ids = [name for name, _ in tasks] + ["END"]
    edges = [(Edge((), effects, after),) for after in ids[1:]]
    more = [[Edge(guard, (), "END")] if guard else [] for _ in tasks]
    nodes = [node(name, task, *extra, *way) for (name, task), way, extra in zip(tasks, edges, more, strict=True)]
    return replace(program(*nodes, node("END", End("complete"))), slots=(Slot("where"),), folder="where")


@pytest.mark.parametrize(
    ("broken", "problem"),
    [
        (walk(("a", agent("../x"))), "../x is not a valid report name"),
        (walk(("a", agent(".x"))), ".x is not a valid report name"),
        (walk(("a", agent("a/b"))), "a/b is not a valid report name"),
        (walk(("a", agent("é"))), "é is not a valid report name"),
        (walk(("a", agent("x\n"))), "x\n is not a valid report name"),
        (walk(("a", agent("x" * 201))), f"{'x' * 201} is not a valid report name"),
        (walk(("a", agent("Plan")), ("b", agent("plan"))), "its report plan would share a file with a report of a"),
        (walk(("a", agent("x_0")), ("x", both("r"))), "its report x_0 would share a file with a report of a"),
        (walk(("x", both("r")), ("a", agent("X_0"))), "its report X_0 would share a file with a report of x"),
        (walk(("x", both("X_0"))), "the reports of the step and of an entry would share a file"),
        (walk(("../x", both("r"))), "../x_0 is not a valid report name"),
        (walk(("x", both("r", "own"))), "an entry names a report; only the whole step can"),
        (replace(walk(("a", agent("r"))), slots=(Slot("other"),)), "the folder where must be a slot"),
        (replace(walk(("a", agent("r"))), slots=(Slot("where", "/"),)), "the folder where must be a slot"),
        (replace(walk(("a", agent("r"))), inputs=(Input("where"),)), "the folder where is also an input"),
        (replace(walk(("a", agent("r"))), artifact=Artifact("where", text("json"))), "is also the artifact"),
        (replace(walk(("a", agent("r"))), jumps=(Jump("a", "a", effects=(Clear("where"),)),)), "the jump to a changes"),
        (walk(("a", agent("r")), effects=(Keep("where"),)), "an edge tests or changes the folder where"),
        (walk(("a", agent("r")), guard=(SlotTest("where", "==", "/"),)), "an edge tests or changes the folder where"),
    ],
)
def test_the_verifier_names_what_is_broken(broken: Program, problem: str) -> None:
    assert problem in "\n".join(found.issue.message for found in issues(broken))


def test_names_that_differ_pass() -> None:
    made = walk(("a", agent("x")), ("x", both("all")), ("y", agent("x_2")), ("1/odd", agent("a.b-C_1")))
    verify(made)
    assert Feature.REPORTS in features_of(made)
    assert Feature.REPORTS not in features_of(replace(walk(("a", agent(""))), folder=""))
    machine = Machine(made)
    for folder, prompt in (("/x", "They lie in /x"), ("", "They lie in ?")):
        assert machine.text(machine.start(folder=folder) if folder else machine.start(), agent("r").prompt) == prompt


def test_they_are_written_only_where_they_are() -> None:
    written = json.loads(to_json(replace(walk(("a", agent("")), ("x", both(""))), folder="")))
    assert not {"kind", "folder"} & {*written}
    entries = [entry for one in written["nodes"] for entry in one["task"].get("entries", ())]
    assert not any("report" in part for part in [*(one["task"] for one in written["nodes"]), *entries])
    lines = to_text_form(replace(walk(("a", agent("plan")), ("x", both("all"))), kind="workflow")).splitlines()
    assert {"kind workflow", 'folder "where"', '  report "plan"', '  report "all"'} <= set(lines)


def test_a_kind_can_be_the_name_of_a_function() -> None:
    """A generated file defines it above the runtime, which must have nothing of that name."""
    folder = Path(runtime_shim.__file__ or "").parent
    for name in {name for edition in EDITIONS.values() for name in edition.modules}:
        module = ast.parse((folder / f"{name.replace('.', '/')}.py").read_text(encoding="utf-8"))
        assert not {getattr(part, "name", "") for part in module.body} & set(get_args(Noun)), name


@pytest.mark.parametrize("kind", get_args(Noun))
@pytest.mark.share(2)
def test_generated_files_use_the_word_of_the_document(kind: Noun) -> None:
    made = replace(walk(("a", agent(""))), kind=kind, folder="")
    for target, options in (("python", {}), ("make", {}), ("github", {"agent": "cat"})):
        emitted = load(target).emit(made, options).text
        assert emitted
        without_path = emitted.replace(made.sources[0].path, "")
        assert ("runbook" in without_path) == (kind == "runbook" and target != "make"), target
    assert kind in schema()["properties"]["kind"]["enum"]
