"""Write a variable where a tool pastes text into a shell's line, so that the line runs the same commands.

`just` pastes the value of a parameter before a shell reads the line. A runbook's command reads a variable instead. Both
are the same for values without characters of the shell, in the places that `paste` accepts.
"""

from collections.abc import Sequence

from msgspec import Struct

from compiler.text.regex import Regex


class Value(Struct, frozen=True):
    """A variable in a line. `shown` is the inside of its braces, and a `word` is never empty and has no spaces."""

    name: str
    shown: str
    is_word: bool


Piece = str | Value


class Pasted(Struct, frozen=True):
    """A line for the shell. A value of `heads` is in the name of a command, where `=` would assign a variable."""

    text: str
    heads: frozenset[str]


class UnwritableError(ValueError):
    """A variable in a place where the shell would read it differently from pasted text."""


_HEAD = Regex(
    r"(?:^|[;&|(`]|(?<!\S)(?:\{|!|then|do|else|elif|if|while|until|time)(?=\s))\s*(?:[A-Za-z_]\w*=\S*\s+)*(\S*)$"
)
_ASSIGNED = Regex(r"[A-Za-z_]\w*\+?=")
_SPLITS = Regex(r"[<>][&|]?[ \t]*[^\s;&|()]*$")
_JOINS = Regex(r"(?:(?<!\S)~[^\s/]*|\{[^\s}]*|[<>]&[^\s;&|()]*)$")
"""Ends of a line after which the meaning of a word depends on the text that follows: `~`, `{a,` and `>&`."""


def paste(pieces: Sequence[Piece]) -> Pasted:
    """Return a line with its variables written for the quotes around them; raise `UnwritableError`."""
    quotes, line, heads = _Quotes(), "", set()
    for place, piece in enumerate(pieces):
        if isinstance(piece, str):
            quotes.read(piece)
            line += piece
            continue
        after = next((other for other in pieces[place + 1 : place + 2] if isinstance(other, str)), "")
        if quotes.is_plain:
            _check(line, piece, after)
            if (head := _HEAD.search(line)) and not _ASSIGNED.match(head[1]):
                heads.add(piece.name)
        line += quotes.written(piece, line)
    return Pasted(line, frozenset(heads))


def _check(line: str, value: Value, after: str) -> None:
    head = _HEAD.search(line)
    makes_assignment = head and not _ASSIGNED.match(head[1]) and "=" in after.partition(" ")[0]
    is_split = not value.is_word and ((head and _ASSIGNED.match(head[1])) or _SPLITS.search(line))
    if makes_assignment or is_split or _JOINS.search(line) or after[:1] in {"<", ">"}:
        raise UnwritableError(value.name)


class _Quotes:
    """The open quotes and expansions of a line, as far as it is read; the last is the innermost."""

    def __init__(self) -> None:
        self.open = [""]
        self.is_escaped = False
        self.last = ""

    @property
    def is_plain(self) -> bool:
        """Whether the shell splits the next text into words."""
        return self.open[-1] in {"", "(", "`"}

    def read(self, text: str) -> None:
        """Read the next text of the line."""
        for char in text:
            if self.is_escaped:
                self.is_escaped = False
            elif self.open[-1] == "'":
                if char == "'":
                    self.open.pop()
            elif self.open[-1] != "#":
                self._read(char)
            self.last = char

    def _read(self, char: str) -> None:
        top = self.open[-1]
        if char == "\\":
            self.is_escaped = True
        elif char == {'"': '"', "`": "`", "(": ")", "{": "}"}.get(top):
            self.open.pop()
        elif self._opens(char, top):
            self.open.append(char)

    def _opens(self, char: str, top: str) -> bool:
        if char == "'":
            return top != '"' and self.open[-2:] != ['"', "{"]
        if char == "#":
            return self.is_plain and (not self.last or self.last.isspace() or self.last in ";&|(")
        return char in '"`' or (char in "({" and self.last == "$") or (char == "(" and self.is_plain)

    def written(self, value: Value, line: str) -> str:
        """Return a variable for this place."""
        top = self.open[-1]
        in_name = top == "{" and line.rpartition("${")[2].isidentifier()
        if self.is_escaped or in_name or line.endswith("${") or (self.last == "$" and top not in {"'", "#"}):
            raise UnwritableError(value.name)
        self.last = "x"
        if top == "'":
            return f"""'"{_braced(value)}"'"""
        is_number = self.open[-2:] == ["(", "("]
        if value.is_word and top in {"", "("} and not is_number:
            return f'"${value.shown}"' if value.shown.isidentifier() else f'"{_braced(value)}"'
        return _braced(value)


def _braced(value: Value) -> str:
    return f"${{{value.shown}}}"


def double_quoted(pieces: Sequence[Piece]) -> str:
    """Return a value as one word of the shell."""
    written = [_ESCAPED.sub(r"\\\g<0>", piece) if isinstance(piece, str) else _braced(piece) for piece in pieces]
    return f'"{"".join(written)}"'


_ESCAPED = Regex(r'["\\$`]')
