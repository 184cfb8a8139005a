"""Check the rules of agent workflows."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from compiler.diagnostics.issues import SourceMap
from compiler.diagnostics.model import DataPath, Diagnostic, Fix
from compiler.frontends.agent_workflow.syntax import FILE_NAME, TASK_DONE, Condition, Step, Workflow
from compiler.frontends.agent_workflow.verdicts import (
    LONGEST_KEYWORD,
    LONGEST_PATTERN,
    can_be_valid,
    candidates,
    listed_words,
)
from compiler.frontends.common.limits import THEN, limit_issues
from compiler.frontends.common.names import NAMED
from compiler.ir.graph import reached_from
from compiler.ir.patterns import SEPARATE, overlap, overlapping, pattern_issue
from compiler.ir.tasks import UNREAD
from compiler.project.options import TargetOptions
from compiler.text.regex import Regex
from compiler.text.source import Span
from compiler.text.suggestions import did_you_mean, nearest_name
from runtime_shim.tasks.verdicts import LISTED

LONGEST_NAME = 100  # in characters; a step's name becomes part of file names

_TYPE_OF_AGENT = Regex(r"[^\s=](?:[^=]*[^\s=])?")


def check(workflow: Workflow, plain: Mapping[str, Any], places: SourceMap) -> Iterator[Diagnostic]:
    """Yield the diagnostics of a workflow, read from a plain value, without the parts that the models rejected."""
    name = workflow.name
    if name and (not name.isprintable() or name != name.strip() or len(name) > LONGEST_NAME):
        problem = "the workflow name has a line break, a space at either end, or more than 100 characters"
        yield places.diagnostic("RD806", ("name",), problem, "use a short name on one line")
    for number, step in enumerate(workflow.steps):
        scene = Scene(places, ("steps", number), step, _keys(plain, number))
        yield from _names(scene)
        yield from _body(scene)
        yield from _references(scene)
        yield from _check_key(scene)
        yield from _validation(scene)
        yield from _keywords(scene)
        yield from _reserved(scene)
        yield from _verdict_and_report(scene)
        yield from _limits(scene)
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


def _limits(scene: Scene) -> Iterator[Diagnostic]:
    most, then = "max_visits", scene.step.then
    settings: dict[str, object] = {most: scene.step.max_visits or 1} if most in (scene.keys or ()) else {}
    settings |= {THEN: then} if then else {}
    for issue in limit_issues(f"step `{_shown(scene.step.name)}`", settings, (), most):
        yield scene.finding("RD805", issue.path, issue.message, issue.help)


# --- Names -----------------------------------------------------------------------------------------------------------


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
    nodes = [file for number, step in steps for file in _files_of(number, step, step.name, "name")]
    named = ((number, step, ("report", "name") if step.report else ("name",)) for number, step in steps)
    reports = [file for number, step, key in named for file in _files_of(number, step, step.report_name, *key)]
    reported: set[tuple[str, str]] = set()
    for kind, files in (("steps", nodes), ("reports", reports)):
        first: dict[str, _File] = {}
        for file in files:
            before = first.setdefault(file.name.casefold(), file)
            pair = (before.step.name, file.step.name)
            if (
                before is file
                or not file.name
                or pair in reported
                or (before.step is not file.step and len({*pair}) == 1)
            ):
                continue  # two steps with the same name have their own diagnostic
            reported.add(pair)
            both = "" if before.name == file.name else f"`{_shown(before.name)}` and "
            problem = f"two {kind} would use the same file: {both}`{_shown(file.name)}`"
            yield places.diagnostic("RD808", file.path, problem, "rename one of them", (before.path, "the other one"))


def _files_of(number: int, step: Step, name: str, *key: str) -> Iterator[_File]:
    yield _File(name, ("steps", number, *key), step)
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
    step, source = scene.step, scene.places.source
    if step.check is not None and step.parallel is None:
        problem = "`check` has no effect in a step without `parallel`"
        line = scene.places.at((*scene.path, "check")).line
        is_whole = source.lines[line - 1].strip() in ("check: all", "check: any")
        fix = Fix.by(source.whole_line(line), "") if is_whole else None
        yield replace(scene.finding("RD813", ("check",), problem, "remove `check`"), fix=fix)
    if step.parallel and "check" not in (scene.keys or ()):
        problem = "the parallel step has no `check`, so a failing verdict wins over a passing one"
        remedy = "write `check: all` to keep this, or `check: any` to take the first passing verdict"
        span = scene.places.at((*scene.path, "parallel"))
        indent = source.lines[span.line - 1][: span.column - 1]
        at = Span(span.line, 1, span.line, 1)
        fix = None if indent.strip() else Fix.by(at, f"{indent}check: all\n", is_safe=True)
        yield replace(scene.finding("RD814", (), problem, remedy), fix=fix)


def _validation(scene: Scene) -> Iterator[Diagnostic]:
    """Check that the pattern compiles and can't take too long to search for (W3)."""
    report = scene.step.report
    if report is None or report.validation is None:
        return
    path: DataPath = ("report", "validation")
    if len(report.validation) > LONGEST_PATTERN:
        problem = f"the validation pattern has {len(report.validation):,} characters; the limit is {LONGEST_PATTERN:,}"
        yield scene.finding("RD811", path, problem, "shorten it; it only has to match a part of the answer")
    elif problem := pattern_issue(report.validation):
        remedy = "correct the pattern; don't nest unlimited repetitions, as in `(a+)+`"
        yield scene.finding("RD811", path, f"the validation pattern {problem}", remedy)
    elif character := overlap(report.validation):
        yield scene.finding("RD136", path, f"the validation pattern {overlapping(character)}", SEPARATE)


KEY = "agents"
"""The target option with a command for each agent type."""


def unlisted_agents(workflow: Workflow, places: SourceMap, tables: Mapping[str, TargetOptions]) -> Iterator[Diagnostic]:
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


END = "end"


def _keywords(scene: Scene) -> Iterator[Diagnostic]:
    """Check that keywords are words, are not reserved, differ, and can be valid (W5, W9, W10)."""
    first: dict[str, int] = {}
    for number, condition in enumerate(scene.step.conditions or ()):
        at: DataPath = ("conditions", number, "keyword")
        keyword = condition.keyword
        before = first.setdefault(keyword.casefold(), number)
        if not keyword:
            continue
        if keyword != keyword.strip() or not keyword.isprintable() or len(keyword) > LONGEST_KEYWORD:
            problem = "the keyword has a line break, a space at either end, or more than 200 characters"
            yield scene.finding("RD818", at, problem, "use one word, such as APPROVED")
        elif keyword.casefold() == TASK_DONE.casefold():
            problem = f"the keyword {TASK_DONE} is reserved: it completes the workflow from any step"
            yield scene.finding("RD815", at, problem, "remove the condition, or use another keyword")
        elif before != number:
            problem = f"two conditions have the keyword `{keyword}`"
            other = ((*scene.path, "conditions", before, "keyword"), "the first one, which would always win")
            remedy = "change or remove one of the two; keywords ignore case"
            yield scene.places.diagnostic("RD816", (*scene.path, *at), problem, remedy, other)
        else:
            yield from _never_valid(scene, keyword, at)


def _verdict_and_report(scene: Scene) -> Iterator[Diagnostic]:
    """Warn about a verdict that nothing reads, and about a report with two extensions (W7, W12)."""
    step = scene.step
    words = candidates(step)[:-1] if step.check == "all" and step.parallel and _usable_pattern(step) else ()
    if not step.conditions and (len(words) > 1 or any(word.casefold() in LISTED for word in words)):
        problem = f"the step has `check: all` but no conditions, so a run continues after any verdict, even {words[-1]}"
        yield scene.finding("RD835", ("check",), problem, "add `conditions` with a `goto` for each verdict")
    if step.report and step.report.name.lower().endswith(".md"):
        name, at = step.report.name, ("report", "name")
        found = scene.finding("RD836", at, f"the file of the report would be `{name}.md`", f"write `{name[:-3]}`")
        yield replace(found, fix=scene.places.respelled((*scene.path, *at), name, name[:-3], is_value=True))


def _never_valid(scene: Scene, keyword: str, at: DataPath) -> Iterator[Diagnostic]:
    pattern = _usable_pattern(scene.step)
    if pattern and not can_be_valid(pattern, keyword):
        problem = (
            f"an answer with only `{keyword}` does not match the validation pattern, so the run would end with STOP"
        )
        listed = {word.casefold(): word for word in listed_words(pattern)}
        spelled = listed.get(nearest_name(keyword.casefold(), listed), "")
        add = f"add it to the pattern, for example `{pattern}|{keyword}`"
        yield scene.finding("RD832", at, problem, f"did you mean `{spelled}`?" if spelled else add)


def _reserved(scene: Scene) -> Iterator[Diagnostic]:
    step = scene.step
    if step.report and step.report.validation and not _usable_pattern(step):
        return
    reserved = [word for word in candidates(step) if word in UNREAD] if step.conditions else []
    for word in reserved[:1]:
        problem = f"`{word}` in lowercase is reserved, so rdc reads all keywords of this step in uppercase"
        remedy = "write the keywords of this step in uppercase; answers match in any case"
        yield scene.finding("RD834", (), problem, remedy)


def _usable_pattern(step: Step) -> str:
    pattern = step.report.validation if step.report else None
    is_usable = pattern and len(pattern) <= LONGEST_PATTERN and not pattern_issue(pattern)
    return pattern or "" if is_usable else ""


# --- Routes ----------------------------------------------------------------------------------------------------------


def route_findings(workflow: Workflow, places: SourceMap) -> Iterator[Diagnostic]:
    """Yield unknown steps, transitions that no run takes, and unreachable steps."""
    names = {step.name for step in workflow.steps if step.name}
    for number, step in enumerate(workflow.steps):
        path: DataPath = ("steps", number)
        for at, condition in enumerate(step.conditions or ()):
            yield from _target(condition, names, places, (*path, "conditions", at, "goto"))
        if step.next and step.next not in names:
            yield _unknown(step.next, names, places, (*path, "next"))
        if step.next and step.end:
            problem = "`next` has no effect together with `end: true`"
            other = ((*path, "end"), "it completes the workflow first")
            yield places.diagnostic("RD830", (*path, "next"), problem, "remove one of the two", other)
        if step.name and not (step.next or step.end or step.conditions):
            problem = f"step `{step.name}` has no `next`, `end` or `conditions`, so a run stops after it"
            yield places.diagnostic("RD831", path, problem, "add `end: true`, or `next:` with the name of a step")
    yield from _unreachable(workflow, places)


def _target(condition: Condition, names: set[str], places: SourceMap, at: DataPath) -> Iterator[Diagnostic]:
    if condition.goto == END:
        remedy = "add a step with `end: true`, and name it in `goto`"
        yield places.diagnostic("RD812", at, "`goto: end` does not end the workflow", remedy)
    elif condition.goto and condition.goto not in names:
        yield _unknown(condition.goto, names, places, at)


def _unknown(name: str, names: set[str], places: SourceMap, at: DataPath) -> Diagnostic:
    problem = f"there is no step `{name[:100]}`{did_you_mean(name, names)}"
    if name == END:
        return places.diagnostic("RD817", at, problem, "to end the workflow here, write `end: true` instead")
    known = ", ".join(sorted(names)[:20]) + (", …" if len(names) > 20 else "")
    found = places.diagnostic("RD817", at, problem, f"use one of {known}" if names else "add the step")
    return replace(found, fix=places.respelled(at, name, nearest_name(name, names), is_value=True))


def _unreachable(workflow: Workflow, places: SourceMap) -> Iterator[Diagnostic]:
    steps = {step.name: step for step in reversed(workflow.steps)}
    reached = reached_from([workflow.steps[0].name], lambda name: leads_to(steps[name]) if name in steps else ())
    for number, step in enumerate(workflow.steps):
        if step.name and step.name not in reached:
            remedy = "name it in a `next` or a `goto`, or remove it"
            yield places.diagnostic("RD401", ("steps", number), f"step {step.name} is unreachable", remedy)


def leads_to(step: Step) -> Iterator[str]:
    """Yield the steps that can follow a step."""
    yield from (condition.goto for condition in step.conditions or ())
    if step.next and not step.end:
        yield step.next
