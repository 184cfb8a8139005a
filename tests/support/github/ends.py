"""How a run of a runbook's workflow ended, by its summary, and for an end without a message by the job's result."""

from __future__ import annotations

import re
from typing import NamedTuple

from tests.support.actions_engine import EngineRun
from tests.support.github.act import ActRun


class End(NamedTuple):
    """The end and its message, and whether the summary has it."""

    word: str
    message: str
    is_said: bool

    def __str__(self) -> str:
        return f"{self.word} {self.message}".strip()


def end_of(_text: str, ran: ActRun | EngineRun) -> End:
    """The end of a run of a workflow, given as its text."""
    printed = re.findall(r"^(?:### )?(WAITING|COMPLETE|STOP)(?: (.*))?$", ran.summary, re.MULTILINE)
    if printed:
        word, message = printed[-1]
        return End(word, re.sub(r"\\(.)", r"\1", message), True)
    return End("STOP" if ran.exit_code else "COMPLETE", "", False)
