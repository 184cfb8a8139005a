"""Test scenarios: by the semantics, and on targets in temporary folders."""

import json
import os
import shlex
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path

from msgspec.structs import replace

from backends.registry import load
from compiler.driver import Compilation
from compiler.ir.program import Program, check_of
from compiler.ir.semantics import Machine, Outcome
from compiler.ir.tasks import Agent, Ask, Gate, Parallel, Shell, Tool, agents_of
from compiler.ir.texts import text
from compiler.project.project import open_project
from compiler.scenarios.mock import DONE, MockRun, mock
from compiler.scenarios.model import Goto, Reply, ScenarioAnswer
from compiler.text.regex import Regex
from rdc.calls.mock import mock_command
from rdc.documents.git import PRESENT, RevisionError, files_of
from rdc.output.target_options import table_of
from rdc.testing import JUMPING, TARGETS
from rdc.testing.result import Result, Status, judge, retrace, shows_values
from rdc.testing.run import Run, Setting, TargetTestError

SEMANTICS = "semantics"

LEFT_OUT = {".git", ".rdc"}
"""Folders that aren't part of a project: Git's data, and the state of runs."""

_PLAIN = Regex(r"[A-Za-z0-9/._-]+")


def try_scenarios(compilation: Compilation, targets: Sequence[str], timeout: float) -> Iterator[Result]:
    """Test each scenario of a valid document, by the semantics and on targets; raises `MissingToolError`."""
    program = compilation.program
    assert program is not None  # noqa: S101 (for mypy)
    for scenario in compilation.scenarios:
        mock_run = mock(program, scenario)
        base = Result(compilation.path, scenario, SEMANTICS, Status.SKIPPED, program, mock_run.path)
        if not (targets and mock_run.needs_commands):
            yield _by_semantics(base, mock_run)
        if mock_run.message and not mock_run.needs_commands:
            continue  # a target would have no answers
        for target in targets:
            yield _on_target(replace(base, on=target), mock_run, compilation, timeout)


def _by_semantics(base: Result, mock_run: MockRun) -> Result:
    if mock_run.needs_commands:
        return replace(base, message="it runs commands; use --on to test it")
    if mock_run.message:
        return replace(base, status=Status.FAILED, message=mock_run.message)
    status, ended, problem = judge(base.scenario, Machine(base.program), mock_run.path)
    return replace(base, status=status, ended=ended, message=problem)


def _on_target(base: Result, mock_run: MockRun, compilation: Compilation, timeout: float) -> Result:
    if problem := _untestable(base, mock_run):
        return replace(base, message=problem)
    began = time.monotonic()
    try:
        run = _run(base, mock_run, compilation, timeout)
    except TargetTestError as error:
        return replace(base, status=Status.FAILED, message=str(error), seconds=time.monotonic() - began)
    machine = Machine(base.program)
    path, parted = retrace(machine, run, mock_run.path)
    done = replace(base, path=path, seconds=time.monotonic() - began)
    if parted:
        about = path.state.node if run.result == "WAITING" else run.message
        ended = f"{run.result} {about}".strip() if run.result else ""
        return replace(done, status=Status.FAILED, ended=ended, message=parted)
    status, ended, problem = judge(base.scenario, machine, path)
    if mock_run.needs_commands and shows_values(machine, path.state.node):
        ended = f"{run.result} {run.message}".rstrip()  # outputs of commands aren't known in advance
    return replace(done, status=status, ended=ended, message=problem)


def _untestable(base: Result, mock_run: MockRun) -> str:
    """Return why a scenario can't be tested on a target, or ""."""
    jump = next(iter(base.scenario.jumps), None)
    if jump and base.on not in JUMPING:
        return f"the target {base.on} does not support `{jump.spelled}`"
    if jump and not mock_run.needs_commands and any(made.outcome.values for made in mock_run.path.visits):
        return "a scenario with outputs and jumps cannot be tested on a target"
    if base.program.stepspec:
        return "a step specification cannot be tested on a target"
    gate = next((node.id for node in base.program.nodes if isinstance(node.task, Gate)), "")
    if gate and base.on not in JUMPING:
        return f"the gate {gate} cannot be approved on this machine"
    return ""


def _run(base: Result, mock_run: MockRun, compilation: Compilation, timeout: float) -> Run:
    """Run the generated program in a temporary folder. In a mock run it executes nothing of the document."""
    target = import_module(TARGETS[base.on])
    options = table_of(load(base.on), compilation.tables).values
    program, scenario, is_mock = base.program, base.scenario, not mock_run.needs_commands
    *legs, last = _answers(base, mock_run)
    speaks = is_mock and not legs and _speaks(program)
    answers = (*legs, () if speaks else last)  # then the replies have it
    # Make doesn't support spaces in paths, so the folder must not have special characters.
    folders = (tempfile.gettempdir(), "/tmp", "/var/tmp")  # noqa: S108 (a private folder is made there)
    home = next((folder for folder in folders if _PLAIN.fullmatch(folder) and os.access(folder, os.W_OK)), None)
    with tempfile.TemporaryDirectory(prefix="rdc-", dir=home, ignore_cleanup_errors=True) as private:
        scratch, workspace = Path(private, "scratch"), Path(private, "workspace")
        scratch.mkdir()
        workspace.mkdir()
        if not is_mock:
            workspace = copied(Path(open_project(compilation.path).root), workspace)
        elif not legs:
            program = with_stubs(program, scratch, mock_run.outcomes(program, of_commands=True))
        program = replace(program, rules=tuple(replace(rule, persons=()) for rule in program.rules))  # mocks answer
        setting = Setting(
            harmless(program, sleeps=base.on == "github"),  # act runs the workflow with its pauses
            options,
            answers,
            workspace,
            scratch,
            timeout,
            is_mock,
            jumps=tuple(jump.step for jump in scenario.jumps[: len(legs)]),
            is_prompted=is_mock and bool(legs),
            inputs=scenario.inputs,
            replies=mock_run.replies(program) if speaks else (),
            mocks=with_answers(program, scratch, mock_run.calls),
            needs_program=any(node.settings.delay for node in program.nodes) or bool(program.notify),
        )
        run: Run = target.run(setting)
        return run


def _speaks(program: Program) -> bool:
    return any(
        isinstance(node.task, Agent | Parallel | Tool)
        or (isinstance(node.task, Ask) and node.task.question in ("input", "select", "confirm", "value"))
        for node in program.nodes
    )


def _answers(base: Result, mock_run: MockRun) -> tuple[tuple[str, ...], ...]:
    """Return the answers before each jump and after the last one: to all steps in a mock run, otherwise to prompts."""
    if not mock_run.needs_commands:
        if base.scenario.jumps:
            return mock_run.legs(base.program)
        return (tuple(outcome.word for outcome in mock_run.outcomes(base.program, of_commands=False)),)
    legs: list[tuple[str, ...]] = [()]
    for event in base.scenario.replies:
        if isinstance(event, Goto):
            legs.append(())
        elif isinstance(event, Reply):
            legs[-1] = (*legs[-1], event.line)
    return tuple(legs)


# --- Programs that execute nothing of the document -------------------------------------------------------------------

# Takes the first line of the outcomes, writes the outputs in its file, and returns its outcome.
_SCRIPT = """\
cd -- "$(dirname -- "$0")" || exit
read -r outcome values < outcomes
sed 1d outcomes > rest && mv rest outcomes
[ -z "$values" ] || cat "$values" >> "$RDC_OUTPUT"
[ "$outcome" = pass ]
"""


def with_stubs(program: Program, folder: Path, outcomes: Sequence[Outcome]) -> Program:
    """Return the program with commands that return these outcomes in order. They are stored in the folder."""
    lines = [outcome.word for outcome in outcomes]
    for number, outcome in enumerate(outcomes):
        if outcome.values:
            output = "".join(f"{name}={value}\n" for name, value in outcome.values)
            (folder / f"values.{number}").write_bytes(output.encode())
            lines[number] += f" values.{number}"
    (folder / "outcomes").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    script = folder / "stub.sh"
    script.write_text(_SCRIPT, encoding="utf-8")
    command = text(shlex.join(["sh", str(script)]))
    nodes = tuple(
        replace(node, task=replace(node.task, command=command)) if isinstance(node.task, Shell) else node
        for node in program.nodes
    )
    return replace(program, nodes=nodes)


def harmless(program: Program, *, sleeps: bool) -> Program:
    """Return the program without notices to people, and without delays between attempts unless it `sleeps`."""
    nodes = (replace(node, settings=replace(node.settings, delay=0, backoff=1)) for node in program.nodes)
    return replace(program, notify="", nodes=program.nodes if sleeps else tuple(nodes))


def with_answers(program: Program, folder: Path, said: Sequence[ScenarioAnswer]) -> dict[str, str]:
    """Return the commands of `rdc mock` that replace the agents ("") and each connection's tools.

    Each has its own file, because connections may have tools of the same name.
    """
    tasks = {node.id: node.task for node in program.nodes}
    files: dict[str, dict[str, dict[str, list[object]]]] = {}
    for task in tasks.values():
        if isinstance(task, Agent | Parallel | Tool):
            files.setdefault(task.connection if isinstance(task, Tool) else "", {"agents": {}, "tools": {}})
    for one in said:
        file, kind, name = "", "agents", one.step
        called = tasks.get(one.step)
        if isinstance(called, Tool):
            file, kind, name = called.connection, "tools", f"{called.connection}/{called.tool}"
        files[file][kind].setdefault(name, []).append({"fail": ""} if one.text is None else one.text)
    commands = {}
    for number, (connection, mocks) in enumerate(files.items()):
        path = folder / f"mocks.{number}.json"
        path.write_text(json.dumps(mocks), encoding="utf-8")
        commands[connection] = mock_command(path)
    callers = [node for node in program.nodes if agents_of(node.task)]
    if callers and all(map(check_of, callers)):
        commands[""] = f"echo {DONE}"  # a run with commands may call them more often than the scenario shows
    return commands


# --- Folders ---------------------------------------------------------------------------------------------------------


def copied(root: Path, target: Path) -> Path:
    """Copy a project, and return the folder in the copy that corresponds to the current one.

    Files that Git ignores are left out, as in a workflow. Links stay links; other special files are left out. Raises
    `TargetTestError` if the copy cannot be made.
    """
    try:
        for name in _files(root):
            _copy(root / name, target / name)
        here = Path.cwd().resolve()
        place = target / here.relative_to(root) if here.is_relative_to(root) else target
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise TargetTestError(f"cannot copy the project: {error}") from None
    return place


def _files(root: Path) -> Iterator[str]:
    """Yield the files of a project: the files that Git includes, or all files outside a repository."""
    try:
        yield from files_of(root, PRESENT)
    except RevisionError:
        for folder, folders, names in os.walk(root):
            folders[:] = [name for name in folders if name not in LEFT_OUT]
            links = [name for name in folders if Path(folder, name).is_symlink()]
            yield from (os.path.relpath(os.path.join(folder, name), root) for name in (*names, *links))  # noqa: PTH118


def _copy(source: Path, target: Path) -> None:
    try:
        mode = source.lstat().st_mode
    except FileNotFoundError:
        return  # it is in Git's index, but was deleted
    if stat.S_ISREG(mode) or stat.S_ISLNK(mode):
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target, follow_symlinks=False)
