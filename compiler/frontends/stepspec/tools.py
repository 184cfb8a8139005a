"""The tools of steps: their names, risks and gates (B9)."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from compiler.frontends.stepspec.runtime import Runtime
from compiler.frontends.stepspec.syntax import RISKS, Risk, StepSpec, ToolCall
from runtime_shim.contract.tool_schemas import BUILT_IN


class Asked(Struct, frozen=True):
    """A gate that a step needs, and the reason."""

    gate: str
    reason: str


def known_tools(runtime: Runtime) -> list[str]:
    """Return the names of all tools."""
    return [*BUILT_IN, *(runtime.tools or {})]


def risk_of(call: ToolCall, runtime: Runtime) -> Risk:
    """Return the risk of a call: the higher of its own risk and its tool's risk."""
    own = (runtime.tools or {}).get(call.name)
    return max(call.risk or "low", (own and own.risk) or "low", key=RISKS.index)


def tool_gate(call: ToolCall, step: StepSpec) -> str:
    """Return the gate of a high-risk call without `gate`."""
    return f"tool:{call.name}:{step.id}"


def tool_gates(step: StepSpec, runtime: Runtime) -> Iterator[Asked]:
    """Yield the gates that the calls of a step need, in order and possibly with duplicates."""
    for call in step.tools or ():
        is_high = risk_of(call, runtime) == "high"
        if call.gate:
            risk = " has high risk, and" if is_high else ""
            yield Asked(call.gate, f"the tool {call.name}{risk} names this gate")
        elif is_high:
            yield Asked(tool_gate(call, step), f"the tool {call.name} has high risk")
