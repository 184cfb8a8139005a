# --- Outputs that commands give by the file that RDC_OUTPUT names (I9).
class ValuedCommands(Commands):  # Runs shell steps, some of which give outputs.
    def perform(self, name, node):
        """Run the command of a step and read its outputs; where they are malformed it fails, and has none."""
        if "outputs" not in node:
            return super().perform(name, node)
        self.session.heed()
        try:
            with suppress(FileNotFoundError):
                self._file().unlink()  # a command may have put a link there
            os.close(self.session.store.within.open("output", os.O_WRONLY | os.O_CREAT | os.O_EXCL))
        except OSError as error:
            self.session.rest()
            raise RefusedError(f"{self._file()}: {error.strerror}") from None
        try:
            done = super().perform(name, node)
            values = read_output(read_regular(self._file()), node["outputs"])
        except (ValueError, OSError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            return Done("fail", f"the file of RDC_OUTPUT is refused: {reason}")
        finally:
            with suppress(OSError):
                self._file().unlink()
        return done._replace(verbs=keeping("", values))
    def environment(self, node, **more):  # Add RDC_OUTPUT where outputs are kept.
        return super().environment(node, **more, **({"RDC_OUTPUT": str(self._file())} if "outputs" in node else {}))
    def assumed(self, name, word):  # Take the word and the outputs that were given for what came of a step (I16).
        return super().assumed(name, word)._replace(verbs=keeping("", values_given(self.session, name)))
    def _file(self):
        return Path(self.session.store.folder, "output")

def values_given(session, name):  # Return the outputs of a step that the options give.
    values = {}
    for given in session.options.value:
        key, equals, value = given.partition("=")
        if not equals or key not in session.program["nodes"][name].get("outputs", ()):
            raise RefusedError(f"--value {given}: expected NAME=VALUE with a name that {name} keeps")
        try:
            value.encode()
            check_value(key, value)
        except UnicodeEncodeError:
            raise RefusedError(f"--value {key} is not UTF-8") from None
        except ValueError as error:
            raise RefusedError(f"--value {error}") from None
        values[key] = value
    return values

def check_assumed(_program, options):  # Refuse outputs of an interrupted command whose outcome is not given.
    if options.value and not options.assume and options.command != "answer":
        raise RefusedError("--value needs an outcome that you assume: give --assume WORD beside it, or leave it out")

PERFORMERS["shell"] = ValuedCommands
CHECKS.append(check_assumed)
OPTIONS.append(("run resume", "--value", "NAME=VALUE...", "an output of the interrupted command, with --assume"))

