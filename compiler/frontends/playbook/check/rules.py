"""Check a playbook for errors and for text that was probably meant differently."""

import json
from collections.abc import Iterator
from itertools import pairwise
from types import MappingProxyType

from msgspec import Struct

from compiler.diagnostics.issues import duplicate_options
from compiler.diagnostics.model import Diagnostic, Fix, Related, Severity, sort_key
from compiler.frontends.common.scenarios import options_of
from compiler.frontends.playbook import FORMAT
from compiler.frontends.playbook.check.references import check_references, hints
from compiler.frontends.playbook.parse.document import Parsed, parse
from compiler.frontends.playbook.parse.lines import TYPES, patterns
from compiler.frontends.playbook.parse.messages import close, near
from compiler.frontends.playbook.syntax import Artifact, Elicit, Input, Playbook, Step, ToolCall, every_step
from compiler.project.options import Options
from compiler.reading.frontmatter import read_block
from compiler.text.regex import Regex
from compiler.text.source import Source, Span, Spans, below
from compiler.text.suggestions import nearest_names
from runtime_shim.values.fitting import unfit

LARGEST_PLAYBOOK = 200_000  # the largest size of a playbook, in bytes

MOST_REPEATED = 100_000
"""The limit for repeated outputs: extracting a field under the same name again repeats all outputs in between."""

ARTIFACTS = ("markdown", "json", "mermaid", "chartjs", "html_css", "javascript", "typescript")
SCHEMES = ("file", "library", "mcp", "variable")

_VARIABLE = Regex(r"\{\{\w+\}\}")
_PLACEHOLDER = Regex(r"\{\{[^{}]*\}\}")


def check_size(source: Source) -> Iterator[Diagnostic]:
    """Report problems with the file's size (P1)."""
    if not source.text.strip():
        remedy = "write a title `# Title` and a step `## STEP 1: Title`"
        yield Diagnostic("RD701", source.path, None, "the playbook is empty", remedy)
    elif (size := len(source.data)) > LARGEST_PLAYBOOK:
        problem = f"the playbook has {size:,} bytes; the limit is {LARGEST_PLAYBOOK:,}"
        remedy = "move long text into files and include it with @prompt(file:…)"
        yield Diagnostic("RD702", source.path, None, problem, remedy)


def check(source: Source, parsed: Parsed) -> Iterator[Diagnostic]:
    """Yield all diagnostics of a document."""
    playbook = parsed.playbook
    if not playbook.title:
        yield _no_title(source, parsed)
    if not playbook.steps:
        remedy = "add a step: `## STEP 1: Title`"
        yield Diagnostic("RD704", source.path, source.line_span(1), "the playbook has no steps", remedy)
    yield from _sequence(source, playbook.steps)
    for declared in playbook.inputs:
        yield from _input(source, declared)
    for step in every_step(playbook):
        yield from _step(source, step)
    if playbook.artifact:
        yield from _artifact(source, playbook.artifact)
    yield from hints(source, parsed.scanned)
    yield from check_references(source, playbook)


def _no_title(source: Source, parsed: Parsed) -> Diagnostic:
    title = patterns()["TITLE"]
    late = next((number for number, line in enumerate(source.lines, 1) if title.fullmatch(line)), None)
    first = next((line.number for line in parsed.scanned.lines if line.kind != "TEXT"), 1)
    if late and late > first:
        problem = f"the title in line {late} comes after the first section"
        return Diagnostic("RD703", source.path, source.line_span(late), problem, "move it to the top of the document")
    problem = "the playbook has no title"
    return Diagnostic("RD703", source.path, source.line_span(1), problem, "start the document with `# Title`")


def check_count(source: Source, playbook: Playbook) -> Iterator[Diagnostic]:
    """Report fields that are extracted under the same name too often to lower the playbook (P16)."""
    last: dict[str, int] = {}
    repeated = 0
    for place, step in enumerate(every_step(playbook)):
        output = step.output
        if not (output and output.extract):
            continue
        repeated += place - last.get(output.name, place)
        last[output.name] = place
        if repeated > MOST_REPEATED:
            problem = f"too many fields are extracted under a repeated name, such as `{output.name}`"
            remedy = "give each field a separate name, or split the playbook"
            yield Diagnostic("RD729", source.path, output.span, problem, remedy)
            return


def _sequence(source: Source, steps: tuple[Step, ...]) -> Iterator[Diagnostic]:
    """Warn about step numbers that are out of sequence (P4)."""
    before = (0, *(step.number for step in steps))
    for expected, step in zip((number + 1 for number in before), steps, strict=False):
        if step.number != expected:
            problem = f"expected step {expected}, found step {step.number}"
            remedy = "number the steps 1, 2, 3 … in document order; `rdc fmt` does this for you"
            yield Diagnostic("RD709", source.path, step.span, problem, remedy)


def _input(source: Source, declared: Input) -> Iterator[Diagnostic]:
    """Report an input's unknown type, invalid default or unusable options (P8)."""
    if declared.written.lower() not in TYPES:
        yield _unknown_type(source, declared)
    if declared.default is not None and (reason := unfit(declared.default, declared.type)):
        problem = f"the default of `{declared.name}` is not valid: {reason}; the input is read as a string"
        remedy = "fix the default, or change the type to `string`"
        yield Diagnostic("RD725", source.path, declared.span, problem, remedy)
    if declared.type != "enum":
        return
    example = f"add options after the type: `({declared.written}: one, another)`"
    if not declared.options:
        problem = f"`{declared.name}` has no options, so it accepts any string"
        yield Diagnostic("RD728", source.path, declared.span, problem, example)
    twice = [option for option, again in pairwise(sorted(declared.options)) if option == again]
    if twice:
        problem = f"duplicate option `{twice[0]}` of `{declared.name}`"
        yield Diagnostic("RD728", source.path, declared.span, problem, "remove one of the two")


def _unknown_type(source: Source, declared: Input) -> Diagnostic:
    known = "the types are string, text, number, boolean and enum"
    if meant := nearest_names(declared.written.lower(), TYPES, 1, 0.8):
        problem = f"there is no type `{declared.written}`; did you mean `{meant[0]}`?"
        fix = _retyped(source, declared, meant[0])
        return Diagnostic("RD732", source.path, declared.span, problem, f"write `{meant[0]}`; {known}", fix=fix)
    problem = f"there is no type `{declared.written}`, so `{declared.name}` accepts any string"
    fix = _retyped(source, declared, "string")
    return Diagnostic("RD733", source.path, declared.span, problem, f"write `string`; {known}", fix=fix)


def _retyped(source: Source, declared: Input, meant: str) -> Fix | None:
    """Return the fix that changes an input's type; it is safe, because the type is misspelled or already read so."""
    span = declared.span
    column = source.lines[span.line - 1].find(f"({declared.written}", span.column - 1) + 2
    place = Span(span.line, column, span.line, column + len(declared.written))
    return Fix.by(place, meant, is_safe=True) if column > 1 else None


def _artifact(source: Source, artifact: Artifact) -> Iterator[Diagnostic]:
    if artifact.type not in ARTIFACTS and not _VARIABLE.fullmatch(artifact.type):
        problem = f"there is no artifact type `{artifact.type}`{close(artifact.type, ARTIFACTS)}"
        remedy = f"use one of {', '.join(ARTIFACTS)}, or a variable such as {{{{format}}}}"
        fix = Fix.respelling(artifact.span, artifact.type, near(artifact.type, ARTIFACTS))
        yield Diagnostic("RD712", source.path, artifact.span, problem, remedy, fix=fix)


def _step(source: Source, step: Step) -> Iterator[Diagnostic]:
    if step.tool:
        for name, other in [("@elicit", step.elicit), ("@prompt", step.prompt)]:
            if other:
                problem = f"this step calls a tool, so its {name} is ignored"
                related = (Related(source.path, step.tool.span, "the tool"),)
                remedy = f"move the {name} to a separate step"
                yield Diagnostic("RD722", source.path, other.span, problem, remedy, related)
        yield from _arguments(source, step.tool)
    elif step.elicit:
        yield from _elicit(source, step.elicit)
    elif step.output and not (step.content or (step.prompt and step.prompt.scheme in SCHEMES)):
        problem = "this step has no text and calls no agent, so its @output stays empty"
        yield Diagnostic("RD730", source.path, step.output.span, problem, "write the agent's task, or remove it")
    elif step.label and not (step.content or step.prompt or step.branches or step.output):
        problem = "this step is empty, so it calls nothing"
        yield Diagnostic("RD730", source.path, step.span, problem, "write the agent's task, or remove the step")
    if step.prompt and step.prompt.scheme not in SCHEMES:
        problem = f"rdc cannot fetch `{step.prompt.written}`, so the step runs with only its own text"
        hint = close(step.prompt.scheme, SCHEMES[:3])
        remedy = "use file:PATH, library:ID or mcp:SERVER/NAME"
        yield Diagnostic("RD724", source.path, step.prompt.span, f"{problem}{hint}", remedy)


def _elicit(source: Source, elicit: Elicit) -> Iterator[Diagnostic]:
    """Warn about incomplete questions (P11)."""
    example = '@elicit(select, "Which one?", "this", "that")'
    if not elicit.question:
        problem = "the question has no text, so the step's title is shown instead"
        remedy = "add the question in double quotes after the kind"
        yield Diagnostic("RD726", source.path, elicit.span, problem, remedy)
    elif elicit.kind == "select" and not any(elicit.options):
        problem = "there are no options to select from, so any reply is accepted"
        yield Diagnostic("RD726", source.path, elicit.span, problem, f"add each option in double quotes: {example}")
    elif elicit.kind != "select" and elicit.options:
        problem = f"a question of kind {elicit.kind} takes no options, so they are ignored"
        yield Diagnostic("RD726", source.path, elicit.span, problem, f"to offer a choice, write {example}")


def _arguments(source: Source, tool: ToolCall) -> Iterator[Diagnostic]:
    """Report arguments that are not a JSON object (P13)."""
    if not tool.arguments:
        return
    if problem := json_issue(tool.arguments):
        remedy = 'write an object on one line, such as {"name": "{{value}}"}'
        if _PLACEHOLDER.search(tool.arguments) and not json_issue(_PLACEHOLDER.sub("0", tool.arguments)):
            remedy = 'put the placeholder in double quotes: "{{name}}"'
        text = f"the tool's arguments are {problem}"
        line = tool.span.line
        column = source.lines[line - 1].rfind(tool.arguments) + 1
        yield Diagnostic("RD723", source.path, Span(line, column, line, column + len(tool.arguments)), text, remedy)


def json_issue(text: str) -> str:
    """Return why text is not a JSON object, or "" if it is one."""
    try:
        value = json.loads(text, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        return f"not valid JSON: {error.msg}, at character {error.pos + 1}"
    except (ValueError, RecursionError):
        return "not JSON that every program can read: a number is too large or the nesting too deep"
    return "" if isinstance(value, dict) else "not a JSON object"


def _no_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


class Frontmatter(Struct, frozen=True):
    """A document's options, the line below, and the unparsed scenarios with their places; None if there are none."""

    options: Options
    next_line: int
    scenarios: object = None
    spans: Spans = MappingProxyType({})


def read_frontmatter(source: Source) -> tuple[Frontmatter, list[Diagnostic]]:
    """Return the frontmatter at the start of a source, or an empty one, with its problems."""
    read, next_line, found = read_block(source)
    if read is None:
        return Frontmatter(Options(), next_line), found
    options, found = options_of(source, read, FORMAT.options, has_model=False)
    found += duplicate_options(source, (key for key in read.repeated if key.path[0] in {"rdc", "scenarios"}))
    if "scenarios" not in read.values:
        return Frontmatter(options, next_line), found
    return Frontmatter(options, next_line, read.as_written["scenarios"], below(read.spans, "scenarios")), found


class Read(Struct, frozen=True):
    """A document that was read; `parsed` is None if it was too broken to parse."""

    parsed: Parsed | None
    frontmatter: Frontmatter
    found: tuple[Diagnostic, ...]

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """The diagnostics that stop compilation."""
        return tuple(item for item in self.found if item.severity is Severity.ERROR)


def read(source: Source) -> Read:
    """Return the document with all diagnostics in order."""
    found = list(check_size(source))
    if found:
        return Read(None, Frontmatter(Options(), 1), tuple(found))
    frontmatter, found = read_frontmatter(source)
    parsed = parse(source, frontmatter.next_line)
    found += [*parsed.diagnostics, *check(source, parsed)]
    return Read(parsed, frontmatter, tuple(sorted(found, key=sort_key)))
