"""Guesses without running a command whether it may use certain variables.

A program that is not one of the plain tools below can do anything with its environment. So can a script that is more
than a sequence of such tools. In doubt, the answer is yes.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from compiler.regex import Regex

_TOOLS = frozenset(
    shlex.split(
        ": [ basename cat cd chmod cmp comm cp cut date dirname du echo exit expr false grep head ln ls mkdir mktemp mv"
        " printf pwd realpath rm rmdir seq sha256sum sleep stat tail tee test touch tr true uniq wc"
    )
)
"""Builtins and tools that use only variables they are given, and run no other program."""

_PREFIXES = frozenset(shlex.split("! if then elif else while until do { } fi done"))
_SEPARATORS = frozenset(";&|()\n")
_UNSEEN = ("`", "$(", "<(", ">(", "<<", "${!", "@P", "environ", "/proc")
"""Constructs that run commands inside a string, or read variables without naming them."""

_COMMENT = Regex(r"(?:^|[\s;&|()<>])#.*['\"\\]", re.MULTILINE)
"""A comment with a quote, which would look like the start of a string that spans the lines below."""


def may_use(command: str, *names: str) -> bool:
    """Return whether a command, or a program that it runs, may use a variable with one of these prefixes."""
    if any(text in command for text in (*names, *_UNSEEN)) or _COMMENT.search(command):
        return True
    try:
        return not all(word in _TOOLS for word in _programs(command))
    except ValueError:  # quotes that do not close
        return True


def _programs(command: str) -> Iterator[str]:
    """Yield the first word of each simple command in a script."""
    words = shlex.shlex(command, posix=True, punctuation_chars=";()<>|&\n")
    words.whitespace = " \t"
    words.whitespace_split = True
    words.commenters = ""
    begins = True
    for word in words:
        if set(word) <= _SEPARATORS:
            begins = True
        elif begins and word not in _PREFIXES:
            yield word
            begins = False
