"""Names that processes see: inputs, environment variables and outputs (docs/reference/program-rules.md, I7 to I9)."""

from __future__ import annotations

from compiler.regex import Regex

_IDENTIFIER = Regex(r"[A-Za-z_][A-Za-z0-9_]*")

_OF_THE_SHELL = frozenset(
    {
        *("BASH_ENV", "BASHOPTS", "CDPATH", "ENV", "HOME", "IFS", "PATH", "PS4", "SHELLOPTS"),
        *("_", "EUID", "OLDPWD", "PPID", "PWD", "SHLVL", "UID"),
    }
)
"""Variables that the shell sets, or that change how it works."""

_OF_RDC = "RDC_"
_OF_THE_LOADER = ("LD_", "DYLD_")

INSTANCES = frozenset({"RDC_STEP_INSTANCE", "RDC_SUBSTEP_INSTANCE"})
"""Variables that rdc sets for commands: the numbers of instances (M4)."""


def is_identifier(name: str) -> bool:
    """Return whether a name is valid for an environment variable."""
    return bool(_IDENTIFIER.fullmatch(name))


def is_reserved(name: str) -> bool:
    """Return whether the shell, the loader or rdc uses a variable of this name."""
    return name not in INSTANCES and bool(reserved_because(name))


def reserved_because(name: str) -> str:
    """Return why a name is reserved, as the end of a sentence, or ""."""
    if name in _OF_THE_SHELL:
        return "the shell uses this variable"
    if name.startswith(_OF_RDC):
        return f"names that start with {_OF_RDC} are reserved for rdc"
    beginning = next((item for item in _OF_THE_LOADER if name.startswith(item)), "")
    return f"the program loader uses variables that start with {beginning}" if beginning else ""
