# --- What is shown where a run comes into a step with substeps, and out of a nested document (M8).
class Nesting(Extension):
    _last = ""
    def enter(self, node):
        session, group = self.session, node.get("group", "")
        if group and group != self._last:
            step, display = session.program["groups"][group], session.display
            title = " ".join(session.texts(step, "title"))
            display.line(display.paint(one_line(f"{group} {title}"), "bold"))
            for line in session.texts(step, "prompt"):
                display.line(display.paint(line, "dim"))
        self._last = group
    def after_step(self, move):
        for name in move.passed:
            node = self.session.program["nodes"][name]
            if node["task"] == "end":
                message = self.session.filled(node, "message", move.registers)
                self.session.display.line("    " + one_line(f"{name} {message}"))

