"""What is given to others: the wheel, the release and the demo."""

import hashlib
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from compiler.diagnostics.model import CODES
from compiler.frontends import FRONT_ENDS
from compiler.version import __version__
from tests.conftest import ROOT
from tests.support.cli import Result, call, environment, executed
from tests.support.once import shared
from tests.support.published import commit_all, git, needed, published, wheel

pytestmark = pytest.mark.process

STEM = f"rundown_compiler-{__version__}"
"""How the names of the wheel and of its metadata begin."""

READ = {".md", ".py", ".jinja", ".yml", ".mk", ".sh", ".toml"}

UV = Path(sys.executable).with_name("uv")


def run(*words: str | Path, cwd: Path) -> Result:
    """Run a process that finds nothing of this environment by variables."""
    hidden = ("PYTHON", "VIRTUAL_ENV", "RDC_")
    visible = {name: value for name, value in os.environ.items() if not name.startswith(hidden)}
    command = [str(word) for word in words]
    done = subprocess.run(command, cwd=cwd, env=visible, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    return Result(done.returncode, done.stdout.decode(), done.stderr.decode())


def done(*words: str | Path, cwd: Path) -> Result:
    result = run(*words, cwd=cwd)
    assert result.code == 0, result.out + result.err
    return result


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the commands of an environment that has the wheel and what it depends on, and nothing else."""
    folder = tmp_path_factory.mktemp("environment")
    place = folder / "venv"
    python = place / "bin" / "python"
    if UV.exists():
        done(UV, "venv", "--quiet", "--python", sys.executable, place, cwd=folder)
        if run(UV, "pip", "install", "--quiet", "--python", python, wheel(), cwd=folder).code == 0:
            return python.parent
    done(sys.executable, "-m", "venv", "--clear", place, cwd=folder)
    done(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel(), cwd=folder)
    return python.parent


def test_the_wheel_holds_what_is_read_at_run_time() -> None:
    names = set(zipfile.ZipFile(wheel()).namelist())
    folders = ("rdc", "compiler", "grammars", "backends", "runtime_shim")
    tree = {
        path.relative_to(ROOT).as_posix()
        for folder in folders
        for path in (ROOT / folder).rglob("*")
        if path.is_file()
        and path.suffix in (*READ, ".lark", ".json", ".typed", ".ttf", ".txt", ".yaml", ".html", ".css", ".js")
    }
    assert tree <= names, sorted(tree - names)
    assert {f"grammars/{file}" for form in FRONT_ENDS.values() for file in form.grammars} <= names
    assert "runtime_shim/engine/session.py" in names
    assert "backends/python/templates/program.py.jinja" in names
    assert {f"compiler/diagnostics/explanations/{code}.md" for code in CODES} <= names
    assert wheel().name == f"{STEM}-py3-none-any.whl", "on PyPI `rdc` is another project's"
    metadata = zipfile.ZipFile(wheel()).read(f"{STEM}.dist-info/METADATA").decode().splitlines()
    assert {"Name: rundown-compiler", "Provides-Extra: act", "Provides-Extra: graph"} <= set(metadata)
    assert f"dist/{wheel().name}[graph]" in (ROOT / "README.md").read_text(encoding="utf-8")
    strange = {name for name in names if name.split("/", 1)[0] not in (*folders, f"{STEM}.dist-info")}
    assert not strange


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


@pytest.mark.soak
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
    done(rdc, "init", "shop", "--source", wheel(), cwd=tmp_path)
    assert done(rdc, "build", "--check", "--strict", cwd=tmp_path / "shop").err == "1 file up to date\n"


# --- `make release` makes the same bytes again, and refuses a tree that isn't a version -------------------------------


SECTION = f"## [{__version__}] - 2026-11-27\n\n- The first version.\n\n## [0.0.1]\n\n- Nothing.\n"


def release(folder: Path) -> tuple[int, str]:
    command = [sys.executable, "-m", "tools.release"]
    done = subprocess.run(command, cwd=folder, env=environment(), capture_output=True, encoding="utf-8", check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="module")
def tagged() -> Path:
    """A repository with a version, once for all tests."""

    def make(folder: Path) -> None:
        tree = folder / "rdc"
        published(tree)
        (tree / "CHANGELOG.md").write_text(f"# Changelog\n\n{SECTION}", encoding="utf-8")
        commit_all(tree)
        git(tree, "tag", f"v{__version__}")

    return shared("tagged", make) / "rdc"


@pytest.fixture
def clone(tagged: Path, tmp_path: Path) -> Path:
    git(tmp_path, "clone", "--quiet", tagged, "again")
    return tmp_path / "again"


@pytest.mark.soak
def test_a_release_is_the_same_bytes_again_with_and_without_its_tag(tagged: Path, clone: Path) -> None:
    released = clone.with_name("first")
    git(clone.parent, "clone", "--quiet", tagged, released.name)
    code, output = release(released)
    assert code == 0, output
    made = {path.name: path.read_bytes() for path in (released / "dist").iterdir()}
    wheel, sdist = f"rundown_compiler-{__version__}-py3-none-any.whl", f"rundown_compiler-{__version__}.tar.gz"
    assert set(made) == {wheel, sdist, "SHA256SUMS", "provenance.intoto.json", "NOTES.md"}
    subprocess.run(["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"], cwd=released / "dist", check=True)
    assert made["NOTES.md"].decode() == "- The first version.\n"
    statement = json.loads(made["provenance.intoto.json"])
    assert statement["_type"] == "https://in-toto.io/Statement/v1"
    assert statement["predicateType"] == "https://slsa.dev/provenance/v1"
    for subject in statement["subject"]:
        assert subject["digest"] == {"sha256": hashlib.sha256(made[subject["name"]]).hexdigest()}
    source, lock, *packages = statement["predicate"]["buildDefinition"]["resolvedDependencies"]
    assert source["digest"] == {"gitCommit": git(released, "rev-parse", "HEAD").strip()}
    assert lock["digest"]["sha256"] == hashlib.sha256((released / "requirements.lock").read_bytes()).hexdigest()
    assert "pkg:pypi/hatchling@" in " ".join(package["uri"] for package in packages)
    git(clone, "tag", "--delete", f"v{__version__}")
    assert release(clone) == (0, output)
    assert {path.name: path.read_bytes() for path in (clone / "dist").iterdir()} == made


def test_what_is_no_version_or_is_released_is_refused(clone: Path) -> None:
    (clone / "README.md").write_text("More.\n", encoding="utf-8")
    commit_all(clone)
    (clone / "new.txt").touch()
    git(clone, "tag", "v9.9.9")
    (clone / "CHANGELOG.md").write_text("# Changelog\n", encoding="utf-8")
    code, output = release(clone)
    assert code == 1
    assert "changes that no commit has" in output
    assert f"no section [{__version__}]" in output
    assert "v9.9.9, but the version is" in output
    assert "is on another commit" in output
    assert not (clone / "dist").exists()


# --- `make demo` installs only the packages that rdc needs at run time, in an environment of its own, -----------------


FEW_SECONDS = 25
"""How long a new user waits for the demo. The test counts processor time, since other processes change that less."""

FEW_MEGABYTES = 100


def entries(lock: str) -> list[str]:
    """Return the packages of a lock file, with their versions and conditions."""
    return re.findall(r"(?m)^(\S.*==.*?) *\\$", (ROOT / lock).read_text(encoding="utf-8"))


def names(packages: list[str]) -> set[str]:
    return {re.split(r"[ =]", package)[0] for package in packages}


def test_its_lock_has_only_what_rdc_needs_at_run_time() -> None:
    locked = entries("requirements-run.lock")
    assert names(locked) == needed("project", "dependencies"), "run `make lock`"
    assert set(locked) <= set(entries("requirements.lock")), "the same versions; run `make lock`"


def test_it_installs_only_its_lock() -> None:
    plan = executed(["make", "--dry-run", "--always-make", "demo"], cwd=ROOT).exits(0).out
    installed = [line for line in plan.splitlines() if "pip install" in line]
    assert [line.split()[-3:] for line in installed] == [["--require-hashes", "-r", "requirements-run.lock"]]
    assert ".venv/" not in plan


@pytest.mark.soak
def test_a_new_user_sees_it_soon(tmp_path: Path) -> None:
    clone, home = tmp_path / "clone", tmp_path / "home"
    published(clone)
    home.mkdir()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8"}
    done = subprocess.run(["make", "demo"], cwd=clone, env=env, capture_output=True, encoding="utf-8", check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "rdc: COMPLETE Renewed" in done.stdout
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < FEW_SECONDS
    demo = clone / "build" / "demo"
    folders = demo.glob("lib/python*/site-packages/*.dist-info")
    installed = {re.split(r"-\d", folder.name)[0].replace("_", "-").lower() for folder in folders}
    assert installed - {"pip", "setuptools"} == needed("project", "dependencies")
    assert sum(path.lstat().st_size for path in demo.rglob("*")) < FEW_MEGABYTES * 1_000_000


APP = """from rdc import api

run = api.start("deploy.runbook.md")
reveal_type(run.finished[0].seconds)
reveal_type(api.check("deploy.runbook.md").diagnostics[0].span)
reveal_type(api.compile("deploy.runbook.md", "python").files[0].data)
api.answer("deploy", 3)
"""


@pytest.mark.soak
def test_another_project_sees_the_types_of_the_api(scripts: Path, tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(APP, encoding="utf-8")
    mypy = (sys.executable, "-m", "mypy", "--strict", "--python-executable", scripts / "python")
    checked = run(*mypy, "app.py", cwd=tmp_path)
    lines = [line.removeprefix("app.py:") for line in checked.out.splitlines()]
    assert lines == [
        '4: note: Revealed type is "float"',
        '5: note: Revealed type is "compiler.text.source.Span | None"',
        '6: note: Revealed type is "bytes"',
        '7: error: Argument 1 to "answer" has incompatible type "str"; expected "Run"  [arg-type]',
        '7: error: Argument 2 to "answer" has incompatible type "int"; expected "str"  [arg-type]',
        "Found 2 errors in 1 file (checked 1 source file)",
    ]
