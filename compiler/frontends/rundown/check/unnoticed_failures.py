"""Find blocks whose failures go unnoticed, because a shell reports only its last exit code."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from msgspec import Struct

from compiler.diagnostics.model import Diagnostic, Related
from compiler.frontends.rundown.check.shell import NAME, Block, Command, read_commands
from compiler.frontends.rundown.parse.messages import tag_fix
from compiler.frontends.rundown.syntax import Code, Runbook, all_steps
from compiler.ir.texts import reserved_because
from compiler.text.regex import Regex
from compiler.text.source import Source, Span

HARMLESS = frozenset(
    {
        *("echo", "printf", "export", "readonly", "declare", "typeset", "alias", "set", ":", "true", "trap", "local"),
        *("unset", "sleep", "shopt", "umask", "shift", "exec", "exit", "for", "select", "case", "break", "continue"),
        *("return", ""),
    }
)
"""Commands that rarely fail, or run no command after them."""

_SHOWING = "date df dmesg env free hostname id jobs nproc ps seq uname uptime w who yes"
DISPLAYS = frozenset(_SHOWING.split())
"""Commands before a pipe that only show the state of the machine."""

_TESTS = frozenset(["[", "test", "case", "grep", "egrep", "fgrep", "zgrep", "rg", "jq", "cmp", "diff"])
"""Commands that test a value."""

_FAIL_WHEN_EMPTY = frozenset(
    {
        *("grep", "egrep", "fgrep", "zgrep", "rg", "read", "tar", "gunzip", "gpg", "apt-key", "cmp", "diff", "openssl"),
        *("python", "python3", "perl"),
    }
)
"""Commands that fail without input, or whose script decides."""

_FLAGS_WHEN_EMPTY = {
    **dict.fromkeys(("jq",), Regex(r"-[A-Za-z]*e[A-Za-z]*|--exit-status")),
    **dict.fromkeys(("sha256sum", "sha1sum", "md5sum", "shasum"), Regex(r"-c|--check")),
    **dict.fromkeys(("gzip", "zstd", "xz"), Regex(r"-[A-Za-z]*[dt][A-Za-z]*|--decompress|--test")),
    **dict.fromkeys(("kubectl", "oc"), Regex(r"-f|-f-|--filename=-")),
    **dict.fromkeys(("docker", "podman"), Regex(r"load|login")),
    **dict.fromkeys(("awk", "gawk"), Regex(r".*\bexit\b.*", re.DOTALL)),
}
"""Commands that fail without input if they have one of these arguments."""

_STATUS = Regex(r"\$\{?(?:\?|PIPESTATUS)")
_ERREXIT = Regex(r"-[A-Za-z]*e[A-Za-z]*|errexit")
_SUBSTITUTION = Regex(r"\$\((?!\()|`")
_IN_LOOP = frozenset({"do", "then", "case", "{", "("})
_LOOPS = frozenset({"for", "while"})
_DIGITS = dict.fromkeys(map(ord, "123456789"), "0")
_MOST = 12  # the most blocks that a message names


def hides_failures(text: str) -> frozenset[str]:
    """Return where a command of a block can fail unnoticed: in the "block", a "loop" or a "pipeline"."""
    if not any(mark in text.rstrip("\n") for mark in "\n;&|"):
        return frozenset()  # there is only one command
    commands = read_commands(text).commands
    options = [word for one in commands if one.name == "set" for word in one.words]
    stops = any(map(_ERREXIT.fullmatch, options)) or any(one.name == "trap" and "ERR" in one.words for one in commands)
    found = set() if stops else set(_unnoticed(commands))
    if "pipefail" not in options and "|" in text and _has_blind_pipeline(commands):
        found.add("pipeline")
    return frozenset(found)


def _unnoticed(commands: Sequence[Command]) -> Iterator[str]:
    """Yield "block" or "loop" for each command whose exit code is lost because other commands follow."""
    tested = _tested(commands)
    last = max((at for at, one in enumerate(commands) if one.inside[:1] != ("$(",)), default=0)
    for at, one in enumerate(commands):
        if one.after == "|" or _is_decided(one) or not _can_fail(one) or _asks_status(commands[at + 1 : at + 2]):
            continue
        if not tested.isdisjoint([*one.assigned, *one.words[1:]]) and one.name not in _TESTS:
            continue
        if not one.inside and at < last:
            yield "block"
        elif "do" in one.inside and _IN_LOOP.issuperset(one.inside[one.inside.index("do") :]):
            yield "loop"


def _is_decided(one: Command) -> bool:
    return one.is_negated or one.after in ("&&", "||", "&") or one.before in ("&&", "||")


def _asks_status(following: Sequence[Command]) -> bool:
    return any(_STATUS.search(word) for one in following for word in one.words)


def _can_fail(one: Command) -> bool:
    if one.assigned:
        return any(map(_SUBSTITUTION.search, one.words))
    if _only_redirects(one.words):
        return False
    return one.name not in HARMLESS and one.words != ["cat", "<<"] and not one.name.startswith(("[[", "(("))


def _only_redirects(words: Sequence[str]) -> bool:
    """Return whether words are only redirections, as after `fi`: `> file 2>&1`."""
    redirects = [word.startswith(("<", ">", "&>")) for word in words]
    places = [word for word, is_redirect in zip(words, redirects, strict=True) if not (is_redirect or word.isdigit())]
    is_first = redirects[:1] == [True] or (words[:1] != [] and words[0].isdigit() and redirects[1:2] == [True])
    return is_first and len(places) <= sum(redirects)


def _tested(commands: Iterable[Command]) -> set[str]:
    found = (one for one in commands if one.name in _TESTS or one.name.startswith(("[[", "((")))
    tests = [" ".join(one.words) for one in found if one.before != "|"]
    names = {match["braced"] or match["name"] for test in tests for match in NAME.finditer(test)}
    return {*names, *(word for test in tests for word in test.split() if word[:1].isalnum() or word[:1] in "./~\"'$")}


def _has_blind_pipeline(commands: Sequence[Command]) -> bool:
    """Return whether a command before a `|` can fail without an effect on the commands after it."""
    tested, around = _tested(commands), dict[int, Command]()
    open_pipes: dict[tuple[str, ...], bool] = {}  # by the constructs around it: whether a pipeline can fail
    for at, one in enumerate(commands):
        around[len(one.inside)] = one
        if one.before != "|":
            open_pipes.pop(one.inside, None)
        elif one.inside not in open_pipes and one.inside:  # a compound command
            if open_pipes.pop(one.inside[:-1], False) and one.inside[-1] in _LOOPS:
                return True
            continue
        if one.after == "|":
            fails = _can_fail(one) and one.name not in DISPLAYS and not _is_argument(one, around, tested)
            open_pipes[one.inside] = open_pipes.get(one.inside, False) or fails
            continue
        is_seen = _fails_when_empty(one) or not tested.isdisjoint(one.words[1:])
        if open_pipes.pop(one.inside, False) and not is_seen and not _asks_status(commands[at + 1 : at + 2]):
            return True
    return False


def _is_argument(one: Command, around: Mapping[int, Command], tested: set[str]) -> bool:
    """Return whether a command is in a substitution whose exit code doesn't count, or whose value is tested."""
    if "$(" not in one.inside:
        return False
    assigned = around[len(one.inside) - 1].assigned if one.inside[-1] == "$(" else []
    return not assigned or not tested.isdisjoint(assigned)


def _fails_when_empty(one: Command) -> bool:
    words = one.words[1:] if one.name in ("sudo", "command") else one.words
    flags = _FLAGS_WHEN_EMPTY.get(words[0]) if words else None
    return words[:1] == [] or words[0] in _FAIL_WHEN_EMPTY or bool(flags and any(map(flags.fullmatch, words)))


def check_silent(source: Source, runbook: Runbook) -> Iterator[Diagnostic]:
    """Give one warning for all blocks of a document, unless it sets the option `shell` (E13)."""
    steps = [step for step in all_steps(runbook) if step.code and step.code.interpreter]
    blocks: list[Code] = [step.code for step in steps if step.code]
    if runbook.declared.shell == "strict":
        for block in blocks:
            if block.interpreter == "sh":
                problem = f"a block tagged `{block.language}` cannot be strict, because sh has no pipefail"
                fix = tag_fix(source, block.span.line, block.language, "bash")
                yield Diagnostic("RD133", source.path, block.span, problem, "tag it `bash`", fix=fix)
    if runbook.declared.shell:
        return
    found = _hiding(blocks)
    if not found:
        return
    lines = [str(block.span.line) for block in list(found)[:_MOST]]
    more = f" and {len(found) - _MOST} more" if len(found) > _MOST else ""
    where = f"the block at line {lines[0]}" if len(found) == 1 else f"the blocks at lines {', '.join(lines)}{more}"
    kinds = [f"a {kind}'s" for kind in ("block", "loop", "pipeline") if any(kind in each for each in found.values())]
    problem = f"a command in {where} can fail unnoticed: only the last command decides {' or '.join(kinds)} exit code"
    tag = "use the tag `bash`, " if any(block.interpreter == "sh" for block in found) else ""
    remedy = (
        f"{tag}start the block with `set -euo pipefail`, or set `rdc: {{shell: strict}}` for all blocks; "
        "`rdc: {shell: plain}` turns off this warning"
    )
    yield Diagnostic("RD132", source.path, next(iter(found)).span, problem, remedy)


def _hiding(blocks: Iterable[Code]) -> dict[Code, frozenset[str]]:
    """Return the blocks with unnoticed failures; blocks that differ only in digits are read once."""
    # Digits don't matter to the scan, except in the word that ends a here-document.
    known: dict[str, frozenset[str]] = {}
    found: dict[Code, frozenset[str]] = {}
    for block in blocks:
        shape = block.text if "<<" in block.text else block.text.translate(_DIGITS)
        hides = known.get(shape)
        if hides is None:
            hides = known[shape] = hides_failures(shape)
        if hides:
            found[block] = hides
    return found


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

_NAMES = (
    "PATH HOME USER LOGNAME SHELL PWD OLDPWD LANG TERM TZ EDITOR PAGER TMPDIR HOSTNAME DISPLAY MAIL UID EUID PPID "
    "RANDOM SECONDS LINENO IFS REPLY OPTARG OPTIND PS1 SHLVL COLUMNS LINES HOSTTYPE OSTYPE MACHTYPE CI LC_ALL BASH"
)
_EXISTING = frozenset(_NAMES.split())
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
    declared = runbook.declared
    in_steps = (name for settings in declared.steps for name in settings.env)
    return frozenset({*_EXISTING, *declared.slots, *declared.secrets, *in_steps})


def _lost_variables(source: Source, reads: Sequence[_Read], known: frozenset[str]) -> Iterator[Diagnostic]:
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
