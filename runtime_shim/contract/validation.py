"""The checks of a validation: files parse, and pass types and lint (B11)."""

import json
import os
import shlex
import sys

from runtime_shim.contract.attempt import LONGEST_ATTEMPT, Stages
from runtime_shim.contract.safe_paths import UnsafeError, check_there, read_inside
from runtime_shim.engine.program import Table
from runtime_shim.tasks.exchange import Answered, Call, SearchError, child_says, exchange
from runtime_shim.tasks.prompting import for_others
from runtime_shim.tasks.reading import decoded

LONGEST_MESSAGE = 2000  # characters kept of a tool's output
LANGUAGES = {".py": "Python", ".pyi": "Python", ".yaml": "YAML", ".yml": "YAML", ".json": "JSON"}
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


def checked(stages: Stages, check: str, path: str) -> Table:
    """Return the result of a check for a path: passed, failed or skipped, and why."""
    try:
        status, message = _checked(stages, check, path)
    except UnsafeError as error:
        status, message = "failed", str(error)
    return {"check": check, "path": path, "status": status, **({"message": message} if message else {})}


def _checked(stages: Stages, check: str, path: str) -> tuple[str, str]:
    language = LANGUAGES.get(os.path.splitext(path)[1].lower(), "")
    if check == "exists":
        check_there(stages.root, path)
        return "passed", ""
    if check != "parses" and language != "Python":
        return "skipped", "not a Python file"
    if check in PROGRAMS:
        return _by_program(stages, PROGRAMS[check].split(), path)
    return _parsed(stages, language, path) if language else ("skipped", "not a JSON, YAML or Python file")


def _parsed(stages: Stages, language: str, path: str) -> tuple[str, str]:
    """Parse a file in a separate process, since a hostile file may hang or crash it."""
    try:
        text = read_inside(stages.root, path).decode("utf-8-sig")
        status, message = json.loads(child_says(stages.processes, PARSE, [language, text], stages.time_limit()))
    except UnicodeDecodeError:
        return "failed", "not UTF-8"
    except SearchError as error:
        return "failed", f"not {language}: the parser failed: {error}"
    return status, message


def _by_program(stages: Stages, words: list[str], path: str) -> tuple[str, str]:
    import shutil

    name = words[0]
    program = shutil.which(name) or shutil.which(name, path=os.path.dirname(sys.executable))
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
