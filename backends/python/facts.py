"""The facts that the header of a Python program explains: which settings, outcomes and programs its calls have."""

from __future__ import annotations

from typing import Any

from backends.common.remarks import broken, excused, of_placeholders, printable, shells
from backends.common.specification import Specification
from backends.python.calls import Calls
from compiler.ir.edges import words_of
from compiler.ir.program import Program, texts_of
from compiler.ir.tasks import UNREAD, Agent, Branch, End, Gate, Parallel, Stage
from compiler.text.regex import Regex
from runtime_shim.stepspec.step_builder import checks_of, language_of
from runtime_shim.stepspec.tool_schemas import BUILT_IN
from runtime_shim.tasks.verdicts import LISTED

_WIDEST = 118
_MOST_ENDS = 8

_STRING = Regex(r'"""(?:\\[\s\S]|[^\\])*?"""|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'')
_SETTING = Regex(r"(?<![\w.])([A-Za-z_]\w*)=(?!=)")
"""The name of a setting in calls without their strings. Parsing them takes as long as compiling the document."""

Facts = dict[str, Any]


def wrapped(text: str) -> str:
    """Return lines as comments. A longer line than fits continues in the next comment, but not within a code span."""
    return "".join(f"# {line}\n" for each in text.splitlines() for line in broken(printable(each), _WIDEST))


def facts(program: Program, called: Calls) -> Facts:
    """Return the values of the templates for the calls of a program."""
    found = _of_stepspec(program, called) if called.is_specification else _of_steps(program, called)
    of = Specification(program)
    return {"shells": shells(program), "needed": of.needed, "optional": of.optional, **found}


def _of_steps(program: Program, called: Calls) -> Facts:
    uses = called.used | _named(called)
    tasks = [entry for node in program.nodes for entry in getattr(node.task, "entries", (node.task,))]
    agents = [task for task in tasks if type(task) is Agent]
    keywords = {word for task in agents for word in task.reading.keywords}
    return {
        "uses": uses,
        "numbers": list(of_placeholders(program.nodes, program.counters)),
        "times": [f"`{name}`" for name in ("timeout", "delay") if name in uses],
        "shows_attempt": any("$RDC_ATTEMPT" in line or "${RDC_ATTEMPT" in line for line in called.lines),
        "secrets": [f"`{name}`" for name in program.secrets],
        "prompted": _prompted(program),
        "outcomes": {word for node in program.nodes for word in words_of(node.edges)} & {*UNREAD} if keywords else (),
        "failures": [f"`{word}`" for word in sorted(keywords) if word.casefold() in LISTED]
        + ["keywords in `failing`"] * any(task.reading.failing for task in agents),
        "has_after": any(context.after for context in program.contexts),
        "joined": {node.task.check for node in program.nodes if isinstance(node.task, Parallel)},
        "excused": excused(program),
        "completions": _completions(program) if agents else [],
    }


def _named(called: Calls) -> set[str]:
    """Return the names of the settings of all calls."""
    return set(_SETTING.findall(_STRING.sub('""', "\n".join(called.lines))))


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


def _of_stepspec(program: Program, called: Calls) -> Facts:
    stepspec = Specification(program)
    config, specs = stepspec.config, stepspec.specs
    retries = [spec["retries"] for spec in specs]
    tools = {call["name"]: config.get("tools", {}).get(call["name"], {}) for spec in specs for call in spec["tools"]}
    built_in = [name for name, tool in tools.items() if name in BUILT_IN and "command" not in tool]
    validations = {f'"{spec["validation"]}"': checks_of(spec["validation"]) for spec in specs if spec["validation"]}
    stages = [node.task for node in program.nodes if isinstance(node.task, Stage)]
    checked = [str(path) for stage in stages if len(stage.checks) > 1 for path in stage.paths]
    uses = {"tools": tools, "retries": any(each["max"] for each in retries)}
    uses |= {"pause": any(each["backoff_seconds"] for each in retries), "context": "context" in config}
    uses |= {"evidence": any(spec["evidence"] != "none" for spec in specs), "as": '"as": "' in str(called.lines)}
    return {
        "uses": {name for name, is_used in uses.items() if is_used} | {"guardrails"} & config.keys(),
        "gates": _gates(program),
        "has_optional_gate": '        human_gate="optional",' in called.lines,
        "has_executor": "executor" in config,
        "called": [f"`{name}`" for name, tool in tools.items() if "command" in tool],
        "built_in": [f"`{name}`" for name in built_in],
        "validations": validations,
        "has_yaml": any(language_of(path) == "YAML" for path in checked),
    }


def _gates(program: Program) -> list[str]:
    """Return the kinds of approvals in a specification, with their names."""
    gates = [node.id for node in program.nodes if isinstance(node.task, Gate)]
    found = {
        "`human_gate` (named MODULE:WORKFLOW:STEP:hitl)": any(name.endswith(":hitl") for name in gates),
        "tools with high `risk` (named tool:TOOL:STEP)": any(name.startswith("tool:") for name in gates),
        "tools with a `gate` (its name)": any(not name.startswith("tool:") and name[-5:] != ":hitl" for name in gates),
    }
    return [kind for kind, has in found.items() if has]
