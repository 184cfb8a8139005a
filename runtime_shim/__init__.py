"""The runtime of compiled programs: used in place by `rdc run`, and bundled into generated files.

MODULES names the modules in the order in which they are bundled, each with the features that need it ("" stands for
every program, `a+b` for those that have both). A module imports only from those before it. None has a
`from __future__`: that line is an import like any other, and it would stand before the generated file can say where not
to look for modules.
"""

from importlib import import_module
from typing import Any, Optional

CALLS = "shell agent tool parallel contract"
SPEAKS = "agent tool parallel"
GUARDS = "stage-inputs stage-guardrails"
CHECKS_FILES = "stage-validation stage-tool"
MORE = f"{SPEAKS} artifact"  # programs that do more than runbooks
MOCKED = "operator+agent operator+tool operator+parallel"
MOCKS = f"{MOCKED} operator+contract"
ASKED = ("ask", "confirm", "input", "select", "gate")
REPLIES = "confirm input select gate agent tool parallel contract"
BY_AGENT = "operator+ask"  # prompts that an agent may answer
MODULES: tuple[tuple[str, str], ...] = (
    ("program", ""),
    ("late", ""),
    ("built", ""),
    ("common", "inputs outputs"),
    ("walk", ""),
    ("journal", ""),
    ("leftover", ""),
    ("private", ""),
    ("state", ""),
    ("signals", ""),
    ("display", ""),
    ("dialog", ""),
    ("session", ""),
    ("report", ""),
    ("cli", ""),
    ("asked", "operator"),
    ("hidden", "secrets contract"),
    ("secrets_kept", "secrets contract"),
    ("answers", f"ask {REPLIES} operator"),
    ("waiting", f"ask {REPLIES} operator"),
    ("groups", "group"),
    ("nested", "nested"),
    ("fitting", "inputs contract"),
    ("files", "inputs agent tool parallel contract"),
    ("inputs", "inputs"),
    ("tasked", "inputs+tasked"),
    ("reading", f"slots contexts agent tool parallel contract {BY_AGENT}"),
    ("kept", "slots contexts"),
    ("contexts", "contexts agent parallel"),
    ("slots", "slots"),
    ("limit", "limit"),
    ("pauses", "delay"),
    ("process", f"{CALLS} {BY_AGENT}"),
    ("interrupted", f"{CALLS} {BY_AGENT}"),
    ("constants", "env"),
    ("values", "texts outputs contract"),
    ("variables", "texts"),
    ("shell", "shell"),
    ("outputs", "outputs"),
    ("ask", f"ask {REPLIES} operator"),
    ("replies", REPLIES),
    ("questions", "confirm input select"),
    ("gate", "gate"),
    ("human", "gate"),
    ("exchange", f"{SPEAKS} contract {BY_AGENT}"),
    ("search", f"agent parallel {GUARDS} {CHECKS_FILES}"),
    ("conversing", f"{SPEAKS} contract {BY_AGENT}"),
    ("durations", MORE),
    ("agreed", MORE),
    ("repeating", SPEAKS),
    ("tally", SPEAKS),
    ("trying", SPEAKS),
    ("speaking", SPEAKS),
    ("pairs", f"{SPEAKS} stage-tool"),
    ("recipes", "agent parallel"),
    ("agents", "agent parallel"),
    ("agent", "agent"),
    ("prompted", f"agent+ask parallel+ask {BY_AGENT}"),
    ("tool", "tool"),
    ("parallel", "parallel"),
    ("contract", "contract"),
    ("strict_json", "contract"),
    ("safe_paths", "contract"),
    ("given_vars", "inputs+contract"),
    ("guarding", GUARDS),
    ("stage_inputs", "stage-inputs"),
    ("stage_context", "stage-context"),
    ("validating", CHECKS_FILES),
    ("git_calls", "stage-tool"),
    ("tool_schemas", "stage-tool"),
    ("built_in_tools", "stage-tool"),
    ("stage_tool", "stage-tool"),
    ("evidence", "stage-execute stage-outputs"),
    ("stage_outputs", "stage-execute stage-outputs"),
    ("stage_execute", "stage-execute"),
    ("stage_guardrails", "stage-guardrails"),
    ("stage_validation", "stage-validation"),
    ("report_files", "report folder contract"),
    ("reports", "report folder"),
    ("most_steps", "limit+agent limit+tool limit+parallel"),
    ("produced", MORE),
    ("suffixes", "artifact"),
    ("artifact", "artifact"),
    ("breaks", MORE),
    ("expiring", MORE),
    ("plain_yaml", MOCKS),
    ("mocks", MOCKS),
    ("mocked", MOCKED),
    ("plays", "operator+contract"),
    ("stage_mocks", "operator+contract"),
    ("prompting", "operator+free"),
    ("signing", "operator contract"),
    ("moving", "operator+free"),
    ("given_values", "operator+outputs"),
    ("logs", "operator+shell"),
    ("noticing", "operator"),
    ("several", "operator"),
    ("history", "operator"),
    ("run_steps", "contract"),
    ("run_timeline", "contract"),
    ("run_records", "contract"),
    ("run_texts", "contract"),
    ("run_files", "contract"),
    ("stepping", "contract"),
    ("run_reports", "contract"),
    ("run_signing", "contract"),
    ("made", "contract"),
)
OPERATOR = frozenset({"operator"})
"""What a program has that can do all that operators ask for."""
AT_ONCE = ("asked",)
"""Modules of the operator's part that are not loaded late."""

TALKED = "agent tool parallel"
CALLED = f"{TALKED} agents"
RUNNER: tuple[tuple[str, str], ...] = (
    ("program", ""),
    ("walk", ""),
    ("reading", ""),
    ("fitting", ""),
    ("signals", ""),
    ("leftover", ""),
    ("process", ""),
    ("exchange", CALLED),
    ("search", CALLED),
    ("kept", ""),
    ("contexts", CALLED),
    ("values", ""),
    ("plain_yaml", "mock"),
    ("mocks", "mock"),
    ("runner_says", ""),
    ("runner_state", ""),
    ("runner_calls", ""),
    ("runner_kept", CALLED),
    ("runner_agents", CALLED),
    ("runner_folder", "report folder"),
    ("report_files", "report"),
    ("runner_reports", "report"),
    ("runner_mocks", "mock"),
    ("runner_routes", "route"),
    ("suffixes", "artifact"),
    ("runner_artifact", "artifact"),
    ("runner_changes", "changes"),
    ("runner_answers", "ask confirm input select gate"),
    ("runner_entries", "matrices"),
    ("runner", ""),
    ("runner_leaves", TALKED),
)
"""The modules that the steps of a workflow need, in order, each with the features that need it."""

PUBLISHING: tuple[str, ...] = (
    "publisher",
    "publisher_changes",
    "publisher_comment",
    "publisher_pull",
    "publisher_summary",
)
"""The modules of jobs that publish what a run has put out."""

BESIDE: tuple[str, ...] = ("json_lines", "helper", "fields", "limited", "ordered", "account", "calls", "reported")
"""Modules that Makefiles carry for what sh cannot say exactly; no compiled program has them."""


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


def modules(
    program: dict[str, Any], among: tuple[tuple[str, str], ...] = MODULES, more: frozenset[str] = frozenset()
) -> list[str]:
    """Return the names of the modules that a program needs, in order; `more` is what it has besides."""
    return _needed(features(program) | more, among)


def _needed(found: set[str], among: tuple[tuple[str, str], ...] = MODULES) -> list[str]:
    return [name for name, needs in among if any(found.issuperset(need.split("+")) for need in needs.split(" "))]


def parts(program: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Return the modules that a program needs at once, and those that an operator may ask for."""
    found = features(program)
    own, every = {*_needed(found), *AT_ONCE}, _needed(found | OPERATOR)
    return [name for name in every if name in own], [name for name in every if name not in own]


def main(program: dict[str, Any], argv: Optional[list[str]] = None, prog: Optional[str] = None) -> int:
    """Run a program in place, with the modules that it would carry in a file of its own."""
    at_once, later = parts(program)
    found = {name: import_module(f"runtime_shim.{name}") for name in at_once}
    found["late"].LATE[:] = [lambda: [import_module(f"runtime_shim.{name}") for name in later]]
    code: int = found["cli"].main(program, argv, prog)
    return code


__all__ = ["BESIDE", "MODULES", "OPERATOR", "PUBLISHING", "features", "main", "modules", "parts"]
