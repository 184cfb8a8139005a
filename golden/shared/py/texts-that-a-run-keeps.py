# --- Texts that a run keeps (I5, I17, I19): as variables of commands (I7, I25), and from the file of RDC_OUTPUT (I9).
def keeping(text, values):
    def keep(before, what):
        if what[0] == "output":
            return values.get(what[1], before)
        return extracted(text, what[1]) if what[0] == "field" else text

    return {**VERBS, "keep": keep}

class Slots(Extension):
    @staticmethod
    def suits(program):
        return any(not isinstance(value, int) for value in program["registers"].values())
    def told(self, done, text):
        return done._replace(verbs=keeping(text, {}))
    def facts(self, state):
        return {"slots": {name: value for name, value in state.registers.items() if not isinstance(value, int)}}

LARGEST_VARIABLE = 65_536  # bytes
LARGEST_OUTPUT = 16 * 1024 * 1024  # bytes

class UnfitError(ValueError):
    pass

def check_value(name, value):
    if "\0" in value:
        raise UnfitError(f"{name} has a NUL character, which no environment variable can have")
    if len(value.encode("utf-8", "surrogatepass")) > LARGEST_VARIABLE:
        raise UnfitError(f"{name} is longer than {LARGEST_VARIABLE:,} bytes")

def texts_of(node, registers):
    places = node.get("texts", {}).items()
    return {variable: registers[slot] for variable, slot in places if registers[slot] is not None}

def read_output(content, names):
    try:
        text = content.decode()
    except UnicodeDecodeError:
        raise UnfitError("it is not UTF-8") from None
    lines = enumerate(text.removesuffix("\n").split("\n"), start=1)
    known, found = set(names), {}
    for number, line in lines if content else ():
        name, value = _pair(number, line, lines)
        if name not in known:
            raise UnfitError(f"line {number}: no output of this name is declared")
        check_value(f"line {number}: {name}", value)
        found[name] = value
    return found

def _pair(number, line, lines):
    name, equals, value = line.partition("=")
    other, opens, word = line.partition("<<")
    if opens and len(other) < len(name):
        if not word:
            raise UnfitError(f"line {number}: no word after <<")
        inner = []
        for _, text in lines:
            if text == word:
                return other, "\n".join(inner)
            inner.append(text)
        raise UnfitError(f"line {number}: {word} does not follow")
    if not equals:
        raise UnfitError(f"line {number}: neither NAME=value nor NAME<<WORD")
    return name, value

def read_regular(path):
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    except FileNotFoundError:
        return b""
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise UnfitError("it is not a regular file")
        content = file.read(LARGEST_OUTPUT + 1)
    if len(content) > LARGEST_OUTPUT:
        raise UnfitError(f"it is larger than {LARGEST_OUTPUT:,} bytes")
    return content

def no_answer(node):
    return "failed" if "failed" in words_of(node) else "fail"

class Variables(Extension):
    @staticmethod
    def suits(program):
        return any("texts" in node or "env" in node for node in program["nodes"].values())
    def variables(self, node, registers):
        return {**node.get("env", {}), **texts_of(node, registers)}
    def before_step(self, name):
        node = self.session.program["nodes"][name]
        for variable, value in texts_of(node, self.session.state.registers).items():
            try:
                check_value(variable, value)
            except UnfitError as error:
                failed = Done(no_answer(node), str(error))
                return lambda _name, _node: failed
        return None

