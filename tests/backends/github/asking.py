"""A runbook with a question between its commands, and how its runs ended."""

from __future__ import annotations

import re
from pathlib import Path

from tests.support.actions_engine import EngineRun
from tests.support.runbooks import command, question

DOCUMENT = (
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
    found = re.findall(r"^### (.*)$", ran.summary, re.MULTILINE)
    return [line for line in found if not line.startswith("WAITING ")]
