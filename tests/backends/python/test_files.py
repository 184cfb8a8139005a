"""All Python that rdc writes: what a linter finds, and that it imports nothing from its own folder."""

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

from backends.python.edition import sha256_of_text, shared_files, text_of
from backends.registry import load
from benchmarks.sizes import CALLED
from runtime_shim.editions import EDITIONS
from tests.conftest import ROOT
from tests.support.documents import program_at
from tests.support.interpreters import ENDS, VERSIONS, end_of_support, interpreter

pytestmark = pytest.mark.process

RUFF = Path(sys.executable).with_name("ruff")
CASES: Mapping[str, tuple[str, str, Mapping[str, object]]] = {
    "script": ("code-review.runbook.md", "python", {"runtime": "script"}),
    "commands": ("code-review.runbook.md", "python", {}),
    "values": ("update-hosts.runbook.md", "python", {}),
    "agents": ("workflows/dependency-update.workflow.yaml", "python", {}),
    "stepspec": ("specifications/plan-product.stepspec.yaml", "python", {}),
    "shared": ("code-review.runbook.md", "python", {"runtime": "shared"}),
    "traces": ("code-review.runbook.md", "python", {"traces": True}),
    "shared traces": ("code-review.runbook.md", "python", {"traces": True, "runtime": "shared"}),
    "make": ("workflows/dependency-update.workflow.yaml", "make", {}),
    "github": ("workflows/dependency-update.workflow.yaml", "github", {**CALLED, "publish": ["pull-request"]}),
    "worker of values": ("code-review.runbook.md", "dbos", {}),
    "worker of agents": ("workflows/dependency-update.workflow.yaml", "dbos", {}),
    "worker of contract": ("specifications/plan-product.stepspec.yaml", "dbos", {}),
}
"""A document, a target and its options for each form of Python files."""


@cache
def texts(case: str) -> Mapping[str, str]:
    """The Python files of a case by their names; the first is the program."""
    name, target, options = CASES[case]
    made = load(target).emit(program_at(ROOT / "examples" / name), options)
    assert made.text is not None, made.diagnostics
    files = {f"{'program' if target in ('python', 'dbos') else 'main'}.py": made.text}
    files |= {Path(each.path).name: each.text for each in made.companions}
    return {name: text for name, text in files.items() if name.endswith(".py") and name != "main.py"}


def written(case: str, folder: Path) -> Path:
    """The program of a case, in a folder with the files that it needs."""
    for name, text in texts(case).items():
        (folder / name).write_text(text, encoding="utf-8")
        (folder / name).chmod(0o755 if text.startswith("#!") else 0o644)
    return folder / next(iter(texts(case)))


def test_the_cases_have_all_editions_and_parts() -> None:
    found = {case: "\n".join(texts(case)) + "\n".join(texts(case).values()) for case in CASES}
    assert all(f", edition {name} (sha256" in found[name] for name in EDITIONS)
    assert all(name in found["github"] for name in ("rdc_github_", "rdc_publish_", "rdc_runtime_agents_"))
    assert "rdc_make_" in found["make"]
    assert set(shared_files("commands")) < set(texts("shared"))


def test_ruff_finds_nothing(tmp_path: Path) -> None:
    for case in CASES:
        (tmp_path / case).mkdir()
        written(case, tmp_path / case)
        assert not any("noqa" in text for text in texts(case).values())
    words = "check --isolated --no-cache --target-version py39 --output-format concise ."
    done = subprocess.run([str(RUFF), *words.split()], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.stdout.splitlines()[-1:], done.returncode) == (["All checks passed!"], 0), done.stdout


ALONE = ("script", "agents", "stepspec", "shared")
"""Programs with all modules of the runtime."""


@pytest.mark.share(3)
@pytest.mark.parametrize("version", VERSIONS)
def test_every_interpreter_runs_the_programs(version: str, tmp_path: Path) -> None:
    """The oldest and the newest one run each program, those between compile them."""
    python = interpreter(version)
    if python is None:
        pytest.skip(f"no Python {version} here")
    programs = []
    for case in ALONE:
        (tmp_path / case).mkdir()
        programs.append(written(case, tmp_path / case))
    if python not in map(end_of_support, ENDS):
        words = [python, "-I", "-W", "error", "-m", "compileall", "-q", str(tmp_path)]
        assert subprocess.run(words, check=False).returncode == 0
        return
    for program in programs:
        words = [python, "-W", "error", str(program), "--help"]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout[:7]) == (0, "usage: "), done.stderr


CALLS = {"script": [["--answers", "answers"]], "stepspec": [["status"], ["--help"]]}
"""What starts each program and some of its late imports; others run to their first question."""


@pytest.mark.share(2)
@pytest.mark.parametrize("case", ALONE)
def test_a_program_imports_nothing_from_its_folder(case: str, tmp_path: Path) -> None:
    folder, elsewhere = tmp_path / "program", tmp_path / "elsewhere"
    folder.mkdir()
    elsewhere.mkdir()
    program = written(case, folder)
    for name in sys.stdlib_module_names:
        (folder / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'a').write({name!r})\n", encoding="utf-8")
    (elsewhere / "answers").write_text("1 no\n", encoding="utf-8")
    for words in CALLS.get(case, [["run"], ["status"], ["run", "--help"]]):
        subprocess.run([sys.executable, program, *words], cwd=elsewhere, stdin=subprocess.DEVNULL, check=False)
        assert not (tmp_path / "ran").exists(), (tmp_path / "ran").read_text(encoding="utf-8")
    if case == "script":
        (elsewhere / "re.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'a')\n", encoding="utf-8")
        environment = {**os.environ, "PYTHONPATH": str(elsewhere)}
        subprocess.run([sys.executable, program, "--help"], cwd=elsewhere, env=environment, check=False)
        assert (tmp_path / "ran").exists(), "it would be noticed"


def test_the_part_for_workflows_runs_in_the_program(tmp_path: Path) -> None:
    words = [sys.executable, "-I", str(written("github", tmp_path)), "status"]
    assert subprocess.run(words, cwd=tmp_path, capture_output=True, check=False).returncode == 0


WHOLE = [case for case in CASES if case not in ("shared", "shared traces", "make", "github")]
"""The programs whose runtime is in them."""


def edition_in(text: str) -> str:
    return text.partition(", edition ")[2].partition(" ")[0]


def output_of(command: str, path: Path) -> str:
    words = ["sh", "-c", command.replace("FILE", '"$1"'), "sh", str(path)]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.parametrize("case", WHOLE)
def test_the_header_checks_the_runtime_without_rdc(case: str, tmp_path: Path) -> None:
    """Its commands print the hashes that it shows, and those of `rdc runtime`. A change of the runtime changes them."""
    path = written(case, tmp_path)
    text = path.read_text(encoding="utf-8")
    checks = re.findall(r"^#   (sed .*)\n#   ([0-9a-f]{64}  -)$", text, re.MULTILINE)
    names = [edition_in(text), *([f"dbos-{edition_in(text)}"] if case.startswith("worker") else [])]
    names += [case] * (case == "traces")
    assert [shown for _, shown in checks] == [f"{sha256_of_text(name)}  -" for name in names]
    assert [output_of(command, path) for command, _ in checks] == [shown for _, shown in checks]
    for name, (command, shown) in zip(names, checks, strict=True):
        path.write_text("".join(text.rsplit(text_of(name).splitlines(keepends=True)[-2], 1)), encoding="utf-8")
        assert output_of(command, path) != shown


@pytest.mark.parametrize("case", WHOLE)
def test_the_line_above_the_modules_says_how_many_lines_are_in_them(case: str) -> None:
    lines = texts(case)["program.py"].splitlines()
    at = len(lines) - lines[::-1].index("# BEGIN RUNTIME") - 1
    last = max(number for number, line in enumerate(lines) if line.startswith("# END "))
    assert f" {last - at + 1:,} lines are the same in " in " ".join(lines[at - 8 : at])


@pytest.mark.parametrize("case", CASES)
def test_comments_are_short_and_break_no_code_span(case: str) -> None:
    text = texts(case)[next(iter(texts(case)))]
    header, below = text.partition("\n\n")[0], re.findall(r"^# -{9,}\n((?:#.*\n)*?)# -{9,}\n", text, re.MULTILINE)
    lines = [*header.splitlines(), *below[0].splitlines()]
    assert len(lines) > 9
    assert not [line for line in lines if len(line) > 120 or line.count("`") % 2]
