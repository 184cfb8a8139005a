"""The tools of steps: which there are, how much can go wrong, and the gates that they need (B9)."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from compiler.frontends.stepspec.runtime import Runtime
from compiler.frontends.stepspec.syntax import Risk, StepSpec, ToolCall
from runtime_shim.contract.tool_schemas import BUILT_IN

RISKS: tuple[Risk, ...] = ("low", "medium", "high")


class Asked(Struct, frozen=True):
    """A gate that a step needs: its name, and why."""

    gate: str
    reason: str


def known_tools(runtime: Runtime) -> list[str]:
    """The names of all tools."""
    return [*BUILT_IN, *(runtime.tools or {})]


def risk_of(call: ToolCall, runtime: Runtime) -> Risk:
    """How much can go wrong: the higher of what the call and the configuration say."""
    own = (runtime.tools or {}).get(call.name)
    return max(call.risk or "low", (own and own.risk) or "low", key=RISKS.index)


def tool_gate(call: ToolCall, step: StepSpec) -> str:
    """The gate of a call with high risk that names none."""
    return f"tool:{call.name}:{step.id}"


def tool_gates(step: StepSpec, runtime: Runtime) -> Iterator[Asked]:
    """The gates that the calls of a step need, in order; one may be there several times."""
    for call in step.tools or ():
        is_high = risk_of(call, runtime) == "high"
        if call.gate:
            risk = " has high risk, and" if is_high else ""
            yield Asked(call.gate, f"the tool {call.name}{risk} names this gate")
        elif is_high:
            yield Asked(tool_gate(call, step), f"the tool {call.name} has high risk")
