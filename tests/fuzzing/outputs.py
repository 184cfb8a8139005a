"""What must hold of the file that a backend writes, as far as that can be told quickly and without a process."""

from __future__ import annotations

import ast
import json
import re
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from backends.make.proof import Pinned, pinned
from backends.make.walked import changed
from backends.python.edition import optimized
from backends.python.proof import proof, split
from backends.registry import load
from compiler.driver import compile_file
from compiler.ir.program import Program
from compiler.passes import optimize
from runtime_shim.editions import EDITIONS
from runtime_shim.engine.builder import built
from tests.backends.plain_table import table
from tests.program_json import from_json
from tests.workflows.compiling import LOADER

# Harmless documents: a command, and questions.
_HARMLESS = ("## 1. A\n\n```sh\ntrue\n```\n", "## 1. A\n\n## 2. B\n\n- NO: GOTO 1\n")


def check_python(program: Program, text: str) -> None:
    """The runbook is one function of Python 3.9 that calls nothing but its words, and says what the program says."""
    _check_program(program, text, table(optimized(program, is_full=False)[1]))


def _check_program(program: Program, text: str, wanted: dict[str, Any]) -> None:
    assert isinstance(proof(text), str), proof(text)
    function = ast.parse(head(text)).body[-1]
    # What is run here has been looked at: calls of the builder with literals, and nothing else.
    found: dict[str, Any] = {}
    exec(compile(ast.Module([function], []), "<runbook>", "exec"), {"__builtins__": {}}, found)
    kinds = EDITIONS["contract" if "contract" in wanted else "agents"].kinds()
    assert built(found[program.kind], kinds) == wanted


def check_dbos(program: Program, text: str) -> None:
    """The runbook of a worker is that of a program whose operators can move runs."""
    _check_program(program, text, table(optimize(program)))


def head(text: str) -> str:
    """The runbook in a Python file: all else is the same in every file, and slow to compile."""
    parts = split(text)
    assert parts
    return parts[0].rstrip("\n")


def python_head(program: Program) -> str:
    """What stands before the runtime in the Python file that a program becomes."""
    text = load("python").emit(program, {}).text
    assert text
    return head(text)


def check_github(_: Program, text: str) -> None:
    """The workflow is YAML, and no script in it holds an expression, which GitHub would put into its text."""
    workflow = yaml.load(text, LOADER)
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
    """Outside of blocks each line is a comment, or as in a harmless Makefile except for names; code holds quoted texts.

    A Makefile that calls the program has only comments and targets of steps besides what rdc can write again.
    """
    if "RDC_CHECKED\n" in text:
        assert isinstance(pinned(text), Pinned), pinned(text)
        return
    assert changed(text) is None, changed(text)
    outside, blocks = _taken_apart(text)
    strange = {_shape(line) for line in outside if not line.startswith("#")} - _shapes()
    assert not strange, strange
    assert not any(line.startswith("#") and line.endswith("\\") for line in outside)
    for name, body in blocks:
        if name.startswith(("step_", "RDC_COUNTERS")):
            bare = re.sub(r"'[^']*'|\\'", "", body)
            assert not re.search(r"[`\\'\0]|\$(?!rdc_text_)", bare), (name, bare)


def _taken_apart(text: str) -> tuple[list[str], list[tuple[str, str]]]:
    """The lines that make reads, as it reads them, and the blocks between with their names."""
    outside: list[str] = []
    blocks: list[tuple[str, str]] = []
    body: list[str] | None = None
    for line in re.split(r"(?<!\\)(?:\\\\)*\n", text):  # a line that ends with a backslash goes on
        if body is None:
            outside.append(line.split("\n")[0])
            body = [line.split()[1]] if re.match(r"\s*define\b", line) else None
        elif re.match(r"\s*endef\b", line):
            assert line == "endef"
            blocks.append((body[0], "\n".join(body[1:])))
            body = None
        else:
            assert not re.match(r"\s*define\b", line)
            body.append(line)
    assert body is None
    return outside, blocks


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
        found |= {_shape(line) for line in _taken_apart(text)[0]}
    return found


def _shape(line: str) -> str:
    """A line with `*` for names of steps, and for a list of them."""
    line = re.sub(r"^(RDC_(?:STEPS|PROGRAM|STATE) :=)[\w./ -]*$", r"\1 *", line, flags=re.ASCII)
    name = r"(?:escaped_)?(?:do|ask|prompt|step|text|RDC)_[\w.-]+"
    return re.sub(rf"^define {name}$", "define *", line, flags=re.ASCII)


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
    "dbos": check_dbos,
    "dot": check_drawing,
    "mermaid": check_drawing,
    "json": check_json,
}
