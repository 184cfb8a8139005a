"""What can be seen of a command without running it: whether it may use variables of some names.

A program that is not among the plain tools below can do anything with its environment, and so can a script that is
more than a row of such tools. What cannot be seen counts as used.
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
"""Builtins and tools that do nothing with variables that they are not given, and run no other program."""

_PREFIXES = frozenset(shlex.split("! if then elif else while until do { } fi done"))
_SEPARATORS = frozenset(";&|()\n")
_UNSEEN = ("`", "$(", "<(", ">(", "<<", "${!", "@P", "environ", "/proc")
"""What runs commands within a text, or reads variables without their names."""

_COMMENT = Regex(r"(?:^|[\s;&|()<>])#.*['\"\\]", re.MULTILINE)
"""A comment with a quote in it, which would be taken for the begin of a text that reaches over the lines below."""


def may_use(command: str, *names: str) -> bool:
    """Whether a command may use a variable whose name begins so, by itself or by a program that it runs."""
    if any(text in command for text in (*names, *_UNSEEN)) or _COMMENT.search(command):
        return True
    try:
        return not all(word in _TOOLS for word in _programs(command))
    except ValueError:  # quotes that do not close
        return True


def _programs(command: str) -> Iterator[str]:
    """The words by which the simple commands of a script begin."""
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
