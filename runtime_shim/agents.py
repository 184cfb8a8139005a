"""Agents: which command answers for a type of agent, and how its answer is read (I11, I12)."""

import argparse
import os
from typing import Optional

from runtime_shim.pairs import pairs, read_pairs
from runtime_shim.program import Table
from runtime_shim.reading import read_word
from runtime_shim.session import OPTIONS, Session
from runtime_shim.speaking import Speaking


class Commanded(Speaking):
    """Calls agents."""

    noun = "agent"
    seconds = 1800

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        options, path = session.options, os.environ.get("RDC_AGENTS")
        self._common = getattr(options, "agent", None) or os.environ.get("RDC_AGENT") or None
        self._given = pairs("--agent-for", getattr(options, "agent_for", []))
        self._listed = read_pairs(f"RDC_AGENTS {path}", path) if path else {}
        if getattr(options, "agent", None):
            self._listed = {}  # a flag beats the environment

    def command_of(self, kind: str) -> Optional[str]:
        """Return the command of a type of agent."""
        return self._given.get(kind) or self._listed.get(kind) or self._common

    def variables(self, name: str, what: Table) -> dict[str, str]:
        """Add the type of the agent."""
        return {**super().variables(name, what), "RDC_AGENT_TYPE": what["agent"]}


def word_from(what: Table, answer: Optional[str]) -> str:
    """Return the word of an answer as an agent unit, or an entry of a parallel one, reads it."""
    return read_word(answer, what.get("keywords", ()), what.get("validation"), what.get("excused", ()))


def add_agents(_program: Table, parsers: dict[str, argparse.ArgumentParser]) -> None:
    """Add --agent and --agent-for."""
    for name in ("run", "resume"):
        add = parsers[name].add_argument
        add(
            "--agent",
            metavar="COMMAND",
            help="answers prompts: a text on standard input, its answer on standard output",
        )
        add("--agent-for", action="append", default=[], metavar="TYPE=COMMAND", help="the same for one type of agent")


OPTIONS.append(add_agents)
