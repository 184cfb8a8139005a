"""The command line of a worker's program."""

import os
import re
import shlex
from typing import Any, Callable

from runtime_shim.cli.command_line import OPTIONS, help_lines, read_words
from runtime_shim.engine.display import Display
from runtime_shim.engine.outcomes import Host
from runtime_shim.engine.program import EXIT_COMPLETE, Table, UsageError
from runtime_shim.engine.session import Kinds, Options
from runtime_shim.engine.state import digest
from runtime_shim.engine.status import steps
from runtime_shim.engine.texts import meant, one_line
from runtime_shim.targets.dbos.commands import (
    Request,
    answer_run,
    approve_gate,
    cancel,
    goto_step,
    list_of_runs,
    prune,
    report_run,
    resume_run,
    retry_run,
    show_run,
    start,
    worker,
)
from runtime_shim.targets.dbos.legs import Legs, Place
from runtime_shim.targets.dbos.steps import LegSteps

REQUESTS: dict[str, tuple[str, Callable[[Request], int]]] = {
    "worker": ("run steps until you stop it", worker),
    "start": ("start a run", start),
    "status": ("show a run and what to do next", show_run),
    "list": ("list the runs", list_of_runs),
    "report": ("print a report of a run for a ticket, in Markdown", report_run),
    "answer": ("answer a waiting or interrupted step", answer_run),
    "approve": ("approve a gate: `approve RUN --gate ID`", approve_gate),
    "goto": ("move a waiting or interrupted run to another step", goto_step),
    "retry": ("after STOP, run the step that failed last again", retry_run),
    "resume": ("continue a run that a worker refused", resume_run),
    "cancel": ("end a run", cancel),
    "prune": ("delete old runs", prune),
    "steps": ("list the steps", lambda request: steps(request.session())),
}
OF_RUN = "status report answer approve goto retry resume cancel"
OF_WORKERS: Options = (
    (OF_RUN, "RUN", "", "the name of the run"),
    ("answer goto", "STEP", "", "the step"),
    ("answer", "REPLY", "", "pass, fail, yes, no or another reply; for an interrupted step also rerun"),
    ("all", "--database", "URL", "sqlite:///FILE or postgresql://… (default: $RDC_DATABASE, or sqlite:///NAME.sqlite)"),
    ("worker", "--jobs", "NUMBER", "how many runs at once (default: 1)"),
    ("worker", "--interrupted", "WHAT", "for an interrupted step: `ask` a person (default), or `rerun`"),
    (
        "worker",
        "--workspace",
        "WHERE",
        "where commands run: `shared` (this folder, default), `run` (a folder per run), or `host`",
    ),
    ("worker prune", "--logs", "DIR", "the folder for the output of commands (default: .rdc/NAME)"),
    ("worker", "--log-limit", "SIZE", "keep only the end of each output (default: 1M)"),
    ("worker", "--poll", "SECONDS", "how often to look for work (default: 0.25)"),
    ("worker", "--metrics", "PORT", "serve metrics for Prometheus here; or ADDRESS:PORT"),
    ("start", "--id", "RUN", "the name of the run"),
    ("start", "--wait", "", "wait for a question or the result; the exit code shows which"),
    ("start", "--answers", "FILE", "read replies from FILE, one per line: REPLY or STEP REPLY"),
    ("answer approve goto retry resume cancel", "--by", "WHO", "who decides (default: the user)"),
    ("answer approve goto retry resume cancel", "--note", "TEXT", "the reason"),
    ("answer approve retry resume", "--adopt", "", "continue a run of another version"),
    ("status list report", "--json", "", "print JSON"),
    ("list", "--waiting", "", "only runs that wait for a person"),
    ("list", "--all", "", "also list older runs that ended"),
    ("list", "--watch", "", "list again every two seconds"),
    ("prune", "--older-than", "AGE", "delete runs that ended before this time: 12h, 30d, 8w"),
)
NOT_HERE = {
    *("--state-dir", "--rerun-interrupted", "--assume", "--human", "--break", "--out"),
    *("--prompted", "--as", "--run-dir", "--dry-run"),
}  # options of programs that have no meaning for workers
OF_START = ("--input", "--inputs", "--task", "--task-file", "--var", "--expire")  # about a run, not where it runs


def options_of_worker(kinds: Kinds) -> Options:
    """Return the options of all subcommands: our own, and those of the edition under our names."""
    hidden = NOT_HERE.union(name for _, name, _, _ in OF_WORKERS)
    found = list(OF_WORKERS)
    for owners, name, takes, text in (*OPTIONS, *(option for kind in kinds for option in kind.options)):
        words = owners.split()
        ours = [word for word in words if word in REQUESTS]
        if name in OF_START:
            ours = ["start"]
        elif "resume" in words and name not in ("--value", "--max-visits", "--override"):
            ours = ["worker", *ours]
        is_here = (owners, name) == ("answer", "--all") or name not in hidden
        found.append((" ".join(ours) if is_here else "", name, takes, text))
    return tuple(dict.fromkeys(found))


class DbosCaller(LegSteps):
    """Runs at workers: their commands in hints."""

    def call(self, words: tuple[str, ...]) -> str:
        """Return the subcommand here for one of a program that runs by itself."""
        options, (verb, *rest) = self.session.options, words
        state: Any = getattr(self.session, "state", None)
        run = options.RUN or (state.begin["run"] if state else "")
        if verb == "resume" and {"--rerun-interrupted", "--assume"} & {*rest}:
            verb, rest = "answer", [run, state.node, "rerun" if "--rerun-interrupted" in rest else rest[-1]]
        elif verb == "resume" and (rest or (state and state.condition == "stop")):
            rest = [run, *(word for word in rest if word == "--adopt" or {"--max-visits", "--override"} & {*rest})]
        elif verb == "resume":
            verb = "worker"
        elif verb in ("answer", "approve", "goto", "retry"):
            rest = [run, *rest]
        elif verb in ("run", "reset"):
            verb, rest = ("start", []) if verb == "run" else ("cancel", [run])
        place = ["--database", options.database] if (options.database or "").startswith("sqlite:") else []
        return f"{options.prog} {shlex.join([verb, *rest, *place])}"


def application_of(program: Table) -> str:
    """Return the name by which a program finds its runs in a database."""
    slug = re.sub("[^a-z0-9]+", "-", program["name"].lower()).strip("-")[:40]
    return f"{slug}-{digest([program.get('project', ''), program['source']])[:8]}".lstrip("-")


def execute_call(program: Table, argv: list[str], host: Host, display: Display, kinds: Kinds) -> int:
    """Run a subcommand and return its exit code."""
    # The file calls `uv`, which may not be there, and `python3` may not have the packages.
    prog = f"{'uv run' if 'UV' in os.environ else 'python3'} {host.prog.removeprefix('python3 ')}"
    host, kinds = host._replace(prog=prog), [*kinds, DbosCaller]  # last, since it ends a leg when all others are done
    options, more = options_of_worker(kinds), {name for kind in kinds for name in kind.commands}
    calls = {name: each for name, each in REQUESTS.items() if name not in ("approve", "goto") or name in more}
    command, *words = argv or [""]
    own = tuple(option for option in options if {"all", command} & {*option[0].split()})
    if not argv or {"-h", "--help"} & {*argv}:
        display.say(help_lines(program, command, host.prog, calls, own))
        if argv:
            return EXIT_COMPLETE
        raise UsageError(f"missing subcommand; to start a run: {host.prog} start")
    if command not in calls:
        known = f"{meant(command, calls) or '; choose from ' + ', '.join(calls)} (see: {host.prog} --help)"
        raise UsageError(f"unknown subcommand {one_line(command)}{known}")
    given = read_words(words, own, options, [], f"(see: {host.prog} {command} --help)")
    vars(given).update(prog=host.prog, command=command, known=options, only=None, RUN=getattr(given, "RUN", "") or "")
    known = os.environ.pop("RDC_DATABASE", "")  # it may have a password, which is not for commands
    url = given.database or known or f"sqlite:///{program['name']}.sqlite"
    place = Place(application_of(program), "")
    request = Request(program, given, display, kinds, host, Legs(url, place.queue), place)
    version = request.session().identity()["program"]
    return calls[command][1](request._replace(place=place._replace(version=version)))
