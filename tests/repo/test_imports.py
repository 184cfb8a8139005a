"""What each command imports: a start of rdc is little else, so that every module on these lists is looked at.

`make golden` regenerates the lists. The library of Python is left out, since its modules change with its version, but
for those that take long.
"""

import re
import sys
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.support.cli import GOOD, document, spawn

pytestmark = pytest.mark.process

OURS = ("rdc", "compiler", "backends", "runtime_shim", "grammars")
SLOW = {
    "asyncio", "concurrent.futures", "ctypes", "dataclasses", "difflib", "doctest", "email", "http",
    "importlib.metadata", "importlib.resources", "logging", "multiprocessing", "pickle", "sqlite3", "ssl",
    "subprocess", "tempfile", "unittest", "urllib.request", "xml", "zipfile",
}  # fmt: skip
"""Modules of Python's library that no start may pay for unasked."""
OF_LARK = {"dataclasses", "logging", "pickle", "tempfile"}
"""What Lark imports of them, which reads the grammars of runbooks."""

COMMANDS = {
    "version": ["--version"],
    "help": ["--help"],
    "tab": [],
    "check": ["check", "a.runbook.md"],
    "check with frontmatter": ["check", "b.runbook.md"],
    # Not `-o`: click imports difflib for each short option, before it knows the option.
    "compile to python": ["compile", "b.runbook.md", "--to", "python", "--output", "b.py"],
    "compile to github": ["compile", "b.runbook.md", "--to", "github", "--output", "b.yml"],
}
TAB = {"_RDC_COMPLETE": "bash_complete", "COMP_WORDS": "rdc ch", "COMP_CWORD": "1"}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_imports_what_is_on_its_list(name: str, tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    document(tmp_path, "a.runbook.md", GOOD)
    document(tmp_path, "b.runbook.md", f"---\nname: b\ndescription: A runbook.\n---\n\n{GOOD}")
    result = spawn(*COMMANDS[name], cwd=tmp_path, PYTHONVERBOSE="1", **(TAB if name == "tab" else {})).exits(0)
    imported = set(re.findall(r"^import '([\w.]+)'", result.err, re.MULTILINE))
    others = {module.partition(".")[0] for module in imported} - {*OURS, "sitecustomize"} - sys.stdlib_module_names
    own = sorted(module for module in imported if module.partition(".")[0] in OURS)
    if not name.startswith("compile"):  # Jinja needs some of them
        assert sorted(imported & SLOW - (OF_LARK if name.startswith("check") else set())) == []
    packages = ", ".join(sorted(module for module in others if module[0] != "_"))
    assert "\n".join([f"packages: {packages}", *own]) == snapshot
