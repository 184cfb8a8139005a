"""Texts that make or a shell might take for something to obey, and a program that takes them as commands."""

import tempfile
from functools import cache
from pathlib import Path

from hypothesis import strategies as st
from msgspec.structs import replace

from compiler.ir.program import Program
from compiler.ir.tasks import Shell
from compiler.ir.texts import text
from tests.support.documents import program_at
from tests.support.makefiles import PLAIN

PIECES = ["$", "$$", "$(shell touch canary)", "#", "\\\n", "\\", "\t", "\n", "\n\n", "\r", "\r\n", "@", "-", "#<", "#>"]
PIECES += ["\n#<\n", "\n#> command_u1_1\n", "#| ", "\n#: touch canary\n", "endef", "\nendef\n", "`touch canary`", "'"]
PIECES += ['"', "x" * 65536, "🚀", "\u2028", "\x85", "\x1a", "\ufeff", "%", ":", "\n\ttouch canary\n", "endif", "${N}"]
CHARACTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\x00")
TEXTS = st.lists(st.one_of(st.sampled_from(PIECES), st.text(CHARACTERS, max_size=5)), max_size=10).map("".join)


@cache
def two_commands() -> Program:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "main.runbook.md"
        path.write_text(PLAIN, encoding="utf-8")
        return program_at(path)


def with_commands(command: str) -> Program:
    """The program with another command instead of each of its own, whatever Markdown can carry."""
    program = two_commands()
    nodes = [
        replace(node, task=replace(node.task, command=text(command))) if isinstance(node.task, Shell) else node
        for node in program.nodes
    ]
    return replace(program, nodes=tuple(nodes))
