"""The check whether a string can be kept and fits its input, for targets and the compiler."""

import re
import sys
from collections.abc import Sequence
from typing import Any

from runtime_shim.engine.texts import MEANINGS
from runtime_shim.io.reading import unkept

NUMBER = r"-?[0-9]+(\.[0-9]+)?"
TOO_SLOW = "matching it takes too long"
LONGEST_MATCH = 2  # seconds
MOST_TRIES = 10**6  # characters; as fast as starting a process
MATCH = """
import json, re, signal, sys
signal.signal(signal.SIGALRM, signal.SIG_DFL)
signal.pthread_sigmask(signal.SIG_SETMASK, [])
signal.alarm(int(sys.argv[1]))
function, flags, pattern, value = json.load(sys.stdin)
made = re.compile(pattern, flags)
if function == "last":
    found = [one[1] or "" for one in made.finditer(value)][-1:] if made.groups else []
else:
    found = getattr(made, function)(value) is not None
print(json.dumps(found))
"""


def unfit(value: str, kind: str, options: Sequence[str] = (), pattern: "str | None" = None) -> str:
    """Return the problem with a value of an input, or ""."""
    if problem := "has a NUL character" if "\0" in value else unkept(value):
        return f"it {problem}"
    if kind == "number" and not re.fullmatch(NUMBER, value):
        return "it is not a decimal number"
    if kind == "boolean" and value not in ("true", "false"):
        return "it must be true or false"
    if kind == "choice" and value not in options:
        return f"it must be one of {', '.join(options)}"
    if kind == "string" and ("\n" in value or "\r" in value):
        return "it has more than one line"
    matches = pattern is None or is_matched(pattern, value)
    if matches is None:
        return f"{TOO_SLOW}, more than {LONGEST_MATCH} seconds; simplify the pattern {pattern}"
    return "" if matches else f"it does not match {pattern}"


def outcome_of(reply: str, kind: str, options: Sequence[str] = (), pattern: "str | None" = None) -> tuple[str, str]:
    """Return the outcome of a reply to a question for a value, and the problem with it; one of them is "".

    The words for FAIL mean that. PASS needs a value, so the words for PASS are invalid.
    """
    word = MEANINGS.get(reply.lower(), "") if reply else "pass"
    if word == "fail":
        return "fail", ""
    problem = "a value is required" if word else unfit(reply, kind, options, pattern)
    return "" if problem else "pass", problem


def is_matched(pattern: str, value: str) -> "bool | None":
    """Return whether a pattern matches the whole value; None if that takes too long."""
    repetitions = sum(map(pattern.count, "*+?{"))
    if "(" not in pattern and (len(value) + 1) ** repetitions <= MOST_TRIES:  # each multiplies by the length
        return re.fullmatch(pattern, value) is not None
    found: bool | None = in_time("fullmatch", 0, pattern, value)
    return found


def in_time(function: str, flags: int, pattern: str, value: str) -> Any:  # a boolean or a list
    """Return whether a function of `re` finds a match, or the group of the `last` one; None if it timed out."""
    import json
    import subprocess

    words = [sys.executable, "-I", "-S", "-W", "ignore", "-c", MATCH, str(LONGEST_MATCH)]
    given = json.dumps([function, flags, pattern, value]).encode()
    done = subprocess.run(words, input=given, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return json.loads(done.stdout) if done.stdout else None
