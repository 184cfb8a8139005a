"""Compile regular expressions on first use.

Otherwise rdc would spend a seventh of its start-up time on expressions that a document doesn't need.
"""

import re
from typing import TYPE_CHECKING, Any

_METHODS = ("match", "fullmatch", "search", "finditer", "findall", "split", "sub", "subn")

if TYPE_CHECKING:
    Regex = re.compile  # has the same methods and types
else:

    class Regex:
        """A regular expression with the methods of `re.Pattern`; raises `re.error` on first use if it is invalid."""

        __slots__ = ("flags", "pattern", *_METHODS)

        def __init__(self, pattern: str, flags: int = 0) -> None:
            self.pattern = pattern
            self.flags = flags

        def __getattr__(self, name: str) -> Any:  # noqa: ANN401 (one of the methods)
            """Compile the expression; later calls find its methods as attributes of this object."""
            if name not in _METHODS:
                raise AttributeError(name)
            compiled = re.compile(self.pattern, self.flags)
            for method in _METHODS:
                setattr(self, method, getattr(compiled, method))
            return getattr(self, name)
