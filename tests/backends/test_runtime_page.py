"""What `docs/explanation/runtime.md` says of the runtimes: what they import, start and send."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from backends.python.edition import runtime, runtime_for
from benchmarks.sizes import lines_of_code
from runtime_shim.editions import EDITIONS
from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "explanation" / "runtime.md").read_text(encoding="utf-8")
CONNECTING = {"asyncio", "ftplib", "http.client", "poplib", "smtplib", "socketserver", "ssl", "urllib.request"}
STARTING = {"exec", "fork", "popen", "posix_spawn", "posix_spawnp", "spawn", "system"}


def imported(text: str) -> Iterator[str]:
    """The modules that a text imports, also inside of functions and of the programs that it starts."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and "\nimport " in node.value:
            yield from imported(node.value)


@pytest.mark.parametrize("name", EDITIONS)
def test_no_edition_can_open_a_connection(name: str) -> None:
    found = set(imported(runtime(name)))
    assert not found & CONNECTING
    if "socket" in found:  # a pair of sockets within the program is no connection
        assert set(re.findall(r"socket\.(\w+)", runtime(name))) == {"socketpair"}


def test_the_part_for_workflows_can_open_a_connection() -> None:
    assert "urllib.request" in set(imported(runtime_for("github")))


@pytest.mark.parametrize("name", ["script", "commands"])
def test_small_editions_start_only_shells(name: str) -> None:
    found = re.findall(r"os\.(\w+)\(", runtime(name))
    assert {one for one in found if one in STARTING} <= {"posix_spawn", "posix_spawnp"}
    assert "subprocess" not in set(imported(runtime(name)))


@pytest.mark.parametrize("name", EDITIONS)
def test_the_page_has_each_edition_in_each_table(name: str) -> None:
    assert len(re.findall(rf"^\|[^|\n]*`{name}`", PAGE, re.MULTILINE)) == 3


@pytest.mark.parametrize("name", EDITIONS)
def test_the_page_says_how_long_an_edition_is(name: str) -> None:
    [written] = re.findall(rf"^\| `{name}` \|.*\| ([\d,]+) \|$", PAGE, re.MULTILINE)
    assert abs(int(written.replace(",", "")) - lines_of_code(runtime(name))) <= 50
