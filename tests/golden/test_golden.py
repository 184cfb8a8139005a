"""The files that rdc generates from the examples: twelve examples as text, the others as hashes.

`golden/<name>/<name>.<suffix>` has what is its own, `golden/shared/` has what many files share, and `golden/hashes.txt`
has a line for each file of the other examples. `make golden` writes them again, by the command line. Every interpreter
here compiles the Python programs among them; the oldest and the newest run one.
"""

from __future__ import annotations

import ast
import os
import subprocess
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode
from syrupy.location import PyTestLocation
from syrupy.types import SnapshotIndex

from backends.registry import BACKENDS, load
from compiler.driver import compile_file
from compiler.ir.features import Feature, features_of
from compiler.ir.program import Program
from compiler.ir.tasks import Agent, Parallel, Tool
from tests.conftest import ROOT
from tests.golden.pieces import SHARED, hashed, taken_apart
from tests.support.cli import call
from tests.support.interpreters import ENDS, VERSIONS, end_of_support, interpreter
from tests.support.once import shared
from tests.support.text_form import to_text_form

GOLDEN = ROOT / "golden"
EXAMPLES = sorted((ROOT / "examples").glob("*.runbook.md"))
NAMES = [path.name.removesuffix(".runbook.md") for path in EXAMPLES]

# Programs as JSON, playbooks, agent workflows and step specifications: each becomes a file of the targets that carry
# all that it uses.
CALLING = {
    path.name.removesuffix(suffix): path.relative_to(ROOT).as_posix()
    for suffix in (".program.json", ".playbook.md", ".workflow.yaml", ".stepspec.yaml", ".stepspec.json")
    for path in sorted(ROOT.glob(f"examples/*/*{suffix}"))
}
PROGRAMS = list(CALLING)

OLDEST = (3, 9)

HASHES = "hashes.txt"

MOST_LINES = 16_000
"""A reviewer reads what changes in `golden`, so it stays small."""

IN_FULL = (
    "code-review",  # a question to a person, and a worker
    "deploy-with-rollback",  # GOTO and retries
    "process-inbox",  # a loop over files
    "canary-rollout",  # a loop with a counter, and the script edition
    "release",  # runbooks that call runbooks
    "database-migration",  # prompts for agents and for environments
    "nightly-cleanup",  # a plain Makefile
    "change-review",  # a playbook
    "dependency-update",  # an agent workflow with a gate
    "plan-product",  # a step specification
    "hello-steps",  # a small step specification in JSON
    "release-notes",  # a program in JSON with parallel agents
)
"""The examples whose files are golden as text: each teaches something that the others don't."""

# The text form of a program says the same as its JSON, in a quarter of the lines.
AS_JSON = {"code-review", "change-review", "release-notes", "hello-steps"}

# Examples whose worker is golden: with questions, with a gate, and a specification. Others differ in what the Python
# program shows.
AS_WORKERS = {"code-review", "dependency-update", "plan-product"}

# How the run of an example ends if it is not with COMPLETE.
STOPS = {"preflight-checks"}

# What a run of an example is given, and the secrets that must be set.
INPUTS = {"tagged-release": ["--input", "VERSION=1.5.0"]}
SECRETS = {"REPORT_TOKEN": "a token of nobody"}

NO_OPTIONS: Mapping[str, object] = {}

# What workflows of programs call has to be named.
CALLS: Mapping[str, object] = {"agent": "claude -p --permission-mode acceptEdits"}
TOOLS = {"github": ".github/call-github.sh", "metrics": ".github/call-metrics.sh"}


def given(name: str, target: str) -> Mapping[str, object]:
    """The options that an example is compiled with."""
    if target != "github" or name not in PROGRAMS:
        return NO_OPTIONS
    tasks = [node.task for node in program(name).nodes]
    called = {task.connection for task in tasks if isinstance(task, Tool)}
    tools = {tool: command for tool, command in TOOLS.items() if tool in called}
    agents = CALLS if any(isinstance(task, Agent | Parallel) for task in tasks) else {}
    return {**agents, "tools": tools} if tools else agents


# Files with other than the default options: the target and its options, by what the name of the file adds.
VARIANTS: Mapping[str, Mapping[str, tuple[str, Mapping[str, object]]]] = {
    "canary-rollout": {"script": ("python", {"runtime": "script"})},
    "database-migration": {
        "agent": ("github", {"prompts": "agent", "agent": "claude --print", "secrets": ["ANTHROPIC_API_KEY"]}),
        "environment": ("github", {"prompts": "environment"}),
    },
    "nightly-cleanup": {"plain": ("make", {"form": "plain"})},
    "release-notes": {"matrix": ("github", {**CALLS, "parallel": "matrix"})},
}


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


def document(name: str) -> str:
    """The path of an example."""
    return CALLING.get(name) or f"examples/{name}.runbook.md"


@cache
def carrying(name: str) -> list[str]:
    """The targets that carry all that an example uses."""
    return [target for target in BACKENDS if features_of(program(name)) <= load(target).features]


@cache
def program(name: str) -> Program:
    """The program of an example, compiled as from the root of the project."""
    compiled = compile_file(document(name)).program
    assert compiled
    return compiled


def compiled(name: str, target: str, file: Path, options: Mapping[str, object]) -> None:
    """Have the command line compile an example."""
    words = [word for key, value in options.items() for word in ("-O", f"{key}={value}")]
    result = call("compile", document(name), "--to", target, "-o", str(file), "-q", *words, cwd=ROOT)
    assert result.code == 0, result.out + result.err


def emit(folder: Path, names: Sequence[str] = ()) -> None:
    """Write what targets make of the examples: `<name>/<name>.<suffix>`, and companions beside these.

    A workflow is in a repository of its own, `<name>/<name>.github`, with the files that it calls.
    """
    for name in names or NAMES + PROGRAMS:
        (folder / name).mkdir()
        (folder / name / f"{name}.txt").write_bytes(to_text_form(program(name)).encode())
        for target in carrying(name) if name in AS_WORKERS else [each for each in carrying(name) if each != "dbos"]:
            compiled(name, target, place(folder, name, name, target), given(name, target))
        for variant, (target, options) in VARIANTS.get(name, {}).items():
            compiled(name, target, place(folder, name, f"{name}.{variant}", target), options)


def place(folder: Path, name: str, stem: str, target: str) -> Path:
    """Where the file of an example is."""
    file = f"{stem}{load(target).suffix}"
    if target != "github":
        return folder / name / file
    workflows = folder / name / f"{stem}.github" / ".github" / "workflows"
    workflows.mkdir(parents=True)
    return workflows / file


@cache
def workflows() -> Mapping[str, Path]:
    """The golden workflows, by their paths in `golden`; each is in a repository, with what it calls."""
    found = (path for name in NAMES + PROGRAMS for path in sorted((emitted() / name).glob("*.github/*/*/*.yml")))
    return {f"{path.relative_to(emitted()).parts[0]}/{path.name}": path for path in found}


@cache
def emitted() -> Path:
    """A folder with the whole files of all examples, laid out as in `golden`."""
    return shared("emitted", emit)


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
    found = (path for name in NAMES + PROGRAMS for path in (emitted() / name).glob("*") if path.is_file())
    kept = (path for path in found if path.suffix != ".json" or path.stem in AS_JSON)
    files = {path.relative_to(emitted()).as_posix(): path for path in kept} | dict(workflows())
    ordered = sorted(files, key=lambda path: ((NAMES + PROGRAMS).index(path.partition("/")[0]), len(path), path))
    return {path: files[path].read_bytes().decode() for path in ordered}


@cache
def golden_files() -> Mapping[str, str]:
    """Return the golden files, by path."""
    return taken_apart({path: text for path, text in generated().items() if path.partition("/")[0] in IN_FULL})


def listed(suffix: str) -> list[str]:
    """Return the paths of all golden files with this suffix, of which some are only hashes."""
    hashes = [line.split()[-1] for line in (GOLDEN / HASHES).read_text(encoding="utf-8").splitlines()]
    texts = [path.relative_to(GOLDEN).as_posix() for name in IN_FULL for path in (GOLDEN / name).iterdir()]
    return sorted(path for path in hashes + texts if path.endswith(suffix))


def of(path: str) -> Path:
    """Return the whole generated file of a golden path."""
    return workflows().get(path) or emitted() / path


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


def test_nothing_else_is_golden(pytestconfig: pytest.Config) -> None:
    wanted = {GOLDEN / path for path in (*golden_files(), HASHES)}
    if pytestconfig.option.update_snapshots:
        for path in sorted(GOLDEN.rglob("*"), reverse=True):
            if path.is_dir() and not any(path.iterdir()):
                path.rmdir()
            elif not path.is_dir() and path not in wanted:
                path.unlink()
    assert {path for path in GOLDEN.rglob("*") if not path.is_dir()} == wanted


def test_golden_files_are_few() -> None:
    assert set(IN_FULL) <= {*NAMES, *PROGRAMS}
    assert len(IN_FULL) == len(set(IN_FULL)) == 12
    lines = sum(path.read_bytes().count(b"\n") for path in GOLDEN.rglob("*") if path.is_file())
    assert lines <= MOST_LINES


def test_all_that_runbooks_use_is_carried_by_every_target() -> None:
    assert all(carrying(name) == list(BACKENDS) for name in NAMES)


def test_there_are_examples_enough() -> None:
    assert set.union(*(set(features_of(program(name))) for name in NAMES + PROGRAMS)) >= set(Feature)
    assert len(NAMES) >= 12
    assert {"deploy-with-rollback", "flaky-test", "process-inbox", "code-review", "release"} <= set(NAMES)


@pytest.mark.parametrize("suffix", [".py", ".mk", ".yml", ".dot", ".mmd"])
def test_sources_prove_them(suffix: str) -> None:
    files = sorted(str(path) for path in emitted().rglob(f"*{suffix}"))
    result = call("verify", *files, cwd=ROOT)
    assert (files != [], result.code) == (True, 0), [line for line in result.out.splitlines() if "what rdc" not in line]


@pytest.mark.parametrize("name", NAMES)
def test_syntax_is_that_of_the_oldest_python(name: str) -> None:
    ast.parse((emitted() / name / f"{name}.py").read_text(encoding="utf-8"), feature_version=OLDEST)


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
"""The runtimes of the examples are a few texts: each is compiled once."""


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.share(2)
def test_every_python_compiles_them(version: str) -> None:
    python = interpreter(version)
    if python is None:
        pytest.skip(f"no Python {version} here")
    files = [str(emitted() / name / f"{name}.py") for name in NAMES]
    subprocess.run([python, "-c", COMPILE_ALL, *files], check=True)


@pytest.mark.parametrize("version", VERSIONS[1:])
@pytest.mark.share(2)
def test_every_python_that_workers_need_compiles_them(version: str) -> None:
    python = interpreter(version)
    if python is None:
        pytest.skip(f"no Python {version} here")
    files = [str(emitted() / name / f"{name}_worker.py") for name in sorted(AS_WORKERS)]
    subprocess.run([python, "-c", COMPILE_ALL, *files], check=True)


@pytest.mark.parametrize("which", ENDS)
def test_the_oldest_and_the_newest_python_run_them(which: str, tmp_path: Path) -> None:
    python = end_of_support(which)
    code, last = run("code-review", tmp_path, python)
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
    done = subprocess.run(
        [python, str(emitted() / name / f"{name}.py"), "run", *INPUTS.get(name, []), *given],
        cwd=folder,
        env=environment | SECRETS,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stderr.decode().splitlines()[-1]
