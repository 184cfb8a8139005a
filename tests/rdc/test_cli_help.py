"""`rdc explain`, `rdc targets`, `rdc completion`, `rdc runtime`."""

import hashlib
import json
import sys
from pathlib import Path

import pytest

from backends.registry import names
from compiler.diagnostics.model import CODES
from runtime_shim.editions import CALLERS, EDITIONS
from tests.support.cli import GOOD, ROOT, Result, call, document, environment, executed, spawn

pytestmark = pytest.mark.process


def test_explain_shows_the_page_and_the_list_has_every_code(tmp_path: Path) -> None:
    page = (ROOT / "compiler/diagnostics/explanations/RD201.md").read_text(encoding="utf-8")
    for word in ("RD201", "rd201", "unknown-target", "Unknown-Target"):
        assert call("explain", word, cwd=tmp_path) == Result(0, page, "")
    colored = spawn("explain", "RD201", cwd=tmp_path, FORCE_COLOR="1").out
    assert colored.startswith("\x1b[1m#"), "headings are bold, but not in code"
    blocks = colored.split("~~~~")[1::2]
    assert any("## " in block for block in blocks)
    assert not any("\x1b" in block for block in blocks)
    lines = call("explain", "--list", cwd=tmp_path).out.splitlines()
    assert [line.split()[:3] for line in lines] == [[code, known.severity, known.name] for code, known in CODES.items()]


def test_targets(tmp_path: Path) -> None:
    table = call("targets", cwd=tmp_path).out.splitlines()
    assert [line.split()[0] for line in table[::2]] == list(names())
    assert all("supports: " in line for line in table[1::2])
    listed = json.loads(call("targets", "--format", "json", cwd=tmp_path).out)
    python = next(target for target in listed["targets"] if target["name"] == "python")
    assert (python["suffix"], python["executable"]) == (".py", True)


def completions(tmp_path: Path, *words: str) -> list[str]:
    """What bash is offered: a line for each, its kind and its text."""
    variables = {"_RDC_COMPLETE": "bash_complete", "COMP_WORDS": " ".join(words), "COMP_CWORD": str(len(words) - 1)}
    return spawn(cwd=tmp_path, **variables).out.split()


def test_what_is_completed(tmp_path: Path) -> None:
    assert "plain,compile" in completions(tmp_path, "rdc", "comp")
    assert "plain,--transitions" in completions(tmp_path, "rdc", "check", "--tr")
    assert "plain,python" in completions(tmp_path, "rdc", "compile", "--to", "py")
    assert "plain,github" in completions(tmp_path, "rdc", "targets", "gi")
    assert "plain,fmt" in completions(tmp_path, "rdc", "fm")
    assert completions(tmp_path, "rdc", "explain", "rd20") == [f"plain,RD20{digit}" for digit in range(1, 8)]
    assert completions(tmp_path, "rdc", "check", "dep") == ["file,dep"]
    assert "plain,sarif" in completions(tmp_path, "rdc", "check", "--format", "s")


def test_the_script_completes_in_bash(tmp_path: Path) -> None:
    command = tmp_path / "rdc"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m rdc "$@"\n')
    command.chmod(0o755)
    session = """
PATH=.:$PATH
eval "$(rdc completion bash)"
COMP_WORDS=(rdc compile --to py) COMP_CWORD=3
_rdc_completion rdc
echo "${COMPREPLY[@]}"
"""
    assert executed(["bash", "-c", session], cwd=tmp_path, env=environment()) == Result(0, "python\n", "")


WRONG = {"COMP_WORDS": "rdc '", "COMP_CWORD": "one"}  # which for fish is what is being typed


def test_each_shell_has_a_script_a_wrong_call_says_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = [(instruction, WRONG) for instruction in ("bash_complete", "zsh_complete", "bash_nothing", "nonsense")]
    for shell in ("bash", "zsh", "fish"):
        assert f"{shell}_complete" in call("completion", shell, cwd=tmp_path).exits(0).out
        calls += [(f"{shell}_complete", {}), (f"{shell}_complete", {"COMP_WORDS": "rdc ch"})]
    for instruction, given in calls:
        with monkeypatch.context() as called:
            for name, value in {"_RDC_COMPLETE": instruction, **given}.items():
                called.setenv(name, value)
            assert call(cwd=tmp_path) == Result(1, "", ""), (instruction, given)


def test_prints_the_bytes_of_programs_and_their_hashes(tmp_path: Path) -> None:
    above, line, below = call("runtime", "commands", cwd=tmp_path).exits(0).out.partition("# END RUNTIME\n")
    assert above.splitlines()[1].endswith("for its programs: edition commands.")
    document(tmp_path, "deploy.runbook.md", GOOD)
    assert call("compile", "deploy.runbook.md", "--to", "python", cwd=tmp_path).code == 0
    text = (tmp_path / "deploy.py").read_text(encoding="utf-8")
    assert text.count(f"\n\n{above}{line}\n\ndef runbook(") == text.count(below) == 1
    names = (*EDITIONS, *CALLERS, "publish", "make-loop")
    printed = {name: call("runtime", name, cwd=tmp_path).out.encode() for name in names}
    hashes = {name: hashlib.sha256(one).hexdigest() for name, one in printed.items()}
    assert f", edition commands (sha256 {hashes['commands']}).\n" in text
    lines = call("runtime", "--sha256", cwd=tmp_path).out.splitlines()
    assert lines == [f"{digest}  {name}" for name, digest in hashes.items()]


@pytest.mark.parametrize(
    ("kind", "name", "line"),
    [
        *(("deploy.py", "commands", "import errno\n"), ("saved", "commands", "import errno\n")),
        *(("deploy_worker.py", "values", "import errno\n"), ("deploy_worker.py", "dbos-values", "import socket\n")),
    ],
)
def test_diff_shows_what_changed(kind: str, name: str, line: str, tmp_path: Path) -> None:
    document(tmp_path, "deploy.runbook.md", GOOD)
    target = "dbos" if "worker" in kind else "python"
    assert call("compile", "deploy.runbook.md", "--to", target, cwd=tmp_path).code == 0
    old = tmp_path / kind
    if kind == "saved":
        old.write_text(call("runtime", name, cwd=tmp_path).out, encoding="utf-8")
    assert call("runtime", name, "--diff", kind, cwd=tmp_path) == Result(0, "", "")
    old.write_text(old.read_text(encoding="utf-8").replace(line, "import evil\n", 1), encoding="utf-8")
    changed = call("runtime", name, "--diff", kind, cwd=tmp_path).exits(1)
    assert [one for one in changed.out.splitlines()[2:] if one[0] in "+-"] == ["-import evil", f"+{line.strip()}"]


@pytest.mark.parametrize("words", ["", "commands --sha256", "--diff deploy.py", "comands", "commands --diff absent.py"])
def test_wrong_use(words: str, tmp_path: Path) -> None:
    result = call("runtime", *words.split(), cwd=tmp_path)
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
