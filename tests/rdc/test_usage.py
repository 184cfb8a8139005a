"""Wrong use is one line and exit code 2; a defect is one line and 70; nothing is ever a traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from cli_support import GOOD, ROOT, document, environment, rdc, spawn

import rdc.commands.check
from rdc import __version__
from rdc.commands import COMMANDS

HEAVY = {"pydantic", "networkx", "jinja2", "lark", "markdown_it", "yaml", "importlib.metadata", "difflib"}


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["compile", "--foo"], "rdc: no such option --foo (see 'rdc compile --help')"),
        (["check", "--formt", "x"], "rdc: no such option --formt; did you mean --format? (see 'rdc check --help')"),
        (["chek"], "rdc: no such command 'chek'; did you mean check? (see 'rdc --help')"),
        (["nothing-like-it"], "rdc: no such command 'nothing-like-it' (see 'rdc --help')"),
        (["--foo"], "rdc: no such option --foo (see 'rdc --help')"),
        (["check"], "rdc: missing argument 'FILE...' (see 'rdc check --help')"),
        (["compile", "a.runbook.md"], "rdc: missing option '--to' (see 'rdc compile --help')"),
        (
            ["compile", "a", "--to", "pyton"],
            "rdc: no target 'pyton'; did you mean python? (`rdc targets` lists them) (see 'rdc compile --help')",
        ),
        (
            ["compile", "a", "--to", "python", "-O", "x"],
            "rdc: -O takes KEY=VALUE, not 'x' (see 'rdc compile --help')",
        ),
        (
            ["compile", "a", "b", "--to", "python", "-o", "-"],
            "rdc: -o - takes one source only (see 'rdc compile --help')",
        ),
        (
            ["compile", "a", "--to", "python", "-o", "-", "--check"],
            "rdc: --check compares files, it cannot go with -o - (see 'rdc compile --help')",
        ),
        (
            ["compile", "a", "--to", "python", "-o", "-", "--format", "json"],
            "rdc: -o - and --format json both want standard output (see 'rdc compile --help')",
        ),
        (
            ["explain", "RD999"],
            "rdc: no diagnostic code 'RD999' (`rdc explain --list` lists them) (see 'rdc explain --help')",
        ),
        (
            ["explain", "unknown-targt"],
            "rdc: no diagnostic code 'unknown-targt'; did you mean unknown-target?"
            " (`rdc explain --list` lists them) (see 'rdc explain --help')",
        ),
        (["explain"], "rdc: missing CODE (`rdc explain --list` lists them) (see 'rdc explain --help')"),
        (["chec\x1bk\n"], "rdc: no such command 'chec␛k'; did you mean check? (see 'rdc --help')"),
    ],
)
def test_wrong_use_is_one_line(arguments: list[str], line: str, tmp_path: Path) -> None:
    result = rdc_(*arguments, cwd=tmp_path)
    assert (result.code, result.out, result.err) == (2, "", line + "\n")


rdc_ = rdc


def test_every_choice_that_is_refused_is_one_line(tmp_path: Path) -> None:
    for arguments in (["check", "x", "--format", "xml"], ["check", "x", "--transitions", "up"], ["completion", "tcsh"]):
        result = rdc_(*arguments, cwd=tmp_path)
        assert result.code == 2
        assert result.err.startswith("rdc: ")
        assert result.err.count("\n") == 1
