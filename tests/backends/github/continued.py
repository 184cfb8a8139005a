"""Runbooks with questions, run by the second engine and continued in further runs."""

import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from backends.github import GithubBackend
from tests.support import actions_engine as engine
from tests.support.actions_engine import EngineRun
from tests.support.github.compiling import beside, program_of
from tests.support.runbooks import command, question

WORKFLOW = "owner/repository/.github/workflows/runbook.yml@refs/heads/main"

DOCUMENT = (
    "# Deploy\n\n"
    + command(
        "1. Build",
        'echo "$RDC_RUN_ID build" >> "$LOG"\n'
        "mkdir -p out/.hidden && echo built > out/.hidden/result && ln -s result out/.hidden/link\n"
        "printf '#!/bin/sh\\necho ran\\n' > out/tool && chmod +x out/tool\necho hello > greeting",
    )
    + command(
        "2. Count", 'echo "$RDC_RUN_ID count $RDC_ATTEMPT" >> "$LOG"\n[ "$RDC_ATTEMPT" = 2 ]', "FAIL: RETRY 3 STOP"
    )
    + question("3. Agree", "Is the build good?", "YES: CONTINUE", 'NO: STOP "Not wanted"')
    + command(
        "4. Install", 'echo "$RDC_RUN_ID install $(cat greeting) $(./out/tool) $(cat out/.hidden/link)" >> "$LOG"'
    )
    + question("5. Does it work?", "Look at the page.", 'YES: COMPLETE "All is well"', "NO: GOTO 3")
)

DONE = ["1 build", "1 count 1", "1 count 2"]
"""What is done before the first question of this document."""


class Run:
    """A workflow in a folder, run again and again; each run has a number."""

    def __init__(self, folder: Path, document: str = DOCUMENT, options: Mapping[str, object] | None = None) -> None:
        self.place, self.number = folder, 0
        self.secrets: dict[str, str] = {}
        (folder / "repository").mkdir(exist_ok=True)
        program = program_of(folder / "repository", document, "deploy.runbook.md")
        given = {"summary": True, "prompts": "answers", **(options or {})}
        self.text = beside(folder / "repository", GithubBackend().emit(program, given))

    def copy(self, folder: Path) -> Self:
        """The same workflow in another folder, with the runs so far."""
        shutil.copytree(self.place, folder, dirs_exist_ok=True)
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__, place=folder)
        return other

    def __call__(self, *, again: bool = False, facts: Mapping[str, str] | None = None, **more: Any) -> EngineRun:
        """Run it; `again` is a further attempt, and what the engine does not know are inputs."""
        self.number += not again
        own = {name: more.pop(name) for name in ("event", "payload", "cancel") if name in more}
        return engine.run(
            self.place / "repository",
            self.text,
            history=self.place / "history",
            inputs=more,
            env={"LOG": str(self.place / "log")},
            secrets=self.secrets,
            run_id=self.number,
            rerun="all" if again else False,
            github={"workflow_ref": WORKFLOW, **(facts or {})},
            **own,
        )

    def saved(self, number: int = 1) -> Path:
        return self.place / "history" / str(number) / "artifacts" / "rdc-state"

    def alter(self, number: int, **facts: object) -> None:
        path = self.place / "history" / str(number) / "run.json"
        record = json.loads(path.read_text(encoding="utf-8"))
        record["run"].update(facts)
        path.write_text(json.dumps(record), encoding="utf-8")

    def done(self) -> list[str]:
        path = self.place / "log"
        return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def ending(ran: EngineRun) -> str:
    return str(next(iter(re.findall(r"^### (.*)$", ran.summary, re.MULTILINE)), ""))


def outcomes(ran: EngineRun) -> dict[str, str]:
    return {step.name: step.outcome for job in ran.jobs.values() for step in job.steps}


AGREE = (
    "# Deploy\n\n"
    + command("1. Build", 'echo build >> "$LOG"; echo built > result')
    + question("2. Agree", "Is it good?", "YES: CONTINUE", "NO: GOTO Withdraw")
    + command("3. Install", 'echo "install $(cat result)" >> "$LOG"', 'PASS: COMPLETE "It is there"')
    + command("Withdraw", 'echo "withdraw $(cat result)" >> "$LOG"', 'PASS: STOP "Not wanted"')
)


def done(folder: Path) -> list[str]:
    return (folder / "log").read_text(encoding="utf-8").splitlines()


def headings(ran: EngineRun) -> list[str]:
    """How a run has ended, without the parts that waited for an approval."""
    return [line for line in re.findall(r"^### (.*)$", ran.summary, re.MULTILINE) if not line.startswith("WAITING ")]
