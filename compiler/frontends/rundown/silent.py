"""Find blocks in which a failure goes unnoticed, because a shell reports only its last exit code (M2, E13).

The scan knows just enough shell grammar to find a block's commands. It gives no warning for a block that it cannot read
to the end: a wrong warning is worse than a missing one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from msgspec import Struct, field

from compiler.diagnostic import Diagnostic
from compiler.frontends.rundown.messages import tag_fix
from compiler.frontends.rundown.syntax import Code, Runbook, all_steps
from compiler.regex import Regex
from compiler.source import Source

OPENS = {"if": "fi", "while": "done", "until": "done", "for": "done", "select": "done", "case": "esac", "{": "}"}
"""The words that start a compound command, with the words that end it."""

WITHIN = frozenset({"then", "else", "elif", "do", "!", "time"})
"""Words before another command."""

HARMLESS = frozenset(
    {
        *("echo", "printf", "export", "readonly", "declare", "typeset", "alias", "set", ":", "true", "[[", "trap"),
        *("unset", "sleep", "shopt", "umask", "shift", "exec", "exit"),
    }
)
"""Commands that rarely fail, only test something, or run no command after them."""

_SET = Regex(r"(?:^|[;&|({]|\b(?:then|else|do)\s)[ \t]*set[ \t]+([^\n;|&#]*)", re.MULTILINE)
_TRAP = Regex(r"^[ \t]*trap[ \t][^\n]*\bERR\b", re.MULTILINE)
_STATUS = Regex(r"\$\{?(?:\?|PIPESTATUS)")
_ERREXIT = Regex(r"-[A-Za-z]*e[A-Za-z]*|errexit")
_ASSIGNMENTS = Regex(r"(?:\s*\w+\+?=(?:'[^']*'|\"(?:\\.|[^\"\\])*\"|\$\{[^}]*\}|\$\([^)]*\)+|[^\s'\"])*)+\s*")
_SUBSTITUTION = Regex(r"\$\((?!\()|`")
_FUNCTION = Regex(r"function\s+[\w-]+(?:\s*\(\))?")
_HEREDOC = Regex(r"(?<!<)<<(?!<)(-?)\s*(['\"\\]?)([^\s'\"\\;&|<>()]+)\2")
_WORD = Regex(r"[^\s;&|()<>'\"`\\$#]+")
_QUOTED = Regex(r"'[^']*'|\$'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"|`(?:\\.|[^`\\])*`|\\.", re.DOTALL)
_PARENTHESES = Regex(r"[ \t]*\(\)")
_DIGITS = dict.fromkeys(map(ord, "123456789"), "0")
_MOST = 12
"""The most blocks that a message names."""


class _List(Struct):
    """Commands up to a separator: a simple command, or more."""

    start: int = 0
    pieces: list[str] = field(default_factory=list)
    is_compound: bool = False
    is_decided: bool = False
    """Whether `&&`, `||`, `!` or `&` decides what a failure means."""

    @property
    def text(self) -> str:
        """The commands as written, without comments."""
        return "".join(self.pieces)


class _Scan(Struct):
    """The state while reading a block."""

    text: str
    place: int = 0
    at_command: bool = True
    is_joined: bool = False
    """Whether `|`, `&&` or `||` came last, so that a newline ends nothing."""
    open: list[str] = field(default_factory=list)
    """The words that end the open compound commands."""
    bodies: list[tuple[str, bool]] = field(default_factory=list)
    """The end words of the here-documents on this line, and whether their lines may be indented."""
    lists: list[_List] = field(default_factory=lambda: [_List()])

    def read(self) -> list[_List] | None:
        """Return the top-level command lists, or None if the block is too complex to read."""
        text, length = self.text, len(self.text)
        while self.place < length:
            now = text[self.place]
            if now == " ":
                self._add(now)
                self.place += 1
            elif not self._step(now):
                return None
        return None if self.open or self.bodies else [one for one in self.lists if one.pieces or one.is_compound]

    def _step(self, now: str) -> bool:
        self.is_joined = self.is_joined and (now.isspace() or now == "#")
        if now in "'\"`$\\":
            return self._quoted(now)
        if now in "\n;&|":
            return self._separator()
        if now in "()":
            return self._parenthesis()
        self._plain(now)
        return True

    def _quoted(self, now: str) -> bool:
        """Read a quoted string or an expansion."""
        if match := _QUOTED.match(self.text, self.place):
            if match.group() != "\\\n":
                self._add(match.group())
            self.place = match.end()
        elif now == "$":
            return self._expansion()
        elif now != "\\":
            return False
        else:  # at the very end
            self._add(now)
            self.place += 1
        return True

    def _plain(self, now: str) -> None:
        """Read a word, a comment, or the start of a here-document or function."""
        text, place = self.text, self.place
        if now == "<" and (match := _HEREDOC.match(text, place)):
            self.bodies.append((match[3], bool(match[1])))
            self.place = match.end()
        elif now == "f" and self.at_command and (match := _FUNCTION.match(text, place)):
            self.lists[-1].is_compound = True
            self.place = match.end()
        elif match := _WORD.match(text, place):
            self._word(match.group())
            self.place = match.end()
        elif now == "#" and (place == 0 or text[place - 1] in " \t\n;&|("):
            end = text.find("\n", place)
            self.place = end if end >= 0 else len(text)
        else:
            self._add(now)
            self.place += 1

    def _add(self, piece: str) -> None:
        if not self.open:
            self.lists[-1].pieces.append(piece)
        self.at_command = self.at_command and piece.isspace()

    def _word(self, word: str) -> None:
        is_first = self.at_command
        if is_first and self.open and word == self.open[-1]:
            self.open.pop()
        elif is_first and word in OPENS:
            self.lists[-1].is_compound = True
            self.open.append(OPENS[word])
            self.at_command = word not in ("for", "select", "case")
        elif is_first and word in WITHIN:
            self.lists[-1].is_decided |= word == "!" and not self.open
        else:
            self._add(word)
            # The body of a function is a command.
            self.at_command = _PARENTHESES.match(self.text, self.place + len(word)) is not None

    def _separator(self) -> bool:
        text, pair = self.text, self.text[self.place : self.place + 2]
        before = text[self.place - 1] if self.place else ""
        if pair[0] == "&" and (before in "<>" or pair == "&>"):  # a redirection
            self._add(pair[0])
            self.place += 1
            return True
        self.at_command = True
        if pair in ("&&", "||"):
            self.lists[-1].is_decided |= not self.open
        if pair in ("&&", "||") or pair[0] == "|":
            self.place += 2 if pair in ("&&", "||", "|&") else 1
            self.is_joined = True
            return True
        self.place += 1
        if not self.open and not self.is_joined:
            self.lists[-1].is_decided |= pair[0] == "&"
            self.lists.append(_List(self.place))
        return pair[0] != "\n" or self._skip_bodies()

    def _skip_bodies(self) -> bool:
        """Skip the here-documents that the last line started."""
        for word, is_indented in self.bodies:
            indent = r"\t*" if is_indented else ""
            match = re.compile(rf"^{indent}{re.escape(word)}$\n?", re.MULTILINE).search(self.text, self.place)
            if match is None:
                return False
            self.place = match.end()
        self.bodies.clear()
        return True

    def _parenthesis(self) -> bool:
        now, before = self.text[self.place], self.text[self.place - 1 : self.place]
        self.place += 1
        if now == ")":
            if self.open and self.open[-1] == ")":
                self.open.pop()
            self.at_command = bool(self.open) and self.open[-1] == "esac"  # after a pattern
            return True
        if self.text[self.place : self.place + 1] == ")":  # a function
            self.lists[-1].is_compound = self.at_command = True
            self.place += 1
            return True
        if not (self.open and self.open[-1] == "esac"):
            self.lists[-1].is_compound |= before not in ("<", ">")  # `<(…)` is an argument
            self.open.append(")")
        self.at_command = True
        return True

    def _expansion(self) -> bool:
        """Skip `$(…)` or `${…}`, which may contain anything balanced."""
        opens = self.text[self.place + 1 : self.place + 2]
        if opens not in ("(", "{"):
            self._add("$")
            self.place += 1
            return True
        closes, depth, end = {"(": ")", "{": "}"}[opens], 0, self.place + 1
        while end < len(self.text):
            if match := _QUOTED.match(self.text, end):
                end = match.end()
                continue
            depth += (self.text[end] == opens) - (self.text[end] == closes)
            end += 1
            if depth == 0:
                self._add(self.text[self.place : end])
                self.place = end
                return True
        return False


def hides_failures(command: str) -> bool:
    """Return whether a simple command before the last one can fail unnoticed."""
    if not any(mark in command.rstrip("\n") for mark in "\n;&"):
        return False  # there is only one command
    if "set" in command and any(_ERREXIT.fullmatch(word) for given in _SET.findall(command) for word in given.split()):
        return False
    if "trap" in command and _TRAP.search(command):
        return False
    lists = _Scan(command).read() or []
    starts = [*(one.start for one in lists), len(command)]
    asked = [_STATUS.search(command, starts[at + 1], starts[at + 2]) for at in range(len(lists) - 1)]
    pairs = zip(lists, asked, strict=False)
    return any(_can_fail(one) and not status for one, status in pairs)


def _can_fail(one: _List) -> bool:
    words = one.text.split()
    if one.is_compound or one.is_decided or not words:
        return False
    is_assignment = _ASSIGNMENTS.fullmatch(one.text) and not _SUBSTITUTION.search(one.text)
    return not is_assignment and words[0] not in HARMLESS


def check_silent(source: Source, runbook: Runbook) -> Iterator[Diagnostic]:
    """Give one warning for all blocks of a document, unless it sets the option `shell` (E13)."""
    steps = [step for step in all_steps(runbook) if step.code and step.code.interpreter]
    blocks: list[Code] = [step.code for step in steps if step.code]
    if runbook.declared.shell == "strict":
        yield from _without_pipefail(source, blocks)
    if runbook.declared.shell:
        return
    found = _hiding(blocks)
    if not found:
        return
    lines = [str(block.span.line) for block in found[:_MOST]]
    more = f" and {len(found) - _MOST} more" if len(found) > _MOST else ""
    where = f"the block at line {lines[0]}" if len(found) == 1 else f"the blocks at lines {', '.join(lines)}{more}"
    problem = f"a command in {where} can fail unnoticed: only the last command decides a block's exit code"
    remedy = (
        "start the block with `set -e`, or set `rdc: {shell: strict}` for all blocks; "
        "`rdc: {shell: plain}` turns off this warning"
    )
    yield Diagnostic("RD132", source.path, found[0].span, problem, remedy)


def _hiding(blocks: Iterable[Code]) -> list[Code]:
    """Return the blocks with unnoticed failures; blocks that differ only in digits are read once.

    Digits don't matter to the scan, except in the word that ends a here-document.
    """
    known: dict[str, bool] = {}
    found: list[Code] = []
    for block in blocks:
        shape = block.text if "<<" in block.text else block.text.translate(_DIGITS)
        hides = known.get(shape)
        if hides is None:
            hides = known[shape] = hides_failures(shape)
        if hides:
            found.append(block)
    return found


def _without_pipefail(source: Source, blocks: list[Code]) -> Iterator[Diagnostic]:
    for block in blocks:
        if block.interpreter == "sh":
            problem = f"a block tagged `{block.language}` cannot be strict, because sh has no pipefail"
            fix = tag_fix(source, block.span.line, block.language, "bash")
            yield Diagnostic("RD133", source.path, block.span, problem, "tag it `bash`", fix=fix)
