# --- Questions that take more than pass or fail: a confirmation, a text, one of several options (I10).
class Questions(Asking):  # Gets the replies of units that ask for a text.
    def perform(self, name, unit):  # Show a prompt and get the reply.
        session = self.session
        for line in session.texts(unit, "prompt") + session.texts(unit, "block") + self._listed(unit):
            session.display.line(line)
        session.heed()
        done = self.from_file(name)
        while done is None and session.is_interactive:
            reply = typed(session.display, session.signals, self._asked(name, unit))
            if reply is None:
                break
            try:
                done = self.given(name, self._chosen(unit, reply), "answered here")
            except RefusedError as error:
                session.display.line(f"{error}")
        if done is None:
            raise self.wait(name, unit)
        return done
    def rehearse(self, name, unit):  # Take the reply of the file, or else the first word.
        return self.from_file(name) or Done(words_of(unit)[0], "assumed")
    def given(self, name, reply, how):  # Read a reply: the text of the outcome is the reply.
        unit, text = self.session.program["units"][name], check_reply(reply)
        if unit["task"] == "input":
            return told(Done("pass", how), text.strip(AROUND))
        if unit["task"] == "confirm":
            word = text.strip().lower()
            if word not in ("yes", "no"):
                raise RefusedError(f"{one_line(text)}: expected yes or no")
            return told(Done(word, how), word)
        options = self._options(unit)
        if text not in options:
            raise RefusedError(f"{one_line(text)}: expected one of {one_line(', '.join(options))}")
        return told(Done(unit["words"][options.index(text)], how), text)
    def _options(self, unit):
        options = unit["options"] if "options" in unit else unit["words"]
        return [filled(unit, option, self.session.state.registers) for option in options]
    def _listed(self, unit):
        options = self._options(unit) if unit["task"] == "select" else []
        return [f"    {number}. {one_line(option)}" for number, option in enumerate(options, start=1)]
    def _chosen(self, unit, reply):  # Take the number of an option for the option, unless an option is that number.
        options = self._options(unit) if unit["task"] == "select" else []
        is_number = reply.isdecimal() and reply.isascii() and reply not in options and len(reply) < 9
        return options[int(reply) - 1] if is_number and 0 < int(reply) <= len(options) else reply
    def _asked(self, name, unit):
        choices = {"confirm": " [yes/no]", "select": f" [1-{len(words_of(unit))}]"}
        return f"{self.session.label(name)}{choices.get(unit['task'], ':')}"
    @staticmethod
    def replies(unit):  # Return the replies that a unit that waits takes; `-` is for a text that only the run knows.
        words = list(words_of(unit))
        is_filled = "options" in unit or any(key in word for key in unit.get("placeholders", ()) for word in words)
        return ["-"] if unit["task"] == "input" or is_filled else words

for _kind in ("confirm", "input", "select"):
    PERFORMERS[_kind] = Questions

