# --- Commands: run by a shell (M2).
class Commands(Calling):  # Runs shell units.
    keys = ("command",)
    def perform(self, name, unit):  # Run the command of a unit: exit code 0 is PASS, all else FAIL (M2).
        display = self.session.display
        if display.is_terminal and attempt_of(unit, self.session.state.registers) == 1:  # a log has the document for it
            for line in self.session.texts(unit, "prompt"):
                display.line(display.paint(line, "dim"))
        self.session.heed()
        try:
            words = [unit["shell"].encode(), b"-c", self.session.filled(unit, "command").encode()]
            group = self.processes.spawn(unit["shell"], words, self.environment(unit))
        except FileNotFoundError:
            return Done("fail", f"there is no {unit['shell']} here")
        except OSError as error:
            raise self.not_begun(name, error) from None
        (code,) = self.processes.watch([group], unit.get("timeout", 0))
        if code is None:
            return Done("fail", f"timeout after {duration(unit['timeout'])}")
        return Done("pass" if code == 0 else "fail", in_words(code))

PERFORMERS["shell"] = Commands

