"""The command `rdc lsp`: how it starts, and what is missing without its extra."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.cli import call, spawn

pytestmark = pytest.mark.process


@pytest.mark.parametrize("package", ["pygls", "lsprotocol"])
def test_a_missing_package_has_a_remedy(package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == package or name.startswith("rdc.lsp.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    done = call("lsp", cwd=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert done.err == "rdc lsp needs the package `pygls`; install rdc with its extra `lsp`\n"


def test_no_other_command_imports_the_packages(tmp_path: Path) -> None:
    (tmp_path / "a.runbook.md").write_text("# T\n\n## 1. A\n\nDo it.\n")
    done = spawn("check", "a.runbook.md", cwd=tmp_path, PYTHONVERBOSE="1").exits(0)
    assert "import 'compiler.driver'" in done.err
    assert "pygls" not in done.err
    assert "lsprotocol" not in done.err


@pytest.mark.parametrize(
    "given", ["", "word\n", "Content-Length: 2\r\n\r\n{}", "Content-Length: 9\r\n\r\n[", "\0" * 99]
)
def test_anything_but_a_session_ends_with_1(given: str, tmp_path: Path) -> None:
    words = [sys.executable, "-m", "rdc", "lsp"]
    done = subprocess.run(words, cwd=tmp_path, input=given.encode(), capture_output=True, check=False)
    assert done.returncode == 1
    assert b"Traceback" not in done.stderr
