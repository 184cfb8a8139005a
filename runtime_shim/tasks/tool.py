"""Steps that call a tool of a connection."""

import json
from typing import ClassVar

from runtime_shim.engine.outcomes import Done
from runtime_shim.engine.program import Table
from runtime_shim.engine.session import Extension, Performers, Session
from runtime_shim.engine.walk import filled
from runtime_shim.io.reading import TOOL_SECONDS, cleaned
from runtime_shim.tasks.calls import Caller
from runtime_shim.tasks.exchange import answer_of, pairs


def in_json(text: str) -> str:
    """Return a text escaped for the inside of a JSON string."""
    return json.dumps(text, ensure_ascii=False)[1:-1]


class Tools(Caller):
    """Calls tools."""

    keys = ("tool", "arguments")
    noun = "tool"
    seconds = TOOL_SECONDS

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._commands = pairs("--tool", session.options.tool)

    def perform(self, name: str, node: Table) -> Done:
        """Send a tool's name and arguments to its command and take the result."""
        request = self.request_of(node)
        done = self.from_file(name)
        if done is not None:
            return done
        command = self.command_of(node["connection"])
        if command is None and node.get("optional"):
            option = self.session.through("worded", " ".join(self.remedy(node)[1:]))
            return self.session.with_text(Done("fail", f"no command is set; use {option}"), "")
        if command is None:
            return self.by_hand(name, {name: request})
        (answered,) = self.converse(node, [(name, node, command, request)])
        result = answer_of(answered)
        return self.session.with_text(Done("fail" if result is None else "pass", answered.trouble), result or "")

    def request_of(self, node: Table) -> str:
        """Return the request to a tool as a line of JSON."""
        arguments = filled(node, node["arguments"], self.session.state.registers, in_json)
        return f'{{"tool": {json.dumps(node["tool"])}, "arguments": {arguments}}}\n'

    def facts(self, _name: str, node: Table) -> Table:
        """Return the request, and whether a person answers it because the tool has no command."""
        is_asked = self.command_of(node["connection"]) is None and not node.get("optional")
        return {"by": "person" if is_asked else "rdc", "text": self.request_of(node)}

    def command_of(self, connection: str) -> "str | None":
        """Return the command for a connection."""
        return self._commands.get(connection)

    def given(self, _name: str, reply: str, how: str) -> Done:
        """Return the outcome of a person's result."""
        return self.session.with_text(Done("pass", how), cleaned(reply))

    def remedy(self, node: Table) -> tuple[str, str, str]:
        """Return the connection, the option that sets its command, and the option's value."""
        return node["connection"], "--tool", f"{node['connection']}=COMMAND"


class ToolTasks(Extension):
    """Programs that call tools."""

    needs = ("tool",)
    options = (("run resume status", "--tool", "CONNECTION=COMMAND...", "command that calls a connection's tools"),)
    performers: ClassVar[Performers] = {"tool": Tools}
