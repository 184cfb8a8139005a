"""The facts that the header of a Python program explains: which settings, outcomes and programs its calls have."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from backends.python.calls import Calls
from backends.remarks import of_placeholders, printable, shells
from compiler.ir.edges import words_of
from compiler.ir.program import Program, texts_of
from compiler.ir.tasks import UNREAD, Agent, Branch, End, Gate, Parallel, Stage
from compiler.regex import Regex
from runtime_shim.contract.step_builder import checks_of, language_of
from runtime_shim.contract.tool_schemas import BUILT_IN
from runtime_shim.tasks.verdicts import LISTED

_WIDEST = 118
_WORD = Regex(r"(?:`[^`]*`|[^\s`]|`)+")
_MOST_ENDS = 8

Facts = dict[str, Any]


def wrapped(text: str) -> str:
    """Return lines as comments. A longer line than fits continues in the next comment, but not within a code span."""
    return "".join(f"# {line}\n" for each in text.splitlines() for line in _wrapped(printable(each)))


def _wrapped(text: str) -> Iterator[str]:
    line = ""
    for word in _WORD.findall(text):
        if line and len(line) + len(word) >= _WIDEST:
            yield line
            line = ""
        line = f"{line} {word}" if line else word
    if line:
        yield line


def facts(program: Program, called: Calls) -> Facts:
    """Return the values of the templates for the calls of a program."""
    found = _of_contract(program) if called.is_specification else _of_steps(program, called)
    return {"shells": shells(program), **found}


def _of_steps(program: Program, called: Calls) -> Facts:
    uses = called.settings | called.used
    tasks = [entry for node in program.nodes for entry in getattr(node.task, "entries", (node.task,))]
    agents = [task for task in tasks if type(task) is Agent]
    keywords = {word for task in agents for word in task.reading.keywords}
    return {
        "uses": uses,
        "checkers": [],
        "numbers": list(of_placeholders(program.nodes, program.registers)),
        "times": [f"`{name}`" for name in ("timeout", "delay") if name in uses],
        "shows_attempt": any("$RDC_ATTEMPT" in line or "${RDC_ATTEMPT" in line for line in called.lines),
        "secrets": [f"`{name}`" for name in program.secrets],
        "prompted": _prompted(program),
        "outcomes": {word for node in program.nodes for word in words_of(node.edges)} & {*UNREAD} if keywords else (),
        "has_failing": any(word.casefold() in LISTED for word in keywords),
        "joined": {node.task.check for node in program.nodes if isinstance(node.task, Parallel)},
        "excused": sorted({word for task in agents for word in task.reading.excused}),
        "completions": _completions(program) if agents else [],
    }


def _prompted(program: Program) -> list[str]:
    """Return the inputs that go into prompts."""
    strings = [text for node in program.nodes if isinstance(node.task, Agent | Parallel) for text in texts_of(node)]
    strings += [context.text for context in program.contexts]
    named = {reference.register for text in strings for reference in text.references}
    return [f"`{declared.name}`" for declared in program.inputs if declared.name in named]


def _completions(program: Program) -> list[str]:
    """Return the steps and outcomes that lead to COMPLETE; none if there are many, or if a branch decides."""
    ends = {node.id for node in program.nodes if isinstance(node.task, End) and node.task.result == "complete"}
    found: list[str] = []
    for node in program.nodes:
        if isinstance(node.task, Branch):
            return []
        words = [", ".join(words_of([edge])) or "other outcomes" for edge in node.edges if edge.target in ends]
        found += [f"`{node.id}` ({', '.join(words)})"] * bool(words)
    return found if len(found) <= _MOST_ENDS else []


def checkers(program: Program) -> list[str]:
    """Return the programs that the checks of a specification call. Without one, its check is skipped."""
    checks = {check for node in program.nodes if isinstance(node.task, Stage) for check in node.task.checks}
    return [name for name, check in (("mypy", "types"), ("ruff", "lint")) if check in checks]


def _of_contract(program: Program) -> Facts:
    assert program.contract is not None  # noqa: S101 (for mypy)
    config = json.loads(program.contract.config)
    specs = [json.loads(str(step.spec)) for step in program.contract.steps]
    retries = [spec["retries"] for spec in specs]
    tools = {call["name"]: config.get("tools", {}).get(call["name"], {}) for spec in specs for call in spec["tools"]}
    built_in = [name for name, tool in tools.items() if name in BUILT_IN and "command" not in tool]
    validations = {f'"{spec["validation"]}"': checks_of(spec["validation"]) for spec in specs if spec["validation"]}
    stages = [node.task for node in program.nodes if isinstance(node.task, Stage)]
    checked = [str(path) for stage in stages if len(stage.checks) > 1 for path in stage.paths]
    uses = {"tools": tools, "retries": any(each["max"] for each in retries)}
    uses |= {"pause": any(each["backoff_seconds"] for each in retries), "context": "context" in config}
    return {
        "uses": {name for name, is_used in uses.items() if is_used} | {"guardrails"} & config.keys(),
        "checkers": [*["git"] * (not {"gitStatus", "gitDiff"}.isdisjoint(built_in)), *checkers(program)],
        "has_gates": any(isinstance(node.task, Gate) for node in program.nodes),
        "has_executor": "executor" in config,
        "called": [f"`{name}`" for name, tool in tools.items() if "command" in tool],
        "built_in": [f"`{name}`" for name in built_in],
        "validations": validations,
        "has_yaml": any(language_of(path) == "YAML" for path in checked),
    }
