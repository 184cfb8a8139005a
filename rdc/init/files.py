"""The first files of a project: as text, compared with the existing ones, and written."""

import json
import os
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from backends.registry import load
from compiler.frontends import FRONT_ENDS, all_options, endings
from compiler.project.configuration import read_configuration
from compiler.project.project import CONFIGURATION, Project
from compiler.version import __version__
from rdc.documents.plan import SERVED, Rule, files_below, plan
from rdc.documents.rules import rules
from rdc.output.write import File, write_all


class Kind(Struct, frozen=True):
    """A kind of document: the name of its front end, and the template of the first document."""

    form: str
    document: str
    has_agents: bool = False


KINDS = {
    "runbook": Kind("rundown", "conflict-markers.runbook.md"),
    "playbook": Kind("playbook", "describe-change.playbook.md", has_agents=True),
    "agent-workflow": Kind("agent_workflow", "describe-and-check.workflow.yaml", has_agents=True),
    "specification": Kind("stepspec", "list-files.stepspec.yaml"),
}


DRAFTED = "runbook"
"""The kind of documents that pages become."""

WORKFLOWS = ".github/workflows/"
CHECK = f"{WORKFLOWS}rdc.yml"

_TEMPLATES = Path(__file__).parent / "templates"


class Wanted(Struct, frozen=True):
    """The request of a person: a key of `KINDS`, a target, the source of rdc for CI, and imported drafts."""

    kind: str
    target: str
    source: str = ""
    drafts: tuple[File, ...] = ()


class Starter(Struct, frozen=True):
    """A file to write if none of `paths` exists. It is written to the first path.

    An existing file stays. If it lacks one of `needs`, a person must add `lines`.
    """

    paths: tuple[str, ...]
    text: str
    needs: tuple[str, ...] = ()
    lines: str = ""


def folder_of(kind: str) -> str:
    """Return the folder of the first documents of a kind."""
    return f"{kind}s"


def patterns(wanted: Wanted) -> tuple[str, ...]:
    """Return the patterns of all documents of a kind."""
    return tuple(f"**/*{suffix}" for suffix in FRONT_ENDS[KINDS[wanted.kind].form].suffixes)


def starters(wanted: Wanted, present: Sequence[str], configuration: str, own: Sequence[Rule]) -> list[Starter]:
    """Return the first files of a project."""
    kind = KINDS[wanted.kind]
    tables = own or [_rule(wanted)]
    is_new = not own and not plan(tables, present).tasks
    first = {f"{folder_of(wanted.kind)}/{kind.document}": _template(kind.document)} if is_new else {}
    if wanted.drafts:
        first = {file.path.as_posix(): file.data.decode() for file in wanted.drafts}
    built = plan(tables, [*present, *first]).tasks
    hooks = _template("pre-commit-config.yaml")
    workflow = _template("rdc.yml").replace("@CHECKOUT@", load("github").pins()["checkout"])
    workflow = workflow.replace("@SOURCE@", json.dumps(wanted.source))
    return [
        _configuration(wanted, configuration),
        *(Starter((path,), text) for path, text in first.items()),
        Starter((".pre-commit-config.yaml",), hooks, ("rdc-build",), hooks.partition("\n")[2]),
        Starter((CHECK,), workflow, ("rdc", "build --check"), workflow.partition("    steps:\n")[2]),
        *_dependabot(sorted({task.output for task in built if task.output.startswith(WORKFLOWS)})),
    ]


def _rule(wanted: Wanted) -> Rule:
    suffix = load(wanted.target).suffix
    out = f"{WORKFLOWS}{{name}}.yml" if wanted.target == "github" else ""
    return Rule(patterns(wanted), wanted.target, suffix, endings(), out, {}, CONFIGURATION, None)


_KEY = '"ANTHROPIC_API_KEY"'
_INSTALL = "npm install --global @anthropic-ai/claude-code"
_AGENT = f'{{ run = "claude-code", secrets = [{_KEY}], setup = [{{ run = "{_INSTALL}" }}] }}'


def _configuration(wanted: Wanted, path: str) -> Starter:
    rule = _rule(wanted)
    source = rule.patterns[0] if len(rule.patterns) == 1 else rule.patterns
    table = f"source = {json.dumps(source)}\nto = {json.dumps(rule.to)}\n"
    if rule.out:
        table += f"out = {json.dumps(rule.out)}\n"
    if rule.to == "github" and KINDS[wanted.kind].has_agents:
        table += f"options = {{ secrets = [{_KEY}], agent = {_AGENT} }} # the command that answers prompts\n"
    head = f'required-version = "=={__version__}"\nlogs = true # questions show the end of the output before them\n\n'
    name = "build" if path == CONFIGURATION else "tool.rdc.build"
    return Starter((path,), f"{head}[[build]]\n{table}", (f"[[{name}]]",), f"[[{name}]]\n{table}")


def _dependabot(workflows: Sequence[str]) -> list[Starter]:
    """Return the exclusion of generated workflows. Dependabot has no exceptions in patterns, so each file is listed."""
    if not workflows:
        return []
    lines = "".join(f"      - {json.dumps(path)}\n" for path in workflows)
    head = _template("dependabot.yml")
    missing = head.splitlines(keepends=True)[-1] + lines
    return [Starter((".github/dependabot.yml", ".github/dependabot.yaml"), head + lines, tuple(workflows), missing)]


def _template(name: str) -> str:
    return (_TEMPLATES / name).read_text(encoding="utf-8")


class Started(Struct, frozen=True):
    """The written files, the existing files, and the lines that these lack, all by path."""

    written: Sequence[str]
    kept: Sequence[str]
    lacking: Sequence[tuple[str, str]]


def start(root: str, wanted: Wanted) -> Started:
    """Write the first files of the project in the current folder, all or none.

    Raises:
        OSError: A file cannot be read or written; `filename` is its path.
    """
    configuration = read_configuration(Project(root), all_options())
    own = [rule for rule in rules(configuration)[0] if rule.to != SERVED]  # the build reports the errors
    path = next(iter(configuration.sources), CONFIGURATION)
    globs = [glob for rule in own for glob in rule.patterns] or patterns(wanted)
    every = starters(wanted, files_below(root, globs), path, own)
    there = {one: found for one in every if (found := next(filter(os.path.lexists, one.paths), ""))}
    new = [File(Path(one.paths[0]), one.text.encode()) for one in every if one not in there]
    write_all(new)
    return Started(
        [str(file.path) for file in new],
        list(there.values()),
        [(found, one.lines) for one, found in there.items() if _lacks(found, one.needs)],
    )


def _lacks(path: str, needs: Sequence[str]) -> bool:
    text = Path(path).read_text(encoding="utf-8", errors="replace") if needs else ""
    return not all(need in text for need in needs)
