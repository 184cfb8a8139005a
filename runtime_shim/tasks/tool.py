"""Steps that call a tool of a connection (I13)."""

import json
from typing import Optional

from runtime_shim.engine.lifecycle import Done, Extension
from runtime_shim.engine.program import Table
from runtime_shim.engine.session import Session
from runtime_shim.engine.walk import filled
from runtime_shim.tasks.calls import Caller
from runtime_shim.tasks.prompting import pairs
from runtime_shim.tasks.reading import TOOL_SECONDS, cleaned


def in_json(text: str) -> str:
    """Return a text as it stands inside of a JSON string (I13)."""
    return json.dumps(text, ensure_ascii=False)[1:-1]


class Tools(Caller):
    """Calls tools."""

    keys = ("tool", "arguments")
    noun = "tool"
    seconds = TOOL_SECONDS
    needs_words = False

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._commands = pairs("--tool", session.options.tool)

    def text_for(self, node: Table, _what: Table) -> str:
        """Return the name and the arguments of a tool, as JSON."""
        arguments = filled(node, node["arguments"], self.session.state.registers, in_json)
        return f'{{"tool": {json.dumps(node["tool"])}, "arguments": {arguments}}}\n'

    def command_of(self, what: Table) -> Optional[str]:
        """Return the command of the tool's connection."""
        return self._commands.get(what["connection"])

    def by_hand(self, name: str, given: str) -> Done:
        """Let an optional tool fail, and put another one to a person."""
        node = self.session.program["nodes"][name]
        if not node.get("optional"):
            return super().by_hand(name, given)
        return self.session.told(Done("fail", f"no command is named: {self.option(node)}"), "")

    def outcome(self, _node: Table, answer: Optional[str], how: str) -> Done:
        """Return whether a tool has a result."""
        return self.session.told(Done("fail" if answer is None else "pass", how), answer or "")

    def key(self, _name: str, what: Table) -> str:
        """Return what a call of a tool is counted as."""
        return f"tool {what['connection']}/{what['tool']}"

    def given(self, _name: str, reply: str, how: str) -> Done:
        """Take a result that a person gives."""
        return self.outcome({}, cleaned(reply), how)

    def option(self, node: Table) -> str:
        """Return the option that names the command of the connection."""
        return f"--tool {node['connection']}=COMMAND"


class OfTools(Extension):
    """Programs with steps that call a tool."""

    options = (("run resume", "--tool", "CONNECTION=COMMAND...", "the command that calls the tools of a connection"),)
    performers = {"tool": Tools}

    @staticmethod
    def suits(program: Table) -> bool:
        """Tell whether the program has such steps."""
        return any(node["task"] == "tool" for node in program["nodes"].values())
