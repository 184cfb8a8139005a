# --- Commands: run by a shell (M2).
class Commands(Calling):
    keys = ("command",)
    def perform(self, name, node):
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
    performers = {"shell": Commands}

