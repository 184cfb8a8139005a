"""The editions of the runtime: which modules each is made of, in order, and its extensions, in order (rule 2).

A module imports only from those before it. None has a `from __future__`: that line would have to come first.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, Optional

if TYPE_CHECKING:
    from runtime_shim.engine.lifecycle import Extension, Host


class Edition(NamedTuple):
    """A text that is the same in every program that has it."""

    modules: tuple[str, ...]
    extensions: tuple[str, ...]  # module and class

    def kinds(self) -> tuple["type[Extension]", ...]:
        """Return the classes of the extensions."""
        pairs = (name.rpartition(".") for name in self.extensions)
        return tuple(getattr(import_module(f"runtime_shim.{module}"), name) for module, _, name in pairs)


_ENGINE = (
    *("engine.program", "engine.walk", "engine.texts", "engine.builder", "engine.journal", "engine.signals"),
    *("engine.private", "engine.state", "engine.display", "engine.lifecycle", "engine.telling", "engine.session"),
    *("engine.status", "engine.command_line", "engine.stepping"),
)
_COMMANDS = (*_ENGINE, "tasks.process", "tasks.shell", "tasks.answers", "tasks.ask", "operator.history")
_VALUES = (
    *("data.shared", "data.fitting", "data.inputs", "tasks.reading", "data.values"),
    *("data.outputs", "data.secrets", "data.limits", "tasks.replies", "tasks.gate"),
    *("operator.moving", "operator.signing", "targets.make"),
)
_OPERATOR = ("operator.by_hand", "operator.logs", "operator.notices", "operator.several_runs")
_CALLS = ("data.whole_files", "tasks.exchange", "tasks.conversing", "tasks.pairs")
_AGENTS = (
    *("data.agreed", *_CALLS, "tasks.verdicts", "tasks.tally", "tasks.speaking", "tasks.recipes", "tasks.agent"),
    *("tasks.prompted", "tasks.tool", "tasks.parallel", "data.reports", "data.artifact"),
    *(*_OPERATOR, "operator.mocks", "operator.mocked"),
)
_CONTRACT = (
    *(*_CALLS, "contract.step_builder", "contract.contract", "contract.evidence", "contract.safe_paths"),
    *("contract.guarding", "contract.validating", "contract.tool_schemas", "contract.tools", "contract.stages"),
    *("contract.executing", "contract.timeline", "contract.run_records", "contract.resuming"),
    *("contract.run_files", "contract.run_reports", *_OPERATOR, "operator.mocks", "operator.stage_mocks"),
)

_FIRST = ("operator.signing.Signing",)  # a record is signed before anything else is made of it
_BASE = ("tasks.shell.Shell", "tasks.ask.Asks", "engine.stepping.Stepping")
_MORE = (
    *("data.shared.Shared", "data.inputs.Inputs", "data.inputs.TaskInput", "data.secrets.Secrets"),
    *("data.values.Variables", "data.values.Slots", "data.outputs.Outputs", "data.limits.Limit"),
    *("data.limits.Pauses", "tasks.replies.Replies", "tasks.replies.Asked", "tasks.gate.OfGates"),
    *("operator.moving.Moving", "targets.make.OfMake"),
)
_SAID = ("operator.by_hand.ByHand", "operator.logs.Logs", "operator.notices.Notices", "operator.several_runs.Several")
_LAST = ("operator.history.History",)
_SCRIPT = ("engine.program", "engine.walk", "engine.texts", "engine.builder", "tasks.answers", "engine.script")
EDITIONS = {
    "script": Edition(_SCRIPT, ()),
    "commands": Edition(_COMMANDS, (*_BASE, *_LAST)),
    "values": Edition((*_COMMANDS, *_VALUES), (*_FIRST, *_BASE, *_MORE, *_LAST)),
    "agents": Edition(
        (*_COMMANDS, *_VALUES, *_AGENTS),
        (
            *(*_FIRST, *_BASE, *_MORE, "tasks.agent.Contexts", "data.agreed.Agreed", "tasks.tally.Budget"),
            *("tasks.tally.Reminder", "tasks.conversing.Conversations", "tasks.prompted.OfPrompts"),
            *("tasks.agent.OfAgents", "tasks.tool.OfTools", "tasks.parallel.OfParallels", "data.reports.Reports"),
            *("data.artifact.Artifact", "data.artifact.Produced", "data.agreed.Breaks", "data.agreed.Expiry"),
            *("data.agreed.MostSteps", "operator.mocked.Mocks", *_SAID, *_LAST),
        ),
    ),
    "contract": Edition(
        (*_COMMANDS, *_VALUES, *_CONTRACT),
        (
            *(*_FIRST, *_BASE, *_MORE, "tasks.conversing.Conversations", "contract.contract.Placeholders"),
            *("contract.resuming.Specification", "contract.run_files.Files", "contract.run_reports.RunReports"),
            *("contract.resuming.Called", "operator.stage_mocks.MocksOfStages", *_SAID, *_LAST),
        ),
    ),
}


def main(program: dict[str, Any], argv: Optional[list[str]] = None, host: "Optional[Host]" = None) -> int:
    """Run a program in place, with the largest edition for it."""
    from runtime_shim.engine.command_line import main as run_main  # whoever only compiles needs none of it
    from runtime_shim.engine.lifecycle import Host

    edition = EDITIONS["contract" if "contract" in program else "agents"]
    return run_main(program, edition.kinds(), argv, host or Host())
