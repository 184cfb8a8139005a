# --- What the operator sees on standard error, line by line, and is asked at the terminal; what is told of steps.
STALLED = 0.1  # seconds until a writer whom nobody reads looks again whether it was told to end
STYLES = {"bold": "1", "dim": "2", "pass": "32", "fail": "1;31"}

class Display:
    def __init__(self, stream):
        self._stream, self.is_terminal = stream, stream.isatty()
        self.rules = stream  # what `rule` writes to
        self.gives_up = lambda: False  # whether to leave a pipe that nobody reads
        self._colour = self.is_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    def put(self, text, file, encoding='utf-8'):
        data = text.encode(encoding, "backslashreplace")
        # A pipe that is ready takes this much without waiting. A line in a file is written at once, and so never torn.
        size = len(data) if stat.S_ISREG(os.fstat(file).st_mode) else select.PIPE_BUF
        while data:
            if select.select((), (file,), (), STALLED)[1]:
                data = data[os.write(file, data[:size]) :]
            elif self.gives_up():
                return
    def paint(self, text, style):
        return f"\033[{STYLES.get(style, '1')}m{text}\033[0m" if self._colour else text
    def line(self, text='', end='\n', stream=None):
        with suppress(OSError, ValueError):
            self.put(text + end, (stream or self._stream).fileno(), (stream or self._stream).encoding)
    def dim(self, lines):
        for line in lines:
            self.line(self.paint(line, "dim"))
    def say(self, lines):
        with naming("standard output"):
            self.put("".join(clean(line) + "\n" for line in lines), sys.stdout.fileno(), sys.stdout.encoding)
        return EXIT_COMPLETE
    def rule(self, text):
        self.line("rdc: " + clean(text).replace("\n", "?"), stream=self.rules)
def duration(seconds):
    minutes, rest = divmod(int(seconds), 60)
    longer = f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
    return longer if minutes else f"{seconds:.1f} s"
def forget_typed():
    import termios
    with suppress(OSError, ValueError, termios.error):
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
def typed(display, signals, prompt):
    before = signal.signal(signal.SIGCONT, lambda _number, _frame: display.line(prompt, end=""))  # after Ctrl-Z
    try:
        display.line(prompt, end="")
        with signals:
            while not select.select([0], [], [], 1)[0]:
                continue  # a signal that comes just before a read would have to wait for a key
            return os.read(0, 65536).decode(errors="surrogateescape")
    except Interrupted:  # the key has been echoed where the answer was due
        display.line()
        raise
    finally:
        signal.signal(signal.SIGCONT, before)
def question(display, signals, text, choices):
    words = MEANINGS if choices in ("pass/fail", "yes/no") else {word: word for word in choices.split("/")}
    known = {word[:length]: words[word] for word in words for length in (1, len(word))}
    forget_typed()
    while line := typed(display, signals, f"{text} [{choices}] "):
        if word := known.get(line.strip().lower()):
            return word
        display.line(f"Please type {choices.replace('/', ' or ')}.")
    display.line()
    return None

class Telling:
    _group = ""  # that of the last step
    def filled(self, node, key, registers=None):
        return filled(node, node.get(key, ""), self.state.registers if registers is None else registers)
    def label(self, name):
        return one_line(f"{name} {self.filled(self.program['nodes'][name], 'title')}")
    def texts(self, node, key):
        return [f"    {line}".rstrip() for line in clean(self.filled(node, key)).strip("\n").splitlines()]
    def about(self, name):
        node, now = self.program["nodes"][name], self.state.registers
        about = {"node": name, "title": self.filled(node, "title"), "attempt": attempt_of(node, now)}
        return {**about, "instances": instances_of(node, now)}
    def announce(self, name, *details):
        group = self.program["nodes"][name].get("group", "")
        if group not in ("", self._group):
            about = self.program["groups"][group]
            self.display.line(self.display.paint(one_line(f"{group} {self.filled(about, 'title')}"), "bold"))
            self.display.dim(self.texts(about, "prompt"))
        self._group = group
        step = f"[{self.places[name]}] {self.display.paint(self.label(name), 'bold')}"
        self.display.line(f"{step} - {', '.join(details)}" if details else step)
    def tell_passed(self, move):
        for name in move.passed:
            node = self.program["nodes"][name]
            if node["task"] == "end":
                self.display.line("    " + one_line(f"{name} {self.filled(node, 'message', move.registers)}"))

