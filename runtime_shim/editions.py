"""The editions of the runtime: the modules and extensions of each, in order.

A module imports only from modules before it, and quotes annotations that Python 3.9 cannot evaluate.
"""

import os
from collections.abc import Iterable
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from runtime_shim.engine.outcomes import Host
    from runtime_shim.engine.session import Extension


class Edition(NamedTuple):
    """A part of generated programs that is the same in all of them."""

    modules: tuple[str, ...]
    extensions: tuple[str, ...]  # module and class

    def kinds(self) -> "tuple[type[Extension], ...]":
        """Return the edition's extension classes."""
        pairs = (name.rpartition(".") for name in self.extensions)
        return tuple(getattr(import_module(f"runtime_shim.{module}"), name) for module, _, name in pairs)


_RUN = (
    *("engine.walk", "engine.texts", "engine.private", "engine.journal", "engine.signals", "engine.state"),
    *("engine.display", "engine.outcomes", "engine.session", "engine.times", "engine.status"),
    *("tasks.process", "tasks.shell", "io.answers", "tasks.ask", "operator.history", "operator.signing"),
    "operator.retry",
)
_LAST = "cli.command_line"  # a program starts there
_COMMANDS = ("engine.program", *_RUN, "tasks.commands", "operator.logs", "operator.jumps")
_GIVEN = (
    *("values.defaults", "io.reading", "values.fitting", "values.slots", "io.terminal", "tasks.replies"),
    *("values.inputs", "values.secrets", "operator.masked_logs", "values.limits", "tasks.gate", "operator.turns"),
    "operator.rules",
)
_VALUES = (*_GIVEN, "tasks.asks", "tasks.checklist")
_CALLS = ("io.whole_files", "operator.sized_logs", "tasks.exchange")
_OPERATOR = ("operator.notices", "operator.named_runs", "operator.current")
_REPORT = "operator.report"
_AGENTS = (
    *(*_CALLS, "values.settings", "tasks.calls", "tasks.verdicts", "tasks.recipes", "tasks.agent"),
    *("tasks.tool", "values.artifact"),
    *(_REPORT, *_OPERATOR, "operator.manual"),
)
_STEPSPEC = (
    *(*_CALLS, "stepspec.evidence", "stepspec.safe_paths", "stepspec.attempt"),
    *("stepspec.checks", "stepspec.tool_schemas", "stepspec.tools", "stepspec.stages"),
    *(_REPORT, "stepspec.records", "stepspec.record_files", "stepspec.specification", "stepspec.stage_logs"),
    *_OPERATOR,
)

_FIRST = ("operator.signing.Signing",)  # sign records first
_BASE = ("tasks.ask.Answers", "tasks.commands.CommandTasks")
_MORE = (
    *("values.defaults.Shared", "values.inputs.Inputs", "values.secrets.Secrets", "values.slots.Values"),
    *("values.limits.Limits", "values.limits.Expiry", "tasks.replies.Replies", "tasks.gate.GateTasks"),
    *("operator.turns.Turns", "values.limits.Visits"),
)
_RETRIED = ("operator.retry.Retries",)
_MASKED, _SIZED = "operator.masked_logs.MaskedLogs", "operator.sized_logs.SizedLogs"
_HELD = "operator.rules.Rules"  # after all that decide about a record
MOVED = ("operator.jumps.Jumps",)  # specifications don't move
_SAID = (
    *("operator.notices.Notices", "operator.named_runs.NamedRuns", "operator.report.RunReports"),
    "operator.current.CurrentStep",
)
_SCRIPT = ("engine.program", "engine.walk", "engine.texts", "io.answers", "cli.script")
_OF_VALUES = (*_FIRST, *_BASE, "tasks.checklist.Checklist", *_MORE, "tasks.asks.ValueTasks", *_RETRIED, *MOVED)
EDITIONS = {
    "script": Edition(_SCRIPT, ()),
    "commands": Edition((*_COMMANDS, _LAST), (*_FIRST, *_BASE, "operator.logs.Logs", *_RETRIED, *MOVED)),
    "values": Edition((*_COMMANDS, *_VALUES, _LAST), (*_OF_VALUES, _MASKED, _HELD)),
    "agents": Edition(
        (*_COMMANDS, *_VALUES, *_AGENTS, _LAST),
        (
            *(*_OF_VALUES, _SIZED, "tasks.agent.Contexts", "values.settings.Settings"),
            *(
                "tasks.calls.Budget",
                "tasks.exchange.PromptFiles",
                "tasks.agent.PromptCommands",
                "tasks.agent.AgentTasks",
            ),
            *(
                "tasks.tool.ToolTasks",
                "tasks.agent.ParallelTasks",
                "values.artifact.Reports",
                "values.artifact.Artifact",
            ),
            *("values.artifact.OutputFiles", "values.settings.Breakpoints", "values.settings.StepLimit"),
            *("operator.manual.ManualRun", *_SAID, _HELD),
        ),
    ),
    "stepspec": Edition(
        ("engine.program", "stepspec.step_builder", *_RUN, "operator.logs", *_GIVEN, *_STEPSPEC, _LAST),
        (
            *(*_FIRST, "tasks.ask.Answers", *_MORE, *_RETRIED, "tasks.exchange.PromptFiles"),
            "stepspec.stage_logs.StageLogs",
            *("stepspec.specification.Placeholders", "stepspec.specification.Specification"),
            *("stepspec.record_files.RecordFiles", *_SAID, _HELD),
        ),
    ),
}
_AROUND = ("messages", "script", "api", "journal_check", "saved_run", "changes")
_CALLED = (*_AROUND, "calls", "summary", "steps")
_GITHUB = ("values.secrets", _REPORT, "targets.naming", *(f"targets.github.{name}" for name in _CALLED))
_OF_RUNS = ("legs", "leases", "runs", "steps", "engine", "worker", "commands", "command_line")
_TRACES = "targets.traces"
_FOR_WORKERS = ("io.whole_files", "operator.sized_logs", "operator.jumps", _REPORT, _TRACES)  # also needed there


def _of_workers(edition: str) -> Edition:
    """Return the addition for workers of an edition: the modules that it does not have."""
    needed = (*_FOR_WORKERS, *(f"targets.dbos.{name}" for name in _OF_RUNS))
    return Edition(tuple(name for name in needed if name not in EDITIONS[edition].modules), ())


# Additions for programs that other targets call, each with its hash.
CALLERS = {
    "make": Edition(("targets.make",), ("targets.make.MakeCaller",)),
    "github": Edition(_GITHUB, ()),
    **dict.fromkeys(("traces", "shared_traces"), Edition((_TRACES,), ())),  # in a program, or beside it
    **{f"dbos-{name}": _of_workers(name) for name in ("values", "agents", "stepspec")},
}
PUBLISH = ("publish.publisher",)  # publishes output on GitHub; in no program


def kinds_of(program: dict[str, Any], more: "Iterable[type[Extension]]" = ()) -> "list[type[Extension]]":
    """Return the extensions that suit a program: those of the largest edition for it, and more."""
    edition = EDITIONS["stepspec" if "stepspec" in program else "agents"]
    return [kind for kind in (*edition.kinds(), *more) if kind.suits(program)]


def main(
    program: dict[str, Any],
    argv: "list[str] | None" = None,
    host: "Host | None" = None,
    more: "Iterable[type[Extension]]" = (),
    version: str = "",
) -> int:
    """Run a program in place, with the largest edition for it and more extensions. Traces have the version of rdc."""
    from runtime_shim.cli import command_line  # not needed to compile
    from runtime_shim.engine.outcomes import Host

    act = command_line.execute
    if any(name.startswith("OTEL_EXPORTER_OTLP_") for name in os.environ):
        act = import_module(f"runtime_shim.{_TRACES}").traced(act, version)
    return command_line.main(program, kinds_of(program, more), argv, host or Host(), act)
