"""Questions whose reply is a value that the run keeps, checked like an input. FAIL stays FAIL."""

from typing import ClassVar

from runtime_shim.engine.display import forget_typed
from runtime_shim.engine.outcomes import Done
from runtime_shim.engine.program import Table, UsageError
from runtime_shim.engine.session import Extension, Performers
from runtime_shim.io.reading import SPACES
from runtime_shim.io.terminal import asked
from runtime_shim.tasks.ask import Asking
from runtime_shim.tasks.replies import ANY, outcome_at, wanted


class ValueQuestions(Asking):
    """Runs steps that ask for a value."""

    def ask_here(self, name: str, node: Table) -> "Done | None":
        """Ask until a reply is valid."""
        prompt = f"{self.session.label(name)} ({wanted(node['asks'])}, or fail): "
        forget_typed()
        return asked(self.session, prompt, lambda reply: self.given(name, reply, "answered here"))

    def given(self, name: str, reply: str, how: str) -> Done:
        """Return FAIL, or PASS with the value."""
        outcome, problem = outcome_at(name, self.session.program["nodes"][self.session.state.node], reply)
        if problem:
            raise UsageError(problem)
        return self.session.with_text(Done(outcome, how), reply.strip(SPACES))

    @staticmethod
    def replies(node: Table) -> list[str]:
        """Return the replies that the step takes: its options, or `-` for any string, and fail."""
        return [*node["asks"].get("options", ANY), "fail"]


class ValueTasks(Extension):
    """Programs with questions for a value."""

    needs = ("value",)
    performers: ClassVar[Performers] = {"value": ValueQuestions}
