"""Check the transitions between steps: conditions, `next` and `end` (W4, W5)."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from compiler.diagnostic import DataPath, Diagnostic
from compiler.frontends.agent_workflow.alternatives import LONGEST_PATTERN
from compiler.frontends.agent_workflow.syntax import TASK_DONE, Condition, Step, Workflow
from compiler.frontends.agent_workflow.verdicts import can_be_valid, candidates, listed_words, reserved_words
from compiler.ir.graph import reached_from
from compiler.ir.patterns import pattern_problem
from compiler.issues import SourceMap
from compiler.suggestions import did_you_mean, nearest_name
from runtime_shim.tasks.verdicts import LISTED

END = "end"

LONGEST_KEYWORD = 200


def keyword_findings(step: Step, places: SourceMap, path: DataPath) -> Iterator[Diagnostic]:
    """Yield the diagnostics of a step's keywords."""
    first: dict[str, int] = {}
    for number, condition in enumerate(step.conditions or ()):
        at: DataPath = (*path, "conditions", number, "keyword")
        keyword = condition.keyword
        before = first.setdefault(keyword.casefold(), number)
        if not keyword:
            continue
        if keyword != keyword.strip() or not keyword.isprintable() or len(keyword) > LONGEST_KEYWORD:
            problem = "the keyword has a line break, a space at either end, or more than 200 characters"
            yield places.diagnostic("RD818", at, problem, "use one word, such as APPROVED")
        elif keyword.casefold() == TASK_DONE.casefold():
            problem = f"the keyword {TASK_DONE} is reserved: it completes the workflow from any step"
            yield places.diagnostic("RD815", at, problem, "remove the condition, or use another keyword")
        elif before != number:
            problem = f"two conditions have the keyword `{keyword}`"
            other = ((*path, "conditions", before, "keyword"), "the first one, which would always win")
            yield places.diagnostic(
                "RD816", at, problem, "change or remove one of the two; keywords ignore case", other
            )
        else:
            yield from _never_valid(step, keyword, places, at)
    yield from _reserved(step, places, path)


def all_findings(step: Step, places: SourceMap, path: DataPath) -> Iterator[Diagnostic]:
    """Warn about a verdict that nothing reads, and about a report with two extensions (W7, W12)."""
    words = candidates(step)[:-1] if step.check == "all" and step.parallel and _usable_pattern(step) else ()
    if not step.conditions and (len(words) > 1 or any(word.casefold() in LISTED for word in words)):
        problem = f"the step has `check: all` but no conditions, so a run continues after any verdict, even {words[-1]}"
        yield places.diagnostic("RD835", (*path, "check"), problem, "add `conditions` with a `goto` for each verdict")
    if step.report and step.report.name.lower().endswith(".md"):
        name, at = step.report.name, (*path, "report", "name")
        found = places.diagnostic("RD836", at, f"the file of the report would be `{name}.md`", f"write `{name[:-3]}`")
        yield replace(found, fix=places.respelled(at, name, name[:-3], is_value=True))


def _never_valid(step: Step, keyword: str, places: SourceMap, at: DataPath) -> Iterator[Diagnostic]:
    pattern = _usable_pattern(step)
    if pattern and not can_be_valid(pattern, keyword):
        problem = (
            f"an answer with only `{keyword}` does not match the validation pattern, so the run would end with STOP"
        )
        listed = {word.casefold(): word for word in listed_words(pattern)}
        spelled = listed.get(nearest_name(keyword.casefold(), listed), "")
        add = f"add it to the pattern, for example `{pattern}|{keyword}`"
        yield places.diagnostic("RD832", at, problem, f"did you mean `{spelled}`?" if spelled else add)


def _reserved(step: Step, places: SourceMap, path: DataPath) -> Iterator[Diagnostic]:
    if step.report and step.report.validation and not _usable_pattern(step):
        return
    for word in reserved_words(step)[:1]:
        problem = f"`{word}` in lowercase is reserved, so rdc reads all keywords of this step in uppercase"
        remedy = "write the keywords of this step in uppercase; answers match in any case"
        yield places.diagnostic("RD834", path, problem, remedy)


def _usable_pattern(step: Step) -> str:
    pattern = step.report.validation if step.report else None
    is_usable = pattern and len(pattern) <= LONGEST_PATTERN and not pattern_problem(pattern)
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
            remedy = "add `end: true`, or `next:` with the name of a step"
            yield places.diagnostic("RD831", path, problem, remedy)
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
