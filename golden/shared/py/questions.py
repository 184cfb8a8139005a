# --- Questions that take more than pass or fail: a confirmation, a text, one of several options (I10).
class Questions(Asking):
    def perform(self, name, node):
        session = self.session
        for line in session.texts(node, "prompt") + session.texts(node, "block") + self._listed(node):
            session.display.line(line)
        session.heed()
        done = self.from_file(name)
        while done is None and session.is_interactive:
            reply = typed(session.display, session.signals, self._asked(name, node))
            if reply is None:
                break
            try:
                done = self.given(name, self._chosen(node, reply), "answered here")
            except RefusedError as error:
                session.display.line(f"{error}")
        if done is None:
            raise self.wait(name, node)
        return done
    def preview(self, name, node):
        return self.from_file(name) or Done(words_of(node)[0], "assumed")
    def given(self, name, reply, how):
        node, text = self.session.program["nodes"][name], check_reply(reply)
        if node["task"] == "input":
            return self.session.told(Done("pass", how), text.strip(AROUND))
        if node["task"] == "confirm":
            word = text.strip().lower()
            if word not in ("yes", "no"):
                raise RefusedError(f"{one_line(text)}: expected yes or no")
            return self.session.told(Done(word, how), word)
        options = self._options(node)
        if text not in options:
            raise RefusedError(f"{one_line(text)}: expected one of {one_line(', '.join(options))}")
        return self.session.told(Done(node["words"][options.index(text)], how), text)
    def _options(self, node):
        options = node["options"] if "options" in node else node["words"]
        return [filled(node, option, self.session.state.registers) for option in options]
    def _listed(self, node):
        options = self._options(node) if node["task"] == "select" else []
        return [f"    {number}. {one_line(option)}" for number, option in enumerate(options, start=1)]
    def _chosen(self, node, reply):
        options = self._options(node) if node["task"] == "select" else []
        is_number = reply.isdecimal() and reply.isascii() and reply not in options and len(reply) < 9
        return options[int(reply) - 1] if is_number and 0 < int(reply) <= len(options) else reply
    def _asked(self, name, node):
        choices = {"confirm": " [yes/no]", "select": f" [1-{len(words_of(node))}]"}
        return f"{self.session.label(name)}{choices.get(node['task'], ':')}"
    @staticmethod
    def replies(node):
        words = list(words_of(node))
        is_filled = "options" in node or any(key in word for key in node.get("placeholders", ()) for word in words)
        return ["-"] if node["task"] == "input" or is_filled else words

class Asked(Extension):
    performers = {"confirm": Questions, "input": Questions, "select": Questions}

