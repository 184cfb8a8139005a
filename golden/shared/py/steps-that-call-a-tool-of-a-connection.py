# --- Steps that call a tool of a connection.
def in_json(text):
    return json.dumps(text, ensure_ascii=False)[1:-1]

class Tools(Caller):
    keys = ("tool", "arguments")
    noun = "tool"
    seconds = TOOL_SECONDS
    needs_words = False
    def __init__(self, session):
        super().__init__(session)
        self._commands = pairs("--tool", session.options.tool)
    def perform(self, name, node):
        arguments = filled(node, node["arguments"], self.session.state.registers, in_json)
        request = f'{{"tool": {json.dumps(node["tool"])}, "arguments": {arguments}}}\n'
        done = self.from_file(name)
        if done is not None:
            return done
        command = self.command_of(node["connection"])
        if command is None and node.get("optional"):
            option = self.session.through("worded", " ".join(self.remedy(node)[1:]))
            return self.session.told(Done("fail", f"no command is named: {option}"), "")
        if command is None:
            return self.by_hand(name, request)
        (answered,) = self.converse(node, [(name, node, command, request)])
        result = answer_of(answered)
        return self.session.told(Done("fail" if result is None else "pass", answered.trouble), result or "")
    def command_of(self, connection):
        return self._commands.get(connection)
    def key(self, _name, what):
        return f"tool {what['connection']}/{what['tool']}"
    def given(self, _name, reply, how):
        return self.session.told(Done("pass", how), cleaned(reply))
    def remedy(self, node):
        return node["connection"], "--tool", f"{node['connection']}=COMMAND"

class OfTools(Extension):
    options = (("run resume", "--tool", "CONNECTION=COMMAND...", "the command that calls the tools of a connection"),)
    performers = {"tool": Tools}
    @staticmethod
    def suits(program):
        return any(node["task"] == "tool" for node in program["nodes"].values())

