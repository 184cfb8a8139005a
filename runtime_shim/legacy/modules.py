"""The modules that the steps of a workflow need, by what its program has."""

from typing import Any

SPEAKS = "agent tool parallel"
ASKED = ("ask", "confirm", "input", "select", "gate")
TALKED = "agent tool parallel"
CALLED = f"{TALKED} agents"
RUNNER: tuple[tuple[str, str], ...] = (
    ("legacy.program", ""),
    ("legacy.walk", ""),
    ("legacy.reading", ""),
    ("legacy.fitting", ""),
    ("legacy.signals", ""),
    ("legacy.leftover", ""),
    ("legacy.process", ""),
    ("legacy.exchange", CALLED),
    ("legacy.search", CALLED),
    ("legacy.kept", ""),
    ("legacy.contexts", CALLED),
    ("legacy.values", ""),
    ("legacy.plain_yaml", "mock"),
    ("legacy.mocks", "mock"),
    ("legacy.runner_says", ""),
    ("legacy.runner_state", ""),
    ("legacy.runner_calls", ""),
    ("legacy.runner_kept", CALLED),
    ("legacy.runner_agents", CALLED),
    ("legacy.runner_folder", "report folder"),
    ("legacy.report_files", "report"),
    ("legacy.runner_reports", "report"),
    ("legacy.runner_mocks", "mock"),
    ("legacy.runner_routes", "route"),
    ("legacy.suffixes", "artifact"),
    ("legacy.runner_artifact", "artifact"),
    ("legacy.runner_changes", "changes"),
    ("legacy.runner_answers", "ask confirm input select gate"),
    ("legacy.runner_entries", "matrices"),
    ("legacy.runner", ""),
    ("legacy.runner_leaves", TALKED),
)
"""The modules that the steps of a workflow need, in order, each with the features that need it."""


def features(program: dict[str, Any]) -> set[str]:
    """Return what a program needs modules for: the kinds of its tasks, the keys of its steps, its own keys."""
    nodes = program["nodes"].values()
    filled = [*nodes, *program.get("groups", {}).values(), program.get("artifact", {})]
    places = (place for item in filled for place in item.get("placeholders", {}).values())
    registers = program.get("registers", {}).values()
    is_slotted = any(not isinstance(value, int) for value in registers) or any(isinstance(p, list) for p in places)
    keys = (key for item in filled for key in item)
    is_nested = any(node["task"] == "end" and node.get("edges") for node in nodes)
    tasks, named = {node["task"] for node in nodes}, set(keys)
    more = [*(["slots"] if is_slotted else []), *(["nested"] if is_nested else [])]
    more += ["asked"] if tasks.intersection(ASKED) else []
    more += ["answered"] if tasks.intersection((*ASKED, "stage", *SPEAKS.split())) else []
    more += ["talks"] if tasks.intersection(("stage", *SPEAKS.split())) else []
    more += ["tasked"] if any(declared["name"] == "task" for declared in program.get("inputs", ())) else []
    more += sorted({f"stage-{node['stage']}" for node in nodes if node["task"] == "stage"})
    more += ["timed"] if "timeout" in named or "talks" in more else []
    more += [] if program.get("contract") else ["free"]
    about = (key for key, value in program.items() if value)
    if program.get("jumps", {}).get("scopes"):
        more.append("scopes")
    return {"", *about, *tasks, *named, *more}


def modules(program: dict[str, Any]) -> list[str]:
    """Return the names of the modules that the steps of a workflow need, in order."""
    found = features(program)
    return [name for name, needs in RUNNER if any(found.issuperset(need.split("+")) for need in needs.split(" "))]
