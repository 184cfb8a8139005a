"""Check the rules of agent workflows (W1 to W5)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from compiler.diagnostic import DataPath, Diagnostic, Fix
from compiler.frontends.agent_workflow.alternatives import LONGEST_PATTERN
from compiler.frontends.agent_workflow.reached import all_findings, keyword_findings, route_findings
from compiler.frontends.agent_workflow.syntax import FILE_NAME, Step, Workflow
from compiler.frontends.naming import NAMED
from compiler.ir.patterns import SEPARATE, overlap, overlapping, pattern_problem
from compiler.issues import SourceMap
from compiler.options import Table
from compiler.regex import Regex
from compiler.source import Span
from compiler.suggestions import did_you_mean

LONGEST_NAME = 100
"""In characters. A step's name becomes part of file names."""

_TYPE_OF_AGENT = Regex(r"[^\s=](?:[^=]*[^\s=])?")


def check(workflow: Workflow, plain: Mapping[str, Any], places: SourceMap) -> Iterator[Diagnostic]:
    """Yield the diagnostics of a workflow. Parts that the models rejected are skipped.

    Args:
        workflow: The workflow without the rejected parts.
        plain: The YAML value that it was read from.
        places: The positions of its parts.
    """
    yield from _title(workflow, places)
    for number, step in enumerate(workflow.steps):
        scene = Scene(places, ("steps", number), step, _keys(plain, number))
        yield from _names(scene)
        yield from _body(scene)
        yield from _references(scene)
        yield from _check_key(scene)
        yield from _validation(scene)
        yield from keyword_findings(step, places, scene.path)
        yield from all_findings(step, places, scene.path)
    yield from _unique(workflow, places)
    yield from _files(workflow, places)
    yield from route_findings(workflow, places)


def _keys(plain: Mapping[str, Any], number: int) -> frozenset[str] | None:
    steps = plain.get("steps")
    step = steps[number] if isinstance(steps, list) and number < len(steps) else None
    return frozenset(key for key, value in step.items() if value is not None) if isinstance(step, dict) else None


class Scene(Struct, frozen=True):
    """A step, its position, and the keys that have a value. `keys` is None if the step isn't a mapping."""

    places: SourceMap
    path: DataPath
    step: Step
    keys: frozenset[str] | None

    def finding(self, code: str, inner: DataPath, problem: str, remedy: str) -> Diagnostic:
        """Return a diagnostic for a part of the step."""
        return self.places.diagnostic(code, (*self.path, *inner), problem, remedy)


# --- Names -----------------------------------------------------------------------------------------------------------


def _title(workflow: Workflow, places: SourceMap) -> Iterator[Diagnostic]:
    name = workflow.name
    if name and (not name.isprintable() or name != name.strip() or len(name) > LONGEST_NAME):
        problem = "the workflow name has a line break, a space at either end, or more than 100 characters"
        yield places.diagnostic("RD806", ("name",), problem, "use a short name on one line")


def _names(scene: Scene) -> Iterator[Diagnostic]:
    step = scene.step
    named: list[tuple[DataPath, str, str]] = [(("name",), step.name, "step name")]
    named += [(("report", "name"), step.report.name, "report name")] if step.report else []
    for path, name, what in named:
        if name and (not re.fullmatch(FILE_NAME, name) or len(name) > LONGEST_NAME):
            problem = f"`{_shown(name)}` is not a valid {what}; it must also be a valid file name"
            remedy = (
                f"use at most {LONGEST_NAME} letters A to Z, digits, `.`, `_` and `-`; start with a letter or digit"
            )
            yield scene.finding("RD806", path, problem, remedy)
    agents: list[tuple[DataPath, str]] = [(("agent",), step.agent or "")]
    agents += [(("parallel", number, "agent"), entry.agent) for number, entry in enumerate(step.parallel or ())]
    for path, agent in agents:
        is_fit = _TYPE_OF_AGENT.fullmatch(agent) and agent.isprintable() and len(agent) <= LONGEST_NAME
        if agent.strip() and not is_fit:
            problem = f"`{_shown(agent)}` is not a valid agent type"
            yield scene.finding("RD806", path, problem, "use a short name on one line, without `=`")


def _shown(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME]}…"


def _unique(workflow: Workflow, places: SourceMap) -> Iterator[Diagnostic]:
    first: dict[str, int] = {}
    for number, step in enumerate(workflow.steps):
        before = first.setdefault(step.name, number)
        if step.name and before != number:
            other = (("steps", before), "the first one")
            problem = f"two steps are named `{_shown(step.name)}`"
            yield places.diagnostic("RD807", ("steps", number, "name"), problem, "rename one of them", other)


class _File(Struct, frozen=True):
    """A file that a step writes, and the position of its name."""

    name: str
    path: DataPath
    step: Step


def _files(workflow: Workflow, places: SourceMap) -> Iterator[Diagnostic]:
    """Yield steps and reports that would share a file, also on file systems that ignore case (W1, W7)."""
    steps = list(enumerate(workflow.steps))
    nodes = [file for number, step in steps for file in _node_files(number, step)]
    reports = [file for number, step in steps for file in _report_files(number, step)]
    told: set[tuple[str, str]] = set()
    for kind, files in (("steps", nodes), ("reports", reports)):
        first: dict[str, _File] = {}
        for file in files:
            before = first.setdefault(file.name.casefold(), file)
            pair = (before.step.name, file.step.name)
            if before is file or not file.name or pair in told or (before.step is not file.step and len({*pair}) == 1):
                continue  # two steps with the same name have their own diagnostic
            told.add(pair)
            both = "" if before.name == file.name else f"`{_shown(before.name)}` and "
            problem = f"two {kind} would use the same file: {both}`{_shown(file.name)}`"
            yield places.diagnostic("RD808", file.path, problem, "rename one of them", (before.path, "the other one"))


def _node_files(number: int, step: Step) -> Iterator[_File]:
    yield _File(step.name, ("steps", number, "name"), step)
    yield from _entry_files(number, step)


def _report_files(number: int, step: Step) -> Iterator[_File]:
    yield _File(step.report_name, ("steps", number, *(("report", "name") if step.report else ("name",))), step)
    yield from _entry_files(number, step)


def _entry_files(number: int, step: Step) -> Iterator[_File]:
    for index in range(len(step.parallel or ())):
        yield _File(f"{step.name}_{index}" if step.name else "", ("steps", number, "parallel", index), step)


# --- Work of a step ---------------------------------------------------------------------------------------------------


def _body(scene: Scene) -> Iterator[Diagnostic]:
    """Check that a step has either a prompt or entries with prompts (W2)."""
    step = scene.step
    if step.prompt is not None and step.parallel is not None:
        problem = "the step has both `prompt` and `parallel`"
        yield scene.finding("RD809", ("parallel",), problem, "remove one of the two")
    elif _lacks_work(scene):
        problem = "the step has neither `prompt` nor `parallel`, so it does nothing"
        yield scene.finding("RD809", ("prompt",), problem, "add `prompt: |`, and write the instructions below it")
    if step.agent is not None and step.parallel is not None:
        problem = "the step has both `agent` and `parallel`; each entry names its agent"
        yield scene.finding("RD809", ("agent",), problem, "move `agent` to the entries that have none")
    if step.parallel is not None and not step.parallel:
        yield scene.finding(
            "RD809", ("parallel",), "the parallel step has no entries", "add one with `agent` and `prompt`"
        )


def _references(scene: Scene) -> Iterator[Diagnostic]:
    """Warn about names in braces, which the author expects to be replaced."""
    entries = enumerate(scene.step.parallel or ())
    prompts: dict[DataPath, str] = {("parallel", number, "prompt"): entry.prompt for number, entry in entries}
    for path, prompt in {("prompt",): scene.step.prompt or "", **prompts}.items():
        for whole in dict.fromkeys(NAMED.findall(prompt)):
            problem = f"the agent gets `{whole}` unchanged: prompts of agent workflows have no references"
            yield scene.finding("RD140", path, problem, "write the value itself; each prompt also has the run's task")


def _lacks_work(scene: Scene) -> bool:
    """Return whether a step has no work. A value of the wrong type has another diagnostic."""
    if scene.keys is None or "parallel" in scene.keys:
        return False
    prompt = scene.step.prompt
    return "prompt" not in scene.keys if prompt is None else not prompt.strip()


def _check_key(scene: Scene) -> Iterator[Diagnostic]:
    """Check that only parallel steps have `check` (W4)."""
    step = scene.step
    if step.check is not None and step.parallel is None:
        problem = "`check` has no effect in a step without `parallel`"
        yield replace(scene.finding("RD813", ("check",), problem, "remove `check`"), fix=_without_check(scene))
    if step.parallel and "check" not in (scene.keys or ()):
        problem = "the parallel step has no `check`, so a failing verdict wins over a passing one"
        remedy = "write `check: all` to keep this, or `check: any` to take the first passing verdict"
        yield replace(scene.finding("RD814", (), problem, remedy), fix=_with_check(scene))


def _without_check(scene: Scene) -> Fix | None:
    """Return the fix that removes the line with `check`."""
    line = scene.places.at((*scene.path, "check")).line
    text = scene.places.source.lines[line - 1]
    is_whole = text.strip() in ("check: all", "check: any")
    return Fix.by(scene.places.source.whole_line(line), "") if is_whole else None


def _with_check(scene: Scene) -> Fix | None:
    """Return the fix that writes the default of `check`."""
    span = scene.places.at((*scene.path, "parallel"))
    indent = scene.places.source.lines[span.line - 1][: span.column - 1]
    at = Span(span.line, 1, span.line, 1)
    return None if indent.strip() else Fix.by(at, f"{indent}check: all\n", is_safe=True)


def _validation(scene: Scene) -> Iterator[Diagnostic]:
    """Check that the pattern compiles and can't take too long to search for (W3)."""
    report = scene.step.report
    if report is None or report.validation is None:
        return
    path: DataPath = ("report", "validation")
    if len(report.validation) > LONGEST_PATTERN:
        problem = f"the validation pattern has {len(report.validation):,} characters; the limit is {LONGEST_PATTERN:,}"
        yield scene.finding("RD811", path, problem, "shorten it; it only has to match a part of the answer")
    elif problem := pattern_problem(report.validation):
        remedy = "correct the pattern; don't nest unlimited repetitions, as in `(a+)+`"
        yield scene.finding("RD811", path, f"the validation pattern {problem}", remedy)
    elif character := overlap(report.validation):
        yield scene.finding("RD136", path, f"the validation pattern {overlapping(character)}", SEPARATE)


KEY = "agents"
"""The target option with a command for each agent type."""


def unlisted_agents(workflow: Workflow, places: SourceMap, tables: Mapping[str, Table]) -> Iterator[Diagnostic]:
    """Warn about each agent type that a target's table of agents lacks. Targets without a table get no warning."""
    used = list(_types(workflow))
    for target, table in tables.items():
        listed = table.values.get(KEY)
        if not isinstance(listed, Mapping) or not listed:
            continue
        known = sorted(map(str, listed))
        for path, agent in used:
            if agent not in known:
                problem = f"there is no agent type `{agent}` in `agents` of target {target}{did_you_mean(agent, known)}"
                remedy = f"add it to `agents`, or use one of {', '.join(known[:20])}"
                yield places.diagnostic("RD833", path, problem, remedy)


def _types(workflow: Workflow) -> Iterator[tuple[DataPath, str]]:
    for number, step in enumerate(workflow.steps):
        path: DataPath = ("steps", number)
        if step.agent:
            yield (*path, "agent"), step.agent
        for index, entry in enumerate(step.parallel or ()):
            if entry.agent:
                yield (*path, "parallel", index, "agent"), entry.agent
