"""Agents: which command answers for a type of agent, and how its answer is read (I11, I12)."""

import os
from functools import cached_property
from typing import Optional

from runtime_shim.cli import OPTIONS
from runtime_shim.pairs import pairs, read_pairs
from runtime_shim.program import Table
from runtime_shim.reading import AGENT_SECONDS
from runtime_shim.search import searched_word
from runtime_shim.session import Session
from runtime_shim.speaking import Speaking


class Commanded(Speaking):
    """Calls agents."""

    noun = "agent"
    seconds = AGENT_SECONDS

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._agent = getattr(session.options, "agent", None)
        self._common = self._agent or os.environ.get("RDC_AGENT") or None
        self._given = pairs("--agent-for", getattr(session.options, "agent_for", []))

    @cached_property
    def _listed(self) -> dict[str, str]:
        """The commands of the file that RDC_AGENTS names, which is not read where a flag beats it."""
        path = "" if self._agent else os.environ.get("RDC_AGENTS")
        return read_pairs(f"RDC_AGENTS {path}", path) if path else {}

    def command_of(self, kind: str) -> Optional[str]:
        """Return the command of a type of agent."""
        return self._given.get(kind) or self._listed.get(kind) or self._common

    def variables(self, name: str, what: Table) -> dict[str, str]:
        """Add the type of the agent."""
        return {**super().variables(name, what), "RDC_AGENT_TYPE": what["agent"]}

    def read(self, what: Table, answer: Optional[str]) -> tuple[str, str]:
        """Return the word of an agent's answer, and what went wrong."""
        return searched_word(self.processes, what, answer)


OPTIONS += [
    ("run resume", "--agent", "COMMAND", "answers prompts: a text on standard input, its answer on standard output"),
    ("run resume", "--agent-for", "TYPE=COMMAND...", "the same for one type of agent"),
]
