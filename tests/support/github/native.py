"""Workflows whose questions are approvals, and their runs by the second engine: nothing calls a program."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support import actions_engine as engine
from tests.support import runbooks
from tests.support.actions_engine import EngineRun
from tests.support.github.compiling import emission, parsed

REVIEWERS = "needs required reviewers"
AGAIN = "Completed steps would run again. Start a new run of this workflow instead."


def question(number: int, *transitions: str, title: str = "Go on?") -> str:
    """A question, with what follows after its outcomes."""
    return runbooks.question(f"{number}. {title}", "Is it fine?", *transitions)


def command(number: int, script: str, *transitions: str, title: str = "Work") -> str:
    """A step that runs a script."""
    return runbooks.command(f"{number}. {title}", script, *transitions)


def noted(number: int, *transitions: str) -> str:
    """A step that notes its number in the file `$LOG`."""
    return command(number, f'echo {number} >> "$LOG"', *transitions, title=f"Work {number}")


@dataclass(frozen=True)
class Native:
    """A workflow in a folder, to be run several times."""

    folder: Path
    text: str

    @property
    def jobs(self) -> Mapping[str, Mapping[str, Any]]:
        """The jobs by their ids."""
        found: Mapping[str, Mapping[str, Any]] = parsed(self.text)["jobs"]
        return found

    @property
    def log(self) -> list[str]:
        """What the commands have noted, in all runs."""
        path = self.folder / "log"
        return path.read_text(encoding="utf-8").splitlines() if path.exists() else []

    def __call__(self, *decisions: str, **given: Any) -> EngineRun:
        """Run it; people decide so about the environment `approval`, unless others are given."""
        given.setdefault("environments", {"approval": decisions})
        env = {"LOG": str(self.folder / "log"), **given.pop("env", {})}
        return engine.run(self.folder / "repository", self.text, history=self.folder / "history", env=env, **given)


def prepared(folder: Path, document: str, options: Mapping[str, object] | None = None) -> Native:
    """The workflow of a document, which has everything in itself, and its repository."""
    (folder / "repository").mkdir()
    made = emission(folder, document, {"prompts": None, **(options or {})})
    assert made.text, made.diagnostics
    assert (made.companions, "CALL: " in made.text) == ((), False)
    return Native(folder, made.text)


def result(run: EngineRun, step: str | int, kind: str = "decide") -> str:
    """What became of a job of a question."""
    return run.jobs[f"{kind}_{step}"].result


def errors(run: EngineRun) -> str:
    """What GitHub shows as errors of the run, without those of exit codes."""
    reported = [
        (title, message) for job in run.jobs.values() for level, title, message in job.annotations if level == "error"
    ]
    return "\n".join(
        f"{title}: {message}" for title, message in reported if not message.startswith("Process completed")
    )
