# --- Strings that a run keeps: variables of what it calls, outputs of commands.
LARGEST_VARIABLE = 65_536  # bytes
LARGEST_OUTPUT = 1 << 24  # bytes
PAIR = r"(.*?)(=|<<(?=.))(.*)"
def keeping(text, values):
    def keep(before, what):
        if what[0] == "output":
            return values.get(what[1], before)
        return extracted(text, what[1]) if what[0] == "field" else text
    return {**VERBS, "keep": keep}
def unfit_variable(value):
    return "has a NUL character" if "\0" in value else unkept(value, LARGEST_VARIABLE)
def until(word, lines):
    inner = []
    for _, line in lines:
        if line == word:
            return "\n".join(inner)
        inner.append(line)
    return None
def pairs_in(text, has_comments=False):
    lines = enumerate(text.removesuffix("\n").split("\n"), start=1)
    for number, line in lines if text else ():
        if has_comments and (not line.strip() or line.lstrip().startswith("#")):
            continue
        pair = re.fullmatch(PAIR, line)
        if pair is None:
            raise ValueError(f"line {number}: neither NAME=VALUE nor NAME<<WORD")
        value = until(pair[3], lines) if pair[2] == "<<" else pair[3]
        if value is None:
            raise ValueError(f"line {number}: {pair[3]} does not follow")
        yield number, pair[1], value
def read_output(content, names):
    known, found = set(names), {}
    for number, name, value in pairs_in(content.decode()):
        if problem := unfit_variable(value) if name in known else "is not declared as an output":
            raise ValueError(f"line {number}: {name} {problem}")
        found[name] = value
    return found
def read_regular(path):
    with suppress(FileNotFoundError), open(path, "rb", opener=at_once) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise ValueError("it is not a regular file")
        content = file.read(LARGEST_OUTPUT + 1)
        if len(content) > LARGEST_OUTPUT:
            raise ValueError(f"it is larger than {LARGEST_OUTPUT:,} bytes")
        return content
    return b""

class Values(Extension):
    options = (("run resume answer", "--value", "NAME=VALUE...", "an output of the command, beside its outcome"),)
    @staticmethod
    def suits(program):
        registers, nodes = program["registers"].values(), program["nodes"].values()
        return any(not isinstance(value, int) for value in registers) or any("env" in node for node in nodes)
    def prepare(self):
        options = self.session.options
        if options.value and not options.assume and options.command != "answer":
            raise RefusedError("--value goes with --assume WORD")
    def given(self, done):
        name, values = self.session.state.node, {}
        for given in self.session.options.value:
            key, equals, value = given.partition("=")
            if done is None or not equals or key not in self.session.program["nodes"][name].get("outputs", ()):
                raise RefusedError(f"--value {given}: expected NAME=VALUE with a name that {name} keeps")
            if problem := unfit_variable(value):
                raise RefusedError(f"--value {key} {problem}")
            values[key] = value
        return done._replace(verbs=keeping("", values)) if done is not None and values else done
    def told(self, text, done):
        return done._replace(verbs=keeping(text, {}))
    def facts(self, state):
        return {"slots": {name: value for name, value in state.registers.items() if not isinstance(value, int)}}
    def variables(self, node, registers):
        places = node.get("texts", {}).items()
        found = {name: registers[slot] for name, slot in places if registers[slot] is not None}
        path = os.path.join(self.session.store.folder, "output")
        own = {"RDC_OUTPUT": path} if node["task"] == "shell" and "outputs" in node else {}
        return {**node.get("env", {}), **found, **own}
    def before_step(self, name):
        node = self.session.program["nodes"][name]
        for variable, value in self.variables(node, self.session.state.registers).items():
            if problem := unfit_variable(value):
                failed = Done("failed" if "failed" in words_of(node) else "fail", f"{variable} {problem}")
                return lambda _name, _node: failed
        return self._perform if node["task"] == "shell" and "outputs" in node else None
    def _perform(self, name, node):
        path = self.variables(node, self.session.state.registers)["RDC_OUTPUT"]
        try:
            with suppress(FileNotFoundError):
                os.unlink(path)  # a command may have put a link there
            os.close(self.session.store.within.open("output", os.O_WRONLY | os.O_CREAT | os.O_EXCL))
        except OSError as error:
            self.session.rest()
            raise RefusedError(f"{path}: {error.strerror}") from None
        try:
            done = self.session.performers[name].perform(name, node)
            values = read_output(read_regular(path), node["outputs"])
        except (ValueError, OSError) as error:
            return Done("fail", f"the file of RDC_OUTPUT is refused: {getattr(error, 'strerror', error)}")
        finally:
            with suppress(OSError):
                os.unlink(path)
        return done._replace(verbs=keeping("", values))

