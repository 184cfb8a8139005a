"""Steps that an agent answers (I11)."""

from runtime_shim.data.contexts import above
from runtime_shim.engine.lifecycle import Done, Extension, Options
from runtime_shim.engine.program import Table
from runtime_shim.tasks.agents import Commanded
from runtime_shim.tasks.conversing import answer_of
from runtime_shim.tasks.reading import LARGEST_ANSWER


class Agents(Commanded):
    """Gives prompts to agents."""

    def perform(self, name: str, node: Table) -> Done:
        """Give the prompt to the command of the agent's type and read its answer."""
        prompt = self.session.filled(node, "prompt")
        if "context" in node:
            prompt = above(self.session.program, node["context"], self.session.state.registers) + prompt
        done = self.from_file(name)
        if done is not None:
            return done
        command = self.command_of(node["agent"])
        if command is None:
            return self.by_hand(name, prompt)
        (answered,) = self.converse(node, [(name, node, command, prompt)])
        answer = answer_of(answered)
        word, trouble = self.read(node, answer)
        return self.session.told(
            Done(word, answered.trouble or trouble or ("" if answer else "an empty answer")), answer or ""
        )

    def given(self, name: str, reply: str, how: str) -> Done:
        """Read an answer that a person gives."""
        node, answer = self.session.program["nodes"][name], self.answered(name, reply)
        if len(answer.encode()) > LARGEST_ANSWER:
            return Done(self.read(node, None)[0], "the answer is too long")
        word, trouble = self.read(node, answer)
        return self.session.told(Done(word, trouble or how), answer)


AGENT: Options = (
    ("run resume", "--agent", "COMMAND", "answers prompts: a command, or a name such as claude-code or llm"),
    ("run resume", "--agent-model", "MODEL", "the model of an agent that is called by name"),
)
CALLS: Options = (
    *AGENT,
    ("run resume", "--agent-for", "TYPE=COMMAND...", "the same for one type of agent"),
    ("run resume", "--agent-timeout", "TIME", "how long a call may take (default: 30m)"),
    ("run resume", "--agent-retries", "NUMBER", "how often a call that fails is made again (default: 0)"),
)


class OfAgents(Extension):
    """Programs with steps that an agent answers."""

    options = CALLS
    performers = {"agent": Agents}

    @staticmethod
    def suits(program: Table) -> bool:
        """Tell whether the program has such steps, or entries."""
        return any(node["task"] in ("agent", "parallel") for node in program["nodes"].values())
