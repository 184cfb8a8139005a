"""How long the first answer takes, from a cold start: of `rdc check`, and of a generated program."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks.compiling import RDC
from benchmarks.document import NOTHING
from benchmarks.figures import Figure
from benchmarks.rounds import ROOT, alternate, elapsed
from benchmarks.stepping import compiled, generate

SMALL = ROOT / "examples" / "deploy-with-rollback.runbook.md"
LOOPS = ROOT / "examples" / "release.runbook.md"


def nothing() -> float:
    """The seconds of an interpreter that does nothing."""
    return elapsed([sys.executable, "-c", "pass"])


STARTS: dict[str, tuple[list[str], dict[str, str], float]] = {
    "`rdc --version`": (["--version"], {}, 4.0),
    "`rdc --help`": (["--help"], {}, 4.0),
    "the Tab key after `rdc ch`": (
        [],
        {"_RDC_COMPLETE": "bash_complete", "COMP_WORDS": "rdc ch", "COMP_CWORD": "1"},
        4.0,
    ),
    "`rdc check`, small file": (["check", str(SMALL)], {}, 14.0),
    "`rdc check`, a file with loops": (["check", str(LOOPS)], {}, 26.0),
    "`rdc compile --to python`, small file": (["compile", str(SMALL), "--to", "python", "-o", "-"], {}, 34.0),
}
"""Commands, what their environment has besides, and how many times the start of Python they may take."""


def starting(rounds: int = 21, generosity: float = 1.0) -> list[Figure]:
    """The start of commands against an interpreter that does nothing; the median of the rounds of each.

    The median, because starting up waits for the system as well, as it does for whoever types the command.
    """
    runs = {
        what: partial(elapsed, [RDC, *words], environment=environment)
        for what, (words, environment, _) in STARTS.items()
    }
    times = alternate({"nothing": nothing, **runs}, rounds)
    idle = median(times["nothing"])
    return [
        Figure(f"cold {what}", "python3 -c pass", median(times[what]), idle, generosity * limit)
        for what, (*_, limit) in STARTS.items()
    ]


EDITIONS = {
    "commands": (SMALL, 5.0),
    "agents": (ROOT / "examples" / "workflows" / "weekly-digest.workflow.yaml", 8.0),
    "stepspec": (ROOT / "examples" / "specifications" / "hello-steps.stepspec.json", 8.5),
}
"""A document for each edition that is measured, and how many times the start of Python its `status` may take."""


def first_words(rounds: int = 31, generosity: float = 1.0) -> list[Figure]:
    """A generated program of each edition against an interpreter that does nothing; the median of the rounds of each.

    Python compiles such a file again each time it is started, so that every line of its runtime counts. The last figure
    holds the whole of a run with one command, a process of bash and its journal included.
    """
    with TemporaryDirectory() as name:
        folder = Path(name)

        def started(program: Path, *words: str) -> float:
            with TemporaryDirectory(dir=name) as state:
                return elapsed([sys.executable, str(program), *words], Path(state), {NOTHING: "yes"})

        programs = {edition: compiled(source, folder / f"{edition}.py") for edition, (source, _) in EDITIONS.items()}
        contestants = {edition: partial(started, program, "status") for edition, program in programs.items()}
        run = partial(started, generate(folder, 10), "run")
        times = alternate({"nothing": nothing, "run": run, **contestants}, rounds)
    idle = median(times["nothing"])
    return [
        *(
            Figure(f"`status`, edition {name}", "python3 -c pass", median(times[name]), idle, generosity * limit)
            for name, (_, limit) in EDITIONS.items()
        ),
        Figure("a generated program, a run of one command", "python3 -c pass", median(times["run"]), idle),
    ]
