"""Checks of the sentences above the author's part of programs and workers: whether they are true for a program."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable
from typing import Any

from backends.common.command import read_command
from backends.common.remarks import shells
from backends.registry import load
from compiler.analyses.values import most_visits
from compiler.ir.program import Node, Program, texts_of
from compiler.ir.tasks import Agent, Ask, End, Gate, Stage, Tool, agents_of
from runtime_shim.stepspec.step_builder import checks_of

Check = Callable[[Program, str, "re.Match[str]"], object]
"""Returns whether a comment is true, for a program and its generated text."""


def has(pattern: str) -> Check:
    """The text has a line with this pattern."""
    return lambda _, text, __: re.search(pattern, text, re.MULTILINE)


def _decides(compiled: Program, _: str, found: re.Match[str]) -> bool:
    asking = [node.id for node in compiled.nodes if isinstance(node.task, Ask | Gate)]
    return " ".join(found[1].split()) == ", ".join(asking)


def called(node: Node) -> list[str]:
    if isinstance(node.task, Tool):
        return [f"the tool {node.task.connection}"]
    if isinstance(node.task, Stage):
        return {"execute": ["the executor"], "tool": [f"the tool {node.task.subject}"]}.get(node.task.stage, [])
    return [f"the agent {agent.agent}" if agent.agent else "an agent" for agent in agents_of(node.task)]


def _calls(compiled: Program, _: str, found: re.Match[str]) -> bool:
    """The number is that of the visits of a node with its entries, or less because the run has a limit of steps."""
    visits, wanted = most_visits(compiled), dict[str, float]()
    for node in compiled.nodes:
        for name in called(node):
            most = visits[node.id]
            wanted[name] = wanted.get(name, 0) + (float("inf") if most is None else most)
    numbers = {"no limit": float("inf"), "at most once": 1.0}
    stated = {
        name: numbers[number] if number in numbers else int(number.split()[2])
        for name, number in re.findall(r"(\S.*?) \((no limit|at most .+?)\)(?:, | and |$)", " ".join(found[1].split()))
    }
    return stated.keys() == wanted.keys() and all(
        stated[name] == most or (compiled.limit is not None and stated[name] < most) for name, most in wanted.items()
    )


def is_worker(text: str) -> bool:
    return "\n# /// script\n" in text


def own(compiled: Program, text: str) -> str:
    """Return the author's part."""
    return text[text.index(f"\ndef {compiled.kind}(") : text.index("\n# The runtime of rdc ")]


def sets(*names: str) -> Check:
    """The author's part has all of these settings or calls."""
    return lambda compiled, text, _: all(re.search(rf"\b{name}(?:=|\()", own(compiled, text)) for name in names)


def worker(pattern: str = "") -> Check:
    """The file is a worker, and has a line with this pattern."""
    return lambda _, text, __: is_worker(text) and re.search(pattern, text, re.MULTILINE)


def named(of: Callable[[Program], Iterable[str]]) -> Check:
    """The names in code spans are exactly these."""
    return lambda compiled, _, found: sorted(re.findall(r"`([^`]+)`", found["names"])) == sorted(set(of(compiled)))


def both(*checks: Check) -> Check:
    return lambda *facts: all(check(*facts) for check in checks)


def agents(compiled: Program) -> list[Agent]:
    return [agent for node in compiled.nodes for agent in agents_of(node.task)]


def has_task(kind: type, **facts: object) -> Check:
    """The program has a task of this kind with these facts."""
    return lambda compiled, *_: any(
        isinstance(node.task, kind) and all(getattr(node.task, key) == value for key, value in facts.items())
        for node in compiled.nodes
    )


def words(compiled: Program) -> set[str]:
    return {
        test.word for node in compiled.nodes for edge in node.edges for test in edge.guard if test.kind == "outcome"
    }


def specs(compiled: Program) -> list[dict[str, Any]]:
    return [json.loads(str(step.spec)) for step in compiled.stepspec.steps] if compiled.stepspec else []


def config(compiled: Program) -> dict[str, Any]:
    return json.loads(compiled.stepspec.config) if compiled.stepspec else {}


def used(compiled: Program) -> list[str]:
    """Return the programs that checks and built-in tools run."""
    checks = {check for spec in specs(compiled) if spec["validation"] for check in checks_of(spec["validation"])}
    tools = {name for name in tools_of(compiled, is_own=False) if name in ("gitStatus", "gitDiff")}
    return ["mypy"] * ("types" in checks) + ["ruff"] * ("lint" in checks) + ["git"] * bool(tools)


def tools_of(compiled: Program, *, is_own: bool) -> list[str]:
    """Return the tools that steps call, with a command of the document or without."""
    called, own = (
        {call["name"] for spec in specs(compiled) for call in spec["tools"]},
        config(compiled).get("tools", {}),
    )
    return [name for name in called if ("command" in own.get(name, {})) == is_own]


def _needed(compiled: Program, text: str, found: re.Match[str]) -> bool:
    named = set(re.split(r",\s+|\s+and\s+", " ".join(found[1].split()).replace(" beside it", "")))
    files = set(re.findall(r'^    "(rdc_\w+\.py)": "[0-9a-f]{64}",$', text, re.MULTILINE))
    python = {"Python 3.10 or newer", "the packages below"} if is_worker(text) else {"Python 3.9 or newer"}
    return named == {
        "Linux or macOS",
        *python,
        *shells(compiled),
        *files,
        *("git" for one in used(compiled) if one == "git"),
    }


def _hashes(_: Program, text: str, found: re.Match[str]) -> bool:
    parts = re.findall(rf"^# BEGIN {found[1]}\n(?:.*\n)*?# END {found[1]}\n", text, re.MULTILINE)
    return hashlib.sha256("".join(parts).encode()).hexdigest() == found[2]


def _packages(compiled: Program, _: str, found: re.Match[str]) -> bool:
    names = [each.partition("==")[0] for each in re.findall(r'"(\S+==\S+)"', found[0])]
    return names == ["dbos", "prometheus-client", *(name for name in used(compiled) if name != "git")]


def _where(_: Program, text: str, found: re.Match[str]) -> bool:
    option = re.search(r"`(worker )?--", found[0])  # the first one shows where it is given
    return ("worker" in found[0]) == is_worker(text) == bool(option[1] if option else is_worker(text))


def _completions(compiled: Program, _: str, found: re.Match[str]) -> bool:
    nodes, stated = compiled.index(), " ".join(found[0].split())
    ends = {name for name, node in nodes.items() if isinstance(node.task, End) and node.task.result == "complete"}
    leading = [node.id for node in compiled.nodes if any(edge.target in ends for edge in node.edges)]
    return set(re.findall(r"`([^`]+)` \(", stated)) == set(leading)


def _prompted(compiled: Program) -> set[str]:
    named = [
        ref.register
        for node in compiled.nodes
        if agents_of(node.task)
        for text in texts_of(node)
        for ref in text.references
    ]
    named += [ref.register for context in compiled.contexts for ref in context.text.references]
    return {declared.name for declared in compiled.inputs} & {*named}


def _validations(compiled: Program, _: str, found: re.Match[str]) -> bool:
    policies = {" ".join(spec["validation"].split()): spec["validation"] for spec in specs(compiled)}
    stated = re.split(r",\s+|\s+and\s+", found["checks"])
    return stated == checks_of(policies[" ".join(found["policy"].split())])


def _gates_of(compiled: Program, _: str, found: re.Match[str]) -> bool:
    gates = [node.id for node in compiled.nodes if isinstance(node.task, Gate)]
    kinds = {"hitl" if name.endswith(":hitl") else "tool" if name.startswith("tool:") else "gate" for name in gates}
    written = {"hitl": "`human_gate` (", "tool": "high `risk` (", "gate": "a `gate` ("}
    stated = " ".join(found[0].split())
    return {kind for kind, words in written.items() if words in stated} == kinds


is_stepspec: Check = lambda compiled, *_: compiled.stepspec is not None  # noqa: E731


def proved(compiled: Program, text: str, found: re.Match[str]) -> bool:
    """The first of these lines is that of the first rule, and all others are below it."""
    lines = [f"# rdc proved rule {rule.name}: {rule.sentence}" for rule in compiled.rules]
    return found[0].rstrip() in [line[2:] for line in lines] and "\n".join(lines) in text


# --- What all files have in common ---


def always(_: Program, __: str, ___: re.Match[str]) -> bool:
    return True


def regenerates(compiled: Program, text: str, found: re.Match[str]) -> bool:
    return text_by(compiled, found[1]) == text


def text_by(compiled: Program, written: str) -> str | None:
    """Return what a command writes."""
    command = read_command(written)
    assert command is not None
    backend = load(command.target)
    return backend.emit(compiled, backend.options.from_words(command.options)).text


def _is_source(compiled: Program, _: str, found: re.Match[str]) -> bool:
    return (found["path"], found["sha256"]) in [(each.path, each.sha256) for each in compiled.sources]


SOURCE = r"(?:Generated by rdc \S+ from|with) (?P<path>\S+)\s\(sha256 (?P<sha256>[0-9a-f]{64})\)[.,]\n"


def source() -> tuple[str, Check]:
    """Return the kind of the comments that name the document, and other files that belong to it."""
    return SOURCE, _is_source


def check_header(compiled: Program, text: str, lines: list[str], kinds: list[tuple[str, Check]]) -> None:
    """Compare the comments at the top of a file, from the first to the last."""
    rest = "".join(f"{line.removeprefix('#').removeprefix(' ')}\n" for line in lines)
    while rest:
        for pattern, checker in kinds:
            if found := re.match(pattern, rest):
                assert checker(compiled, text, found), found[0]
                rest = rest[found.end() :]
                break
        else:
            raise AssertionError(f"unknown comment: {rest[:200]!r}")
