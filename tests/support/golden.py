"""The examples of rdc and the files that targets make of them: compiled once in a run of the tests."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from backends.registry import BACKENDS, load
from compiler.driver import compile_file
from compiler.ir.features import features_of
from compiler.ir.program import Program
from compiler.ir.tasks import Agent, Parallel, Tool
from tests.conftest import ROOT
from tests.support.cli import call
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

HASHES = "hashes.txt"

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


def listed(suffix: str) -> list[str]:
    """Return the paths of all golden files with this suffix, of which some are only hashes."""
    hashes = [line.split()[-1] for line in (GOLDEN / HASHES).read_text(encoding="utf-8").splitlines()]
    texts = [path.relative_to(GOLDEN).as_posix() for name in IN_FULL for path in (GOLDEN / name).rglob("*.*")]
    return sorted(path for path in hashes + texts if path.endswith(suffix))


def of(path: str) -> Path:
    """Return the whole generated file of a golden path."""
    return workflows().get(path) or emitted() / path
