"""Find the commands in a line for a shell that decide about a run or write files, as far as its words show them.

This helps against eager agents. A shell can take a command from a variable or a script, which nothing here sees.
"""

import os
import re
import shlex
from collections.abc import Iterator, Sequence
from itertools import pairwise

from msgspec import Struct

from backends.base import MARK, MARK_LINES
from runtime_shim.operator.current import DECIDING, OF_PERSONS

ANSWER = "answer"
DECIDING_OPTIONS = frozenset(f"--{name.replace('_', '-')}" for name in DECIDING)
DECIDING_VARIABLES = frozenset({"ASSUME", "RERUN", "ADOPT", "HUMAN", "OVERRIDE", "REPLY"})
"""Variables of generated Makefiles that do the same."""

OF_MAKE = frozenset({ANSWER, *OF_PERSONS, "clean"})
MAKEFILES = ("GNUmakefile", "makefile", "Makefile")

READERS = frozenset({"cat", "echo", "grep", "head", "less", "ls", "man", "printf", "rg", "tail", "which"})
"""Commands that only show their arguments, which may be words about rdc."""

SHELLS = frozenset({"bash", "dash", "ksh", "sh", "zsh"})
WRITERS = frozenset({"chmod", "chown", "mv", "patch", "rm", "shred", "tee", "touch", "truncate", "unlink"})
COPIERS = frozenset({"cp", "install", "ln", "rsync", "scp"})
EDITORS = frozenset({"perl", "ruby", "sed"})
OF_GIT = frozenset({"apply", "checkout", "clean", "mv", "restore", "rm"})

_WRITERS = frozenset({*WRITERS, *COPIERS, *EDITORS, "dd", "git"})

_PUNCTUATION = "();<>|&`\n"
_HEREDOC = re.compile(r"<<-?\s*['\"]?(\w+)")
_NESTED = re.compile(r"\$\(|`|\)")
_DEEPEST, _LONGEST, _MOST = 5, 1000, 8


class Call(Struct, frozen=True):
    """A simple command: its words, the files that it is redirected to, and the folder where it runs."""

    words: tuple[str, ...]
    targets: tuple[str, ...]
    folder: str

    def written(self) -> Iterator[str]:
        """Yield the paths that it probably writes or removes."""
        yield from self.targets
        names = [os.path.basename(word) for word in self.words]
        writers = [] if names[0] in READERS else [at for at, name in enumerate(names) if name in _WRITERS]
        for at in writers[:_MOST]:
            name, rest = names[at], [word for word in self.words[at + 1 :] if word[:1] != "-"]
            if name in COPIERS:
                yield from rest[-1:]
            elif name == "dd":
                yield from (word.removeprefix("of=") for word in rest if word.startswith("of="))
            elif name in WRITERS or self._is_in_place(name, rest):
                yield from rest

    def _is_in_place(self, name: str, rest: Sequence[str]) -> bool:
        """Return whether a command changes files only with these words."""
        if name == "git":
            return bool(rest) and rest[0] in OF_GIT
        return any(word.startswith(("-i", "--in-place", "-pi")) for word in self.words)

    def decision(self) -> tuple[str, str]:
        """Return the word that decides about a run, and the step of an answer; empty strings if no word does."""
        if os.path.basename(self.words[0]) in READERS:
            return "", ""
        for at, word in enumerate(self.words):
            name = os.path.basename(word)
            if name in ("make", "gmake") and self._is_generated(self.words[at + 1 :]):
                names = (one.partition("=") for one in self.words[at + 1 :])
                found = [one for one, sign, _ in names if one in (DECIDING_VARIABLES if sign else OF_MAKE)]
                return (found[0], "") if found else ("", "")
            if name == "rdc" or (at < _MOST and _is_marked(os.path.join(self.folder, word))):
                return _deciding(self.words[at + 1 :])
        return "", ""

    def _is_generated(self, words: Sequence[str]) -> bool:
        values = {word: value for word, value in pairwise(words) if word in ("-f", "-C")}
        folder = os.path.join(self.folder, values.get("-C", ""))
        return any(_is_marked(os.path.join(folder, name)) for name in (values.get("-f", ""), *MAKEFILES) if name)


def _deciding(words: Sequence[str]) -> tuple[str, str]:
    options = {word.partition("=")[0] for word in words}
    if "--dry-run" not in options and (found := sorted(options & DECIDING_OPTIONS)):
        return found[0], ""
    if "build" in words and "--approve" in options:
        return "build --approve", ""
    for at, word in enumerate(words[:_MOST]):  # `run`, options for reading, the document
        if word in OF_PERSONS:
            return word, ""
        if word == ANSWER:
            return word, next((one for one in words[at + 1 :] if one[:1] != "-"), "")
    return "", ""


def _is_marked(path: str) -> bool:
    try:
        if not os.path.isfile(path):
            return False
        with open(path, "rb") as file:
            return any(MARK.encode() in file.readline(_LONGEST) for _ in range(MARK_LINES))
    except (OSError, ValueError):
        return False


def calls(text: str, folder: str, depth: int = 0) -> Iterator[Call]:
    """Yield the simple commands in a text for a shell, also those for a shell in it."""
    for words, targets in _commands(text):
        yield Call(tuple(words), tuple(targets), folder)
        if words[0] == "cd" and words[1:]:
            folder = os.path.join(folder, os.path.expanduser(words[1]))
        nesting = [word for word in words if "$(" in word or "`" in word]
        nested = [_NESTED.sub("\n", word) for word in nesting]
        if any(os.path.basename(word) in SHELLS for word in words):
            options = (at for at, word in enumerate(words) if re.fullmatch("-[a-z]*c", word))
            nested += [word for at in options for word in words[at + 1 : at + 2]]
        if "eval" in words:
            nested.append(" ".join(words[words.index("eval") + 1 :]))
        for one in nested if depth < _DEEPEST else ():
            yield from calls(one, folder, depth + 1)


def _commands(text: str) -> Iterator[tuple[list[str], list[str]]]:
    """Yield the words and the redirections of each command; what isn't valid is split at spaces."""
    words, targets, redirects = list[str](), list[str](), False
    for token in [*_tokens(_without_data(text.replace("\\\n", ""))), "\n"]:
        if set(token) <= set(_PUNCTUATION):
            redirects = ">" in token and "(" not in token  # `<(` and `>(` start a command
            if not redirects and ("<" not in token or "(" in token) and (words or targets):
                yield words or [""], targets
                words, targets = [], []
        elif redirects:
            targets.append(token)
            redirects = False
        else:
            words.append(token)


def _tokens(text: str) -> list[str]:
    lexer = shlex.shlex(text, posix=True, punctuation_chars=_PUNCTUATION)
    lexer.whitespace, lexer.commenters, lexer.whitespace_split = " \t\r", "", True
    try:
        return list(lexer)
    except ValueError:  # an open quote, for example in a comment
        return re.findall(rf"[{_PUNCTUATION}]+|[^\s'\"{_PUNCTUATION}]+", text)


def _without_data(text: str) -> str:
    """Return a text for a shell without comments and here-documents, unless a shell reads these."""
    lines, end = list[str](), ""
    for line in text.split("\n"):
        if end:
            end = "" if line.strip() == end else end
        elif not line.lstrip().startswith("#"):
            lines.append(line)
            found = _HEREDOC.search(line)
            end = found[1] if found and not SHELLS.intersection(re.findall(r"\w+", line[: found.start()])) else ""
    return "\n".join(lines)
