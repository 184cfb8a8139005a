"""The files that rdc generates from the examples: twelve examples as text, the others as hashes.

`golden/<name>/<name>.<suffix>` has what is its own, `golden/shared/` has what many files share, and `golden/hashes.txt`
has a line for each file of the other examples. `make golden` writes them again, by the command line. Every interpreter
here compiles the Python programs among them; the oldest and the newest run one.
"""

import ast
import os
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode
from syrupy.location import PyTestLocation
from syrupy.types import SnapshotIndex

from backends.registry import BACKENDS, load
from compiler.ir.features import Feature, features_of
from tests.conftest import ROOT
from tests.golden.pieces import SHARED, hashed, taken_apart
from tests.support import warm
from tests.support.cli import call
from tests.support.golden import (
    AS_WORKERS,
    GOLDEN,
    HASHES,
    IN_FULL,
    INPUTS,
    NAMES,
    PROGRAMS,
    SECRETS,
    STOPS,
    carrying,
    emitted,
    program,
    workflows,
)
from tests.support.interpreters import ENDS, VERSIONS, end_of_support, interpreter

pytestmark = pytest.mark.process

OLDEST = (3, 9)
RUNTIME = "\n# The runtime of rdc "
"""What stands above the runtime in a Python program. The runtimes of the examples are a few texts."""

SUFFIXES = {Path(f"a{load(name).suffix}").suffix for name in BACKENDS if name != "json"}
"""Of the files that their sources prove."""

PICTURES = (GOLDEN / "page", GOLDEN / "editor")

MOST_LINES = 16_000
"""A reviewer reads what changes in `golden`, so it stays small."""

# The text form of a program says the same as its JSON, in a quarter of the lines.
AS_JSON = {"code-review", "change-review", "release-notes", "hello-steps"}


class GoldenFiles(SingleFileSnapshotExtension):
    """A snapshot is the file `golden/<its name>`, byte for byte."""

    _write_mode = WriteMode.TEXT

    @classmethod
    def get_location(cls, *, test_location: PyTestLocation, index: SnapshotIndex) -> str:
        return str(GOLDEN / str(index))

    @classmethod
    def matches_test_location(cls, *, test_location: PyTestLocation, snapshot_location: str) -> bool:
        return True

    def read_snapshot_data_from_location(
        self, *, snapshot_location: str, snapshot_name: str, session_id: str
    ) -> str | None:
        """As the file is: to open it as text would hide other line ends."""
        path = Path(snapshot_location)
        return path.read_bytes().decode() if path.is_file() else None


@pytest.fixture(autouse=True)
def _at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


@pytest.fixture
def golden(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    return snapshot.use_extension(GoldenFiles)


@cache
def generated() -> Mapping[str, str]:
    """Return all files that are golden, by path: in an order that changes little when an example is added.

    What Makefiles and workflows call is that of the Python target, with an edition beside it: neither is golden a
    second time.
    """
    patterns = ("*", "*/SKILL.md")
    folders = [emitted() / name for name in NAMES + PROGRAMS]
    found = (path for folder in folders for each in patterns for path in folder.glob(each) if path.is_file())
    stored = (path for path in found if path.suffix != ".json" or path.stem in AS_JSON)
    files = {path.relative_to(emitted()).as_posix(): path for path in stored} | dict(workflows())
    ordered = sorted(files, key=lambda path: ((NAMES + PROGRAMS).index(path.partition("/")[0]), len(path), path))
    return {path: files[path].read_bytes().decode() for path in ordered}


@cache
def golden_files() -> Mapping[str, str]:
    return taken_apart({path: text for path, text in generated().items() if path.partition("/")[0] in IN_FULL})


@pytest.mark.parametrize("name", [*IN_FULL, SHARED])
def test_golden_files(name: str, golden: SnapshotAssertion) -> None:
    mine = {path: text for path, text in golden_files().items() if path.startswith(f"{name}/")}
    assert mine
    for path, text in mine.items():
        assert text == golden(name=path)


def test_hashes_of_golden_files(golden: SnapshotAssertion) -> None:
    others = {path: text for path, text in generated().items() if path.partition("/")[0] not in IN_FULL}
    lines = [f"{hashed(text)}  {path}\n" for path, text in others.items()]
    file = GOLDEN / HASHES
    known = file.read_text(encoding="utf-8").splitlines(keepends=True) if file.exists() else []
    names = sorted({line.split()[-1].partition("/")[0] for line in {*lines} ^ {*known}})
    assert "".join(lines) == golden(name=HASHES), (
        f"to see how these files changed, run `.venv/bin/python -m tests.golden.difference {' '.join(names)}`"
    )


def test_nothing_else_is_golden_and_it_is_little(pytestconfig: pytest.Config) -> None:
    """The pictures of the page of `rdc view` and of VS Code are for people, and have tests of their own."""
    wanted = {GOLDEN / path for path in (*golden_files(), HASHES)} | {
        path for folder in PICTURES for path in folder.iterdir()
    }
    if pytestconfig.option.update_snapshots:
        for path in sorted(GOLDEN.rglob("*"), reverse=True):
            if path.is_dir() and not any(path.iterdir()):
                path.rmdir()
            elif not path.is_dir() and path not in wanted:
                path.unlink()
    assert {path for path in GOLDEN.rglob("*") if not path.is_dir()} == wanted
    assert set(IN_FULL) <= {*NAMES, *PROGRAMS}
    assert len(IN_FULL) == len(set(IN_FULL)) == 12
    texts = (path for path in wanted if path.suffix != ".png")
    assert sum(path.read_bytes().count(b"\n") for path in texts) <= MOST_LINES


def test_there_are_examples_enough_and_every_target_carries_all_that_runbooks_use() -> None:
    assert all(carrying(name) == list(BACKENDS) for name in NAMES)
    assert set.union(*(set(features_of(program(name))) for name in NAMES + PROGRAMS)) >= set(Feature)
    assert len(NAMES) >= 12
    assert {"deploy-with-rollback", "flaky-test", "process-inbox", "code-review", "release"} <= set(NAMES)


def test_sources_prove_them(is_whole: bool) -> None:
    files = sorted(str(path) for suffix in SUFFIXES for path in emitted().rglob(f"*{suffix}"))[:: 1 if is_whole else 7]
    result = call("verify", *files, cwd=ROOT)
    lines = result.out.splitlines()
    assert result.code == 0, [line for line in lines if "what rdc" not in line]
    assert {Path(file).suffix for file in files} == SUFFIXES


def test_syntax_is_that_of_the_oldest_python() -> None:
    texts = [(emitted() / name / f"{name}.py").read_text(encoding="utf-8").partition(RUNTIME) for name in NAMES]
    for part in {part for start, line, runtime in texts for part in (start, line + runtime)}:
        ast.parse(part, feature_version=OLDEST)


COMPILE_ALL = """
import sys, warnings
warnings.simplefilter("error")
seen = set()
for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as file:
        text = file.read()
    start = text.index("\\n# The runtime of rdc ")
    for part in (text[:start], text[start:]):
        if part not in seen:
            compile(part, path, "exec")
        seen.add(part)
"""


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.share(4)
def test_every_python_compiles_them(version: str) -> None:
    """DBOS needs a newer Python than the oldest one."""
    python = interpreter(version)
    if python is None:
        pytest.skip(f"no Python {version} here")
    workers = sorted(AS_WORKERS) if version != VERSIONS[0] else []
    files = [*(f"{name}.py" for name in NAMES), *(f"{name}_worker.py" for name in workers)]
    paths = [str(next(emitted().glob(f"*/{file}"))) for file in files]
    subprocess.run([python, "-c", COMPILE_ALL, *paths], check=True)


@pytest.mark.parametrize("which", ENDS)
def test_the_oldest_and_the_newest_python_run_them(which: str, tmp_path: Path) -> None:
    code, last = run("code-review", tmp_path, end_of_support(which))
    assert (code, last) == (0, "rdc: COMPLETE Approved")


@pytest.mark.share(2)
@pytest.mark.parametrize("name", NAMES)
def test_they_run_to_their_end(name: str, tmp_path: Path) -> None:
    code, last = run(name, tmp_path, "python3")
    expected = (1, "rdc: STOP") if name in STOPS else (0, "rdc: COMPLETE")
    assert (code, " ".join(last.split()[:2])) == expected
    assert last.split()[2:], "every end of an example has a message"


def run(name: str, folder: Path, python: str) -> tuple[int, str]:
    """Run the golden program of an example; gives the exit code and the last line of standard error."""
    answers = ROOT / "examples" / "answers" / f"{name}.txt"
    given = ["--answers", str(answers)] if answers.exists() else []
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("RDC_", "PYTHON"))}
    words = [python, str(emitted() / name / f"{name}.py"), "run", *INPUTS.get(name, []), *given]
    done = warm.run(words, cwd=folder, env=environment | SECRETS)
    return done.returncode, done.stderr.decode().splitlines()[-1]
