"""Names that processes know: of inputs, environment variables and values (docs/program.md, I7 to I9)."""

from __future__ import annotations

import re

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

_OF_THE_SHELL = frozenset(
    {
        *("BASH_ENV", "BASHOPTS", "CDPATH", "ENV", "HOME", "IFS", "PATH", "PS4", "SHELLOPTS"),
        *("_", "EUID", "OLDPWD", "PPID", "PWD", "SHLVL", "UID"),
    }
)
"""Variables that change what a shell does, or that it sets itself."""

_BEGINNINGS = ("RDC_", "LD_", "DYLD_")
"""Of names that rdc or the loader of programs gives a meaning."""

INSTANCES = frozenset({"RDC_STEP_INSTANCE", "RDC_SUBSTEP_INSTANCE"})
"""Variables of rdc that a node sets for its command: the numbers of instances (M4)."""


def is_identifier(name: str) -> bool:
    """Whether a name is one that an environment variable can have."""
    return bool(_IDENTIFIER.fullmatch(name))


def is_reserved(name: str) -> bool:
    """Whether a shell, the loader or rdc gives the variable of this name a meaning."""
    return name in _OF_THE_SHELL or (name.startswith(_BEGINNINGS) and name not in INSTANCES)
