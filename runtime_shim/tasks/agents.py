"""Agents: which command answers for a type of agent, and how its answer is read (I11, I12)."""

import os
import types
from functools import cached_property
from typing import Optional

from runtime_shim.data.durations import number_of, seconds_of
from runtime_shim.engine.display import one_line
from runtime_shim.engine.program import RefusedError, Table
from runtime_shim.engine.session import Session
from runtime_shim.tasks.conversing import Calls
from runtime_shim.tasks.exchange import Answered
from runtime_shim.tasks.pairs import pairs, read_pairs
from runtime_shim.tasks.reading import AGENT_SECONDS, cleaned
from runtime_shim.tasks.recipes import called, is_recipe
from runtime_shim.tasks.search import searched_word
from runtime_shim.tasks.speaking import Speaking
from runtime_shim.tasks.tally import AGENT_CALL


def named(options: types.SimpleNamespace, command: str) -> str:
    """Return the command of an agent that may be called by name, with the model that the operator names."""
    return called(command, (options.agent_model or "") if is_recipe(command) else "")


class Commanded(Speaking):
    """Calls agents."""

    noun = "agent"
    seconds = AGENT_SECONDS

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._agent = getattr(session.options, "agent", None)
        self._common = self._agent or os.environ.get("RDC_AGENT") or None
        self._given = pairs("--agent-for", getattr(session.options, "agent_for", []))
        self._read_limits(session.options)

    def _read_limits(self, options: types.SimpleNamespace) -> None:
        retries, seconds, model = (
            getattr(options, f"agent_{name}", None) or "" for name in ("retries", "timeout", "model")
        )
        self.retries = number_of("--agent-retries", retries, 0) if retries else 0
        self._seconds = seconds_of("--agent-timeout", seconds) if seconds else 0
        commands = [self._common or "", *self._given.values()]
        if model and not any(map(is_recipe, commands)):
            called(next(filter(None, commands), ""), model)

    @cached_property
    def _listed(self) -> dict[str, str]:
        """The commands of the file that RDC_AGENTS names, which is not read where a flag beats it."""
        path = "" if self._agent else os.environ.get("RDC_AGENTS")
        return read_pairs(f"RDC_AGENTS {path}", path) if path else {}

    def command_of(self, kind: str) -> Optional[str]:
        """Return the command of a type of agent."""
        found = self._given.get(kind) or self._listed.get(kind) or self._common
        return found and named(self.session.options, found)

    def call(self, node: Table, calls: Calls) -> list[Answered]:
        """Call agents, with the time limit of the operator if there is one."""
        return super().call({**node, "timeout": self._seconds} if self._seconds else node, calls)

    def key(self, name: str, _what: Table) -> str:
        """Return what a call of an agent is counted as."""
        return f"{AGENT_CALL}{name}"

    def variables(self, name: str, what: Table) -> dict[str, str]:
        """Add the type of the agent."""
        return {**super().variables(name, what), "RDC_AGENT_TYPE": what["agent"]}

    @staticmethod
    def answered(name: str, reply: str) -> str:
        """Return the answer that a person gives in place of an agent: a text with something in it."""
        answer = cleaned(reply)
        if not answer:
            raise RefusedError(f"the answer of {one_line(name)} is empty")
        return answer

    def read(self, what: Table, answer: Optional[str]) -> tuple[str, str]:
        """Return the word of an agent's answer, and what went wrong."""
        return searched_word(self.processes, what, answer)
