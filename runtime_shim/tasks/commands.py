"""Steps with shell commands, and the documents that have such steps and questions."""

from typing import ClassVar

from runtime_shim.engine.display import duration
from runtime_shim.engine.outcomes import Done
from runtime_shim.engine.program import Table
from runtime_shim.engine.session import Extension, Performers
from runtime_shim.engine.walk import attempt_of
from runtime_shim.tasks.ask import Prompts
from runtime_shim.tasks.process import Environment, Processes, in_words
from runtime_shim.tasks.shell import Calling


def run_command(processes: Processes, shell: str, command: str, environment: Environment, seconds: int = 0) -> Done:
    """Run a command. Exit code 0 means pass; other codes and a timeout mean fail.

    Independent of runs, and safe in a thread whose `processes` wait for no signal. Raises OSError if it cannot start.
    """
    try:
        group = processes.spawn(shell, [shell.encode(), b"-c", command.encode()], environment)
    except FileNotFoundError:
        return Done("fail", f"{shell} was not found")
    (code,) = processes.watch([group], seconds)
    if code is None:
        return Done("fail", f"timeout after {duration(seconds)}")
    return Done("pass" if code == 0 else "fail", in_words(code))


class Commands(Calling):
    """Runs steps with commands."""

    keys = ("command",)
    has_log = True  # its output can go to a log

    def perform(self, name: str, node: Table) -> Done:
        """Run a step's command. Exit code 0 means pass, anything else fail."""
        if attempt_of(node, self.session.state.registers) == 1:
            self.session.display.dim(self.session.texts(node, "prompt"))
        self.session.check_stop()
        command = self.session.filled(node, "command")
        try:
            return run_command(self.processes, node["shell"], command, self.environment(node), node.get("timeout", 0))
        except OSError as error:
            raise self.not_begun(name, error) from None


class CommandTasks(Extension):
    """Programs with commands and questions."""

    performers: ClassVar[Performers] = {"shell": Commands, "ask": Prompts}
