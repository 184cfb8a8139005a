r"""Texts of a document as labels of Mermaid: the only way in which they reach a diagram.

A label stands in double quotes. Its lexer and preprocessor still look into them, for entity codes (`#35;`), directives
(`%%{`), even for statements (`direction LR`); so whatever could begin one of these becomes an entity code. That covers
the dollar of `${{ }}` too, which GitHub would replace in a workflow.

When it draws, Mermaid decodes that and looks again: for formulas (`$$`), icons (`fa:fa-x`), line breaks (`\n`) and,
in versions up to 11.9 at least, for Markdown, of which it draws no more than `Unsupported markdown: link`. What could
begin one of these is parted by a space without width.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from compiler.regex import Regex

_LOOKALIKES = str.maketrans("`~", "'∼")
"""For two characters that Markdown pairs whatever stands between."""

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
"""All that means something somewhere; ﬂ and ¶ are what Mermaid itself writes for # and ; of an entity code."""


def escaped(text: str) -> str:
    """A text without line breaks that can stand within quotes, and in a comment."""
    if _is_plain(text):
        return text
    return _UNSAFE.sub(lambda found: f"#{ord(found[0])};", text)


def label(lines: Iterable[str]) -> str:
    """A label of several lines, with its quotes."""
    return '"' + "<br/>".join([line if _is_plain(line) else escaped(_parted(line)) for line in lines]) + '"'


def _parted(line: str) -> str:
    return _PARTED.sub("\\g<0>\u200b", line.translate(_LOOKALIKES))


def _is_plain(text: str) -> bool:
    """Whether a text has but words and numbers, as most titles: then it need not be looked through for all the rest."""
    return text.isascii() and text.replace(" ", "").isalnum() and "direction" not in text
