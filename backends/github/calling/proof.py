"""Checks from its text what a workflow that calls the program does. Nothing in it is executed.

Only the loader runs code in a step, and it executes the bytes that it hashed. So a workflow is proven if each step has
this loader or is one that rdc writes, and passes only literal options to the program.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from typing import Any, get_args

from msgspec import Struct

from backends.companions import Companion
from backends.github.calling.program import PROGRAMS, WORKFLOWS, loader, publish_loader, publish_name
from backends.github.calling.surroundings import ASKED_LATER, remark
from backends.github.pins import pins
from backends.github.step import PLAIN_SHELL
from backends.python.edition import publisher
from backends.python.proof import Problem
from compiler.ir.program import Noun
from compiler.regex import Regex
from compiler.yaml_text import UnreadableError, load_value
from runtime_shim.targets.github.shown import OPEN

_PYTHON, _PLACE, _PIN, _KIND = "@PYTHON@", "@PLACE@", "0" * 64, "@KIND@"
_LOADER = Regex(
    re.escape(loader(_PYTHON, _PLACE, _PIN, _KIND))
    .replace(re.escape(_PYTHON), r"(?P<python>/[A-Za-z0-9_+./-]+)")
    .replace(re.escape(_PLACE), r"'(?P<place>[A-Za-z0-9_./-]+)'")
    .replace(_PIN, r"(?P<sha256>[0-9a-f]{64})")
    .replace(re.escape(_KIND), f"(?:{'|'.join(get_args(Noun))})")
)
_TOP = {"name", "run-name", "on", "permissions", "concurrency", "defaults", "jobs"}
_JOB = {
    "name",
    "needs",
    "if",
    "runs-on",
    "environment",
    "timeout-minutes",
    "permissions",
    "outputs",
    "strategy",
    "steps",
}
_STEP = {"name", "id", "if", "env", "run", "timeout-minutes"}
_ACTION = {"name", "id", "if", "uses", "with", "continue-on-error"}
_CHECKOUT = ({"persist-credentials": "false"}, {"persist-credentials": "false", "fetch-depth": "0"})
_ARTIFACT = {
    *("name", "path", "pattern", "run-id", "github-token", "merge-multiple", "overwrite", "retention-days"),
}  # fmt: skip
_CALLS = {"check", "open", "step", "entry", "changes", "close"}
_CALLERS = {"RDC_AGENT", "RDC_AGENTS", "RDC_EXECUTOR"}
_SECRET = Regex(r"\$\{\{ (?:contains\(fromJSON\('[\[\]0-9, ]*'\), matrix\.entry\) && )?secrets\.\w+(?: \|\| '')? \}\}")
_LOADED = Regex(r"(?i)(?:LD_|DYLD_|GLIBC|MALLOC_|PYTHON|GCONV|LOCPATH|BASH_|ENV$|PATH$).*")
_OF_PUBLISHER = {"TOKEN", "NUMBER", "FILE", "TITLE"}
_WAITS = {"shell": PLAIN_SHELL, "run": remark(ASKED_LATER)}


class Called(Struct, frozen=True):
    """The files that a workflow calls: the program with its required hash, and its companion files."""

    program: Companion
    sha256: str
    others: tuple[Companion, ...]
    is_known: bool
    """Whether all steps are ones that rdc writes."""


def called_by(text: str) -> Called | Problem | None:
    """Return what a workflow of this version calls, or None if it calls no separate program."""
    try:
        workflow = load_value(text)
    except UnreadableError:
        return Problem(1, "this is not valid YAML")
    shell = _shell(workflow)
    found = _LOADER.fullmatch(shell)
    if found is None:
        is_altered = "own['on_github']" in text and "RUNNER_TEMP" not in shell
        return Problem(1, "the loader is not the one that rdc writes") if is_altered else None
    assert isinstance(workflow, dict)  # noqa: S101 (tells mypy)
    place, others = found["place"], list[Companion]()
    if posixpath.normpath(place) != place or place.startswith(("/", "../")) or not place.endswith(".py"):
        return Problem(1, "the loader's path is not a program in the repository")
    publishers: set[str] = {publish_loader(found["python"], f"'{_beside(place)}'", kind) for kind in _KINDS}
    shells = [shell for job in _jobs(workflow) if (shell := _shell(job))]
    if publishers.intersection(shells):
        others.append(_companion(_beside(place), publisher()))
    is_known = set(workflow) <= _TOP and all(_is_known_job(job, publishers) for job in _jobs(workflow))
    return Called(_companion(place), found["sha256"], tuple(others), is_known)


_KINDS = ("changes", "comment", "pull-request", "summary")


def _beside(place: str) -> str:
    return posixpath.join(posixpath.dirname(place), publish_name())


def _companion(place: str, text: str = "") -> Companion:
    """Return a file by its path from the workflow. By default, it is in rdc's folder of the repository."""
    home = WORKFLOWS if posixpath.dirname(place) == PROGRAMS else ""
    return Companion(posixpath.relpath(place, WORKFLOWS), text, "program", home=home)


def _shell(part: Any) -> str:  # noqa: ANN401 (any value of YAML)
    """Return the shell that a workflow or job sets for its steps, or ""."""
    for key in ("defaults", "run", "shell"):
        part = part.get(key) if isinstance(part, dict) else None
    return part if isinstance(part, str) else ""


def _jobs(workflow: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    jobs = workflow.get("jobs")
    for job in jobs.values() if isinstance(jobs, dict) else ():
        yield job if isinstance(job, dict) else {}


def _is_known_job(job: Mapping[str, Any], publishers: set[str]) -> bool:
    steps = job.get("steps")
    is_publisher = _shell(job) in publishers and job["defaults"] == {"run": {"shell": _shell(job)}}
    if not isinstance(steps, list) or not set(job) - ({"defaults"} if is_publisher else set()) <= _JOB:
        return False
    return all(isinstance(step, dict) and _is_known(step, publishes=is_publisher) for step in steps)


def _is_known(step: Mapping[str, Any], *, publishes: bool) -> bool:
    if "uses" in step:
        return set(step) <= _ACTION and _is_known_action(str(step["uses"]), step.get("with"))
    if "shell" in step:
        return set(step) <= {"name", *_WAITS} and all(step.get(key) == text for key, text in _WAITS.items())
    env = step.get("env", {})
    if not set(step) <= _STEP or not isinstance(env, dict):
        return False
    if publishes:
        return set(env) <= _OF_PUBLISHER
    words = str(env.get("RDC_CALL", "")).split()
    return words[:1] != [] and words[0] in _CALLS and all(_is_fine(name, str(value)) for name, value in env.items())


def _is_known_action(uses: str, inputs: Any) -> bool:  # noqa: ANN401 (any value of YAML)
    pin = next((pin for pin in pins().values() if pin.reference == uses), None)
    if pin is None or not isinstance(inputs, dict):
        return False
    given = {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in inputs.items()}
    if pin == pins()["checkout"]:
        return given in _CHECKOUT
    return set(given) <= _ARTIFACT and given.get("path", "").startswith("${{ runner.temp }}/rdc-")


def _is_fine(name: str, value: str) -> bool:
    """Return whether a variable is a literal that the program reads, or a secret that cannot load code."""
    if name.startswith("RDC_"):
        return name not in _CALLERS and (name != "RDC_OPTIONS" or OPEN not in value)
    return _SECRET.fullmatch(value) is not None and not _LOADED.fullmatch(name)
