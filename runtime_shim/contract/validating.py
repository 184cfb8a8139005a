"""Whether files parse, have sound types and style: what the checks of a validation find (B11)."""

import json
import os
import shlex
import sys
from typing import Callable, NamedTuple

from runtime_shim.contract.contract import LateError, Stages
from runtime_shim.contract.safe_paths import UnsafeError, check_there, read_inside
from runtime_shim.engine.program import Table
from runtime_shim.tasks.conversing import for_others
from runtime_shim.tasks.exchange import Answered, Call, SearchError, child_says, exchange
from runtime_shim.tasks.reading import decoded

LONGEST_MESSAGE = 2000  # characters that are kept of what a tool says
PYTHON, YAML = (".py", ".pyi"), (".yaml", ".yml")
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
    told = ["failed", "not JSON: NaN and Infinity are no numbers"]
except Exception as error:
    told = ["failed", "not " + kind + ": " + " ".join((str(error) or type(error).__name__).split())]
print(json.dumps(told))
"""
MYPY: tuple[str, ...] = ("--config-file=", "--no-incremental", "--cache-dir=/dev/null", "--follow-imports=silent")
MYPY += ("--ignore-missing-imports", "--no-error-summary", "--no-color-output", "--")
RUFF = ("check", "--no-cache", "--no-fix", "--quiet", "--output-format=concise", "--")


class Checked(NamedTuple):
    """What a check of a file found: passed, failed or skipped, and why."""

    status: str
    message: str = ""


def kind_of_file(path: str) -> str:
    """Return the language of a file, by its suffix; "" if it is not one that can be checked."""
    suffix = os.path.splitext(path)[1].lower()
    return "Python" if suffix in PYTHON else "YAML" if suffix in YAML else "JSON" if suffix == ".json" else ""


def check_parses(stages: Stages, path: str) -> Checked:
    """Parse a file in a process of its own: a hostile one may take for ever, or end the process."""
    kind = kind_of_file(path)
    if not kind:
        return Checked("skipped", "neither JSON, YAML nor Python")
    try:
        text = read_inside(stages.root, path).decode("utf-8-sig")
        said = child_says(stages.processes, PARSE, [kind, text], stages.time_limit())
    except UnicodeDecodeError:
        return Checked("failed", "not UTF-8")
    except SearchError as error:
        if stages.seconds_left() <= 0:
            raise LateError from None
        return Checked("failed", f"not {kind}: the parser ended: {error}")
    return Checked(*json.loads(said))


def check_ast(stages: Stages, path: str) -> Checked:
    """Parse a file of Python."""
    return check_parses(stages, path) if kind_of_file(path) == "Python" else Checked("skipped", "not a Python file")


def check_types(stages: Stages, path: str) -> Checked:
    """Run mypy without any configuration: that of a project may name plugins, which are code."""
    return _by_tool(stages, "mypy", MYPY, path)


def check_lint(stages: Stages, path: str) -> Checked:
    """Run ruff, with the rules of the project."""
    return _by_tool(stages, "ruff", RUFF, path)


def _by_tool(stages: Stages, tool: str, options: tuple[str, ...], path: str) -> Checked:
    if kind_of_file(path) != "Python":
        return Checked("skipped", "not a Python file")
    import shutil

    command = shutil.which(tool) or shutil.which(tool, path=os.path.dirname(sys.executable))
    if command is None:
        return Checked("skipped", f"{tool} is not installed")
    answered = listened(stages, [command, *options, os.path.normpath(path)])
    if not answered.trouble:
        return Checked("passed")
    return Checked("failed", (decoded(answered.answer) or f"{tool}: {answered.trouble}")[:LONGEST_MESSAGE])


def listened(stages: Stages, words: list[str], seconds: int = 0) -> Answered:
    """Run a program of somebody else in the project, and return what it says; raises LateError."""
    limit = stages.time_limit(seconds or float("inf"))
    command = "exec " + " ".join(map(shlex.quote, words))
    (answered,) = exchange(stages.processes, [Call(command, for_others(os.environb), b"", lambda _lines: None)], limit)
    if answered.trouble and stages.seconds_left() <= 0:
        raise LateError
    return answered


def check_exists(stages: Stages, path: str) -> Checked:
    """Look whether a regular file is there."""
    check_there(stages.root, path)
    return Checked("passed")


CHECKED_BY: dict[str, Callable[[Stages, str], Checked]] = {
    "exists": check_exists,
    "parses": check_parses,
    "ast": check_ast,
    "types": check_types,
    "lint": check_lint,
}


def checked(stages: Stages, check: str, path: str) -> Table:
    """Return what a check says of a path."""
    try:
        found = CHECKED_BY[check](stages, path)
    except UnsafeError as error:
        found = Checked("failed", str(error))
    return {
        "check": check,
        "path": path,
        "status": found.status,
        **({"message": found.message} if found.message else {}),
    }
