# --- Commands: run by a shell (M2).
LINES = 6  # of what a prompt says, before its command runs

class Commands(Calling):  # Runs shell units.
    keys = ("command",)

    def perform(self, name, unit):  # Run the command of a unit: exit code 0 is PASS, all else FAIL (M2).
        self._show(unit)
        self.session.heed()
        try:
            words = [unit["shell"].encode(), b"-c", self.session.filled(unit, "command").encode()]
            group = self.processes.spawn(unit["shell"], words, self.environment(unit))
        except FileNotFoundError:
            return Done("fail", f"there is no {unit['shell']} here")
        except OSError as error:
            raise self.not_begun(name, error) from None
        (ended,) = self.processes.watch([group], unit.get("timeout", 0))
        return Done("pass" if ended == (0, False) else "fail", in_words(ended))

    def _show(self, unit):  # Show what the unit says to a person, once per visit; a log has the document for it.
        display, lines = self.session.display, self.session.texts(unit, "prompt")
        if display.is_terminal and attempt_of(unit, self.session.state.registers) == 1:
            for line in lines[:LINES] + [f"    {display.more}"][: len(lines) > LINES]:
                display.line(display.paint(line, "dim"))

PERFORMERS["shell"] = Commands

