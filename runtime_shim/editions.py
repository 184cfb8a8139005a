"""The editions of the runtime: which modules each is made of, in order, and its extensions, in order (rule 2).

A module imports only from those before it. None has a `from __future__`: that line would have to come first.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, Optional

if TYPE_CHECKING:
    from runtime_shim.engine.lifecycle import Extension
    from runtime_shim.engine.program import Host


class Edition(NamedTuple):
    """A text that is the same in every program that has it."""

    modules: tuple[str, ...]
    extensions: tuple[str, ...]  # module and class

    def kinds(self) -> tuple["type[Extension]", ...]:
        """Return the classes of the extensions."""
        pairs = (name.rpartition(".") for name in self.extensions)
        return tuple(getattr(import_module(f"runtime_shim.{module}"), name) for module, _, name in pairs)


_ENGINE = (
    *("engine.program", "engine.walk", "engine.journal", "engine.leftover", "engine.private", "engine.state"),
    *("engine.signals", "engine.display", "engine.dialog", "engine.lifecycle", "engine.builder", "engine.session"),
    *("engine.status", "engine.command_line", "engine.stepping", "engine.nesting"),
)
_COMMANDS = (*_ENGINE, "tasks.process", "tasks.interrupted", "tasks.shell", "tasks.ask", "operator.history")
_VALUES = (
    *("data.shared", "data.fitting", "tasks.files", "data.inputs", "tasks.reading", "data.slots", "data.values"),
    *("data.outputs", "data.secrets", "data.limits", "tasks.replies", "tasks.questions", "tasks.gate"),
    *("operator.moving", "operator.signing"),
)
_OPERATOR = ("operator.prompting", "operator.logs", "operator.noticing", "operator.several")
_CALLS = ("tasks.exchange", "tasks.search", "tasks.conversing", "tasks.pairs")
_AGENTS = (
    *("data.contexts", "data.durations", "data.agreed", *_CALLS, "tasks.tally", "tasks.trying", "tasks.speaking"),
    *("tasks.recipes", "tasks.agents", "tasks.agent", "tasks.prompted", "tasks.tool", "tasks.parallel"),
    *("data.report_files", "data.reports", "data.artifact", "data.produced", *_OPERATOR),
    *("operator.mocks", "operator.mocked"),
)
_CONTRACT = (
    *(
        *_CALLS,
        "contract.step_builder",
        "contract.contract",
        "contract.strict_json",
        "contract.safe_paths",
        "contract.given_vars",
    ),
    *("contract.guarding", "contract.stage_inputs", "contract.stage_context", "contract.validating"),
    *("contract.git_calls", "contract.tool_schemas", "contract.built_in_tools", "contract.stage_tool"),
    *("contract.evidence", "contract.stage_outputs", "contract.stage_execute", "contract.stage_guardrails"),
    *("contract.stage_validation", "contract.kinds", "data.report_files", "contract.run_steps"),
    *("contract.run_timeline", "contract.run_records", "contract.run_texts", "contract.run_files"),
    *("contract.resuming", "contract.run_reports", "contract.called", *_OPERATOR, "operator.mocks"),
    "operator.stage_mocks",
)

_FIRST = ("operator.signing.Signing",)  # a record is signed before anything else is made of it
_BASE = ("tasks.shell.Shell", "tasks.ask.Asks", "engine.nesting.Nesting", "engine.stepping.Stepping")
_MORE = (
    *("data.shared.Shared", "data.inputs.Inputs", "data.inputs.TaskInput", "data.secrets.Secrets"),
    *("data.values.Variables", "data.slots.Slots", "data.outputs.Outputs", "data.limits.Limit"),
    *("data.limits.Pauses", "tasks.replies.Replies", "tasks.questions.Asked", "tasks.gate.OfGates"),
    "operator.moving.Moving",
)
_SAID = ("operator.prompting.ByHand", "operator.logs.Logs", "operator.noticing.Notices", "operator.several.Several")
_LAST = ("operator.history.History",)
EDITIONS = {
    "commands": Edition(_COMMANDS, (*_BASE, *_LAST)),
    "values": Edition((*_COMMANDS, *_VALUES), (*_FIRST, *_BASE, *_MORE, *_LAST)),
    "agents": Edition(
        (*_COMMANDS, *_VALUES, *_AGENTS),
        (
            *(*_FIRST, *_BASE, *_MORE, "data.contexts.Contexts", "data.agreed.Agreed", "tasks.tally.Budget"),
            *("tasks.tally.Reminder", "tasks.conversing.Conversations", "tasks.prompted.OfPrompts"),
            *("tasks.agent.OfAgents", "tasks.tool.OfTools", "tasks.parallel.OfParallels", "data.reports.Reports"),
            *("data.artifact.Artifact", "data.produced.Produced", "data.agreed.Breaks", "data.agreed.Expiry"),
            *("data.agreed.MostSteps", "operator.mocked.Mocks", *_SAID, *_LAST),
        ),
    ),
    "contract": Edition(
        (*_COMMANDS, *_VALUES, *_CONTRACT),
        (
            *(*_FIRST, *_BASE, *_MORE, "tasks.conversing.Conversations", "contract.given_vars.Placeholders"),
            *("contract.resuming.Specification", "contract.run_files.Files", "contract.run_reports.RunReports"),
            *("contract.called.Called", "operator.stage_mocks.MocksOfStages", *_SAID, *_LAST),
        ),
    ),
}


def main(program: dict[str, Any], argv: Optional[list[str]] = None, host: "Optional[Host]" = None) -> int:
    """Run a program in place, with the largest edition for it."""
    from runtime_shim.engine.command_line import main as run_main  # whoever only compiles needs none of it
    from runtime_shim.engine.program import Host

    edition = EDITIONS["contract" if "contract" in program else "agents"]
    return run_main(program, edition.kinds(), argv, host or Host())
