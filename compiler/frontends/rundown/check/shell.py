"""Split a block into its simple commands and the variables that it reads, with just enough shell grammar.

Each character is read once. A block that can't be read to the end has no commands, because a wrong warning is worse
than a missing one.
"""

import re

from msgspec import Struct, field

from compiler.text.regex import Regex

DEEPEST = 100  # the most constructs inside each other

_CLOSES = {"if": "fi", "while": "done", "until": "done", "for": "done", "select": "done", "case": "esac", "{": "}"}
_PARTS = {"then": "then", "else": "then", "elif": "if", "do": "do"}
"""Words between the parts of a compound command, with the name of the part that follows."""

_ENDS = {'"': '"', "${": "}", "=(": ")", "[[": "]]", "((": "))"}
"""The starts and ends of strings without commands."""

_KEYWORD = Regex(r"(?:if|then|elif|else|fi|while|until|for|select|case|esac|do|done|time|!|\{|\})(?=[\s;&|()<>]|$)")
_FUNCTION = Regex(r"function[ \t]+[\w-]+(?:[ \t]*\(\))?|[\w.:-]+[ \t]*\(\)")
_HEREDOC = Regex(r"<<(?!<)(-?)[ \t]*(['\"\\]?)([^\s'\"\\;&|<>()]+)['\"]?")
_PLAIN = Regex(r"[^\s;&|()<>'\"`\\$]+")
_INNER = Regex(r"[^'\"`\\$(){}\]]+")
_QUOTED = Regex(r"'[^']*'|\$'(?:\\.|[^'\\])*'|\\.", re.DOTALL)
_TICKS = Regex(r"`(?:\\.|[^`\\])*`", re.DOTALL)
NAME = Regex(r"\$(?:\{[#!]?(?P<braced>[A-Za-z_]\w*)(?P<default>:?[-+=])?|(?P<name>[A-Za-z_]\w*)|[0-9?$!@*#-])")
_EXPANDED = Regex(r"\\.|" + NAME.pattern, re.DOTALL)
_ASSIGNMENT = Regex(r"([A-Za-z_]\w*)(?:\[[^\]]*\])?\+?=")
_OPERATOR = Regex(r";;&?|;&|&&|\|\||\|&?|.", re.DOTALL)
_REDIRECTION = Regex(r"&?[<>]+[&|]?")
_NEXT_PATTERN = Regex(r"(?>(?:\s|#[^\n]*)*)(?P<esac>esac\b)?")
_COMMENT = Regex(r"#[^\n]*")


class Command(Struct):
    """A simple command or the head of a compound one, such as `for x in a b`; `before` and `after` are operators.

    `inside` has the constructs around it, outermost first: `if` and `while` for conditions, `then`, `do`, `case`,
    `{`, `(`, `function`, and `$(` for a substitution. `start` is its place in the block.
    """

    start: int
    inside: tuple[str, ...]
    before: str
    is_negated: bool = False
    words: list[str] = field(default_factory=list)
    after: str = ""

    @property
    def name(self) -> str:
        """The first word after assignments, or ""."""
        return next((word for word in self.words if not _ASSIGNMENT.match(word)), "")

    @property
    def assigned(self) -> list[str]:
        """The names of a command that only assigns variables."""
        found = [_ASSIGNMENT.match(word) for word in self.words]
        return [match[1] for match in found if match] if all(found) else []


class Block(Struct, frozen=True):
    """The commands of a block in order, and the names that it reads with their places; defaults don't count."""

    commands: tuple[Command, ...] = ()
    reads: tuple[tuple[str, int], ...] = ()


class _Frame(Struct):
    """An open construct: its start, the part that is being read, and its current command and word."""

    opens: str
    part: str
    command: Command | None = None
    word: int = -1


def read_commands(text: str) -> Block:
    """Return the commands of a block, or an empty block if it is too complex or incomplete."""
    scan = _Scan(text)
    return Block(tuple(scan.commands), tuple(scan.reads)) if scan.read() else Block()


class _Scan:
    def __init__(self, text: str) -> None:
        self.text = text
        self.place = 0
        self.commands: list[Command] = []
        self.reads: list[tuple[str, int]] = []
        self.frames = [_Frame("", "")]
        self.bodies: list[tuple[str, bool, bool]] = []
        self.before = ""
        self.is_negated = self.in_function = False

    def read(self) -> bool:
        while self.place < len(self.text):
            is_inner = self.frames[-1].opens in _ENDS
            if not (self._inner() if is_inner else self._outer()) or len(self.frames) > DEEPEST:
                return False
        self._end("")
        return len(self.frames) == 1 and not self.bodies

    def _outer(self) -> bool:
        frame, now = self.frames[-1], self.text[self.place]
        if now in " \t\r":
            self._end_word()
            self.place += 1
        elif now in "\n;&|":
            return self._separator(now)
        elif now in "<>":
            self._redirection()
        elif now in "()":
            return self._parenthesis(now)
        elif now == "#" and frame.word < 0:
            self._match(_COMMENT)
        elif frame.word < 0 and frame.command is None and self._keyword():
            return True
        else:
            self._begin_word()
            if self._next("[[") and frame.word == self.place and not self._command().words:
                return self._push("[[", 2)
            return self._piece(now) or self._match(_PLAIN)
        return True

    def _piece(self, now: str, *, in_quotes: bool = False) -> bool:
        if now == '"':
            return self._push('"', 1)
        if now == "$" and not (self._next("$'") and not in_quotes):
            return self._expansion()
        if now == "`":
            start = self.place
            return self._match(_TICKS) and self._expanded(start, self.place)
        if in_quotes and now == "'":
            return False
        if now == "\\" and self.place + 1 == len(self.text):
            self.place += 1
            return True
        return now in "'\\$" and self._match(_QUOTED)

    def _inner(self) -> bool:
        frame, now = self.frames[-1], self.text[self.place]
        if self._next(_ENDS[frame.opens]):
            self.place += len(_ENDS[frame.opens])
            self.frames.pop()
            return True
        in_quotes = frame.opens == '"' or (frame.opens == "${" and self.frames[-2].opens == '"')
        if self._piece(now, in_quotes=in_quotes):
            return True
        if now == "(" and frame.opens in ("=(", "[[", "(("):
            return self._push("=(", 1)
        if not self._match(_INNER):
            self.place += 1
        return True

    def _expansion(self) -> bool:
        match = NAME.match(self.text, self.place)
        if self._next("$(("):
            return self._push("((", 3)
        if self._next("$("):
            return self._push("$(", 2)
        if match and not match["default"] and (match["braced"] or match["name"]):
            self.reads.append((match["braced"] or match["name"], self.place))
        if self._next("${"):
            return self._push("${", 2)
        self.place = match.end() if match else self.place + 1
        return True

    def _expanded(self, start: int, end: int) -> bool:
        for match in _EXPANDED.finditer(self.text, start, end):
            if not match["default"] and (name := match["braced"] or match["name"]):
                self.reads.append((name, match.start()))
        return True

    def _keyword(self) -> bool:
        """Read a word of the shell's grammar or the head of a function, and return whether there was one."""
        if match := _FUNCTION.match(self.text, self.place):
            self.in_function = True
            self.place = match.end()
            return True
        match = _KEYWORD.match(self.text, self.place)
        frame, word = self.frames[-1], match[0] if match else ""
        if word in ("for", "select", "case"):
            self._push(word, 0)
            self._begin_word()
        elif word in _CLOSES:
            self._push(word, 0, "function" if self.in_function and word == "{" else word.replace("until", "while"))
        elif word in _PARTS:
            frame.part = _PARTS[word]
        elif word and word == _CLOSES.get(frame.opens):
            self._pop()
        elif word == "!":
            self.is_negated = True
        elif word != "time":
            return False
        self.in_function = False
        self.place += len(word)
        return True

    def _separator(self, now: str) -> bool:
        if self._next("&>"):
            self._redirection()
            return True
        match = _OPERATOR.match(self.text, self.place)
        operator = match[0] if match else now
        self._end("|" if operator == "|&" else operator)
        self.place += len(operator)
        if now == "\n" and not self._skip_bodies():
            return False
        return self._patterns() if operator[:2] in (";;", ";&") else True

    def _redirection(self) -> None:
        self._end_word()
        if self._next("<(") or self._next(">("):
            self._begin_word()
            self._push("$(", 2)
        elif match := _HEREDOC.match(self.text, self.place):
            self.bodies.append((match[3], bool(match[1]), bool(match[2])))
            self.place = match.end()
            self._command().words.append("<<")
        else:
            start = self.place
            self._match(_REDIRECTION)
            self._command().words.append(self.text[start : self.place])

    def _parenthesis(self, now: str) -> bool:
        frame = self.frames[-1]
        if now == "(":
            if frame.word < 0 and self._next("(("):
                self._begin_word()
                return self._push("((", 2)
            return self._push("(" if frame.word < 0 else "=(", 1)
        self._end(")")
        self.place += 1
        if frame.opens not in ("(", "$("):
            return False
        self._pop()
        return True

    def _patterns(self) -> bool:
        """Skip to the commands after the next pattern of a `case`."""
        frame = self.frames[-1]
        if frame.opens != "case":
            return False
        frame.part = "case"
        match = _NEXT_PATTERN.match(self.text, self.place)
        if match and match["esac"]:
            self.place = match.end()
            self._pop()
            return True
        end = self.text.find(")", self.place)
        self.place = end + 1
        return end >= 0

    def _skip_bodies(self) -> bool:
        for word, is_indented, is_quoted in self.bodies:
            indent = r"\t*" if is_indented else ""
            match = re.compile(rf"^{indent}{re.escape(word)}$\n?", re.MULTILINE).search(self.text, self.place)
            if match is None:
                return False
            if not is_quoted:
                self._expanded(self.place, match.start())
            self.place = match.end()
        self.bodies.clear()
        return True

    def _push(self, opens: str, length: int, part: str = "") -> bool:
        if opens not in _ENDS:
            self.before = "" if opens in ("$(", "(") else self.before
        self.frames.append(_Frame(opens, part or opens))
        self.place += length
        return True

    def _pop(self) -> None:
        self.frames.pop()
        self.before = ""

    def _command(self) -> Command:
        frame = self.frames[-1]
        if frame.command is None:
            inside = tuple(each.part for each in self.frames if each.opens not in _ENDS and each.part)
            frame.command = Command(self.place, inside, self.before, self.is_negated)
            self.commands.append(frame.command)
            self.before, self.is_negated, self.in_function = "", False, False
        return frame.command

    def _begin_word(self) -> None:
        self._command()
        if self.frames[-1].word < 0:
            self.frames[-1].word = self.place

    def _end_word(self) -> None:
        frame = self.frames[-1]
        if frame.command and frame.word >= 0:
            word = self.text[frame.word : self.place].replace("\\\n", "")
            frame.word = -1
            if word:
                frame.command.words.append(word)
            if word == "in" and frame.command.words[0] == "case":
                self._end("")
                self._patterns()

    def _end(self, operator: str) -> None:
        self._end_word()
        frame = self.frames[-1]
        if frame.command:
            frame.command.after = operator
            frame.command = None
            self.before = operator
        elif operator != "\n" or self.before not in ("&&", "||", "|"):
            self.before = operator

    def _next(self, text: str) -> bool:
        return self.text.startswith(text, self.place)

    def _match(self, pattern: re.Pattern[str]) -> bool:
        match = pattern.match(self.text, self.place)
        self.place = match.end() if match else self.place
        return match is not None
