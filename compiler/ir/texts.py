"""Texts: sequences of strings and references to registers. They are filled in when shown, sent or run (I6)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from msgspec import Struct

from compiler.text.regex import Regex


class Reference(Struct, frozen=True):  # I6
    """The value of a counter or slot within a text.

    `written` is the author's spelling. An unset slot is replaced by `missing`, any other value by `before`, the value
    and `after`.
    """

    register: str
    written: str = ""
    missing: str = ""
    before: str = ""
    after: str = ""

    def filled(self, value: str | None) -> str:
        """Return the replacement of the reference; `value` is None for an unset slot."""
        return self.missing if value is None else f"{self.before}{value}{self.after}"


Part = str | Reference


class Text(Struct, frozen=True, gc=False):
    """A text. Strings are never adjacent or empty; see `joined`."""

    parts: tuple[Part, ...] = ()

    def __bool__(self) -> bool:
        """Return whether the text has any content."""
        return bool(self.parts)

    def __str__(self) -> str:
        """Return the text with its references as authors wrote them."""
        parts = self.parts
        if len(parts) == 1 and isinstance(parts[0], str):  # the usual case
            return parts[0]
        return "".join(part if isinstance(part, str) else part.written for part in parts)

    @property
    def is_plain(self) -> bool:
        """Whether the text has no references: it is at most one string."""
        parts = self.parts
        return not parts or (len(parts) == 1 and isinstance(parts[0], str))

    @property
    def references(self) -> Iterator[Reference]:
        """The references, in order."""
        return (part for part in self.parts if isinstance(part, Reference))

    def filled(self, values: Mapping[str, str | None], escape: Callable[[str], str] = str) -> str:
        """Return the text with its references replaced by values, in one pass (I6).

        Args:
            values: The value of each register in the text; None for an unset slot.
            escape: A function that escapes each replacement, for example for JSON (I13).
        """
        return "".join(
            part if isinstance(part, str) else escape(part.filled(values[part.register])) for part in self.parts
        )

    def known(self, values: Mapping[str, str]) -> Text:
        """Return the text with the values of some registers in place."""
        return joined([_known(part, values) for part in self.parts]) if values else self


def _known(part: Part, values: Mapping[str, str]) -> Part:
    if isinstance(part, str) or part.register not in values:
        return part
    return part.filled(values[part.register])


def text(written: str) -> Text:
    """Return a text without references."""
    return Text((written,)) if written else Text()


def joined(parts: Iterator[Part] | tuple[Part, ...] | list[Part]) -> Text:
    """Return the text of some parts. Adjacent strings are merged, empty ones dropped."""
    found: list[Part] = []
    strings: list[str] = []  # the strings since the last reference
    for part in parts:
        if isinstance(part, str):
            strings.append(part)
            continue
        if string := "".join(strings):
            found.append(string)
        strings.clear()
        found.append(part)
    if string := "".join(strings):
        found.append(string)
    return Text(tuple(found))


def to_plain(value: Text) -> str | list[str | dict[str, str]]:
    """Return a text as JSON: a string if it has no references, otherwise a list of strings and references."""
    if all(isinstance(part, str) for part in value.parts):
        return str(value)
    return [part if isinstance(part, str) else _sparse(part) for part in value.parts]


def _sparse(reference: Reference) -> dict[str, str]:
    fields = {name: getattr(reference, name) for name in ("written", "missing", "before", "after")}
    return {"register": reference.register, **{name: value for name, value in fields.items() if value}}


_IDENTIFIER = Regex(r"[A-Za-z_][A-Za-z0-9_]*")

_OF_RDC = "RDC_"
_OF_THE_LOADER = ("LD_", "DYLD_")

_OF_THE_SHELL = frozenset(
    {
        *("BASH_ENV", "BASHOPTS", "CDPATH", "ENV", "HOME", "IFS", "PATH", "PS4", "SHELLOPTS"),
        *("_", "EUID", "OLDPWD", "PPID", "PWD", "SHLVL", "UID"),
    }
)
"""Variables that the shell sets, or that change how it works. Documents cannot set them."""

_OTHERS = {
    "the shell uses this variable": (
        "BASH BASHPID COLUMNS DIRSTACK EPOCHREALTIME EPOCHSECONDS EXECIGNORE FIGNORE FPATH FUNCNAME FUNCNEST "
        "GLOBIGNORE GLOBSORT GROUPS HISTCMD HISTFILE HOSTTYPE INPUTRC LINENO LINES LOGNAME MACHTYPE MAILPATH "
        "OPTERR OPTIND OSTYPE PIPESTATUS POSIXLY_CORRECT PROMPT_COMMAND PS0 PS1 PS2 PS3 RANDOM SECONDS SHELL "
        "SRANDOM TERM TIMEFORMAT TMOUT TMPDIR USER ZDOTDIR"
    ),
    "make uses this variable": (
        "CURDIR GNUMAKEFLAGS GPATH MAKE MAKECMDGOALS MAKEFILES MAKEFILE_LIST MAKEFLAGS MAKELEVEL MAKEOVERRIDES "
        "MAKESHELL MAKE_COMMAND MAKE_HOST MAKE_RESTARTS MAKE_TERMERR MAKE_TERMOUT MAKE_VERSION MFLAGS SUFFIXES VPATH"
    ),
    "the system's libraries use this variable": (
        "GCONV_PATH GETCONF_DIR GLIBC_TUNABLES HOSTALIASES LANG LANGUAGE LOCALDOMAIN LOCPATH NLSPATH OPENSSL_CONF "
        "OPENSSL_MODULES RES_OPTIONS SSLKEYLOGFILE TERMCAP TERMINFO"
    ),
    "an interpreter uses this variable": (
        "AWKLIBPATH AWKPATH BUN_OPTIONS CLASSPATH DENO_DIR DOTNET_STARTUP_HOOKS GEM_HOME GEM_PATH JAVA_TOOL_OPTIONS "
        "JDK_JAVA_OPTIONS LUA_CPATH LUA_INIT LUA_PATH NODE_OPTIONS NODE_PATH PERL5DB PERL5LIB PERL5OPT PERL5SHELL "
        "PERLLIB PHPRC PHP_INI_SCAN_DIR RUBYLIB RUBYOPT R_ENVIRON R_PROFILE TCLLIBPATH _JAVA_OPTIONS"
    ),
    "git and other tools run its value": (
        "BROWSER EDITOR GIT_ASKPASS GIT_DIR GIT_EDITOR GIT_EXEC_PATH GIT_EXTERNAL_DIFF GIT_INDEX_FILE GIT_PAGER "
        "GIT_PROXY_COMMAND GIT_SEQUENCE_EDITOR GIT_SSH GIT_SSH_COMMAND GIT_TEMPLATE_DIR GIT_WORK_TREE LESSCLOSE "
        "LESSOPEN MANPAGER PAGER RSYNC_RSH SSH_ASKPASS SUDO_ASKPASS TAR_OPTIONS VISUAL"
    ),
}
_BECAUSE = {name: reason for reason, names in _OTHERS.items() for name in names.split()}
_STARTS = {
    "BASH_": "the shell",
    "COMP_": "the shell",
    "GIT_CONFIG": "git",
    "GIT_TRACE": "git",
    "LC_": "the system's libraries",
    "MALLOC_": "the system's libraries",
    "PYTHON": "Python",
}
_FREE = frozenset({"PYTHON", "PYTHON_VERSION"})
"""Names that Python doesn't use, and that many documents do."""

INSTANCES = frozenset({"RDC_STEP_INSTANCE", "RDC_SUBSTEP_INSTANCE"})
"""Variables that rdc sets for commands: the numbers of instances."""


def is_identifier(name: str) -> bool:
    """Return whether a name is valid for an environment variable."""
    return bool(_IDENTIFIER.fullmatch(name))


def is_reserved(name: str) -> bool:
    """Return whether an input, an output or a secret cannot have this name."""
    return name not in INSTANCES and bool(reserved_because(name))


def is_unsettable(name: str) -> bool:
    """Return whether even a document cannot set a variable of this name."""
    return name not in INSTANCES and bool(unsettable_because(name))


def reserved_because(name: str) -> str:
    """Return why no input, output or secret has this name, as the end of a sentence, or "".

    Their values come from others than the author of the document: with such a name, a value would be code, or the
    command would see another value. Environment variables are case-sensitive, so the names are, too.
    """
    if reason := unsettable_because(name) or _BECAUSE.get(name, ""):
        return reason
    beginning = next((item for item in _STARTS if name.startswith(item) and name not in _FREE), "")
    return f"names that start with {beginning} are reserved for {_STARTS[beginning]}" if beginning else ""


def unsettable_because(name: str) -> str:
    """Return why a document cannot set a variable of this name, as the end of a sentence, or ""."""
    if name in _OF_THE_SHELL:
        return "the shell uses this variable"
    if name.startswith(_OF_RDC):
        return f"names that start with {_OF_RDC} are reserved for rdc"
    beginning = next((item for item in _OF_THE_LOADER if name.startswith(item)), "")
    return f"the program loader uses variables that start with {beginning}" if beginning else ""
