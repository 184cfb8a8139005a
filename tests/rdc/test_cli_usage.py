"""Wrong use is one line and exit code 2; a defect is one line and 70; nothing is ever a traceback."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from compiler.driver import _identified
from compiler.ir.program import Program
from compiler.passes import PASSES
from rdc import __version__
from rdc.commands import COMMANDS
from tests.support.cli import GOOD, Result, call, document, environment, executed, spawn

pytestmark = pytest.mark.process

ONE, BOTH = "-o - accepts only one document", "-o - and --format json both write to standard output; remove one of them"
UNKNOWN = "unknown diagnostic code"
FORMATS = ("rundown", "playbook", "agent-workflow", "json", "stepspec")
HEAVY = {
    *("compiler.ir", "pydantic", "networkx", "compiler.reading.grammar", "lark", "pyromark", "yaml"),
    *("importlib.metadata", "difflib"),
}


@pytest.mark.parametrize(
    ("words", "problem", "see"),
    [
        ("compile --foo", "no such option --foo", "compile --help"),
        ("check --formt x", "no such option --formt; did you mean --format?", "check --help"),
        ("chek", "unknown command 'chek'; did you mean check or schema?", "--help"),
        ("nothing-like-it", "unknown command 'nothing-like-it'", "--help"),
        ("chec\x1bk", "unknown command 'chec␛k'; did you mean check?", "--help"),
        ("--foo", "no such option --foo", "--help"),
        ("graph", "missing argument 'FILE|DIR...'", "graph --help"),
        ("compile a.runbook.md", "missing option '--to'", "compile --help"),
        ("compile a --to pyton", "unknown target 'pyton'; did you mean python?", "targets"),
        ("compile a --to python -O x", "-O needs KEY=VALUE, not 'x'", "compile --help"),
        ("compile a b --to python -O x=y", "target python: there is no option `x`", "targets python"),
        ("compile a b --to python -o -", f"{ONE}, but you gave 2; choose a folder with -o", "compile --help"),
        ("compile a --to python -o - --check", "--check compares files; remove -o -", "compile --help"),
        ("compile a --to python -o - --format json", BOTH, "compile --help"),
        ("explain RD999", f"{UNKNOWN} 'RD999'; did you mean RD869 or RD859 or RD819?", "explain --list"),
        ("explain no-stps", f"{UNKNOWN} 'no-stps'; did you mean no-steps or unknown-step?", "explain --list"),
        ("explain", "missing argument 'CODE'; to list all codes, run 'rdc explain --list'", "explain --help"),
        ("check a --from yaml", f"unknown format 'yaml'; use {', '.join(FORMATS)}", "check --help"),
    ],
)
def test_wrong_use_is_one_line(words: str, problem: str, see: str, tmp_path: Path) -> None:
    result = call(*words.split(), cwd=tmp_path)
    assert (result.code, result.out, result.err) == (2, "", f"rdc: {problem} (see 'rdc {see}')\n")


def test_every_choice_that_is_refused_is_one_line(tmp_path: Path) -> None:
    for arguments in (["check", "x", "--format", "xml"], ["check", "x", "--transitions", "up"], ["completion", "tcsh"]):
        result = call(*arguments, cwd=tmp_path).exits(2)
        assert result.err.startswith("rdc: ")
        assert result.err.count("\n") == 1


def test_rdc_alone_shows_help_with_every_command(tmp_path: Path) -> None:
    assert call("--version", cwd=tmp_path).out == f"rdc {__version__}\n"
    result = call(cwd=tmp_path)
    assert (result.code, result.err, result.out) == (0, "", call("--help", cwd=tmp_path).out)
    for name in COMMANDS:
        assert f"\n  {name} " in result.out
        of_command = call(name, "--help", cwd=tmp_path)
        assert (of_command.code, of_command.err) == (0, "")
        assert of_command.out.startswith(f"Usage: rdc {name} ")


def test_a_defect_is_one_line_and_an_interrupt_is_quiet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    document(tmp_path, "a.runbook.md", GOOD)
    raised: BaseException = ValueError("no\nway")

    def broken(*_: object) -> None:
        raise raised

    monkeypatch.setattr("rdc.commands.check.compile_opened", broken)
    monkeypatch.delenv("RDC_DEBUG", raising=False)
    result = call("check", "a.runbook.md", cwd=tmp_path).exits(70)
    assert result.err == "rdc: internal error: ValueError: no␊way (for a traceback, set RDC_DEBUG=1)\n"
    monkeypatch.setenv("RDC_DEBUG", "1")
    assert call("check", "a.runbook.md", cwd=tmp_path).exits(70).err.partition(" ")[0] == "Traceback"
    raised = KeyboardInterrupt()
    result = call("check", "a.runbook.md", cwd=tmp_path)
    assert (result.code, result.out, result.err) == (130, "", "")


def test_a_closed_pipe_is_quiet_and_so_is_a_closed_standard_output(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    rdc, env = [sys.executable, "-m", "rdc", "explain", "--list"], environment()
    done = subprocess.run(rdc, cwd=tmp_path, env=env, stdout=writer, stderr=subprocess.PIPE, timeout=60, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (128 + signal.SIGPIPE, b"")
    script = ["sh", "-c", f'"{sys.executable}" -m rdc --version >&-']
    assert executed(script, cwd=tmp_path, env=environment()) == Result(0, "", "")


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("words", ["--version", "check --help", "targets"])
@pytest.mark.share(2)
def test_a_full_disk_behind_standard_output_is_one_line(tmp_path: Path, words: str, unbuffered: str) -> None:
    rdc = [sys.executable, "-m", "rdc", *words.split()]
    env = environment(PYTHONUNBUFFERED=unbuffered)
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(rdc, cwd=tmp_path, env=env, stdout=full, stderr=subprocess.PIPE, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (1, b"rdc: cannot write to standard output: No space left on device\n")


def test_no_locale_is_too_small_for_a_text(tmp_path: Path) -> None:
    document(tmp_path, "a.runbook.md", "# Straße 🚀\n\n## 1. Größe\n\nIst sie 🚀?\n\n- PASS: GOTO 9\n")
    script = document(tmp_path, "b.runbook.md", "# Straße 🚀\n\n## 1. Größe\n\nIst sie 🚀?\n")
    small = {"LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    assert spawn("check", "a.runbook.md", cwd=tmp_path, **small).code == 1
    assert spawn("explain", "RD102", cwd=tmp_path, **small).code == 0
    arguments = ("compile", "--to", "python", script.name, "-o", "-")
    compiled = spawn(*arguments, cwd=tmp_path, **small)
    assert (compiled.code, compiled) == (0, spawn(*arguments, cwd=tmp_path))


@pytest.mark.usefixtures("real_starts")
def test_the_start_imports_nothing_heavy(tmp_path: Path) -> None:
    """A server of editors loads a format with its first document: they take 14 MiB and 200 ms."""
    program = f"""
import sys
from rdc.cli import main
main(["--version"])
print(sorted({HEAVY!r} & set(sys.modules)))
import rdc.commands.check
print(sorted({HEAVY - {"compiler.ir", "pyromark"}!r} & set(sys.modules)))
import rdc.lsp.server
print(sorted({{"pydantic", "compiler.frontends.stepspec.frontend"}} & set(sys.modules)))
"""
    done = executed([sys.executable, "-c", program], cwd=tmp_path, env=environment())
    assert done.out.splitlines() == [f"rdc {__version__}", "[]", "[]", "[]"]


WORDS = (
    *("check", "check --fix", "compile --to python", "compile --to json -o -"),
    *("graph", "diff", "run", "test", "trace"),
)


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lowering loses the first node."""

    def lost(*arguments: object) -> Program:
        return _without_first(_identified(*arguments))  # type: ignore[arg-type]

    monkeypatch.setattr("compiler.driver._identified", lost)
    monkeypatch.delenv("RDC_DEBUG", raising=False)


def _without_first(program: Program) -> Program:
    return replace(program, nodes=program.nodes[1:])


def files(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.usefixtures("broken")
@pytest.mark.parametrize("words", WORDS)
def test_every_command_refuses_a_broken_graph(words: str, tmp_path: Path) -> None:
    documents = [document(tmp_path, f"{name}.runbook.md", GOOD).name for name in "ab"]
    before = files(tmp_path)
    command, *options = words.split()
    several = command in {"check", "compile", "diff", "test"} and "-o" not in options
    result = call(command, *documents[: 1 + several], *options, cwd=tmp_path)
    assert (result.code, result.out) == (70, "")
    assert result.err == (
        "rdc: internal error: InvalidProgramError: rule I1: the entry 1 is not a node. a.runbook.md has a broken graph "
        "after lowering. This is a bug in rdc; please report it (for a traceback, set RDC_DEBUG=1)\n"
    )
    assert files(tmp_path) == before


@pytest.mark.usefixtures("broken")
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_build_writes_nothing_in_one_process_or_several(jobs: str, tmp_path: Path) -> None:
    for name in "abcdef":
        document(tmp_path, f"{name}.runbook.md", GOOD)
    document(tmp_path, "rdc.toml", '[[build]]\nsource = "*.runbook.md"\nto = "make"\nout = "made/{name}.mk"\n')
    before = files(tmp_path)
    result = call("build", "--jobs", jobs, cwd=tmp_path)
    assert (result.code, result.out) == (70, ""), result
    assert "runbook.md has a broken graph after lowering. This is a bug in rdc; please report it" in result.err
    assert result.err.count("\n") == 1
    assert files(tmp_path) == before


def test_a_pass_that_breaks_the_graph_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    document(tmp_path, "a.runbook.md", GOOD)
    before = files(tmp_path)
    monkeypatch.setitem(PASSES, "fold-effects", _without_first)
    for target in ("python", "make", "github", "dbos"):
        result = call("compile", "a.runbook.md", "--to", target, cwd=tmp_path)
        assert (result.code, "broken graph after fold-effects" in result.err) == (70, True), result
        assert files(tmp_path) == before
    result = call("compile", "a.runbook.md", "--to", "json", cwd=tmp_path)
    assert result.code == 0, "it emits the program as it was lowered"
