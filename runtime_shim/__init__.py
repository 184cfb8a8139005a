"""The runtime of compiled programs: used in place by `rdc run`, and bundled into generated files.

MODULES names the modules in the order in which they are bundled, each with the features that need it ("" stands for
every program, `a+b` for those that have both). A module imports only from those before it. None has a
`from __future__`: that line is an import like any other, and it would stand before the generated file can say where not
to look for modules.
"""

from typing import Any

from runtime_shim.editions import main

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
    ("engine.program", ""),
    ("engine.late", ""),
    ("engine.builder", ""),
    ("engine.common", "inputs outputs"),
    ("engine.walk", ""),
    ("engine.journal", ""),
    ("engine.leftover", ""),
    ("engine.state", ""),
    ("engine.signals", ""),
    ("engine.display", ""),
    ("engine.dialog", ""),
    ("engine.session", ""),
    ("engine.status", ""),
    ("engine.command_line", ""),
    ("operator.asked", "operator"),
    ("data.secrets", "secrets contract"),
    ("tasks.answers", f"ask {REPLIES} operator"),
    ("tasks.waiting", f"ask {REPLIES} operator"),
    ("engine.groups", "group"),
    ("engine.nested", "nested"),
    ("data.fitting", "inputs contract"),
    ("tasks.files", "inputs agent tool parallel contract"),
    ("data.inputs", "inputs"),
    ("data.tasked", "inputs+tasked"),
    ("tasks.reading", f"slots contexts agent tool parallel contract {BY_AGENT}"),
    ("data.kept", "slots contexts"),
    ("data.contexts", "contexts agent parallel"),
    ("data.slots", "slots"),
    ("data.limit", "limit"),
    ("data.pauses", "delay"),
    ("tasks.process", f"{CALLS} {BY_AGENT}"),
    ("tasks.interrupted", f"{CALLS} {BY_AGENT}"),
    ("tasks.constants", "env"),
    ("tasks.values", "texts outputs contract"),
    ("tasks.variables", "texts"),
    ("tasks.shell", "shell"),
    ("data.outputs", "outputs"),
    ("tasks.ask", f"ask {REPLIES} operator"),
    ("tasks.replies", REPLIES),
    ("tasks.questions", "confirm input select"),
    ("tasks.gate", "gate"),
    ("tasks.human", "gate"),
    ("tasks.exchange", f"{SPEAKS} contract {BY_AGENT}"),
    ("tasks.search", f"agent parallel {GUARDS} {CHECKS_FILES}"),
    ("tasks.conversing", f"{SPEAKS} contract {BY_AGENT}"),
    ("data.durations", MORE),
    ("data.agreed", MORE),
    ("tasks.repeating", SPEAKS),
    ("tasks.tally", SPEAKS),
    ("tasks.trying", SPEAKS),
    ("tasks.speaking", SPEAKS),
    ("tasks.pairs", f"{SPEAKS} stage-tool"),
    ("tasks.recipes", "agent parallel"),
    ("tasks.agents", "agent parallel"),
    ("tasks.agent", "agent"),
    ("tasks.prompted", f"agent+ask parallel+ask {BY_AGENT}"),
    ("tasks.tool", "tool"),
    ("tasks.parallel", "parallel"),
    ("contract.contract", "contract"),
    ("contract.strict_json", "contract"),
    ("contract.safe_paths", "contract"),
    ("contract.given_vars", "inputs+contract"),
    ("contract.guarding", GUARDS),
    ("contract.stage_inputs", "stage-inputs"),
    ("contract.stage_context", "stage-context"),
    ("contract.validating", CHECKS_FILES),
    ("contract.git_calls", "stage-tool"),
    ("contract.tool_schemas", "stage-tool"),
    ("contract.built_in_tools", "stage-tool"),
    ("contract.stage_tool", "stage-tool"),
    ("contract.evidence", "stage-execute stage-outputs"),
    ("contract.stage_outputs", "stage-execute stage-outputs"),
    ("contract.stage_execute", "stage-execute"),
    ("contract.stage_guardrails", "stage-guardrails"),
    ("contract.stage_validation", "stage-validation"),
    ("data.report_files", "report folder contract"),
    ("data.reports", "report folder"),
    ("data.most_steps", "limit+agent limit+tool limit+parallel"),
    ("data.produced", MORE),
    ("data.suffixes", "artifact"),
    ("data.artifact", "artifact"),
    ("data.breaks", MORE),
    ("data.expiring", MORE),
    ("operator.plain_yaml", MOCKS),
    ("operator.mocks", MOCKS),
    ("operator.mocked", MOCKED),
    ("operator.plays", "operator+contract"),
    ("operator.stage_mocks", "operator+contract"),
    ("operator.prompting", "operator+free"),
    ("operator.signing", "operator contract"),
    ("operator.moving", "operator+free"),
    ("data.given_values", "operator+outputs"),
    ("operator.logs", "operator+shell"),
    ("operator.noticing", "operator"),
    ("operator.several", "operator"),
    ("operator.history", "operator"),
    ("contract.run_steps", "contract"),
    ("contract.run_timeline", "contract"),
    ("contract.run_records", "contract"),
    ("contract.run_texts", "contract"),
    ("contract.run_files", "contract"),
    ("contract.stepping", "contract"),
    ("contract.run_reports", "contract"),
    ("contract.run_signing", "contract"),
    ("contract.made", "contract"),
)
OPERATOR = frozenset({"operator"})
"""What a program has that can do all that operators ask for."""
AT_ONCE = ("operator.asked",)
"""Modules of the operator's part that are not loaded late."""

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

PUBLISHING: tuple[str, ...] = (
    "publish.publisher",
    "publish.publisher_changes",
    "publish.publisher_comment",
    "publish.publisher_pull",
    "publish.publisher_summary",
)
"""The modules of jobs that publish what a run has put out."""

BESIDE: tuple[str, ...] = (
    "legacy.json_lines",
    "legacy.helper",
    "legacy.fields",
    "legacy.limited",
    "legacy.ordered",
    "legacy.account",
    "legacy.calls",
    "legacy.reported",
)
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


__all__ = ["BESIDE", "MODULES", "OPERATOR", "PUBLISHING", "features", "main", "modules", "parts"]
