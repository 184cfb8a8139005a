"""The text of a Python program: its header with the facts that it explains, the calls, and the runtime."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from backends.base import MARK
from backends.common.remarks import (
    WIDTH,
    broken,
    comment,
    excused,
    listed,
    of_placeholders,
    of_rules,
    of_run,
    printable,
    shells,
)
from backends.common.specification import Specification
from backends.common.templates import render
from backends.python.calls import Calls
from backends.python.edition import (
    BEGIN,
    END,
    LOADED,
    RUNTIME,
    SHARED_OPENING,
    TRACES,
    TRACES_BESIDE,
    WORKER,
    modules,
    opening,
    runtime_for,
    sha256_of_text,
    shared_hashes,
    word_of_part,
)
from backends.python.settings import literal
from compiler.ir.edges import words_of
from compiler.ir.program import Program, texts_of
from compiler.ir.tasks import UNREAD, Agent, Branch, End, Gate, Parallel, Stage
from compiler.text.regex import Regex
from compiler.version import __version__
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
    uses = called.used | set(_SETTING.findall(_STRING.sub('""', "\n".join(called.lines))))
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


def _prompted(program: Program) -> list[str]:
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
    gates = [node.id for node in program.nodes if isinstance(node.task, Gate)]
    found = {
        "`human_gate` (named MODULE:WORKFLOW:STEP:hitl)": any(name.endswith(":hitl") for name in gates),
        "tools with high `risk` (named tool:TOOL:STEP)": any(name.startswith("tool:") for name in gates),
        "tools with a `gate` (its name)": any(not name.startswith("tool:") and name[-5:] != ":hitl" for name in gates),
    }
    return [kind for kind, has in found.items() if has]


FILTERS = (comment, listed, literal, wrapped)


class Content(NamedTuple):
    """The content of a file: the runtime's edition, the program after the passes, and its calls."""

    edition: str
    program: Program
    calls: Calls


def program_text(content: Content, command: str, shared: Sequence[str] = (), caller: str = "") -> str:
    """Return the file of a program that a command writes, with the names of the shared files beside it."""
    edition, program, called = content
    return render(
        "python/program.py",
        FILTERS,
        mark=MARK,
        kind=program.kind,
        version=__version__,
        source=program.sources[0],
        included=program.sources[1:],
        title=_title(program.title),
        name=program.name,
        project=program.project,
        calls=called,
        explained=[*of_run(program), *(comment(line, WIDTH) for line in of_rules(program))],
        shared=list(shared),
        checks="" if shared else checks(edition, caller),
        traces=caller in (TRACES, TRACES_BESIDE),
        edition=edition,
        metadata=METADATA[tuple(Specification(program).optional)] if caller == WORKER else "",
        command=command,
        caller=caller,
        opening=SHARED_OPENING if shared else opening(edition),
        tail=tail(edition, program.kind, is_shared=bool(shared), caller=caller),
        **facts(program, called),
    )


def part_of(edition: str, caller: str) -> str:
    """Return the part that a program has below its edition, or ""."""
    return f"{WORKER}-{edition}" if caller == WORKER else TRACES if caller == TRACES else ""


def checks(edition: str, caller: str) -> str:
    """Return the commands that print the hashes of a program's parts without rdc, as comments, and these hashes."""
    below = part_of(edition, caller)
    parts = {RUNTIME: edition, **({word_of_part(below): below} if below else {})}
    return "".join(
        f"#   sed -n '/^{BEGIN} {word}$/,/^{END} {word}$/p' FILE | sha256sum\n#   {sha256_of_text(name)}  -\n"
        for word, name in parts.items()
    )


def _title(title: str) -> str:
    """Return a title that does not start a block for uv, or a part with a hash."""
    return f" {title}" if f"# {title}".startswith(("# ///", BEGIN, END)) else title


_OF_CHECKS = {"mypy": "mypy==2.4.1", "ruff": "ruff==0.17.6"}


def _metadata(checks: Sequence[str]) -> str:
    packages = ["dbos==3.4.0", "prometheus-client==0.26.0", *(_OF_CHECKS[name] for name in checks)]
    names = ", ".join(f'"{package}"' for package in packages)
    return f'# /// script\n# requires-python = ">=3.10"\n# dependencies = [{names}]\n# ///\n'


METADATA: dict[tuple[str, ...], str] = {
    names: _metadata(names) for names in ((), ("mypy",), ("ruff",), ("mypy", "ruff"))
}
"""The packages that `uv run` installs for a worker whose checks run some programs, as inline script metadata."""


def tail(edition: str, kind: str, *, is_shared: bool, caller: str = "") -> str:
    """Return the part of a program after the document: the edition's line, the modules, and the start."""
    part = part_of(edition, caller)
    below, added = "" if is_shared else modules(edition), runtime_for(part) if part else ""
    return render(
        "python/tail.py",
        FILTERS,
        version=__version__,
        kind=kind,
        edition=edition,
        sha256=sha256_of_text(edition),
        shared=shared_hashes(edition, caller) if is_shared else {},
        loaded=LOADED,
        caller=caller,
        modules=below,
        part=part,
        added=added,
        added_sha256=sha256_of_text(part) if part else "",
        is_worker=caller == WORKER,
        traces=caller in (TRACES, TRACES_BESIDE),
        count=below.count("\n") + added.count("\n"),
    )
