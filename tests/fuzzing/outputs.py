"""What must hold of the file that a backend writes, as far as that can be told quickly and without a process."""

from __future__ import annotations

import ast
import json
import re
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

import yaml

from backends.python.bundle import bundle
from backends.python.table import table
from backends.registry import load
from compiler.driver import compile_file
from compiler.ir.program import Program
from compiler.ir.serialise import from_json
from compiler.passes import optimise

# Two harmless documents, one for each form of Makefile.
_HARMLESS = ("## 1. A\n\n```sh\ntrue\n```\n", "## 1. A\n\n## 2. B\n\n- NO: GOTO 1\n")
_LIBYAML: type = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def check_python(program: Program, text: str) -> None:
    """The table is Python 3.9 and says what the program says."""
    wanted = table(optimise(program))
    tree = ast.parse(head(program, text), feature_version=(3, 9))
    values = [statement.value for statement in tree.body if isinstance(statement, ast.Assign)]
    assert [ast.literal_eval(value) for value in values] == [wanted]


def head(program: Program, text: str) -> str:
    """What stands before the runtime in a Python file: all else is the same in every file, and slow to compile."""
    runtime = bundle(table(optimise(program)))
    before, code, _ = text.partition(runtime.sections[0].code)
    assert code
    return before


def python_head(program: Program) -> str:
    """What stands before the runtime in the Python file that a program becomes."""
    text = load("python").emit(program, {}).text
    assert text
    return head(program, text)


def check_github(_: Program, text: str) -> None:
    """The workflow is YAML, and no script in it holds an expression, which GitHub would put into its text."""
    workflow = yaml.load(text, _LIBYAML)
    assert workflow["jobs"]
    assert not [script for script in _scripts(workflow) if "${{" in script]


def _scripts(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        script = value.get("run")
        if isinstance(script, str):
            yield script
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _scripts(inner)


def check_make(_: Program, text: str) -> None:
    """Each line is a comment, or as in a harmless Makefile but for names; a comment goes on into comments only."""
    lines = text.split("\n")
    strange = {_shape(line) for line in lines if not line.startswith("#")} - _shapes()
    assert not strange, strange
    continued = ((line, after) for line, after in pairwise(lines) if line.startswith("#") and line.endswith("\\"))
    assert all(after.startswith("#") for _, after in continued)


@cache
def _shapes() -> set[str]:
    """The lines of harmless Makefiles."""
    found: set[str] = set()
    for document in _HARMLESS:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "main.runbook.md"
            path.write_text(document, encoding="utf-8")
            program = compile_file(str(path)).program
        assert program
        text = load("make").emit(program, {}).text
        assert text
        found |= {_shape(line) for line in text.split("\n")}
    return found


def _shape(line: str) -> str:
    """A line with `*` for each run of names, and for a comment that can hold nothing that make expands."""
    named = re.sub(r"\b((step|done)-[\w.-]+|u\d+_\w*)", "*", re.sub(r" # [^$\\]*$", " # *", line), flags=re.ASCII)
    return re.sub(r"\*( \*)+", "*", named)


def check_json(program: Program, text: str) -> None:
    """The program can be read back."""
    assert json.loads(text)
    assert from_json(text) == program


def check_drawing(_: Program, text: str) -> None:
    """Every line can be shown."""
    assert all(line.isprintable() for line in text.split("\n"))


CHECKS: dict[str, Callable[[Program, str], None]] = {
    "github": check_github,
    "make": check_make,
    "python": check_python,
    "dot": check_drawing,
    "mermaid": check_drawing,
    "json": check_json,
}
