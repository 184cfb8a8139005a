"""Check the tools of steps: that they exist, and that their arguments match (B9, B10)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from msgspec.structs import replace

from compiler.diagnostic import Diagnostic
from compiler.frontends.stepspec.placeholders import names_in
from compiler.frontends.stepspec.runtime import Runtime
from compiler.frontends.stepspec.syntax import StepSpec
from compiler.frontends.stepspec.tools import known_tools
from compiler.ir.patterns import SEPARATE, overlap, overlapping, pattern_problem
from compiler.issues import Path, SourceMap
from compiler.suggestions import did_you_mean, nearest_name
from runtime_shim.contract.tool_schemas import BUILT_IN, TYPES, unfit_arguments


def tool_findings(
    step: StepSpec, runtime: Runtime, places: SourceMap, path: Path, *, is_linked: bool
) -> Iterator[Diagnostic]:
    """Yield the diagnostics of a step's tool calls."""
    known = known_tools(runtime)
    for number, call in enumerate(step.tools or ()):
        at: Path = (*path, "tools", number)
        if call.name and call.name not in known:
            if is_linked:
                then = "the attempt fails" if call.required else "the call is skipped"
                problem = f"there is no tool `{call.name}`, so {then}{did_you_mean(call.name, known)}"
                remedy = "use a built-in tool, or add it to `tools` in the configuration"
                found = places.diagnostic("RD865", (*at, "name"), problem, remedy)
                meant = nearest_name(call.name, known)
                yield replace(found, fix=places.respelled((*at, "name"), call.name, meant, is_value=True))
            continue
        arguments = call.args or {}
        schema = _schema(call.name, runtime)
        is_known = schema and not unfit_schema(schema) and not any(names_in(arguments))
        if is_known and (problem := unfit_arguments(schema, arguments)):
            remedy = f"correct `args`; {call.name} takes {', '.join(schema.get('properties', {}))}"
            said = f"the arguments of {call.name} are not valid: {problem.removeprefix('the arguments: ')}"
            yield places.diagnostic("RD864", (*at, "args"), said, remedy)


def _schema(name: str, runtime: Runtime) -> dict[str, Any]:
    own = (runtime.tools or {}).get(name)
    found: dict[str, Any] = (own.arguments if own else BUILT_IN.get(name, {}).get("arguments")) or {}
    return found


def configured_findings(runtime: Runtime, places: SourceMap) -> Iterator[Diagnostic]:
    """Yield the diagnostics of the configured tools and guardrails."""
    above: Path = ("runtime",) if ("runtime",) in places.spans else ()
    for name, tool in (runtime.tools or {}).items():
        at = _at(places, above, ("tools", name))
        if name in BUILT_IN:
            problem = f"`{name}` is the name of a built-in tool"
            yield places.diagnostic("RD871", at, problem, "rename the tool")
        if not tool.command.strip():
            problem = f"the command of the tool `{name}` is empty"
            yield places.diagnostic("RD854", (*at, "command"), problem, "write a command")
        if problem := unfit_schema(tool.arguments or {}):
            problem = f"rdc cannot check the argument schema of the tool `{name}`: {problem}"
            yield places.diagnostic(
                "RD855", (*at, "arguments"), problem, "describe them with `type`, `properties` and `required`"
            )
    guardrails = runtime.guardrails
    for side, said in (("input", guardrails and guardrails.input), ("output", guardrails and guardrails.output)):
        for number, pattern in enumerate((said and said.patterns) or ()):
            if problem := pattern_problem(pattern) or ("" if pattern else "is empty"):
                at = _at(places, above, ("guardrails", side, "patterns", number))
                remedy = "correct the pattern; don't nest unlimited repetitions, as in `(a+)+`"
                yield places.diagnostic("RD870", at, f"the pattern {problem}", remedy)
            elif character := overlap(pattern):
                at = _at(places, above, ("guardrails", side, "patterns", number))
                yield places.diagnostic("RD136", at, f"the pattern {overlapping(character)}", SEPARATE)


def _at(places: SourceMap, above: Path, path: Path) -> Path:
    """Return the position of a setting: at the top level, or under `runtime`."""
    return path if tuple(map(str, path)) in places.spans else (*above, *path)


NOTES = ("$schema", "title", "description", "default", "examples")  # these have no effect


def unfit_schema(schema: Any) -> str:  # noqa: ANN401 (any value of a configuration)
    """Return why a value isn't a schema of this subset, or "" if it is one."""
    if not isinstance(schema, dict):
        return "a schema must be an object"
    for key, value in schema.items():
        if key not in NOTES and (key not in PARTS or not PARTS[key](value)):
            return f"the value of `{key}` is not valid" if key in PARTS else f"`{key}` is not one of {', '.join(PARTS)}"
    parts = (
        schema[key] for key in ("items", "additionalProperties") if key in schema and schema[key] not in (True, False)
    )
    inner = [*schema.get("properties", {}).values(), *parts]
    return next(filter(None, map(unfit_schema, inner)), "")


def _are_types(value: Any) -> bool:  # noqa: ANN401
    names = value if isinstance(value, list) else [value]
    return bool(names) and all(isinstance(one, str) and one in TYPES for one in names)


PARTS: dict[str, Callable[[Any], bool]] = {
    "type": _are_types,
    "properties": TYPES["object"],
    "required": lambda value: isinstance(value, list) and all(map(TYPES["string"], value)),
    "additionalProperties": lambda value: isinstance(value, bool | dict),
    "enum": lambda value: isinstance(value, list) and bool(value),
    "items": TYPES["object"],
    "minimum": TYPES["number"],
    "maximum": TYPES["number"],
}
