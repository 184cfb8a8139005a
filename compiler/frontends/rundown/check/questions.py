"""Warn about steps that ask people although a command was probably meant, or beside a command."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import NamedTuple

from msgspec.structs import replace

from compiler.diagnostics.model import Diagnostic, Edit, Fix, edited
from compiler.frontends.rundown.check.numbering import AmbiguousReferenceError, Numbering, renumbering
from compiler.frontends.rundown.parse.checklist import TASK
from compiler.frontends.rundown.parse.document import _MOST, question_in
from compiler.frontends.rundown.printing import heading, section
from compiler.frontends.rundown.syntax import AnyStep, Dynamic, Runbook, Step, Substep, Word, all_steps, spell
from compiler.reading.comments import ignoring_lines
from compiler.text.regex import Regex
from compiler.text.source import Source, Span

PROGRAMS = {
    **dict.fromkeys(("python", "python3", "py"), "python3 -"),
    **dict.fromkeys(("javascript", "js", "node"), "node -"),
    **dict.fromkeys(("ruby", "rb"), "ruby"),
    **dict.fromkeys(("perl", "pl"), "perl"),
    **dict.fromkeys(("powershell", "pwsh", "ps1"), "pwsh -Command -"),
    "php": "php",
    "lua": "lua -",
    "zsh": "zsh",
    "ksh": "ksh",
    "dash": "dash",
    "fish": "fish",
}
"""Script languages in lowercase, with the command that runs a script from standard input."""

TO_COMMANDS = "tag it `bash` and keep only the commands, without the `$` and the output"

TRANSCRIPTS = frozenset({"console", "terminal", "shell-session", "shellsession", "sh-session", "bash-session"})
"""Languages of terminal sessions, which have both input and output."""


def check_languages(source: Source, runbook: Runbook) -> Iterator[Diagnostic]:
    """Warn about blocks in a language that people expect to run, except in steps that ask YES or NO."""
    for step in all_steps(runbook):
        code = step.code
        asks = any(transition.word in {Word.YES, Word.NO} for transition in step.transitions)
        if code is None or code.interpreter or code.prompt or asks:
            continue
        language = code.language.lower()
        command = PROGRAMS.get(language)
        if command or language in TRANSCRIPTS:
            problem = f"a block tagged `{code.language}` is shown, not run: the step asks a person for PASS or FAIL"
            how = f"call it from a `bash` block: `{command} <<'END'`" if command else TO_COMMANDS
            remedy = f"to run it, {how}; to only show it, write `{code.language} prompt`"
            yield Diagnostic("RD050", source.path, code.span, problem, remedy)


class _Beside(NamedTuple):
    """A question beside a command; `asks_first` if it belongs before the command."""

    step: AnyStep
    span: Span
    message: str
    asks_first: bool = False


def check_questions(source: Source, runbook: Runbook) -> Iterator[Diagnostic]:
    """Warn about questions beside a command, which decides by its exit code without asking."""
    for number, one in enumerate(_beside_commands(source, runbook)):
        where, kind = ("before", "list") if one.asks_first else ("after", "question")
        remedy = f"put the {kind} into its own step, {where} the command"
        fix = split(source, runbook, one.step, asks_first=one.asks_first) if number < _MOST else None
        yield Diagnostic("RD121", source.path, one.span, one.message, remedy, fix=fix)
    for step in runbook.steps:
        if step.checklist and (step.substeps or step.runbooks):
            problem = "the substeps or runbooks of this step decide: no one confirms its list"
            yield Diagnostic("RD121", source.path, step.span, problem, "put the list into its own step")


def _beside_commands(source: Source, runbook: Runbook) -> Iterator[_Beside]:
    for step in all_steps(runbook):
        if step.code is None or not step.code.interpreter:
            continue
        below = range(step.span.line + 1, step.code.span.line)
        asking = next((item for item in step.transitions if item.word in {Word.YES, Word.NO}), None)
        if asking:
            yield _Beside(
                step, asking.span, "YES and NO come from the exit code of this step's command: no one is asked"
            )
        elif not step.transitions and "?" in step.prompt and " " in question_in(step.prompt)[0]:
            last = step.prompt.splitlines()[-1]
            line = next((number for number in reversed(below) if source.lines[number - 1].rstrip() == last), 0)
            span = source.line_span(line) if line else step.span
            yield _Beside(step, span, "this step has a command, whose exit code decides: no one is asked this question")
        if "]" in step.prompt and (line := next((n for n in below if TASK.match(source.lines[n - 1])), 0)):
            problem = "this step has a command, whose exit code decides: no one confirms this list"
            yield _Beside(step, source.line_span(line), problem, asks_first=True)


_NEW = 10**9  # the number of the new step until all steps are numbered; a document can't have this number

_TRANSITION = Regex(r" {0,3}[-*+] +(?P<word>PASS|FAIL|YES|NO)[ :]")


class _Parts(NamedTuple):
    """A step's parts below its header, down to line `end`; `transitions` has each line by its word."""

    prompt: str
    code: str
    transitions: Mapping[str, str]
    end: int
    is_after_header: bool

    def section(self, header: str, prompt: str, code: str, transitions: Sequence[str]) -> str:
        """Return a step in the document's order of parts, below a header if there is one."""
        return section(header, prompt, code, transitions, after_header=self.is_after_header)


def split(source: Source, runbook: Runbook, step: AnyStep, *, asks_first: bool) -> Fix | None:
    """Return the fix that gives a question its own step before or after the command, or None if that isn't clear."""
    is_set = asks_first and any(settings.step.endswith(spell(step.id)) for settings in runbook.declared.steps)
    if isinstance(step.id, Dynamic) or (is_set and not isinstance(step.id, int)):
        return None
    edits = _renumbered(source, runbook, step, asks_first) if isinstance(step.id, int) else []
    parts = None if edits is None else _parts(source, runbook, step, edited(source, edits).lines)
    if edits is None or not parts or ignoring_lines(source).intersection(range(step.span.line, parts.end + 1)):
        return None
    written = (_asking_first if asks_first else _asking_last)(runbook, step, parts)
    if not written:
        return None
    start = step.span.line + 1
    changed = (edit for edit in edits if not start <= edit.span.line <= parts.end)
    whole = Span(start, 1, parts.end, len(source.lines[parts.end - 1]) + 1)
    return Fix((*changed, Edit(whole, f"\n{written}")))


def _renumbered(source: Source, runbook: Runbook, step: AnyStep, asks_first: bool) -> list[Edit] | None:
    """Return the edits for the numbers after the split, or None if a reference is unclear."""
    # Jumps to the step lead to the first of the two; its settings and rules belong to the command.
    from compiler.frontends.rundown.marks import step_references, steps_below  # noqa: PLC0415 (few documents need them)

    jumping, setting = (_numbering(runbook, step, after=after) for after in (True, not asks_first))
    jumps = replace(runbook, declared=replace(runbook.declared, steps=(), rules=()))
    pairs, known = ((jumps, jumping), (replace(runbook, steps=(), scenarios=()), setting)), step_references(source)
    found = [renumbering(source, part, numbering, known) for part, numbering in pairs]
    if any(one.unclear for one in found):
        return None
    edits = [edit for one in found for edit in one.edits]
    try:
        names = {mark: jumping.label(mark.id).rpartition(".")[2] for mark in steps_below(source)}
    except AmbiguousReferenceError:  # in a document with duplicate numbers
        return None
    return [*edits, *(Edit(mark.span, new) for mark, new in names.items() if new != mark.name)]


def _numbering(runbook: Runbook, step: AnyStep, *, after: bool) -> Numbering:
    steps: list[Step] = []
    for each in runbook.steps:
        if each is step:
            new = replace(each, id=_NEW, substeps=())
            steps += [each, new] if after else [new, each]
        elif isinstance(step, Substep) and step in each.substeps:
            at = each.substeps.index(step) + after
            steps.append(replace(each, substeps=(*each.substeps[:at], replace(step, id=_NEW), *each.substeps[at:])))
        else:
            steps.append(each)
    return Numbering(replace(runbook, steps=tuple(steps)))


def _parts(source: Source, runbook: Runbook, step: AnyStep, lines: Sequence[str]) -> _Parts | None:
    if step.code is None:
        return None
    start = step.code.span.line
    end = start + step.code.text.count("\n") + 1
    listed = [transition.span.line for transition in step.transitions]
    last = max(end, *listed) if listed else end
    matches = [_TRANSITION.match(lines[number - 1]) for number in listed]
    before = [lines[number - 1] for number in range(step.span.line + 1, start) if number not in listed]
    after = [lines[number - 1] for number in range(end + 1, last + 1) if number not in listed]
    if not source.lines[end - 1].strip().startswith(("```", "~~~")) or any(map(str.strip, after)) or None in matches:
        return None
    words = {match["word"]: match.string for match in matches if match}
    is_after_header = any(
        each.code and each.transitions and each.transitions[0].span.line < each.code.span.line
        for each in all_steps(runbook)
    )
    return _Parts(
        "\n".join(before).strip("\n").rstrip(), "\n".join(lines[start - 1 : end]), words, last, is_after_header
    )


def _asking_last(runbook: Runbook, step: AnyStep, parts: _Parts) -> str:
    """Return the command and then the question; only a FAIL transition stays with the command."""
    if any(item.retries for item in step.transitions if item.word != "FAIL"):
        return ""  # a retry would repeat the question without the command
    asked, prompt = question_in(parts.prompt)
    asked = asked[:1].upper() + asked[1:]
    whole = f"{step.id} {step.title}".strip() if isinstance(step.id, str) else step.title
    title = whole if whole.endswith("?") else f"{whole}: is the result right?".removeprefix(": ")
    header, passing = _new_header(runbook, step, "question", asked or title)
    failing = [line for word, line in parts.transitions.items() if word == "FAIL"]
    replies = [line for word, line in parts.transitions.items() if word != "FAIL"] or ["- YES: CONTINUE", "- NO: STOP"]
    first = parts.section("", prompt, parts.code, [*passing, *failing])
    return f"{first}\n\n{parts.section(header, '', '', replies)}"


def _asking_first(runbook: Runbook, step: AnyStep, parts: _Parts) -> str:
    header, passing = _new_header(runbook, step, "command", f"Run: {step.title}" if step.title else "Run the command")
    second = parts.section(header, "", parts.code, list(parts.transitions.values()))
    return f"{parts.section('', parts.prompt, '', passing)}\n\n{second}"


def _new_header(runbook: Runbook, step: AnyStep, kind: str, title: str) -> tuple[str, list[str]]:
    parent = next((each for each in runbook.steps if step in each.substeps), None)
    number = step.id + 1 if isinstance(step.id, int) else 0
    if parent and number:
        return heading(spell(parent.id), title, number), []
    if number:
        return heading(number, title), []
    taken = {each.id for each in (parent.substeps if parent else runbook.steps)}
    names = (f"{step.id}_{kind}{again or ''}" for again in count())
    name = next(name for name in names if name not in taken)
    if parent:
        return heading(spell(parent.id), title, name), []
    return heading(name, title), [f"- PASS: GOTO {name}"]
