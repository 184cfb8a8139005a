"""Checks from its text what a Makefile that runs a runbook does. Nothing in it is executed.

Below the heading of its targets, it must be what this version writes for the same names. Above, it may only have
comments, the document's strings, and transitions in the driver's words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from backends.make.makefile import Targets, driver_text
from backends.python.proof import Problem, first_difference
from compiler.regex import Regex

RULER = "\n# --- The targets -"
_SHARED = "RDC_DRIVER_FILE := "
_PREFIX = Regex(r"(?m)^((?:[A-Za-z][A-Za-z0-9_.-]{0,59})?)RDC_PROGRAM := ([0-9a-f]{32})$")
_STATE = Regex(r"(?m)^\S*RDC_STATE := ([A-Za-z0-9_./-]+)$")
_STEPS = Regex(r"(?m)^\S*RDC_STEPS := ([A-Za-z0-9_. -]*)$")

_QUOTED = Regex(r"'[^']*'(?:\\''[^']*')*|\"\$rdc_text_[0-9]+\"")
_NAME = r"[A-Za-z0-9_.-]+"
_KINDS = "bash|sh|pass_fail|yes_no|choice|result"
_ROWS = Regex(rf"(?:{_KINDS}) Q(?: Q)?|  attempts {_NAME}|  variable {_NAME} {_NAME}|  mark Q {_NAME}")
_COUNTERS = Regex(rf"set_to {_NAME} -?\d+|scope {_NAME}(?: {_NAME}:-?\d+)+")
_ARM = Regex(r"(?:pass|fail|\*)(?: \| fail)?\) | {3,}")
_ARGUMENT = Regex(rf"Q|{_NAME}")
_OF_COUNTERS = frozenset({"set_to", "add", "add_counter", "raise", "reset", "below", "at_least", "equals"})
"""The driver evaluates their arguments, so none is quoted."""

_COMMANDS = frozenset({"go", "CONTINUE", "GOTO", "COMPLETE", "STOP", "finish", "stop", "retry"}) | _OF_COUNTERS
_BETWEEN = frozenset({"if", "elif", "else", "then", "fi", ";", ";;", "&&", "||", ":"})
_OF_MAKE = Regex(r"\s*(?:define|endef)\b")


def walks(text: str) -> bool:
    """Return whether a Makefile's targets run its steps without a program."""
    return RULER in text


def uses_shared(text: str) -> bool:
    """Return whether the driver is in a separate file."""
    return _SHARED in text.partition(RULER)[2]


def changed(text: str) -> Problem | None:
    """Return the first difference from what rdc writes, except in strings, or None."""
    above, ruler, below = text.partition(RULER)
    found = [pattern.search(below) for pattern in (_PREFIX, _STATE, _STEPS)]
    if not ruler or None in found:
        return Problem(1, "the targets of the Makefile are missing")
    program, state, steps = (match for match in found if match)
    targets = Targets(program[1], program[2], state[1], tuple(steps[1].split()), uses_shared(text))
    if ruler[1:] + below != targets.text:
        at = first_difference(ruler[1:] + below, targets.text)
        return Problem(above.count("\n") + 1 + at, "the targets or the driver were changed")
    return next(_problems(above.split("\n"), program[1]), None)


def driver_in(text: str) -> str:
    """Return the driver in a Makefile of any version, or the whole text if it is a saved driver."""
    head = driver_text().split("\n", 1)[0].split(" for its Makefiles")[0].rsplit(" ", 1)[0]
    at = text.find(f"\n{head} ", len(head))
    is_bundled = at > 0 and " for its Makefiles" in text[at + 1 :].split("\n", 1)[0]
    return text[at + 1 :] if is_bundled else text


def _problems(lines: list[str], prefix: str) -> Iterator[Problem]:
    """Yield the problems above the targets."""
    kind, before = "", ""
    for number, line in enumerate(lines, start=1):
        if not kind:
            opened = re.fullmatch(rf"define {re.escape(prefix)}(escaped_)?([A-Za-z]+)_({_NAME})", line)
            kind = opened[2] if opened else ""
            if not (kind in {"do", "ask", "prompt", "text", "step", "RDC"} or _is_comment(line)):
                yield Problem(number, "this line is not part of a step")
        elif line == "endef":
            if before.endswith("\\"):
                yield Problem(number, "make would not find the end of this block")
            kind = ""
        elif not _is_fit(kind, line):
            yield Problem(number, "this is not a word of the driver")
        before = line


def _is_comment(line: str) -> bool:
    return not line or (line.startswith("#") and not line.endswith("\\") and "\r" not in line)


def _is_fit(kind: str, line: str) -> bool:
    """Return whether a line may be in a block: any string, or known words with names, numbers and quoted strings."""
    if kind in {"do", "ask", "prompt", "text"}:
        return not _OF_MAKE.match(line)
    plain = _QUOTED.sub("Q", line)
    if kind == "RDC":
        return bool(_COUNTERS.fullmatch(plain))
    arm = _ARM.match(plain)
    return bool(_ROWS.fullmatch(plain)) or (arm is not None and _is_transition(plain[arm.end() :]))


def _is_transition(words: str) -> bool:
    """Return whether shell statements only call the driver's functions."""
    is_first, command = True, ""
    for word in re.findall(r";;|;|[^\s;]+", words):
        if is_first and not (word in _COMMANDS or word in _BETWEEN):
            return False
        if not (is_first or word in _BETWEEN or _ARGUMENT.fullmatch(word)):
            return False
        if command in _OF_COUNTERS and word == "Q":
            return False
        command = word if is_first else command
        is_first = word in _BETWEEN
    return True
