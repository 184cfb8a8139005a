"""The front end for playbooks, with the interface in `compiler/frontends/common/interface.py`."""

from collections.abc import Collection, Iterable, Iterator
from functools import partial

from msgspec.structs import replace

from compiler.analyses.values import unread_inputs
from compiler.analyses.warnings import Wording, flow_warnings
from compiler.diagnostics.model import Diagnostic, Severity, has_error
from compiler.frontends.common.interface import Job, Result
from compiler.frontends.common.names import SECRETS, stem
from compiler.frontends.common.scenarios import completed
from compiler.frontends.playbook.check.references import known_sources
from compiler.frontends.playbook.check.rules import Read, check_count, read
from compiler.frontends.playbook.lower.document import lower
from compiler.frontends.playbook.lower.nodes import PLACEHOLDER, names_of
from compiler.frontends.playbook.parse.lines import patterns
from compiler.frontends.playbook.syntax import Branch, Elicit, Input, Playbook, PromptRef, Step, ToolCall, every_step
from compiler.ir.program import Program
from compiler.project.project import Project
from compiler.text.files import FileIssue
from compiler.text.regex import Regex
from compiler.text.source import Source, Span

WORDING = Wording(
    unreachable=("step {} is unreachable", "fix the condition of its branch, or remove it"),
    no_path_out=("a run that reaches step {} can never end", "this is a defect in rdc; please report it"),
    never_completes=("no run of this playbook can complete", "add a step that does not depend on a missing value"),
    never_fires=(
        "this branch never runs: an earlier branch always does, or the input cannot have this value",
        "fix the condition, or remove the branch",
    ),
)


def recognizes(source: Source) -> bool:
    """Return whether the source has a title and a step (P0)."""
    return all(any(map(patterns()[kind].fullmatch, source.lines)) for kind in ("TITLE", "STEP"))


def compile_document(job: Job) -> Result:
    """Parse, check, link and lower a playbook, and read its scenarios."""
    source = job.source
    made = read(source)
    playbook = made.parsed.playbook if made.parsed else None
    facts = partial(report, playbook, made.found)
    result = Result(None, made.found, {source.name: source}, made.frontmatter.options, facts=facts)
    return result if playbook is None or made.errors else _compiled(job, made, playbook, result)


def _compiled(job: Job, made: Read, playbook: Playbook, result: Result) -> Result:
    source, front = job.source, made.frontmatter
    if too_many := tuple(check_count(source, playbook)):
        return replace(result, diagnostics=(*result.diagnostics, *too_many))
    files, problems = _linked(job, playbook)
    found = [*result.diagnostics, *problems]
    sources = {source.name: source, **{file.name: file for file in files.values()}}
    if has_error(problems):
        return replace(result, diagnostics=tuple(found), sources=sources)
    lowered = lower(source, playbook, files, tuple(SECRETS.first(front.options.values) or {}))
    warnings = flow_warnings(lowered.program, lowered.written, sources, WORDING)
    found += (item for item in warnings if item.code != "RD401")  # a branch that never runs already has a warning
    found += _unread(source, playbook, lowered.program)
    result = replace(result, diagnostics=tuple(found), sources=sources)
    return completed(job, result, lowered.program, stem(source.name, ".md", ".playbook"), front.scenarios, front.spans)


def _unread(source: Source, playbook: Playbook, program: Program) -> Iterator[Diagnostic]:
    """Warn about each input that no step shows, unless an external prompt may use it."""
    if any(step.prompt and step.prompt.scheme != "variable" for step in every_step(playbook)):
        return
    unread = set(unread_inputs(program))
    texts = _nearly_shown(source) if unread else {}
    for declared in playbook.inputs:
        if declared.name in unread:
            problem = f"no step shows the input `{declared.name}`"
            below = ((number, text) for number, text in texts.get(declared.name, ()) if number > declared.span.line)
            if near := next(below, None):
                problem += f"; `{near[1]}` in line {near[0]} is not a reference"
            remedy = f"show it as `{{{{{declared.name}}}}}` in a step, or remove it"
            yield Diagnostic("RD410", source.path, declared.span, problem, remedy)


NEARLY_SHOWN = Regex(r"\$?\{+\s*([^\W\d]\w*+)(?!\s*\}\})|\$([^\W\d]\w*+)")
"""Matches a string that looks like a reference but is not."""


def _nearly_shown(source: Source) -> dict[str, list[tuple[int, str]]]:
    texts: dict[str, list[tuple[int, str]]] = {}
    for number, line in enumerate(source.lines, 1):
        for found in NEARLY_SHOWN.finditer(line):
            texts.setdefault(found[1] or found[2], []).append((number, found[0]))
    return texts


LARGEST_PROMPT = 200_000  # the largest prompt file in bytes, the same as for a playbook


def _linked(job: Job, playbook: Playbook) -> tuple[dict[str, Source], list[Diagnostic]]:
    source = job.source
    names = names_of(playbook)
    files: dict[str, Source] = {}
    found: list[Diagnostic] = []
    for step in every_step(playbook):
        prompt = step.prompt
        if prompt is None or prompt.scheme != "file" or step.tool or prompt.id in files:
            continue
        file = _file(source, prompt, job.project)
        if isinstance(file, Source):
            files[prompt.id] = file
            found += _unresolved(file, names)
        elif job.link or file.code != "RD741":
            found.append(Diagnostic(file.code, source.path, prompt.span, file.message, file.help))
    return files, found


def _file(source: Source, prompt: PromptRef, project: Project) -> Source | FileIssue:
    located = project.find_below(source, prompt.id)
    if located is None:
        problem = f"there is no file `{prompt.id}` in the playbook's folder"
        return FileIssue("RD741", problem, "fix the path, or create the file with the prompt's text")
    if isinstance(located, FileIssue):
        return located
    file = located.read()
    if isinstance(file, FileIssue):
        return FileIssue("RD742", f"`{prompt.id}` cannot be a prompt: {file.message}", file.help)
    if len(file.data) > LARGEST_PROMPT:
        problem = f"`{prompt.id}` is larger than {LARGEST_PROMPT:,} bytes"
        return FileIssue("RD742", problem, "shorten it, because a prompt includes the whole file")
    return file


def _unresolved(file: Source, names: Collection[str]) -> Iterator[Diagnostic]:
    """Warn about placeholders in a file that match no input or output (P9)."""
    for number, line in enumerate(file.lines, 1):
        for place in PLACEHOLDER.finditer(line) if "{{" in line else ():
            if place[1] not in names and ":" not in (place[2] or ""):
                span = Span(number, place.start() + 1, number, place.end() + 1)
                problem = f"`{place[0]}` is not replaced: the playbook has no input or @output with this name"
                yield Diagnostic("RD721", file.path, span, problem, "fix the name, or declare it in the playbook")


OF_THE_SPECIFICATION = frozenset({"RD709", "RD710", "RD711", "RD712", "RD720"})
"""Codes of warnings that every playbook parser gives; other warnings are rdc's own."""


def report(playbook: Playbook | None, found: Iterable[Diagnostic]) -> dict[str, object]:
    """Return the parse result of a document; `definition` is None if there are errors."""
    every = list(found)
    errors = [_message(item) for item in every if item.severity is Severity.ERROR]
    return {
        "valid": not errors,
        "definition": None if errors or playbook is None else _definition(playbook),
        "warnings": [_message(item) for item in every if item.code in OF_THE_SPECIFICATION],
        "errors": errors,
    }


def _message(found: Diagnostic) -> dict[str, object]:
    place = {"line": found.span.line} if found.span else {}
    return {**place, "message": found.message}


def _definition(playbook: Playbook) -> dict[str, object]:
    sources = known_sources(playbook)
    return {
        "title": playbook.title,
        "description": playbook.description,
        "system_prompt": playbook.system,
        "inputs": [_input(declared) for declared in playbook.inputs],
        "steps": [_step(step, sources) for step in playbook.steps],
        "artifact_type": playbook.artifact.type if playbook.artifact else "",
    }


def _input(declared: Input) -> dict[str, object]:
    return {
        "name": declared.name,
        "type": declared.type,
        **({} if declared.default is None else {"default": declared.default}),
        **({"options": list(declared.options)} if declared.options else {}),
        "description": declared.description,
        "required": declared.required,
        "line": declared.span.line,
    }


def _step(step: Step, sources: dict[str, str]) -> dict[str, object]:
    output = step.output
    branches = [_branch(step, place, branch, sources) for place, branch in enumerate(step.branches)]
    return {
        "number": step.number,
        "label": step.label,
        "title": step.title,
        "content": step.content,
        "output_var": output.name if output else "",
        **({"output_type": output.type} if output and output.type else {}),
        **({"output_options": list(output.options)} if output and output.options else {}),
        "extract_field": output.extract if output else "",
        **({"elicitation": _elicit(step.elicit)} if step.elicit else {}),
        **({"prompt_ref": {"prompt_id": step.prompt.written}} if step.prompt else {}),
        **({"tool_call": _tool(step.tool)} if step.tool else {}),
        "is_branching": bool(step.branches),
        **({"branches": branches} if branches else {}),
        "line": step.span.line,
    }


def _branch(step: Step, place: int, branch: Branch, sources: dict[str, str]) -> dict[str, object]:
    condition = branch.condition
    printed = condition and {
        "variable": condition.variable,
        "operator": condition.operator,
        "value": condition.value,
        "source": sources.get(condition.variable, "input"),
    }
    named = [_step(item, sources) for item in branch.steps if item.label]
    return {"condition": printed, "steps": named or _unnamed(step, place, branch.steps[0], sources)}


def _unnamed(step: Step, place: int, only: Step, sources: dict[str, str]) -> list[dict[str, object]]:
    """Return the unnamed step of a branch with the label of a sub-step, or nothing if the step is empty."""
    if not (only.content or only.elicit or only.prompt or only.tool or only.output):
        return []
    letter = chr(ord("a") + place) if place < 26 else ""
    named = {"label": f"{step.number}{letter}", "title": f"Branch {letter}".strip(), "line": only.span.line + 1}
    return [{**_step(only, sources), **named}]


def _elicit(elicit: Elicit) -> dict[str, object]:
    options = {"options": list(elicit.options)} if elicit.options else {}
    return {"type": elicit.kind, "prompt": elicit.question, **options}


def _tool(tool: ToolCall) -> dict[str, object]:
    arguments = {"arguments": tool.arguments} if tool.arguments else {}
    return {"connection_name": tool.connection, "tool_name": tool.tool, **arguments}
