"""The checks of a validation: files parse, and pass types and lint."""

from __future__ import annotations

import json
import os
import shlex

from runtime_shim.contract.attempt import LONGEST_ATTEMPT, Stages
from runtime_shim.contract.safe_paths import UnsafeError, check_there, read_inside
from runtime_shim.contract.step_builder import installed, language_of
from runtime_shim.engine.program import Table
from runtime_shim.tasks.exchange import Answered, Call, SearchError, child_says, exchange
from runtime_shim.tasks.prompting import for_others
from runtime_shim.tasks.reading import decoded

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


def checked(stages: Stages, check: str, path: str, root: str = "") -> Table:
    """Return the result of a check for a path in a folder: passed, failed or skipped, and why."""
    try:
        status, message = _checked(stages, check, path, root or stages.root)
    except UnsafeError as error:
        status, message = "failed", str(error)
    return {"check": check, "path": path, "status": status, **({"message": message} if message else {})}


def _checked(stages: Stages, check: str, path: str, root: str) -> tuple[str, str]:
    language = language_of(path)
    if check == "exists":
        check_there(root, path)
        return "passed", ""
    if not language:
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
    name = words[0]
    program = installed(name)
    if program is None:
        return "skipped", f"{name} is not installed"
    answered = listened(stages, [program, *words[1:], os.path.normpath(path)])
    if not answered.trouble:
        return "passed", ""
    return "failed", (decoded(answered.answer) or f"{name}: {answered.trouble}")[:LONGEST_MESSAGE]


def listened(stages: Stages, words: list[str], seconds: int = LONGEST_ATTEMPT) -> Answered:
    """Run an external program in the project and return its output; raise LateError if there is no time."""
    call = Call(f"exec {shlex.join(words)}", for_others(os.environb), b"", lambda _lines: None)
    return exchange(stages.processes, [call], stages.time_limit(seconds))[0]
