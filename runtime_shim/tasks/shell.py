"""Commands: run by a shell (M2)."""

from runtime_shim.engine.display import duration
from runtime_shim.engine.lifecycle import Done, Extension
from runtime_shim.engine.program import Table
from runtime_shim.engine.walk import attempt_of
from runtime_shim.tasks.interrupted import Calling
from runtime_shim.tasks.process import in_words


class Commands(Calling):
    """Runs shell steps."""

    keys = ("command",)

    def perform(self, name: str, node: Table) -> Done:
        """Run the command of a step: exit code 0 is PASS, all else FAIL (M2)."""
        display = self.session.display
        if display.is_terminal and attempt_of(node, self.session.state.registers) == 1:  # a log has the document for it
            for line in self.session.texts(node, "prompt"):
                display.line(display.paint(line, "dim"))
        self.session.heed()
        try:
            words = [node["shell"].encode(), b"-c", self.session.filled(node, "command").encode()]
            group = self.processes.spawn(node["shell"], words, self.environment(node))
        except FileNotFoundError:
            return Done("fail", f"there is no {node['shell']} here")
        except OSError as error:
            raise self.not_begun(name, error) from None
        (code,) = self.processes.watch([group], node.get("timeout", 0))
        if code is None:
            return Done("fail", f"timeout after {duration(node['timeout'])}")
        return Done("pass" if code == 0 else "fail", in_words(code))


class Shell(Extension):
    """Programs with commands."""

    performers = {"shell": Commands}
