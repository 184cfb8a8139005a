"""Names that processes know: of inputs, environment variables and values (docs/program.md, I7 to I9)."""

from __future__ import annotations

from compiler.regex import Regex

_IDENTIFIER = Regex(r"[A-Za-z_][A-Za-z0-9_]*")

_OF_THE_SHELL = frozenset(
    {
        *("BASH_ENV", "BASHOPTS", "CDPATH", "ENV", "HOME", "IFS", "PATH", "PS4", "SHELLOPTS"),
        *("_", "EUID", "OLDPWD", "PPID", "PWD", "SHLVL", "UID"),
    }
)
"""Variables that change what a shell does, or that it sets itself."""

_OF_RDC = "RDC_"
_OF_THE_LOADER = ("LD_", "DYLD_")

INSTANCES = frozenset({"RDC_STEP_INSTANCE", "RDC_SUBSTEP_INSTANCE"})
"""Variables of rdc that a node sets for its command: the numbers of instances (M4)."""


def is_identifier(name: str) -> bool:
    """Whether a name is one that an environment variable can have."""
    return bool(_IDENTIFIER.fullmatch(name))


def is_reserved(name: str) -> bool:
    """Whether a shell, the loader or rdc gives the variable of this name a meaning."""
    return name not in INSTANCES and bool(reserved_because(name))


def reserved_because(name: str) -> str:
    """Who gives the variable of this name a meaning, as the end of a sentence; "" if nobody does."""
    if name in _OF_THE_SHELL:
        return "the shell gives this variable a meaning"
    if name.startswith(_OF_RDC):
        return f"names that begin with {_OF_RDC} belong to rdc"
    beginning = next((item for item in _OF_THE_LOADER if name.startswith(item)), "")
    return f"the loader of programs reads variables that begin with {beginning}" if beginning else ""
