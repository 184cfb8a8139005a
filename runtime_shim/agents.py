"""Agents: which command answers for a type of agent, and how its answer is read (I11, I12)."""

import argparse
import json
import os
import shlex
import sys
from functools import cached_property
from typing import Optional

from runtime_shim.exchange import Call, exchange
from runtime_shim.files import read_text
from runtime_shim.program import Table
from runtime_shim.reading import read_word
from runtime_shim.session import OPTIONS, Session
from runtime_shim.speaking import Speaking, pairs

LONGEST_SEARCH = 60  # seconds: an hour may not be enough for `\\d+:` in a megabyte of digits
SEARCH = """
import json, re, signal, sys
signal.alarm(int(sys.argv[1]))
pattern, answer = json.load(sys.stdin)
print(re.search(pattern, answer, re.IGNORECASE) is not None)
"""


class Commanded(Speaking):
    """Calls agents."""

    noun = "agent"
    seconds = 1800

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._agent = getattr(session.options, "agent", None)
        self._common = self._agent or os.environ.get("RDC_AGENT") or None
        self._given = pairs("--agent-for", getattr(session.options, "agent_for", []))

    @cached_property
    def _listed(self) -> dict[str, str]:
        """The commands of the file that RDC_AGENTS names, which is not read where a flag beats it."""
        path = "" if self._agent else os.environ.get("RDC_AGENTS")
        lines = read_text(path).splitlines() if path else []
        said = [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
        return pairs(f"RDC_AGENTS {path}", said)

    def command_of(self, kind: str) -> Optional[str]:
        """Return the command of a type of agent."""
        return self._given.get(kind) or self._listed.get(kind) or self._common

    def variables(self, name: str, what: Table) -> dict[str, str]:
        """Add the type of the agent."""
        return {**super().variables(name, what), "RDC_AGENT_TYPE": what["agent"]}

    def read(self, what: Table, answer: Optional[str]) -> tuple[str, str]:
        """Return the word of an answer to an agent unit, or an entry of a parallel one, and what went wrong."""
        settings = what.get("keywords", ()), what.get("validation"), what.get("excused", ())
        try:
            return read_word(answer, *settings, search=self._is_found), ""
        except SearchError as error:
            return read_word(None, *settings), f"looking for its validation pattern: {error}"

    def _is_found(self, pattern: str, answer: str) -> bool:
        """Look for a pattern in a process of its own: nothing could interrupt the search in this one."""
        words = [sys.executable, "-I", "-S", "-W", "ignore", "-c", SEARCH, str(LONGEST_SEARCH)]
        given = json.dumps([pattern, answer]).encode()
        call = Call(f"exec {shlex.join(words)}", os.environb, given, lambda _lines: None)
        (answered,) = exchange(self.processes, [call], LONGEST_SEARCH)
        if answered.trouble:
            raise SearchError(answered.trouble)
        return answered.answer == b"True\n"


class SearchError(Exception):
    """What kept a process from looking for a pattern."""


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
