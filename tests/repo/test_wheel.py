"""The wheel that is built from the project works in an empty environment, with nothing of this tree in reach."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from compiler.diagnostics.model import CODES
from compiler.frontends import FRONT_ENDS
from compiler.version import __version__
from tests.conftest import ROOT
from tests.support.cli import call

STEM = f"rundown_compiler-{__version__}"
"""How the names of the wheel and of its metadata begin."""

READ = {".md", ".py", ".jinja", ".yml", ".mk", ".sh", ".toml"}

UV = Path(sys.executable).with_name("uv")


@dataclass(frozen=True)
class Result:
    """What came of a process."""

    code: int
    out: str
    err: str


def run(*words: str | Path, cwd: Path) -> Result:
    """Run a process that finds nothing of this environment by variables."""
    hidden = ("PYTHON", "VIRTUAL_ENV", "RDC_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(hidden)}
    done = subprocess.run(
        [str(word) for word in words],
        cwd=cwd,
        env=kept,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=300,
        check=False,
    )
    return Result(done.returncode, done.stdout.decode(), done.stderr.decode())


def done(*words: str | Path, cwd: Path) -> Result:
    """Run a process that must not fail."""
    result = run(*words, cwd=cwd)
    assert result.code == 0, result.out + result.err
    return result


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("dist")
    done(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", out, ROOT, cwd=out)
    (built,) = out.iterdir()
    return built


@pytest.fixture(scope="module")
def scripts(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the commands of an environment that has the wheel and what it depends on, and nothing else."""
    folder = tmp_path_factory.mktemp("environment")
    place = folder / "venv"
    python = place / "bin" / "python"
    if UV.exists():
        done(UV, "venv", "--quiet", "--python", sys.executable, place, cwd=folder)
        if run(UV, "pip", "install", "--quiet", "--python", python, wheel, cwd=folder).code == 0:
            return python.parent
    done(sys.executable, "-m", "venv", "--clear", place, cwd=folder)
    done(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel, cwd=folder)
    return python.parent


def test_the_wheel_holds_what_is_read_at_run_time(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    folders = ("rdc", "compiler", "grammars", "backends", "runtime_shim")
    tree = {
        path.relative_to(ROOT).as_posix()
        for folder in folders
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and path.suffix in (*READ, ".lark", ".json", ".typed", ".ttf", ".txt", ".yaml")
    }
    assert tree <= names, sorted(tree - names)
    assert {f"grammars/{file}" for form in FRONT_ENDS.values() for file in form.grammars} <= names
    assert "runtime_shim/engine/session.py" in names
    assert "backends/python/templates/program.py.jinja" in names
    assert {f"compiler/diagnostics/explanations/{code}.md" for code in CODES} <= names
    strange = {name for name in names if name.split("/", 1)[0] not in (*folders, f"{STEM}.dist-info")}
    assert not strange


def test_the_distribution_has_a_name_of_its_own(wheel: Path) -> None:
    """On PyPI `rdc` is another project's."""
    assert wheel.name == f"{STEM}-py3-none-any.whl"
    metadata = zipfile.ZipFile(wheel).read(f"{STEM}.dist-info/METADATA").decode().splitlines()
    assert "Name: rundown-compiler" in metadata
    assert {"Provides-Extra: act", "Provides-Extra: graph"} <= set(metadata)
    assert f"dist/{wheel.name}[graph]" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_nothing_advises_to_install_what_is_not_there() -> None:
    """Neither the other project, nor this one from an index where it is not published."""
    folders = ("rdc", "compiler", "backends", "runtime_shim", "docs", "examples", "golden")
    texts = [ROOT / "README.md", *(path for folder in folders for path in (ROOT / folder).rglob("*.*"))]
    read = {path: path.read_text(encoding="utf-8", errors="replace") for path in texts if path.is_file()}
    wrong = re.compile(r"\brdc\[|install +['\"]?(?:rdc|rundown-compiler)\b(?! with)")
    assert not [path.name for path, text in read.items() if path.suffix in READ and wrong.search(text)]


def test_the_lock_file_has_all_that_the_project_asks_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    asked = [*project["project"]["dependencies"], *project["dependency-groups"]["dev"]]
    asked += [line for extra in project["project"]["optional-dependencies"].values() for line in extra]
    text = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    locked = dict(re.findall(r"^([\w.-]+)==([\w.]+)", text, re.MULTILINE))
    wanted = [Requirement(line) for line in asked]
    assert [str(one) for one in wanted if locked.get(one.name, "") not in one.specifier] == []
    assert not {"rdc", "rundown-compiler"} & locked.keys()


def test_rdc_works_in_an_empty_environment(scripts: Path, tmp_path: Path) -> None:
    rdc = scripts / "rdc"
    where = done(scripts / "python", "-c", "import compiler; print(compiler.__file__)", cwd=tmp_path).out
    assert where.startswith(str(scripts.parent)), "it is the wheel that is tested"
    assert done(rdc, "--version", cwd=tmp_path).out == f"rdc {__version__}\n"
    shutil.copytree(ROOT / "examples", tmp_path, dirs_exist_ok=True)
    done(rdc, "check", *sorted(path.name for path in tmp_path.glob("*.runbook.md")), cwd=tmp_path)
    source = tmp_path / "flaky-test.runbook.md"
    (tmp_path / "bad.runbook.md").write_text("# Bad\n\n## 1. Step\n\n- PASS: GOTO 9\n", encoding="utf-8")
    found = run(rdc, "check", "bad.runbook.md", cwd=tmp_path)
    assert (found.code, "error[RD201]" in found.err) == (1, True), found.out + found.err
    assert done(rdc, "explain", "RD201", cwd=tmp_path).out.startswith("# RD201")
    assert "python" in done(rdc, "targets", cwd=tmp_path).out
    tried = done(rdc, "test", "deploy-with-rollback.runbook.md", "--on", "python", "--on", "make", cwd=tmp_path)
    assert tried.out.splitlines()[-1] == "6 passed"
    done(rdc, "compile", source.name, "--to", "python", "-o", "flaky-test.py", cwd=tmp_path)
    here = call("compile", source.name, "--to", "python", "-o", "-", cwd=tmp_path)
    assert (tmp_path / "flaky-test.py").read_text(encoding="utf-8") == here.out
    runs = [tmp_path / "by_itself", tmp_path / "in_place"]
    for folder in runs:
        folder.mkdir()
    first = done(tmp_path / "flaky-test.py", "run", cwd=runs[0])
    second = done(rdc, "run", source, cwd=runs[1])
    assert first.err.splitlines()[-1] == second.err.splitlines()[-1] == "rdc: COMPLETE All tests passed"


def test_a_new_project_is_current_in_an_empty_environment(scripts: Path, wheel: Path, tmp_path: Path) -> None:
    done(scripts / "rdc", "init", "shop", "--source", wheel, cwd=tmp_path)
    checked = done(scripts / "rdc", "build", "--check", "--strict", cwd=tmp_path / "shop")
    assert checked.err == "1 file up to date\n"


APP = """from rdc import api

run = api.start("deploy.runbook.md")
reveal_type(run.finished[0].seconds)
reveal_type(api.check("deploy.runbook.md").diagnostics[0].span)
reveal_type(api.compile("deploy.runbook.md", "python").files[0].data)
api.answer("deploy", 3)
"""


def test_another_project_sees_the_types_of_the_api(scripts: Path, tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(APP, encoding="utf-8")
    checked = run(
        sys.executable, "-m", "mypy", "--strict", "--python-executable", scripts / "python", "app.py", cwd=tmp_path
    )
    lines = [line.removeprefix("app.py:") for line in checked.out.splitlines()]
    assert lines == [
        '4: note: Revealed type is "float"',
        '5: note: Revealed type is "compiler.text.source.Span | None"',
        '6: note: Revealed type is "bytes"',
        '7: error: Argument 1 to "answer" has incompatible type "str"; expected "Run"  [arg-type]',
        '7: error: Argument 2 to "answer" has incompatible type "int"; expected "str"  [arg-type]',
        "Found 2 errors in 1 file (checked 1 source file)",
    ]
