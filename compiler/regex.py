"""Regular expressions that are compiled when they are first used.

A start of rdc would spend a seventh of its time on expressions that the document at hand does not need.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

_METHODS = ("match", "fullmatch", "search", "finditer", "findall", "split", "sub", "subn")

if TYPE_CHECKING:
    Regex = re.compile  # with the methods and the types of those that are compiled at once
else:

    class Regex:
        """A regular expression with the methods of `re.Pattern`; raises `re.error` at its first use if it is none."""

        __slots__ = ("flags", "pattern", *_METHODS)

        def __init__(self, pattern: str, flags: int = 0) -> None:
            self.pattern = pattern
            self.flags = flags

        def __getattr__(self, name: str) -> Any:  # noqa: ANN401 (a method, whichever it is)
            """Compile the expression; from then on its methods are found as attributes of this object."""
            if name not in _METHODS:
                raise AttributeError(name)
            compiled = re.compile(self.pattern, self.flags)
            for method in _METHODS:
                setattr(self, method, getattr(compiled, method))
            return getattr(self, name)
