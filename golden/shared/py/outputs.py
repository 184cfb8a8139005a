# --- Outputs that commands give by the file that RDC_OUTPUT names (I9).
class ValuedCommands(Commands):
    def perform(self, name, node):
        if "outputs" not in node:
            return super().perform(name, node)
        self.session.heed()
        try:
            with suppress(FileNotFoundError):
                os.unlink(self._file())  # a command may have put a link there
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
                os.unlink(self._file())
        return done._replace(verbs=keeping("", values))
    def environment(self, node, **more):
        return super().environment(node, **more, **({"RDC_OUTPUT": self._file()} if "outputs" in node else {}))
    def assumed(self, name, word):
        return super().assumed(name, word)._replace(verbs=keeping("", values_given(self.session, name)))
    def _file(self):
        return os.path.join(self.session.store.folder, "output")

def values_given(session, name):
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

class Outputs(Extension):
    options = (
        ("run resume", "--value", "NAME=VALUE...", "an output of the interrupted command, with --assume"),
        ("answer", "--value", "NAME=VALUE...", "an output of the command that was done by hand"),
    )
    performers = {"shell": ValuedCommands}
    @staticmethod
    def suits(program):
        return any("outputs" in node for node in program["nodes"].values())
    def prepare(self):
        options = self.session.options
        if options.value and not options.assume and options.command != "answer":
            raise RefusedError(
                "--value needs an outcome that you assume: give --assume WORD beside it, or leave it out"
            )
    def given(self, done):
        session = self.session
        if not session.options.value:
            return done
        values = values_given(session, session.state.node)
        if done is None:
            raise RefusedError(f"--value: {session.state.node} is not answered as a whole")
        return done._replace(verbs=keeping("", values))
    def before_step(self, name):
        session, node = self.session, self.session.program["nodes"][name]
        named = [key for key in node.get("outputs", ()) if re.search(rf"\b{key}\b", node.get("block", ""))]
        if node["task"] != "ask" or not named:
            return None

        def perform(name, node):
            try:
                done = session.performers[name].perform(name, node)
            except Waiting as waiting:
                raise _with_hint(session, name, node, waiting) from None
            if done.how != "answered here":
                return done
            given = ((key, typed_value(session, key)) for key in named)
            return done._replace(verbs=keeping("", {key: value for key, value in given if value}))

        return perform

def _with_hint(session, name, node, waiting):
    written = [key for key in node["outputs"] if re.search(rf"(?<![\w-]){re.escape(key)}(=|<<)", node["block"])]
    if not written:
        return waiting
    values = [word for key in written for word in ("--value", f"{key}=…")]
    first, *others = waiting.args
    return Waiting(first, f"with outputs: {session.call('answer', name, 'pass', *values)}", *others)

def typed_value(session, key):
    while True:
        session.display.line(f"{key} (empty: the command gave none): ", end="")
        with session.signals.listening():
            value = os.read(sys.stdin.fileno(), 65536).decode(errors="replace").rstrip("\r\n")
        try:
            check_value(key, value)
        except ValueError as error:
            session.display.line(str(error))
        else:
            return value

