"""Prompts that an agent answers because the operator says so by --agent (M3): approval is not for any agent."""

import re
from typing import Optional

from runtime_shim.engine.lifecycle import Done, Extension
from runtime_shim.engine.program import Table
from runtime_shim.engine.session import Session
from runtime_shim.engine.texts import MEANINGS
from runtime_shim.tasks.agent import AGENT, named
from runtime_shim.tasks.ask import Prompts
from runtime_shim.tasks.conversing import Conversing, answer_of
from runtime_shim.tasks.reading import AGENT_SECONDS

CLOSING = "Answer {}. End your answer with a line that is just the reply."


class Replying(Conversing):
    """Calls the agent that answers prompts."""

    noun = "agent"
    seconds = AGENT_SECONDS

    def variables(self, name: str, what: Table) -> dict[str, str]:
        """Say that the agent is of no type."""
        return {**super().variables(name, what), "RDC_AGENT_TYPE": ""}


class AgentPrompts(Prompts):
    """Gets the answers of steps that ask from the agent that was named for it, or like any other prompt."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._command = named(session.options, session.options.agent or "")
        self._agent = Replying(session) if self._command else None

    def perform(self, name: str, node: Table) -> Done:
        """Ask the agent: the last line of what it says decides, and anything else than a word is fail."""
        done = self.from_file(name) if self._agent is not None else None
        if self._agent is None or done is not None:
            return done or super().perform(name, node)
        session = self.session
        closing = CLOSING.format(node["question"].upper().replace("/", " or "))
        parts = (session.label(name), *(session.filled(node, key) for key in ("prompt", "block")), closing)
        prompt = "\n\n".join(filter(None, parts)) + "\n"
        (answered,) = self._agent.converse(node, [(name, {}, self._command, prompt)])
        answer = answer_of(answered) or ""
        outcome = verdict(answer)
        how = answered.trouble or ("answered by the agent" if outcome else "the agent did not say pass or fail")
        return session.told(Done(outcome or "fail", how), answer)


def verdict(answer: str) -> Optional[str]:
    """Return what the last line of an answer says that is not empty; only its letters count, in any case."""
    last = next((line for line in reversed(answer.split("\n")) if line.strip()), "")
    word = re.sub("[^A-Z]", "", last.upper()).lower()
    return "pass" if word == "ok" else MEANINGS.get(word)


class OfPrompts(Extension):
    """Programs that ask pass or fail, or yes or no."""

    options = AGENT
    performers = {"ask": AgentPrompts}

    @staticmethod
    def suits(program: Table) -> bool:
        """Tell whether an agent could answer; what a specification asks is for a person."""
        return "contract" not in program
