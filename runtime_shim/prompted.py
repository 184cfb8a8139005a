"""Prompts that an agent answers because the operator says so by --agent (M3): approval is not for any agent."""

from typing import Optional

from runtime_shim.agents import Commanded
from runtime_shim.ask import Prompts
from runtime_shim.dialog import MEANINGS
from runtime_shim.program import Table
from runtime_shim.session import PERFORMERS, Done, Session, told
from runtime_shim.speaking import answer_of


class AgentPrompts(Prompts):
    """Gets the answers of units that ask from the agent that was named for it, or like any other prompt."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._agent: Optional[Commanded] = None
        if getattr(session.options, "agent", None):
            self._agent = Commanded(session)

    def perform(self, name: str, unit: Table) -> Done:
        """Ask the agent: the last line of what it says decides, and anything else than a word is fail."""
        done = self.from_file(name) if self._agent is not None else None
        if self._agent is None or done is not None:
            return done or super().perform(name, unit)
        session = self.session
        prompt = "\n\n".join(
            filter(None, (session.label(name), *(session.filled(unit, key) for key in ("prompt", "block"))))
        )
        command = self._agent.command_of("") or ""
        (answered,) = self._agent.converse(unit, [(name, {"agent": ""}, command, prompt)])
        answer = answer_of(answered) or ""
        outcome = MEANINGS.get(answer.rpartition("\n")[2].strip().lower())
        how = answered.trouble or ("answered by the agent" if outcome else "the agent did not say pass or fail")
        return told(Done(outcome or "fail", how), answer)


PERFORMERS["ask"] = AgentPrompts
