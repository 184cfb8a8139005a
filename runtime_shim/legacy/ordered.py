"""What make was given for agents and tools: their commands, limits, and answers for a mock run."""

import os
from collections.abc import Sequence
from functools import cached_property
from typing import Optional

from runtime_shim.legacy.durations import number_of, seconds_of
from runtime_shim.legacy.files import read_text
from runtime_shim.legacy.mocks import KIND_OF, Mocks, Reply, mocks_in, reply_to
from runtime_shim.legacy.pairs import read_pairs
from runtime_shim.legacy.program import RefusedError
from runtime_shim.legacy.recipes import called, is_recipe

GIVEN = "RDC_GIVEN_"  # begins the variables by which the script says what make was given


def given(name: str) -> str:
    """Return what make was given as NAME=VALUE, "" if that is nothing."""
    return os.environ.get(f"{GIVEN}{name}", "")


def read_commands(place: str, path: str) -> dict[str, str]:
    """Return the commands of a file, which may be none."""
    try:
        return read_pairs(place, path) if path else {}
    except OSError as error:
        raise RefusedError(f"{path} cannot be read: {error.strerror}") from None


class Orders:
    """What the operator wants to be called, and how often and how long."""

    @cached_property
    def mocks(self) -> Optional[Mocks]:
        """The answers of a mock run, in which nothing is called."""
        path = given("MOCK")
        try:
            return mocks_in(path, read_text(path)) if path else None
        except OSError as error:
            raise RefusedError(f"{path} cannot be read: {error.strerror}") from None

    @cached_property
    def retries(self) -> int:
        """How often a call of an agent that fails is made again."""
        return number_of("AGENT_RETRIES", given("AGENT_RETRIES") or "0", 0)

    @cached_property
    def seconds(self) -> int:
        """How long a call of an agent may take, 0 where the operator says nothing."""
        text = given("AGENT_TIMEOUT")
        return seconds_of("AGENT_TIMEOUT", text) if text else 0

    @cached_property
    def jobs(self) -> int:
        """How many entries of a parallel step are called at the same time, 0 for all."""
        return number_of("JOBS", given("JOBS"), 1) if given("JOBS") else 0

    @cached_property
    def _agents(self) -> dict[str, str]:
        path = given("AGENTS")
        if path:
            return read_commands(path, path)
        path = "" if given("AGENT") else os.environ.get("RDC_AGENTS", "")
        return read_commands(f"RDC_AGENTS {path}", path)

    @cached_property
    def _tools(self) -> dict[str, str]:
        path = given("TOOLS")
        return read_commands(path, path)

    def agent(self, kind: str) -> str:
        """Return the command for a type of agent, "" if there is none."""
        found = self._agents.get(kind) or given("AGENT") or os.environ.get("RDC_AGENT", "")
        if self.mocks is not None or not found.strip():
            return "mock" if self.mocks is not None else ""
        return called(found, given("AGENT_MODEL") if is_recipe(found) else "")

    def tool(self, connection: str, tool: str, is_optional: bool) -> str:
        """Return the command for a tool, "" if there is none; an optional one that no mock has is one without."""
        if self.mocks is None:
            return self._tools.get(connection, "")
        return "" if is_optional and f"{connection}/{tool}" not in self.mocks["tools"] else "mock"

    def mocked(self, key: str, number: int) -> Optional[Reply]:
        """Return the answer of a mock run to a call, by its number from 0."""
        kind, _, name = key.partition(" ")
        return reply_to(self.mocks, KIND_OF[kind], name, number) if self.mocks is not None else None

    def missing(self, kinds: Sequence[str]) -> str:
        """Say what is wrong with what make was given; agents of these types, which work together, need commands."""
        if given("AGENT_CALLS"):
            number_of("AGENT_CALLS", given("AGENT_CALLS"), 1)
        model, commands = (
            given("AGENT_MODEL"),
            [given("AGENT") or os.environ.get("RDC_AGENT", ""), *self._agents.values()],
        )
        if model and not any(map(is_recipe, commands)):
            called(next(filter(None, commands), ""), model)
        _ = self.retries, self.seconds, self.jobs, self.mocks, self._tools
        for kind in kinds:
            if not self.agent(kind):
                which = f"the agent {kind}" if kind else "the agents"
                return f"there is no command for {which}: give AGENT=COMMAND, or set RDC_AGENT or RDC_AGENTS"
        return ""
