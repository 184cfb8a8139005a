"""Guardrails: forbidden words and patterns in inputs and outputs, searched in a separate process."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any, Callable

from runtime_shim.contract.attempt import Found, Stages, config_of, some_of
from runtime_shim.contract.safe_paths import read_inside
from runtime_shim.engine.program import Table
from runtime_shim.engine.state import utc_now
from runtime_shim.tasks.exchange import SearchError, child_says

LEADING_FLAGS = r"\(\?([aiLmsux]+)\)"  # only allowed at the start of a pattern
FIND = """
import json, re, signal, sys
signal.alarm(int(sys.argv[1]))
rules, texts = json.load(sys.stdin)
found = []
for rule, pattern in rules:
    search = re.compile(pattern).search
    for where, text in texts:
        match = search(text)
        if match:
            found.append({"rule": rule, "where": where, "text": match.group()[:200]})
print(json.dumps(found[:200]))
"""
Texts = list[tuple[str, str]]  # where each is, and the text


def whole_words(pattern: str) -> str:
    """Return a pattern that matches only whole words."""
    flags = re.match(LEADING_FLAGS, pattern)
    rest = pattern[flags.end() :] if flags else pattern
    end = "\n" if flags and "x" in flags[1] else ""  # end a trailing comment
    return f"{flags.group() if flags else ''}(?<!\\w)(?:{rest}{end})(?!\\w)"


def rules_of(guardrails: Table) -> list[tuple[str, str]]:
    """Return the names and patterns of rules. A space in words matches any whitespace."""
    words = (word for word in guardrails.get("blocklist", ()) if word.strip())
    blocked = [
        (f"blocklist: {word}", whole_words("(?i)" + r"\s+".join(map(re.escape, word.split())))) for word in words
    ]
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
    status = "failed" if found else "passed"
    report = {"stage": side, "status": status, "checked_at": utc_now(), "violations": found}
    told = some_of([f"{one['rule']} in {one['where']}" for one in found])
    return Found(told and f"{side} guardrails: {told}", {"guardrails": report})
