r"""A document's strings as Mermaid labels: their only path into a diagram.

A label is in double quotes. Mermaid's lexer and preprocessor still interpret entity codes (`#35;`), directives (`%%{`)
and even statements (`direction LR`) in it. So anything that could start one of these becomes an entity code. This
includes the dollar of `${{ }}`, which GitHub would replace in a workflow.

When it draws, Mermaid decodes the codes and interprets the result again: formulas (`$$`), icons (`fa:fa-x`), line
breaks (`\n`) and, at least up to version 11.9, Markdown, which it replaces with `Unsupported markdown: link`. A space
of zero width breaks up anything that could start one of these.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from compiler.regex import Regex

_LOOKALIKES = str.maketrans("`~", "'∼")
"""Replacements for two characters that Markdown interprets in pairs."""

_PARTED = Regex(
    r"""
      \$(?=\$) | ﬂ(?=°)                               # formulas; what Mermaid itself makes of entity codes
    | \\(?=\S) | :(?=\S)                              # \n, escapes; icons, addresses
    | @(?=\S) | www(?=\.) | \](?=\()                  # addresses, links
    | ^[-+*]+(?=\s) | ^\#+(?=\s) | ^[0-9]+[.)](?=\s)  # lists, headings
    """,
    re.VERBOSE,
)

_UNSAFE = Regex(r'["#$%&*;:<>@\[\\\]^`|~ﬂ¶\u200b]|(?<=direction)\s')
"""All characters with a meaning. Mermaid itself writes ﬂ and ¶ for the # and ; of an entity code."""


def escaped(text: str) -> str:
    """Return a string without line breaks for use in quotes, and in a comment."""
    if _is_plain(text):
        return text
    return _UNSAFE.sub(lambda found: f"#{ord(found[0])};", text)


def label(lines: Iterable[str]) -> str:
    """Return a label of several lines, with quotes."""
    return '"' + "<br/>".join([line if _is_plain(line) else escaped(_parted(line)) for line in lines]) + '"'


def _parted(line: str) -> str:
    return _PARTED.sub("\\g<0>\u200b", line.translate(_LOOKALIKES))


def _is_plain(text: str) -> bool:
    """Return whether a string has only words and numbers, as most titles do, and needs no escapes."""
    return text.isascii() and text.replace(" ", "").isalnum() and "direction" not in text
