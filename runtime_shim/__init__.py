"""The runtime of compiled programs: used in place by `rdc run`, and bundled into generated files.

MODULES names the modules in the order in which they are bundled, each with the features that need it ("" stands for
every program, `a+b` for those that have both). A module imports only from those before it. None has a
`from __future__`: that line is an import like any other, and it would stand before the generated file can say where not
to look for modules.
"""

from importlib import import_module
from typing import Any, Optional

CALLS = "shell agent tool parallel"
SPEAKS = "agent tool parallel"
REPLIES = "confirm input select gate agent tool parallel"
MODULES: tuple[tuple[str, str], ...] = (
    ("program", ""),
    ("built", ""),
    ("walk", ""),
    ("journal", ""),
    ("leftover", ""),
    ("state", ""),
    ("signals", ""),
    ("display", ""),
    ("dialog", ""),
    ("session", ""),
    ("report", ""),
    ("cli", ""),
    ("answers", f"ask {REPLIES}"),
    ("waiting", f"ask {REPLIES}"),
    ("groups", "group"),
    ("nested", "nested"),
    ("fitting", "inputs"),
    ("files", "inputs agent tool parallel"),
    ("inputs", "inputs"),
    ("reading", "slots agent tool parallel"),
    ("kept", "slots"),
    ("slots", "slots"),
    ("limit", "limit"),
    ("pauses", "delay"),
    ("process", CALLS),
    ("interrupted", CALLS),
    ("values", "texts values"),
    ("variables", "texts"),
    ("shell", "shell"),
    ("outputs", "values"),
    ("ask", f"ask {REPLIES}"),
    ("replies", REPLIES),
    ("questions", "confirm input select"),
    ("gate", "gate"),
    ("exchange", SPEAKS),
    ("search", "agent parallel"),
    ("speaking", SPEAKS),
    ("pairs", SPEAKS),
    ("agents", "agent parallel"),
    ("agent", "agent"),
    ("prompted", "agent+ask parallel+ask"),
    ("tool", "tool"),
    ("parallel", "parallel"),
)

RUNNER: tuple[tuple[str, str], ...] = (
    ("program", ""),
    ("walk", ""),
    ("reading", ""),
    ("fitting", ""),
    ("signals", ""),
    ("leftover", ""),
    ("process", ""),
    ("exchange", "agents tools"),
    ("search", "agents tools"),
    ("kept", ""),
    ("values", ""),
    ("runner_says", ""),
    ("runner_state", ""),
    ("runner_calls", ""),
    ("runner_agents", "agents tools"),
    ("runner_answers", "ask confirm input select gate"),
    ("runner_entries", "matrices"),
    ("runner", ""),
)
"""The modules that the steps of a workflow need, in order, each with the features that need it."""

BESIDE: tuple[str, ...] = ("json_lines", "helper", "calls")
"""Modules that Makefiles carry for what sh cannot say exactly; no compiled program has them."""


def features(program: dict[str, Any]) -> set[str]:
    """Return what a program needs modules for: the kinds of its tasks, the keys of its units, its own keys."""
    units = program["units"].values()
    filled = [*units, *program.get("groups", {}).values()]
    places = (place for item in filled for place in item.get("placeholders", {}).values())
    registers = program.get("registers", {}).values()
    is_slotted = any(not isinstance(value, int) for value in registers) or any(isinstance(p, list) for p in places)
    keys = (key for item in filled for key in item)
    is_nested = any(unit["task"] == "end" and unit.get("edges") for unit in units)
    more = [*(["slots"] if is_slotted else []), *(["nested"] if is_nested else [])]
    about = (key for key, value in program.items() if value)
    return {"", *about, *(unit["task"] for unit in units), *keys, *more}


def modules(program: dict[str, Any], among: tuple[tuple[str, str], ...] = MODULES) -> list[str]:
    """Return the names of the modules that a program needs, in order."""
    found = features(program)
    return [name for name, needs in among if any(found.issuperset(need.split("+")) for need in needs.split(" "))]


def main(program: dict[str, Any], argv: Optional[list[str]] = None, prog: Optional[str] = None) -> int:
    """Run a program in place, with the modules that it would carry in a file of its own."""
    found = {name: import_module(f"runtime_shim.{name}") for name in modules(program)}
    code: int = found["cli"].main(program, argv, prog)
    return code


__all__ = ["BESIDE", "MODULES", "features", "main", "modules"]
