# --- What the operator sees, on standard error: calm lines, safe on any terminal and in any log.
STALLED = 100  # milliseconds until a writer whom nobody reads looks again whether it was told to end
# Texts of a document must not steer the terminal or hide what they say (C0, C1, bidi controls).
HIDDEN = "[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]"
STYLES = {"bold": "1", "dim": "2", "pass": "32", "fail": "1;31"}

def clean(text):
    return re.sub(HIDDEN, "?", text.replace("\r\n", "\n"))

def one_line(text):
    return clean(" ".join(text.split()))

def duration(seconds):
    minutes, rest = divmod(int(seconds), 60)
    longer = f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
    return longer if minutes else f"{seconds:.1f} s"

class Display:
    def __init__(self, stream):
        self._stream, self.is_terminal = stream, stream.isatty()
        self.gives_up = lambda: False  # whether what nobody takes is not waited for any more
        self._colour = self.is_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        self._dash = "—" if "utf" in (stream.encoding or "").lower() else "-"
    def put(self, text, file, encoding='utf-8'):
        data = text.encode(encoding, "backslashreplace")
        # A pipe that is ready takes this much without waiting. A line in a file is written at once, and so never torn.
        step = len(data) if stat.S_ISREG(os.fstat(file).st_mode) else select.PIPE_BUF
        poll = select.poll()
        poll.register(file, select.POLLOUT)
        while data:
            if poll.poll(STALLED):
                data = data[os.write(file, data[:step]) :]
            elif self.gives_up():
                return
    def paint(self, text, style):
        return f"\033[{STYLES.get(style, '1')}m{text}\033[0m" if self._colour else text
    def line(self, text='', end='\n'):
        with suppress(OSError, ValueError):
            self.put(text + end, self._stream.fileno(), self._stream.encoding)
    def say(self, lines):
        with naming("standard output"):
            self.put("".join(clean(line) + "\n" for line in lines), sys.stdout.fileno(), sys.stdout.encoding)
        return EXIT_COMPLETE
    def started(self, place, name, details):
        self.line(f"[{place}] {self.paint(name, 'bold')}" + (f" {self._dash} {', '.join(details)}" if details else ""))
    def rule(self, text):
        self.line("rdc: " + clean(text).replace("\n", "?"))

