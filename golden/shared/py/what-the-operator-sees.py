# --- What the operator sees, on standard error: calm lines, safe on any terminal and in any log.
# Texts of a document must not steer the terminal or hide what they say (C0, C1, bidi controls).
CONTROLS = [(0, 8), (0xB, 0x1F), (0x7F, 0x9F), (0x61C, 0x61C), (0x200B, 0x200B), (0x200E, 0x200F), (0x2028, 0x202E)]
HIDDEN = [(0x2066, 0x2069), (0xD800, 0xDFFF), (0xFEFF, 0xFEFF)]
SHOWN = {number: "?" for first, last in [*CONTROLS, *HIDDEN] for number in range(first, last + 1)}
STYLES = {"bold": "1", "dim": "2", "pass": "32", "fail": "1;31"}

def clean(text):  # Take the control characters out of a text; newlines and tabs stay.
    return text.replace("\r\n", "\n").translate(SHOWN)

def one_line(text):  # Take the control characters out of a text that belongs on one line.
    return clean(" ".join(text.split()))

def duration(seconds):  # Write a time as a person says it.
    minutes, rest = divmod(int(seconds), 60)
    if not minutes:
        return f"{seconds:.1f} s"
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"

class Display:  # Lines on a stream, in colour where it is a terminal that wants it.
    def __init__(self, stream):
        self._stream = stream
        self.gives_up = lambda: False  # whether a line that nobody takes is not waited for
        self.is_terminal = stream.isatty()
        self._colour = self.is_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        self.dash, self.more = ("—", "…") if "utf" in (stream.encoding or "").lower() else ("-", "...")

    def paint(self, text, style):  # Give a text a style.
        return f"\033[{STYLES.get(style, '1')}m{text}\033[0m" if self._colour else text

    def line(self, text='', end='\n'):  # Write a line; a log that nobody reads any more does not stop a run.
        with suppress(OSError, ValueError):
            put(self._stream, text + end, self.gives_up)

    def started(self, place, name, details):  # Say which unit begins.
        extra = f" {self.dash} {', '.join(details)}" if details else ""
        self.line(f"[{place}] " + self.paint(name, "bold") + extra)

    def rule(self, text):  # Write one of the lines by which a run says where it stands (R3).
        self.line("rdc: " + clean(text).replace("\n", "?"))

