"""Units that an agent answers (I11)."""

from runtime_shim.agents import Commanded, word_from
from runtime_shim.program import Table
from runtime_shim.reading import LARGEST_ANSWER, cleaned
from runtime_shim.session import PERFORMERS, Done, told
from runtime_shim.speaking import answer_of


class Agents(Commanded):
    """Gives prompts to agents."""

    def perform(self, name: str, unit: Table) -> Done:
        """Give the prompt to the command of the agent's type and read its answer."""
        prompt = self.session.filled(unit, "prompt")
        done = self.from_file(name)
        if done is not None:
            return done
        command = self.command_of(unit["agent"])
        if command is None:
            return self.by_hand(name, prompt)
        (answered,) = self.converse(unit, [(name, unit, command, prompt)])
        answer = answer_of(answered)
        how = answered.trouble or ("" if answer else "an empty answer")
        return told(Done(word_from(unit, answer), how), answer or "")

    def given(self, name: str, reply: str, how: str) -> Done:
        """Read an answer that a person gives."""
        answer = cleaned(reply)
        if len(answer.encode()) > LARGEST_ANSWER:
            return Done(word_from(self.session.program["units"][name], None), "the answer is too long")
        return told(Done(word_from(self.session.program["units"][name], answer or None), how), answer)


PERFORMERS["agent"] = Agents
