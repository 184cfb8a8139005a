"""What a case has that can go wrong, by name: the random cases must have all of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.programs.alphabet import keywords_of
from tests.programs.cases import Case, Json
from tests.programs.oracle import walk


def features(case: Case) -> set[str]:
    """The features of a case."""
    return {*_of_program(case.program), *_of_walk(case)}


def _of_program(program: Json) -> Iterator[str]:
    yield from (f"input {given['type']}" for given in program["inputs"])
    for node in program["nodes"]:
        yield f"task {node['task']['kind']}"
        yield from (f"effect {_kind(effect)}" for edge in node["edges"] for effect in edge["effects"])
        yield from (f"test {test['kind']}" for edge in node["edges"] for test in edge["guard"])
        yield from _of_task(node["task"])
        if node["task"]["kind"] == "end" and node["edges"]:
            yield "nested end"
        yield from node.get("settings", {})
        if node.get("variables"):
            yield f"variables of {node['task']['kind']}"
        yield from ("an agent below a context" for agent in _agents(node["task"]) if agent.get("context"))
        if node["task"].get("optional"):
            yield "optional tool"
    yield from ("a context below another" for context in program.get("contexts", []) if context.get("after"))
    if program.get("artifact"):
        yield "artifact"
    if program.get("groups"):
        yield "groups"


def _agents(task: Json) -> list[Json]:
    return task["entries"] if task["kind"] == "parallel" else [task] if task["kind"] == "agent" else []


def _kind(effect: Json) -> str:
    if effect["kind"] == "keep":
        return "extract" if "extract" in effect else f"keep {effect.get('of', 'answer')}"
    return "add a counter" if isinstance(effect.get("amount"), str) else str(effect["kind"])


def _of_task(task: Json) -> Iterator[str]:
    if task["kind"] == "ask":
        yield f"question {task['question']}"
    if task["kind"] in {"agent", "parallel"}:
        yield f"{task['kind']} {'with' if keywords_of(task) else 'without'} keywords"
    if task.get("reading", {}).get("excused"):
        yield "excused"
    for key in ("failing", "unanimous"):
        if task.get(key):
            yield key
    if task["kind"] == "parallel":
        yield f"check {task['check']}"
    for part in _references(task):
        yield "reference"
        yield from (f"reference with {key}" for key in ("before", "after", "missing") if part.get(key))


def _references(value: Any) -> Iterator[Json]:
    if isinstance(value, dict) and "register" in value:
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _references(inner)


def _of_walk(case: Case) -> Iterator[str]:
    taken = walk(case)
    tasks = {node["id"]: node["task"] for node in case.program["nodes"]}
    yield "end none" if taken.end is None else f"end {taken.end[0]}"
    if taken.end and "the limit of" in taken.end[1]:
        yield "end by the limit"
    steps = [visit.step for visit in taken.visits]
    if len(set(steps)) < len(steps):
        yield "a step twice"
    if len(steps) > 5:
        yield "a long path"
    for visit in taken.visits:
        kind = tasks[visit.step]["kind"]
        word = "a keyword" if visit.word in keywords_of(tasks[visit.step]) else visit.word
        yield f"{kind} {'an option' if tasks[visit.step].get('question') == 'select' else word}"
        if visit.values:
            yield "outputs"
