"""What must hold of the file that a backend writes, as far as that can be told quickly and without a process."""

import ast
import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import yaml

from backends.common.remarks import printable
from backends.make.verify import Pinned, verify_caller, verify_loop
from backends.python.edition import optimized
from backends.python.verify import split, verify_text
from backends.registry import load
from backends.skill import patterns
from compiler.ir.program import Program
from compiler.passes import optimize
from runtime_shim.editions import EDITIONS
from runtime_shim.engine.program import built
from tests.support.github.compiling import LOADER
from tests.support.plain_table import table
from tests.support.program_json import from_json


def check_python(program: Program, text: str) -> None:
    """The runbook is one function of Python 3.9 that calls nothing but its words, and says what the program says."""
    _check_program(program, text, table(optimized(program, is_full=False)[1]))


def _check_program(program: Program, text: str, wanted: dict[str, Any]) -> None:
    assert isinstance(verify_text(text), str), verify_text(text)
    function = ast.parse(head(text)).body[-1]
    # What is run here has been looked at: calls of the builder with literals, and nothing else.
    found: dict[str, Any] = {}
    exec(compile(ast.Module([function], []), "<runbook>", "exec"), {"__builtins__": {}}, found)
    kinds = EDITIONS["stepspec" if "stepspec" in wanted else "agents"].kinds()
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
    """The workflow is YAML, no script has an expression, which GitHub would put into its text, and no test a typo."""
    workflow = yaml.load(text, LOADER)
    assert workflow["jobs"]
    for steps in (job["steps"] for job in workflow["jobs"].values()):
        tested = re.findall(r"\bsteps\.([\w-]+)\.", " ".join(str(step.get("if")) for step in steps))
        assert {*tested} <= {step.get("id") for step in steps}, "a condition has a step that is not in the job"
    assert not [script for script in _scripts(workflow) if "${{" in script]


def _scripts(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        script = value.get("run")
        if isinstance(script, str):
            yield script
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _scripts(inner)


NAME = r"[A-Za-z0-9_.{}/~-]+"
VALUE = r"(?:\$\$|\$\(rdc_\w+\)|[^$])*"
"""What make expands to itself, except for counters."""

OUTSIDE = re.compile(
    rf"|#.*(?<!\\)|SHELL := (?:bash|sh)|RDC_E :=|RDC_B := \\\$\(RDC_E\)|RDC_CR := \$\(shell printf '\\r'\)"
    rf"|title-{NAME} =(?: (?:\$\$|\$\(rdc_\w+\)|[^$#\\]|\\(?:\\)*#|\\(?!$|#))*(?:\$\(RDC_B\))?)?"
    rf"|step-{NAME}: (?:SHELL := (?:bash|sh)|export RDC_STEP = (?:\$\$|\\#|\$\(RDC_B\)|[^$#])*"
    r"|export RDC_(?:SUB)?STEP_INSTANCE = \$\(rdc_\w+\))"
)
WORDS = {"go", "flow", "retry", "say", "COMPLETE", "STOP", "if", "elif", "then", "else", "fi", "{", "}", ":"}
BLOCK = re.compile(rf"define (RDC_FLOW|do-{NAME})\n((?:.*\n)*?)endef\n")


def check_make(_: Program, text: str) -> None:
    """Outside of blocks and recipes each line has a known form, and nothing of a document's texts is expanded.

    A Makefile that calls the program has only comments and targets of steps besides what rdc can write again.
    """
    if "RDC_CHECKED\n" in text:
        assert isinstance(verify_caller(text), Pinned), verify_caller(text)
        return
    assert verify_loop(text) == "loop unchanged", verify_loop(text)
    author, found, rest = text.partition("\n# --- The same in all Makefiles")
    assert found
    for name in re.findall(r"^RDC_(?:STEPS|QUESTIONS) := (.*)$", rest, re.MULTILINE)[:2]:
        assert re.fullmatch(rf"{NAME}(?: {NAME})*", name), name
    for name, body in BLOCK.findall(author):
        (_check_flow if name == "RDC_FLOW" else _check_block)(body)
    lines = iter(BLOCK.sub("", author).split("\n"))
    for line in lines:
        if re.fullmatch(f"step-{NAME}:", line):
            _check_recipe(lines)
        else:
            assert OUTSIDE.fullmatch(line), line


def _check_recipe(lines: Iterator[str]) -> None:
    """A command on one line, or on several whose ends the shell joins; or one of two words for a block."""
    line = next(lines)
    if line in ("\t@:", "\t$(RDC_DO)", "\t@printf '%s\\n' \"$$RDC_COMMAND\""):
        return
    assert line[1:2] not in {*"@-+ \t"}, line
    while line.endswith("\\"):
        assert re.fullmatch(rf"\t{VALUE}(?:&&|\|) \\", line), line
        line = next(lines)
    assert re.fullmatch(rf"\t{VALUE}", line), line


def _check_block(body: str) -> None:
    """What make reads in a block neither ends it nor joins lines, nor expands more than it must."""
    for line in body.split("\n"):
        assert not re.match(r"\s*(?:define|endef)\b", line), line
        assert not line.endswith("\\"), line
        assert not re.search(r"\$(?!\((?:rdc_\w+|RDC_E|RDC_B|RDC_CR)\))", line.replace("$$", "")), line


def _check_flow(body: str) -> None:
    """Messages are in quotes, and all else is names, numbers and what joins them."""
    assert "$" not in body.replace("$$", ""), body
    bare = re.sub(r"'[^']*'|\\'", "", body.replace("$$", "$"))
    assert re.fullmatch(r"(?:\$(?=rdc_|\(\(rdc_)|[A-Za-z0-9_.{}/~:*()\[\];|&=+\s-])*", bare), bare
    for word in re.findall(r"(?:[;)|{&]|\b(?:then|else|if|elif))\s+([^\s;=]+)(?![^\s;])", bare):
        assert word in WORDS or re.fullmatch(rf"[\[;]+|{NAME}:(?:pass|fail|\*)\)|{NAME}\)", word), word


def check_json(program: Program, text: str) -> None:
    """The program can be read back."""
    assert json.loads(text)
    assert from_json(text) == program


def check_drawing(_: Program, text: str) -> None:
    """Every line can be shown."""
    assert all(line.isprintable() for line in text.split("\n"))


def check_skill(program: Program, text: str) -> None:
    """The frontmatter has the facts and no more, and no text of the document is more than its place lets it be."""
    _, head, _ = text.split("---\n", 2)
    facts = yaml.safe_load(head)
    assert set(facts) == {"name", "description", "compatibility", "metadata"}
    assert printable(facts["metadata"]["source"]) == printable(program.sources[0].path)
    assert all(line.isprintable() for line in text.split("\n"))
    assert re.fullmatch("\n".join(patterns(has_program="\n  program-sha256: " in text)), text), text


CHECKS: dict[str, Callable[[Program, str], None]] = {
    "github": check_github,
    "make": check_make,
    "python": check_python,
    "dbos": check_dbos,
    "skill": check_skill,
    "dot": check_drawing,
    "mermaid": check_drawing,
    "json": check_json,
}
