"""Lines above a path: its inputs (I8), outputs and times."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from compiler.analyses.values import value_flow
from compiler.ir.edges import Keep
from compiler.ir.program import Input, Node, Program, Settings
from compiler.times import spoken
from rdc.reporting.cells import visible
from runtime_shim.data.fitting import unfit

MOST_STEPS = 12


def with_stand_ins(program: Program, given: Mapping[str, str]) -> dict[str, str]:
    """Return the given inputs, and placeholder values for missing required ones."""
    missing = (item for item in program.inputs if item.required and item.default is None and item.name not in given)
    return {**given, **{declared.name: _stand_in(declared) for declared in missing}}


def _stand_in(declared: Input) -> str:
    """Return a valid value, if one is easy to find."""
    tried = (*declared.options[:1], "true", "0", "1", "1.0", "1.0.0", "a", "example")
    usual = {"boolean": "true", "number": "1", "choice": tried[0]}.get(declared.type, f"<{declared.name}>")
    fitting = (
        value for value in (usual, *tried) if not unfit(value, declared.type, declared.options, declared.pattern)
    )
    return next(fitting, usual)


def show_inputs(program: Program, given: Mapping[str, str], stand_ins: Mapping[str, str]) -> Iterator[str]:
    """Yield a line for each input with a value, and its source."""
    for declared in program.inputs:
        name = declared.name
        if name in given:
            yield visible(f"{name} = {given[name]}")
        elif name in stand_ins:
            yield visible(f"{name} = {stand_ins[name]}  (example; set it with --input {name}=VALUE)")
        elif declared.default is not None:
            yield visible(f"{name} = {declared.default}  (default)")


def show_facts(program: Program) -> Iterator[str]:
    """Yield a line for each output, with the steps that write and read it, and for each step with times."""
    flow = value_flow(program)
    for slot in dict.fromkeys(keep.slot for node in program.nodes for keep in _kept_values(node)):
        written = [node.id for node in program.nodes if slot in flow.writes[node.id]]
        read = [node.id for node in program.nodes if slot in flow.reads[node.id]]
        yield visible(f"{slot}: written by {_listed(written)}, read by {_listed(read)}")
    for node in program.nodes:
        times = list(_times(node.settings))
        if times:
            yield visible(f"{node.id}: {', '.join(times)}")


def _kept_values(node: Node) -> Iterator[Keep]:
    effects = (effect for edge in node.edges for effect in edge.effects)
    return (effect for effect in effects if isinstance(effect, Keep) and effect.of == "output")


def _listed(steps: Sequence[str]) -> str:
    return ", ".join(steps[:MOST_STEPS]) + (", …" if len(steps) > MOST_STEPS else "") if steps else "no step"


def _times(settings: Settings) -> Iterator[str]:
    if settings.timeout is not None:
        yield f"at most {spoken(settings.timeout)}"
    if settings.delay:
        again = f", ×{settings.backoff} each time" if settings.backoff > 1 else ""
        yield f"waits {spoken(settings.delay)} before a retry{again}"
