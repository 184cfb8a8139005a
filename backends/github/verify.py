"""Checks from its text what a workflow that calls the program does. Nothing in it is executed.

Only the loader runs code in a step, and it executes the bytes that it hashed. So a workflow is proven if each step runs
this loader or is one that rdc writes, and passes only literal options to the program. rdc's own steps are compared as a
whole: with their conditions, inputs and variables.
"""

import json
import posixpath
import re
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Any

from msgspec import Struct

from backends.base import OutputFile, VerifyResult, VerifyStatus, changed_beside
from backends.github.calling import artifacts
from backends.github.calling.common import ASKED_LATER
from backends.github.calling.program import PROGRAMS, WORKFLOWS, loader, publish_name
from backends.github.options.model import GithubOptions
from backends.github.workflow.document import reviewers_step
from backends.github.yaml.model import CALLING_SHELL, Step
from backends.github.yaml.pins import pins
from backends.python.edition import publisher
from backends.python.verify import verify_called
from compiler.reading.yaml import UnreadableError, load_value
from compiler.text.regex import Regex
from compiler.text.source import sha256_of
from runtime_shim.targets.github.script import OPEN, SHOWN_AS

_PYTHON, _PLACE, _PIN = "/PYTHON", "PLACE", "0" * 64
_LOADER = Regex(
    re.escape(loader(_PYTHON, f"{_PLACE}/{_PLACE}", _PIN))
    .replace(re.escape(_PYTHON), r"(?P<python>/[A-Za-z0-9_+./-]+)")
    .replace(f"{_PLACE}/{_PLACE}", r"(?P<place>[A-Za-z0-9_./-]+)", 1)
    .replace(f"{_PLACE}/{_PLACE}", "(?P=place)")
    .replace(_PLACE, "[A-Za-z0-9_.-]+")
    .replace(_PIN, r"(?P<sha256>[0-9a-f]{64})")
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
_CHECKOUT = ({"persist-credentials": "false"}, {"persist-credentials": "false", "fetch-depth": "0"})
_CONDITIONS = {"check": "inputs.resume", "open": None, "entry": None, "changes": None, "close": "${{ !cancelled() }}"}
"""The conditions of steps that call the program. Those of `step` depend on the document."""

_CONDITION = Regex(
    r"(?:\$\{\{ )?(?:!cancelled\(\)|!?github\.(?:event\.[a-z_.]++|event_name|repository)|(?:contains|fromJSON)\("
    r"|'[^'\n$]*'|[!=]=|&&|\|\||(?:steps|needs)\.\w+\.(?:result|outputs\.\w++)|[(), ])+(?: \}\})?"
)
_VARIABLES = {
    "check": "RESUME EVENTS TOKEN",
    "open": "ANSWERS RESUME RERUN MISSING PLACE FORK TOKEN GATES REVIEWS ASKED JOINED RESULT ENVIRONMENT EVENTS "
    "OPTIONS",
    "step": "COMMAND PROMPT STEP OPTIONS GIVEN SECRETS",
    "entry": "PROMPT ENTRY OPTIONS SECRETS",
    "changes": "",
    "close": "ONWARD GATES APPROVED NAME CALLED BRANCH HEAD SECRETS",
}
"""The variables of each call, without `RDC_`."""

_VALUES = {
    **{f"RDC_{name.upper()}": re.escape(f"${{{{ inputs.{name} }}}}") for name in ("answers", "resume", "rerun")},
    "RDC_TOKEN": re.escape("${{ github.token }}"),
    "RDC_ENTRY": re.escape("${{ matrix.entry }}"),
    "RDC_APPROVED": re.escape("${{ steps.open.outputs.approved }}"),
    "RDC_REVIEWS": r"\$\{\{ needs\.\w+\.outputs\.reviews \}\}",
    "RDC_RESULT": r"\$\{\{ needs\.\w+\.result \}\}",
    "RDC_MISSING": r"(?:\$\{\{ secrets\.(?:\w+) == '' && '\w+ ' \|\| '' \}\})+",
    **dict.fromkeys(("RDC_BRANCH", "RDC_HEAD", "RDC_FORK"), r"\$\{\{ github\.[\w.!=|& ]+ \}\}"),
}
"""The values of variables that are expressions. All others are literal."""

_GIVEN = Regex(r"RDC_INPUT_\w+")
_INPUT = Regex(
    r"\$\{\{ (?:format\('\{0\}', )?(?:inputs|github\.event)\.[\w.-]+\)?(?: \|\| github\.event\.[\w.-]+)? \}\}"
)
_SECRET = Regex(r"\$\{\{ (?:contains\(fromJSON\('[\[\]0-9, ]*'\), matrix\.entry\) && )?secrets\.\w+(?: \|\| '')? \}\}")
_LOADED = Regex(r"(?i)(?:LD_|DYLD_|GLIBC|MALLOC_|PYTHON|GCONV|LOCPATH|BASH_|ENV$|PATH$).*")
_OF_PUBLISHER = {"TOKEN", "NUMBER", "FILE", "TITLE"}
_OUTPUT = Regex(r"\$\{\{ steps\.\w+\.outputs\.\w+ \}\}")
_OWN = {"CALL", *SHOWN_AS}
"""The program's variables whose names don't start with `RDC_`."""

_ID, _LEFT = "@ID@", "@LEFT@"


class Called(Struct, frozen=True):
    """What a workflow calls: the path and required hash of the program, and perhaps the publishing script beside it."""

    program: str
    sha256: str
    publishes: bool
    is_known: bool
    """Whether all steps are ones that rdc writes."""


def verify_workflow(file: OutputFile, missing: str) -> VerifyResult:
    """Verify a workflow without its source, with its program, runtime and publishing script."""
    called = verify_calls(file.text)
    if isinstance(called, VerifyResult):
        return called
    if called is None:
        return VerifyResult(VerifyStatus.SOURCE_MISSING, f"{missing}; only the source proves this file")
    script = _called(file, _beside(called.program)) if called.publishes else None
    if script and (changed := changed_beside(script, publisher())):
        return changed
    found = verify_called(_called(file, called.program), called.sha256, missing)
    if found.status is not VerifyStatus.SOURCE_MISSING or called.is_known:
        return found
    others = "it has steps or settings that rdc does not write"
    return found._replace(message=f"{others}; only the source proves this file: {missing}")


def _called(file: OutputFile, place: str) -> OutputFile:
    """Return a file that a workflow calls. By default, it is in rdc's folder of the repository."""
    home = WORKFLOWS if posixpath.dirname(place) == PROGRAMS else ""
    return file.beside(posixpath.relpath(place, WORKFLOWS), home)


def verify_calls(text: str) -> Called | VerifyResult | None:
    """Return what a workflow of this version calls, or None if it calls no separate program."""
    try:
        workflow = load_value(text)
    except UnreadableError:
        return VerifyResult.changed(1, "this is not valid YAML")
    jobs = list(_jobs(workflow))
    scripts = dict.fromkeys(str(step.get("run")) for job in jobs for step in _steps(job))
    found = next(filter(None, map(_LOADER.fullmatch, scripts)), None)
    if found is None:
        is_altered = any("RDC_PROGRAM" in script and "RUNNER_TEMP" not in script for script in scripts)
        return VerifyResult.changed(1, "the loader is not the one that rdc writes") if is_altered else None
    assert isinstance(workflow, dict)  # noqa: S101 (tells mypy)
    place, beside = found["place"], _beside(found["place"])
    if posixpath.normpath(place) != place or place.startswith(("/", "../")) or not place.endswith(".py"):
        return VerifyResult.changed(1, "the loader's path is not a program in the repository")
    publishers = {loader(found["python"], beside, sha256_of(publisher()), kind) for kind in _KINDS}
    forms = _forms()
    known = dict.fromkeys(publishers, _OF_PUBLISHER) | {
        reviewers_step([environment]).run: {"GH_TOKEN"}
        for environment in (job.get("environment") for job in jobs)
        if isinstance(environment, str)
    }
    is_known = _is_known_top(workflow) and all(_is_known_job(job, found[0], known, forms) for job in jobs)
    return Called(place, found["sha256"], bool(publishers.intersection(scripts)), is_known)


Others = Mapping[Any, AbstractSet[str]]
"""The variables of rdc's scripts that don't call the program."""

_KINDS = ("changes", "comment", "issue", "pull-request", "summary")


def _beside(place: str) -> str:
    return posixpath.join(posixpath.dirname(place), publish_name())


def _jobs(workflow: object) -> Iterator[Mapping[str, Any]]:
    jobs = workflow.get("jobs") if isinstance(workflow, dict) else None
    for job in jobs.values() if isinstance(jobs, dict) else ():
        yield job if isinstance(job, dict) else {}


def _steps(job: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    steps = job.get("steps")
    return [step for step in steps if isinstance(step, dict)] if isinstance(steps, list) else []


def _is_known_top(workflow: Mapping[Any, Any]) -> bool:
    """Return whether everything around the jobs is as rdc writes it. Triggers and names depend on the document."""
    events = workflow.get("on")
    own = workflow.get("permissions") == {} and workflow.get("defaults") == {"run": {"shell": CALLING_SHELL}}
    return own and isinstance(events, dict) and "pull_request_target" not in events and set(workflow) <= _TOP


def _is_known_job(job: Mapping[str, Any], own: str, others: Others, forms: re.Pattern[str]) -> bool:
    steps, permissions, outputs = _steps(job), job.get("permissions", {}), job.get("outputs", {})
    if steps != job.get("steps") or not set(job) <= _JOB or not _is_condition(job.get("if")):
        return False
    if not isinstance(permissions, dict) or not isinstance(outputs, dict):
        return False
    if not all(_OUTPUT.fullmatch(str(value)) for value in outputs.values()):
        return False
    if not all(_is_known(step, own, others, forms) for step in steps):
        return False
    closing = [_secrets(_env(step)) for step in steps if str(_env(step).get("CALL", "")).startswith("close")]
    called = [step for step in steps if step.get("run") not in others]
    return all(_secrets(_env(step)) <= masked for masked in closing for step in called)


def _is_known(step: Mapping[str, Any], own: str, others: Others, forms: re.Pattern[str]) -> bool:
    if "uses" in step:
        return _is_checkout(step) or forms.fullmatch(_canonical(step)) is not None
    env, condition, run = _env(step), step.get("if"), step.get("run")
    if not set(step) <= _STEP or not isinstance(step.get("env", {}), dict):
        return False
    if run == ASKED_LATER:
        return set(step) == {"name", "run"}
    if run in others:
        return set(env) <= others[run] and "secrets" not in f"{env}" and _is_condition(condition)
    call = next(iter(str(env.get("CALL", "")).split()), "")
    if run != own or call not in _VARIABLES or _CONDITIONS.get(call, condition) != condition:
        return False
    names = {"CALL"}.union(name if name in _OWN else f"RDC_{name}" for name in _VARIABLES[call].split())
    fine = (_is_fine(name, str(value), names, reads=call == "open") for name, value in env.items())
    masked = set(str(env.get("RDC_SECRETS", "")).split())
    return (call in _CONDITIONS or _is_condition(condition)) and all(fine) and masked == _secrets(env)


def _is_condition(condition: object) -> bool:
    return condition is None or _CONDITION.fullmatch(str(condition)) is not None


def _env(step: Mapping[str, Any]) -> Mapping[str, Any]:
    env = step.get("env")
    return env if isinstance(env, dict) else {}


def _secrets(env: Mapping[str, Any]) -> set[str]:
    """Return the variables with secrets: all that are not the program's own."""
    return {name for name in env if not name.startswith("RDC_") and name not in _OWN}


def _is_checkout(step: Mapping[str, Any]) -> bool:
    is_plain = step["uses"] == pins()["checkout"].reference and set(step) == {"name", "uses", "with"}
    return is_plain and json.loads(_canonical(step))["with"] in _CHECKOUT


def _forms() -> re.Pattern[str]:
    options = GithubOptions()
    steps = [
        artifacts.of_another_run(),
        *(artifacts.of_earlier([_ID] * count) for count in (1, 2)),
        artifacts.kept_run(options),
        *(artifacts.transcript(part, options) for part in ("", f"-{_ID}")),
        artifacts.last_output("", "", options),
        artifacts.outputs(options),
        artifacts.taken_artifact(_LEFT, ""),
        artifacts.entry_kept(_ID, _ID, options),
        artifacts.entry_again(_ID),
        *artifacts.entries_taken(_ID, "", 100),
    ]
    again, left = re.escape(artifacts.if_ran(_ID)), r"needs\.\w+\.outputs\.\w+"
    joined = "|".join(re.escape(_canonical(_as_read(step))) for step in steps).replace(again, f"(?:{again})+")
    return re.compile(joined.replace(re.escape(_LEFT), rf"{left}(?: \|\| {left})*").replace(re.escape(_ID), r"[\w-]+"))


def _as_read(step: Step) -> dict[str, Any]:
    condition = {"if": step.condition} if step.condition else {}
    return {
        "uses": step.uses,
        "with": step.inputs,
        **condition,
        **({"continue-on-error": True} if step.tolerated else {}),
    }


def _canonical(step: Mapping[str, Any]) -> str:
    """Return a step of an action as one text, without its name and the days that GitHub keeps a file."""
    given = step.get("with")
    strings = {
        name: str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in (given.items() if isinstance(given, Mapping) else ())
        if name != "retention-days" or not str(value).isdigit()
    }
    return json.dumps({**step, "name": "", "with": strings}, sort_keys=True, default=str)


def _is_fine(name: str, value: str, names: set[str], *, reads: bool) -> bool:
    """Return whether a variable has a value that rdc writes, or is a secret that cannot load code."""
    if reads and _GIVEN.fullmatch(name):
        return _INPUT.fullmatch(value) is not None
    if name in names:
        return re.fullmatch(_VALUES[name], value) is not None if name in _VALUES else OPEN not in value
    return _SECRET.fullmatch(value) is not None and not name.startswith("RDC_") and not _LOADED.fullmatch(name)
