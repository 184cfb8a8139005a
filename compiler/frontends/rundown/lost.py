"""Find shell state that a block sets for later blocks, although each block runs in its own shell (M2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from msgspec import Struct

from compiler.diagnostic import Diagnostic, Related
from compiler.frontends.rundown.shell import Block, Command, read_commands
from compiler.frontends.rundown.syntax import Code, Runbook, all_steps
from compiler.ir.variables import reserved_because
from compiler.regex import Regex
from compiler.source import Source, Span

_HINT = Regex(
    r"(?:^|[\s;&|(!])(?:[A-Za-z_]\w*(?:\[[^\]\n]*\])?\+?=|(?:cd|pushd|export|declare|typeset|readonly|read|mapfile"
    r"|readarray|printf|getopts|alias|source|\.|umask|ulimit|shopt|set|eval|unset)[ \t])|\$\{\w+:?="
)
"""Matches in each block that may set something."""

_DECLARES = frozenset({"export", "declare", "typeset", "readonly", "local"})
_READS = frozenset({"read", "mapfile", "readarray", "getopts"})
_UNKNOWN = frozenset({"source", ".", "eval"})
_STATE = frozenset({"alias", "umask", "ulimit", "shopt", "set", "unset", "unalias", *_DECLARES, *_UNKNOWN})
"""Commands that only change the shell."""

_EXISTING = frozenset(
    {
        *(
            "PATH",
            "HOME",
            "USER",
            "LOGNAME",
            "SHELL",
            "PWD",
            "OLDPWD",
            "LANG",
            "TERM",
            "TZ",
            "EDITOR",
            "PAGER",
            "TMPDIR",
        ),
        *(
            "HOSTNAME",
            "DISPLAY",
            "MAIL",
            "UID",
            "EUID",
            "PPID",
            "RANDOM",
            "SECONDS",
            "LINENO",
            "IFS",
            "REPLY",
            "OPTARG",
        ),
        *("OPTIND", "PS1", "SHLVL", "COLUMNS", "LINES", "HOSTTYPE", "OSTYPE", "MACHTYPE", "CI", "LC_ALL", "BASH"),
    }
)
"""Variables that a shell or its environment usually has."""

_MOVES = frozenset({"cd", "pushd"})
_BACK = frozenset({"..", "-", '"$OLDPWD"', "$OLDPWD"})
_NAME = Regex(r"[A-Za-z_]\w*")
_USED = Regex(r"\$\{?[#!]?([A-Za-z_]\w*)")
_DEFAULT = Regex(r"\$\{([A-Za-z_]\w*):?=")


class _Read(Struct, frozen=True):
    """A code block with its commands; `sets` has the place of each variable that later commands of the block see."""

    code: Code
    block: Block
    sets: dict[str, int]

    def place(self, source: Source, start: int) -> Span:
        """Return the line of a place in the block."""
        return source.line_span(self.code.span.line + 1 + self.code.text.count("\n", 0, start))


def check_lost_state(source: Source, runbook: Runbook) -> Iterator[Diagnostic]:
    """Warn about variables, folders and settings that don't reach the blocks below."""
    codes = [step.code for step in all_steps(runbook) if step.code and step.code.interpreter]
    if len(codes) < 2 or not any(_HINT.search(code.text) for code in codes[:-1]):
        return
    reads: list[_Read] = []
    names: set[str] = set()
    for code in codes:
        reads.append(_read(code, names))
        names.update(reads[-1].sets)
    found = list(_lost_variables(source, reads, _known(runbook)))
    yield from found
    lines = {item.span.line for item in found if item.span}
    for one, following in pairwise(reads):
        if one.code.span.line not in lines:
            yield from _lost_settings(source, one, following)


def _read(code: Code, before: set[str]) -> _Read:
    """Return a block with its commands; without, if it neither sets anything nor uses a variable set before it."""
    may_matter = _HINT.search(code.text) or not before.isdisjoint(_USED.findall(code.text))
    block = read_commands(code.text) if may_matter else Block()
    sets: dict[str, int] = {}
    for one in block.commands:
        for name in _set_by(one):
            sets.setdefault(name, one.start)
    return _Read(code, block, sets)


def _set_by(one: Command) -> Iterator[str]:
    """Yield the variables that a command sets; names that are options or values do no harm."""
    yield from one.assigned
    yield from (match[1] for word in one.words for match in _DEFAULT.finditer(word))
    if one.name in _DECLARES | _READS:
        yield from (match[0] for word in one.words if (match := _NAME.match(word)))
    elif one.name in ("for", "select"):
        yield from one.words[1:2]
    elif one.words[:2] == ["printf", "-v"]:
        yield from one.words[2:3]
    elif one.name.startswith("((") or one.name == "let":
        yield from _NAME.findall(" ".join(one.words))


def _known(runbook: Runbook) -> frozenset[str]:
    """Return the variables that a command gets from elsewhere."""
    declared = runbook.declared
    in_steps = (name for settings in declared.steps for name in settings.env)
    return frozenset({*_EXISTING, *declared.slots, *declared.secrets, *in_steps})


def _lost_variables(source: Source, reads: Sequence[_Read], known: frozenset[str]) -> Iterator[Diagnostic]:
    """Warn once about each variable that a block sets and a later block reads without setting it."""
    setters: dict[str, _Read] = {}
    warned: set[str] = set()
    for one in reads:
        is_unclear = any(each.name in _UNKNOWN for each in one.block.commands)
        own = {*one.sets, *_prefixes(one.block)}
        for name, start in () if is_unclear else one.block.reads:
            if name in own or name in warned or name not in setters:
                continue
            warned.add(name)
            first = setters[name]
            problem = f"the variable {name} ends with this block, because each block runs in its own shell"
            remedy = (
                f'write `echo "{name}=${name}" >> "$RDC_OUTPUT"` in this block, and declare it: '
                f"`rdc: {{outputs: [{name}]}}`"
            )
            if reserved_because(name):
                remedy = f"set {name} again in the block that reads it"
            yield Diagnostic(
                *("RD122", source.path, first.code.span, problem, remedy),
                related=(
                    Related(source.path, first.place(source, first.sets[name]), f"{name} is set here"),
                    Related(source.path, one.place(source, start), f"this block reads {name}, but doesn't set it"),
                ),
            )
        for name in one.sets:
            if name not in known and not name.startswith("RDC_"):
                setters[name] = one


def _prefixes(block: Block) -> Iterator[str]:
    """Yield the variables that are set only for one command, such as A in `A=1 make`."""
    for one in block.commands:
        for word in one.words:
            name, equals, _ = word.partition("=")
            if not equals or not _NAME.fullmatch(name):
                break
            yield name


def _lost_settings(source: Source, one: _Read, following: _Read) -> Iterator[Diagnostic]:
    """Warn about a block that ends with a `cd`, or only changes its shell."""
    own = [each for each in one.block.commands if "$(" not in each.inside]
    if not own or any(each.inside for each in own):
        return
    moves = [each for each in own if each.name in _MOVES]
    is_back = len(moves) > 1 and moves[-1].words[1:2] and moves[-1].words[1] in _BACK
    if moves and moves[-1] is own[-1] and not is_back and not _starts_elsewhere(following, own[-1]):
        what, remedy = " ".join(own[-1].words), "put it into each block that needs it"
    elif all(_only_sets(each) for each in own) and not moves:
        what = " ".join(own[0].words[:2])
        remedy = "put it into each block that needs it, or pass values on as `outputs`"
    else:
        return
    related = Related(source.path, following.code.span, "this block runs in a new shell, in the folder of the run")
    problem = f"`{what}` has no effect after this block, because each block runs in its own shell"
    yield Diagnostic("RD122", source.path, one.code.span, problem, remedy, (related,))


def _only_sets(one: Command) -> bool:
    if one.assigned:
        return not any("$(" in word or "`" in word for word in one.words)
    return one.name in _STATE and one.name != "" and one.words[:1] == [one.name]


def _starts_elsewhere(one: _Read, before: Command) -> bool:
    """Return whether a block starts with a `cd` that doesn't depend on the one before it, or repeats it."""
    first = one.block.commands[0] if one.block.commands else None
    if first is None or first.name not in _MOVES or not first.words[1:2]:
        return False
    return first.words[1][0] in "/~$\"'" or first.words[1:] == before.words[1:]
