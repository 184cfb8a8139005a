"""Find blocks whose failures go unnoticed, because a shell reports only its last exit code (M2, E13)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from compiler.diagnostic import Diagnostic
from compiler.frontends.rundown.messages import tag_fix
from compiler.frontends.rundown.shell import NAME, Command, read_commands
from compiler.frontends.rundown.syntax import Code, Runbook, all_steps
from compiler.regex import Regex
from compiler.source import Source

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
_MOST = 12
"""The most blocks that a message names."""


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
    """Return whether `&&`, `||`, `!` or `&` handles a failure."""
    return one.is_negated or one.after in ("&&", "||", "&") or one.before in ("&&", "||")


def _asks_status(following: Sequence[Command]) -> bool:
    """Return whether the next command reads the exit code."""
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
    """Return the names of variables and files that a block tests."""
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
        yield from _without_pipefail(source, blocks)
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
    """Return the blocks with unnoticed failures; blocks that differ only in digits are read once.

    Digits don't matter to the scan, except in the word that ends a here-document.
    """
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


def _without_pipefail(source: Source, blocks: list[Code]) -> Iterator[Diagnostic]:
    for block in blocks:
        if block.interpreter == "sh":
            problem = f"a block tagged `{block.language}` cannot be strict, because sh has no pipefail"
            fix = tag_fix(source, block.span.line, block.language, "bash")
            yield Diagnostic("RD133", source.path, block.span, problem, "tag it `bash`", fix=fix)
