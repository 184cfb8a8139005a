# --- What a run tells of its steps, and of the groups and nested documents that it comes into and leaves (M8).
class Telling:
    _group = ""  # that of the last step
    def filled(self, node, key, registers=None):
        return filled(node, node.get(key, ""), self.state.registers if registers is None else registers)
    def label(self, name):
        return one_line(f"{name} {self.filled(self.program['nodes'][name], 'title')}")
    def texts(self, node, key):
        return [f"    {line}".rstrip() for line in clean(self.filled(node, key)).strip("\n").splitlines()]
    def about(self, name):
        node, now = self.program["nodes"][name], self.state.registers
        about = {"node": name, "title": self.filled(node, "title"), "attempt": attempt_of(node, now)}
        return {**about, "instances": instances_of(node, now)}
    def come_into(self, group):
        if group and group != self._group:
            step, display = self.program["groups"][group], self.display
            display.line(display.paint(one_line(f"{group} {' '.join(self.texts(step, 'title'))}"), "bold"))
            for line in self.texts(step, "prompt"):
                display.line(display.paint(line, "dim"))
        self._group = group
    def tell_passed(self, move):
        for name in move.passed:
            node = self.program["nodes"][name]
            if node["task"] == "end":
                self.display.line("    " + one_line(f"{name} {self.filled(node, 'message', move.registers)}"))

