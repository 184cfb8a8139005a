"""Guardrails, which search for forbidden words and patterns in a separate process, and checks of output files."""

import json
import os
import re
import shlex
from collections.abc import Iterable
from typing import Any, Callable

from runtime_shim.engine.program import Table
from runtime_shim.engine.state import utc_now
from runtime_shim.io.reading import decoded
from runtime_shim.stepspec.attempt import LONGEST_ATTEMPT, Found, Stages, config_of, some_of
from runtime_shim.stepspec.safe_paths import UnsafeError, check_there, read_inside
from runtime_shim.stepspec.step_builder import installed, language_of
from runtime_shim.tasks.exchange import Answered, Call, SearchError, child_says, exchange, for_others

LEADING_FLAGS = r"\(\?([aiLmsux]+)\)"  # only allowed at the start of a pattern
FIND = """
import json, re, signal, sys
signal.alarm(int(sys.argv[1]))
rules, texts = json.load(sys.stdin)
searches = ((rule, where, re.search(pattern, text)) for rule, pattern in rules for where, text in texts)
found = [{"rule": rule, "where": where, "text": match.group()[:200]} for rule, where, match in searches if match]
print(json.dumps(found[:200]))
"""
Texts = list[tuple[str, str]]  # where each is, and the text
LONGEST_MESSAGE = 2000  # characters kept of a tool's output
PARSE = """
import ast, json, signal, sys
signal.alarm(int(sys.argv[1]))
kind, text = json.load(sys.stdin)
told = ["passed", ""]
try:
    if kind == "Python":
        ast.parse(text)
    elif kind == "JSON":
        json.loads(text, parse_constant=lambda name: 1 / 0)
    else:
        import yaml
        for _ in yaml.compose_all(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            pass
except ImportError:
    told = ["skipped", "PyYAML is not installed"]
except ZeroDivisionError:
    told = ["failed", "not JSON: NaN and Infinity are not numbers"]
except Exception as error:
    told = ["failed", "not " + kind + ": " + " ".join((str(error) or type(error).__name__).split())]
print(json.dumps(told))
"""
PROGRAMS = {
    # No configuration: a project's could load plugins, which are code.
    "types": "mypy --config-file= --no-incremental --cache-dir=/dev/null --follow-imports=silent"
    " --ignore-missing-imports --no-error-summary --no-color-output --",
    "lint": "ruff check --no-cache --no-fix --quiet --output-format=concise --",  # with the project's rules
}


def whole_words(pattern: str) -> str:
    """Return a pattern that matches only whole words."""
    flags = re.match(LEADING_FLAGS, pattern)
    rest = pattern[flags.end() :] if flags else pattern
    end = "\n" if flags and "x" in flags[1] else ""  # end a trailing comment
    return f"{flags.group() if flags else ''}(?<!\\w)(?:{rest}{end})(?!\\w)"


def rules_of(guardrails: Table) -> list[tuple[str, str]]:
    """Return the names and patterns of rules. A space in words matches any whitespace."""
    words = (one for one in guardrails.get("blocklist", ()) if one.strip())
    blocked = [(f"blocklist: {one}", whole_words("(?i)" + r"\s+".join(map(re.escape, one.split())))) for one in words]
    return blocked + [(f"pattern: {pattern}", whole_words(pattern)) for pattern in guardrails.get("patterns", ())]


def strings_in(value: Any, place: str) -> Texts:  # any JSON value
    """Return the strings of a JSON value, each with its place."""
    if isinstance(value, str):
        return [(place, value)]
    if isinstance(value, list):
        return [found for index, item in enumerate(value) for found in strings_in(item, f"{place}[{index}]")]
    if isinstance(value, dict):
        return [found for key, item in value.items() for found in strings_in(item, f"{place}.{key}".lstrip("."))]
    return []


def contents(root: str, paths: Iterable[str]) -> Texts:
    """Return the contents of files, but not of directories."""
    files = (path for path in paths if not path.endswith("/"))
    return [(path, read_inside(root, path).decode("utf-8", "replace")) for path in files]


def guarded(stages: Stages, side: str, gather: Callable[[], Texts]) -> Found:
    """Search for violations of the `input` or `output` guardrails. Without any rules, read nothing."""
    rules = rules_of(config_of(stages.session).get("guardrails", {}).get(side, {}))
    if not rules:
        return Found("", {})
    texts, found = gather(), []
    try:
        if texts:
            found = json.loads(child_says(stages.processes, FIND, [rules, texts], stages.time_limit(), "-S"))
    except SearchError as error:
        found = [{"rule": "unfinished search", "where": "all texts", "text": str(error)}]
    report = {"stage": side, "status": "failed" if found else "passed", "checked_at": utc_now(), "violations": found}
    told = some_of([f"{one['rule']} in {one['where']}" for one in found])
    return Found(told and f"{side} guardrails: {told}", {"guardrails": report})


def checked(stages: Stages, check: str, path: str, root: str = "") -> Table:
    """Return the result of a check for a path in a folder: passed, failed or skipped, and why."""
    try:
        status, message = _checked(stages, check, path, root or stages.root)
    except UnsafeError as error:
        status, message = "failed", str(error)
    return {"check": check, "path": path, "status": status, **({"message": message} if message else {})}


def _checked(stages: Stages, check: str, path: str, root: str) -> tuple[str, str]:
    if check == "exists":
        check_there(root, path)
        return "passed", ""
    if not (language := language_of(path)):
        return "skipped", "not a JSON, YAML or Python file"
    if check in PROGRAMS and language == "Python":
        return _by_program(stages, PROGRAMS[check].split(), os.path.relpath(os.path.join(root, path), stages.root))
    return _parsed(stages, language, path, root)  # JSON and YAML have no other check


def _parsed(stages: Stages, language: str, path: str, root: str) -> tuple[str, str]:
    """Parse a file in a separate process, since a hostile file may hang or crash it."""
    try:
        text = read_inside(root, path).decode("utf-8-sig")
        status, message = json.loads(child_says(stages.processes, PARSE, [language, text], stages.time_limit()))
    except UnicodeDecodeError:
        return "failed", "not UTF-8"
    except SearchError as error:
        return "failed", f"not {language}: the parser failed: {error}"
    return status, message


def _by_program(stages: Stages, words: list[str], path: str) -> tuple[str, str]:
    name, *options = words
    if (program := installed(name)) is None:
        return "skipped", f"{name} is not installed"
    answered = listened(stages, [program, *options, os.path.normpath(path)])
    if not answered.trouble:
        return "passed", ""
    return "failed", (decoded(answered.answer) or f"{name}: {answered.trouble}")[:LONGEST_MESSAGE]


def listened(stages: Stages, words: list[str], seconds: int = LONGEST_ATTEMPT) -> Answered:
    """Run an external program in the project and return its output; raise LateError if there is no time."""
    call = Call(f"exec {shlex.join(words)}", for_others(os.environb), b"", lambda _lines: None)
    return exchange(stages.processes, [call], stages.time_limit(seconds))[0]
